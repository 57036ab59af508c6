"""Is a string a web address, a mail address, or an IP address with anything behind it?

What enters: characters lo..hi of a decoded chunk (their classes, and where their bytes lie in `data`).
What leaves: the answer that spaCy's URL expression gives. That expression only ever matches whole strings, and
its parts end where the next may begin, so one pass from each possible start of the host is equal to it:

    [scheme ://] [anything @] (IPv4 that is not private | label. label. ... tld) [: port] [/ ? # anything]
"""

from __future__ import annotations

from gristmill.kernels.characters import DECIMAL, DIGIT, HOST, LOWER, WORD
from gristmill.kernels.compile import inline

_LONGEST_LABEL = 64
_LONGEST_TLD = 63
_PLUS, _HYPHEN, _FULL_STOP, _SLASH, _COLON, _AT, _UNDERSCORE = (ord(character) for character in "+-./:@_")
_QUESTION_MARK, _HASH = ord("?"), ord("#")
_NO_DIGIT = 9999


@inline
def is_url(data, classes, at, lo, hi):
    if _host_and_rest(data, classes, at, lo, hi):
        return True
    scheme = lo
    while scheme < hi and (classes[scheme] & WORD or data[at[scheme]] in (_PLUS, _HYPHEN, _FULL_STOP)):
        scheme += 1
    if (
        scheme - lo >= 2
        and scheme + 2 < hi
        and data[at[scheme]] == _COLON
        and data[at[scheme + 1]] == _SLASH
        and data[at[scheme + 2]] == _SLASH
        and _host_and_rest(data, classes, at, scheme + 3, hi)
    ):
        return True
    for index in range(lo + 1, hi):
        if data[at[index]] == _AT and _host_and_rest(data, classes, at, index + 1, hi):
            return True
    return False


@inline
def _host_and_rest(data, classes, at, lo, hi):
    return _public_ipv4(data, classes, at, lo, hi) or _host_name(data, classes, at, lo, hi)


@inline
def _rest(data, classes, at, lo, hi):
    """Nothing, a port of two to five digits, or a path, a query, a fragment."""
    if lo < hi and data[at[lo]] == _COLON:
        digits = _decimals(classes, lo + 1, hi)
        if digits < 2 or digits > 5:
            return False
        lo += 1 + digits
    return lo == hi or data[at[lo]] in (_SLASH, _QUESTION_MARK, _HASH)


@inline
def _host_name(data, classes, at, lo, hi):
    while True:
        stop = lo
        while stop < hi and (classes[stop] & HOST or data[at[stop]] in (_UNDERSCORE, _HYPHEN)):
            stop += 1
        if stop == lo or stop - lo > _LONGEST_LABEL or not classes[lo] & classes[stop - 1] & HOST:
            return False
        if stop == hi or data[at[stop]] != _FULL_STOP:
            return False
        lo = stop + 1
        stop = lo
        while stop < hi and stop - lo <= _LONGEST_TLD and classes[stop] & LOWER:
            stop += 1
        if 2 <= stop - lo <= _LONGEST_TLD and _rest(data, classes, at, stop, hi):
            return True


@inline
def _public_ipv4(data, classes, at, lo, hi):
    first = _octet(data, classes, at, lo, hi, 1, 2, 3)
    second_at = lo + first + 1
    if first == 0 or not _full_stop(data, at, second_at - 1, hi):
        return False
    second = _octet(data, classes, at, second_at, hi, 0, 5, 5)
    third_at = second_at + second + 1
    if second == 0 or not _full_stop(data, at, third_at - 1, hi):
        return False
    third = _octet(data, classes, at, third_at, hi, 0, 5, 5)
    fourth_at = third_at + third + 1
    if third == 0 or not _full_stop(data, at, fourth_at - 1, hi):
        return False
    fourth = _octet(data, classes, at, fourth_at, hi, 1, 5, 4)
    if fourth == 0 or not _rest(data, classes, at, fourth_at + fourth, hi):
        return False
    a, b = _number(data, classes, at, lo, first), _number(data, classes, at, second_at, second)
    tens = _digit(data, classes, at, second_at)
    in_172 = second == 2 and (tens == 2 or 16 <= b <= 19 or 30 <= b <= 31)
    return not (a in (10, 127) or (a == 169 and b == 254) or (a == 192 and b == 168) or (a == 172 and in_172))


@inline
def _full_stop(data, at, index, hi):
    return index < hi and data[at[index]] == _FULL_STOP


@inline
def _decimals(classes, lo, hi):
    """How many decimal digits of any script begin at `lo`."""
    stop = lo
    while stop < hi and classes[stop] & DECIMAL:
        stop += 1
    return stop - lo


@inline
def _digit(data, classes, at, index):
    return data[at[index]] - 48 if classes[index] & DIGIT else _NO_DIGIT


@inline
def _number(data, classes, at, lo, digits):
    number = 0
    for index in range(lo, lo + digits):
        number = number * 10 + _digit(data, classes, at, index)
    return number


@inline
def _octet(data, classes, at, lo, hi, least_first_digit, tens, ones):
    """Digits of a number up to 2`tens``ones`, or 0. A digit that the expression leaves open may be of any script."""
    digits = _decimals(classes, lo, hi)
    if digits == 0 or digits > 3:
        return 0
    first = _digit(data, classes, at, lo)
    if digits < 3:
        return digits if least_first_digit == 0 or 1 <= first <= 9 else 0
    second, third = _digit(data, classes, at, lo + 1), _digit(data, classes, at, lo + 2)
    below = second < tens or (second == tens and third <= ones)
    return digits if first == 1 or (first == 2 and below) else 0
