import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from gristmill.document import buffers
from gristmill.tokens.encode import Encoder
from gristmill.tokens.gigatoken_engine import GigatokenEngine
from gristmill.tokens.newer_characters import NEWER, documents_with_newer
from gristmill.tokens.reference import Reference

NEW_ONES = [chr(code_point) for code_point in NEWER.nonzero()[0][::97]]
NEIGHBOURS = [chr(code_point + 1) for code_point in NEWER.nonzero()[0][:-1] if not NEWER[code_point + 1]]
PIECES = [*NEW_ONES, *NEIGHBOURS, "a" * 255, "é" * 130, "ệ" * 90, "🙂"]  # the kernel reads blocks of 256 bytes
pieces = st.lists(st.text(max_size=4) | st.sampled_from(PIECES), max_size=6)
texts = st.lists(pieces.map("".join), max_size=6)


@given(texts, st.integers(0, 2))
def test_the_documents_with_newer_characters_are_found(documents, skipped):
    array = pa.array(documents, pa.large_string()).slice(skipped)
    slow = [
        number
        for number, text in enumerate(documents[skipped:])
        if any(ord(character) < len(NEWER) and NEWER[ord(character)] for character in text)
    ]
    assert documents_with_newer(*buffers(array)).tolist() == slow


def characters_that_differ(spec, template: str) -> set[int]:
    """All code points up to the end of the table for which the engines give other ids in the template."""
    engine, judge = GigatokenEngine(spec.json_text), Reference(spec)

    def differing(groups: list[list[int]]) -> list[list[int]]:
        documents = ["\n".join(template.format(chr(code_point)) for code_point in group) for group in groups]
        bounds, ids = engine.encode(*buffers(pa.array(documents, pa.large_string())))
        return [
            group
            for number, (group, right) in enumerate(zip(groups, judge.content(documents), strict=True))
            if ids[bounds[number] : bounds[number + 1]].tolist() != right.tolist()
        ]

    known = [code_point for code_point in range(len(NEWER)) if not 0xD800 <= code_point < 0xE000]
    groups = [known[first : first + 64] for first in range(0, len(known), 64)]
    alone = [[code_point] for group in differing(groups) for code_point in group]
    return {code_point for [code_point] in differing(alone)}


def test_the_engines_split_all_other_characters_alike(byte_level, spec_of):
    """Merges of `a` and `1` with the first byte of each character show whether it counts as letter or number."""
    alphabet = [token for token in byte_level["model"]["vocab"] if len(token) == 1]
    merges = [[left, right] for left in "a1" for right in alphabet]
    tokens = ["<|endoftext|>", *alphabet, *(left + right for left, right in merges)]
    model = byte_level["model"] | {"merges": merges, "vocab": {token: i for i, token in enumerate(tokens)}}
    differ = characters_that_differ(spec_of(byte_level | {"model": model}), "a{0} 1{0}")
    assert len(differ) > 0  # else the merges show nothing
    assert {hex(code_point) for code_point in differ if not NEWER[code_point]} == set()


def test_the_engines_normalize_all_other_characters_alike(byte_level, spec_of):
    """Marks of the lowest and the highest combining class move past any mark between them."""
    spec = spec_of(byte_level | {"normalizer": {"type": "NFC"}})
    differ = characters_that_differ(spec, "a\u0345{0}\u0334")
    assert len(differ) > 0
    assert {hex(code_point) for code_point in differ if not NEWER[code_point]} == set()
    text = f"a\u0345{chr(max(differ))}\u0334"
    judge, careful = Reference(spec), Encoder(spec)
    assert careful.engine == "gigatoken"
    assert careful.encode(pa.array([text], pa.large_string())).ids.tolist() == judge.documents([text])[0].tolist()
