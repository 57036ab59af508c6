"""The slow, obvious twin of kernels/bijection.py, on Python's unbounded integers."""

from __future__ import annotations

WORD = 2**64
GOLDEN = 0x9E3779B97F4A7C15


def mix(word: int) -> int:
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9 % WORD
    word = (word ^ (word >> 27)) * 0x94D049BB133111EB % WORD
    return word ^ (word >> 31)


def derive_key(key: int, number: int) -> int:
    return mix((mix((key + GOLDEN) % WORD) + number) % WORD)


def permuted(index: int, size: int, key: int) -> int:
    """Where `index` goes: a Feistel network on two digits, repeated until the result is below `size`."""
    half = 0
    while 4**half < size:
        half += 1
    left_size = 2**half
    right_size = -(-size // left_size)
    while True:
        right, left = divmod(index, left_size)
        for round_number in range(2 * (3 + 24 // (half + 1))):
            round_key = key + (round_number + 1) * GOLDEN
            if round_number % 2 == 0:
                left = (left + mix((round_key + right) % WORD)) % left_size
            else:
                right = (right + ((mix((round_key + left) % WORD) >> 32) * right_size >> 32)) % right_size
        index = right * left_size + left
        if index < size:
            return index
