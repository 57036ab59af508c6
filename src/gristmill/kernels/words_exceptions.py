"""Strings that are cut otherwise than by the rule: English contractions, abbreviations, emoticons; and units.

What leaves: EXCEPTIONS, each string with the pieces it is cut into, and UNITS, what is cut off after a digit.
They are the exceptions of spaCy's blank English tokenizer, retold by rule; a test compares them with spaCy's.
In the tables `+` stands where a contraction is cut.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

_ENDINGS = {
    "i": "+'m +'m+a +'ll +'ll+'ve +'d +'d+'ve +'ve",
    "you we they": "+'ll +'ll+'ve +'d +'d+'ve +'ve +'re",
    "he she it": "+'ll +'ll+'ve +'d +'d+'ve +'s",
    "who what when where why how there": "+'s +'ll +'ll+'ve +'re +'ve +'d +'d+'ve",
    "that this": "+'s +'ll +'ll+'ve +'d +'d+'ve",
    "these those": "+'ll +'ll+'ve +'re +'ve +'d +'d+'ve",
    "ca could do does did had may might must need ought sha should wo would": "+n't +n't+'ve",
    "ai are is was were have has dare": "+n't",
    "could might must should would not": "+'ve",
    "doin goin nothin nuthin ol somethin lovin havin": "'",
}
_NO_CONTRACTIONS = "ill its hell shell shed were well whore"  # without the apostrophe, words of their own
_OTHER_CONTRACTIONS = "let+'s c'm+on can+not gon+na got+ta how+'d+'y"  # the apostrophe stays; also capitalised
_LOWER_CASE_ONLY = (
    "y'+all y+all em 'em ll 'll nuff 'nuff ma'am o'clock 'd 're 's 'bout 'cause 'cos 'coz 'cuz ‘s and/or w/o "
    "a.m. p.m. co. e.g. i.e. v.s. vs."
)
_AS_WRITTEN = (
    "' '' 'S ‘S — 'Cause 'Cos 'Coz 'Cuz Ma'am O'clock C++ D.C. E.g. E.G. I.e. I.E. Ph.D. "
    "N.C. N.D. N.H. N.J. N.M. N.Y. S.C."
)
_ABBREVIATIONS = (  # each with its full stop
    "Adm Bros Co Corp Dr Gen Gov Inc Jr Ltd Md Messrs Mo Mont Mr Mrs Ms Mt Prof Rep Rev Sen St "
    "Jan Feb Mar Apr Jun Jul Aug Sep Sept Oct Nov Dec Ak Ala Ariz Ark Calif Colo Conn Del Fla Ga Ia Id Ill Ind "
    "Kan Kans Ky La Mass Mich Minn Miss Neb Nebr Nev Okla Ore Pa Tenn Va Wash Wis "
    "a b c d e f g h i j k l m n o p q r s t u v w x y z ä ö ü"
)
_FACES = (  # eyes, nose or none, mouth
    (":", "-", ") )) ))) ( (( ((( ] } / | P p O o 0 3 > X x * D"),
    (":'", "-", ") ("),
    (";", "-", ") D"),
    ("8", "-", ") D"),
    ("( [ )", "-", ":"),
    ("(", "-", ";"),
    ("=", "", ") ( ] [ / | 3 D"),
    ("( [ ]", "", "="),
    ("x X", "", "D DD"),
)
_OTHER_FACES = (
    r""":1 :() :o) (o: (-8 >:( >:o <3 <33 <333 </3 >.< >.> <.< ._. ;_; -_- -__- @_@ ^_^ ^__^ ^___^ """
    r"""v.v V.V v_v V_V 0.0 0.o 0_0 0_o o.0 o.o o.O o_0 o_o o_O O.o O.O O_o O_O """
    r"""(^_^) (-_-) (._.) (>_<) (*_*) (¬_¬) (ಠ_ಠ) ಠ_ಠ ಠ︵ಠ ¯\(ツ)/¯ (╯°□°）╯︵┻━┻ ><(((*> \") \t \n <space>"""
)
_UNITS = (
    "km km² km³ m m² m³ dm dm² dm³ cm cm² cm³ mm mm² mm³ ha µm nm yd in ft kg g mg µg t lb oz m/s km/h kmh mph "
    "hPa Pa mbar mb MB kb KB gb GB tb TB T G M K % + км км² км³ м м² м³ дм дм² дм³ см см² см³ мм мм² мм³ нм кг г мг "
    "м/с км/ч кПа Па мбар Кб КБ кб Мб МБ мб Гб ГБ гб Тб ТБ тбكم كم² كم³ م م² م³ سم سم² سم³ مم مم² مم³ كم غرام "
    "جرام جم كغ ملغ كوب اكواب"  # `тб` and the Arabic `km` are one unit in spaCy, for want of a space
)
_CURRENCIES = "$ £ € ¥ ฿ US$ C$ A$ ₽ ﷼ " + " ".join(map(chr, range(0x20A0, 0x20C0)))


def _contractions() -> Iterator[str]:
    for stems, endings in _ENDINGS.items():
        for stem, ending in product(stems.split(), endings.split()):
            for contraction in (stem + ending, stem.title() + ending):
                yield contraction
                bare = contraction.replace("'", "")
                if bare.replace("+", "").lower() not in _NO_CONTRACTIONS.split():
                    yield bare
    for contraction in _OTHER_CONTRACTIONS.split():
        yield from (contraction, contraction[0].upper() + contraction[1:])


def _one_piece() -> Iterator[str]:
    yield from (word + "." for word in _ABBREVIATIONS.split())
    yield from (_AS_WRITTEN + " " + _OTHER_FACES).split()
    for eyes, nose, mouths in _FACES:
        for eye, mouth in product(eyes.split(), mouths.split()):
            yield from (eye + mouth, eye + nose + mouth)


def _exceptions() -> dict[str, tuple[str, ...]]:
    cut = [*_contractions(), *_LOWER_CASE_ONLY.split()]
    cut += [f"°+{scale}+." for scale in "cfkCFK"]
    cut += [f"{hour}+{half}" for hour in range(1, 13) for half in ("am", "pm", "a.m.", "p.m.")]
    pieces = [tuple(item.split("+")) for item in cut] + [(item,) for item in _one_piece()]
    pieces += [tuple(piece.replace("'", "’") for piece in item) for item in pieces]
    return {"".join(item): item for item in pieces}


EXCEPTIONS = _exceptions()
UNITS = frozenset((_UNITS + " " + _CURRENCIES).split())
