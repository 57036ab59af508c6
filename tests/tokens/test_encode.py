import json

import numpy as np
import psutil
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_tokenizers import KINDS, SENTENCES, added, surrounding
from tokenizers import Tokenizer

from gristmill.tokens import encode
from gristmill.tokens.encode import Encoder, TokenBatch, encoder
from gristmill.tokens.gigatoken_engine import GigatokenEngine

NASTY = [
    "<|endoftext|>", "<|endoftext|", "<|bos|>", "<|eos|>", "<s>", "</s>", "<unk>", "<0x0A>", "▁", "Ġ",
    "\x00", "\n", "\r\n", " ", "  ", "\t", "\u00a0", "\u2028", "\u200d", "\ufeff", "é", "e\u0301", "\u0345\u0301",
    "Cối xay", "grain", "the mill", "'s", "'S", "12", "1843", "½", "中文", "한국어", "ไทย", "🙂", "🇻🇳", "\ue000",
    "\ua7ce", "\u1acf\u0334", "\U000323b0", "ʕ",
]  # fmt: skip
texts_lists = st.lists(st.lists(st.sampled_from(NASTY) | st.text(max_size=5), max_size=12).map("".join), max_size=8)


def strings(texts) -> pa.Array:
    return pa.array(texts, pa.large_string())


def judged(spec, texts) -> list[list[int]]:
    """What `tokenizers` gives, straight from its own interface."""
    tokenizer = Tokenizer.from_str(spec.json_text)
    eos = [spec.eos_id] if spec.append_eos else []
    return [tokenizer.encode(text, add_special_tokens=spec.special_tokens).ids + eos for text in texts]


def lists(tokens: TokenBatch) -> list[list[int]]:
    assert tokens.offsets.dtype == np.int64
    assert tokens.offsets[0] == 0
    assert tokens.offsets[-1] == len(tokens.ids)
    return [tokens.document(number).tolist() for number in range(len(tokens))]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("special_tokens", [True, False])
@given(texts=texts_lists)
@settings(max_examples=25)
def test_ids_are_those_of_tokenizers(request, spec_of, kind, special_tokens, texts):
    # "surrounded" names no well-known EOS first: its own post-processor closes with another token.
    spec = spec_of(request.getfixturevalue(kind), special_tokens=special_tokens)
    tokens = encoder(spec).encode(strings(texts))
    assert encoder(spec).engine == ("tokenizers" if kind == "unsupported" else "gigatoken")
    assert tokens.ids.dtype == (np.uint32 if kind == "wide" else np.uint16)
    assert lists(tokens) == judged(spec, texts)


@pytest.mark.parametrize("kind", KINDS)
def test_batches_slices_and_nulls_do_not_matter(request, spec_of, kind, monkeypatch):
    texts = [*SENTENCES, "", "\x00", "<|endoftext|>" * 3, "x" * 5000, "\ua7ce"]
    whole = encoder(spec_of(request.getfixturevalue(kind)))
    expected = lists(whole.encode(strings(texts)))
    array = strings(["before", *texts, "after"]).slice(1, len(texts))
    assert lists(whole.encode(array)) == expected
    one_by_one = [lists(whole.encode(array.slice(number, 1)))[0] for number in range(len(texts))]
    assert one_by_one == expected
    monkeypatch.setattr(encode, "_PIECE_BYTES", 100)
    assert lists(whole.encode(array)) == expected
    with_nulls = lists(whole.encode(strings(["a", None, "b"])))
    assert with_nulls == lists(whole.encode(strings(["a", "", "b"])))
    assert lists(whole.encode(strings([]))) == []
    assert len(whole.encode(strings(texts).slice(3, 0))) == 0


def test_nothing_is_cut_short(byte_level, unsupported, spec_of):
    truncation = {"direction": "Right", "max_length": 3, "strategy": "LongestFirst", "stride": 0}
    padding = {"direction": "Right", "pad_to_multiple_of": 8, "pad_id": 0, "pad_type_id": 0, "pad_token": "!"}
    settings_of_another_task = {"truncation": truncation, "padding": padding | {"strategy": {"Fixed": 5000}}}
    text = "".join(SENTENCES)
    for kind in (byte_level, unsupported):
        ids = Encoder(spec_of(kind | settings_of_another_task)).encode(strings([text])).ids
        assert len(ids) > 300
        assert ids.tolist() == judged(spec_of(kind), [text])[0]


def test_eos_closes_a_document_once(surrounded, spec_of):
    def ends(eos_token, append_eos, special_tokens):
        spec = spec_of(surrounded, append_eos, special_tokens, eos_token=eos_token)
        return encoder(spec).encode(strings(["a", ""])).document(1).tolist()

    bos, eos, end_of_text = 400, 401, 0
    assert ends("<|eos|>", append_eos=True, special_tokens=True) == [bos, eos]
    assert ends("<|eos|>", append_eos=True, special_tokens=False) == [eos]
    assert ends("<|eos|>", append_eos=False, special_tokens=True) == [bos, eos]
    assert ends("<|eos|>", append_eos=False, special_tokens=False) == []
    assert ends("<|endoftext|>", append_eos=True, special_tokens=True) == [bos, eos, end_of_text]
    assert ends("<|eos|>", append_eos="always", special_tokens=True) == [bos, eos, eos]
    assert ends("<|eos|>", append_eos="always", special_tokens=False) == [eos]


def refused(byte_level):
    return byte_level | {"normalizer": {"type": "Lowercase"}}


def silently_different(byte_level):
    return byte_level | {"added_tokens": [*byte_level["added_tokens"], added("mill", 400, single_word=True)]}


def without_a_split(byte_level):
    return byte_level | {"pre_tokenizer": None}


@pytest.mark.parametrize("change", [refused, silently_different, without_a_split])
def test_what_gigatoken_cannot_do_falls_back_and_says_so(byte_level, spec_of, change):
    spec = spec_of(change(byte_level))
    fallen = Encoder(spec)
    assert fallen.engine == "tokenizers"
    assert "`tokenizers` encodes here, at about 3 MB/s a core and not 200" in fallen.notice
    assert "\n" not in fallen.notice
    texts = [*SENTENCES, "The mill, millstone", "watermill"]
    fallen.check(strings(texts))
    assert lists(fallen.encode(strings(texts))) == judged(spec, texts)


def test_an_odd_post_processor_falls_back(byte_level, spec_of):
    """Its special tokens lie inside the text: the sequence comes twice."""
    tokens = [*byte_level["added_tokens"], added("<|bos|>", 400)]
    twice = surrounding(["<|bos|>"], [], {"<|bos|>": 400})
    twice["single"] = [*twice["single"], *twice["single"]]
    spec = spec_of(byte_level | {"added_tokens": tokens, "post_processor": twice})
    assert lists(Encoder(spec).encode(strings(["a mill"]))) == judged(spec, ["a mill"])


def test_the_check_finds_what_the_probes_did_not(byte_level, spec_of, monkeypatch):
    honest = GigatokenEngine.encode

    def lies_about_grain(self, offsets, data):
        bounds, ids = honest(self, offsets, data)
        if b"grain" in data.tobytes()[offsets[0] : offsets[-1]]:
            ids = np.append(ids[:-1], ids[-1] + np.uint32(1))
        return bounds, ids

    monkeypatch.setattr(GigatokenEngine, "encode", lies_about_grain)
    checked = Encoder(spec_of(byte_level))
    checked.check(strings(["a mill"] * 8 + ["grain"]))
    assert (checked.engine, checked.notice) == ("gigatoken", None)  # only the first documents are looked at
    checked.check(strings(["a mill", None, "a grain of sand"]))
    assert checked.engine == "tokenizers"
    assert "gives other ids for 'a grain of sand'" in checked.notice
    assert lists(checked.encode(strings(["grain"]))) == judged(checked.spec, ["grain"])


def test_the_check_is_bounded(byte_level, spec_of, monkeypatch):
    judging = Encoder(spec_of(byte_level))
    judged_bytes = []
    documents = judging._reference.documents

    def watched(texts):
        judged_bytes.append(sum(len(text.encode()) for text in texts))
        return documents(texts)

    monkeypatch.setattr(judging._reference, "documents", watched)
    for texts in (["ệ" * 10_000_000], ["ab"] * 100, ["x" * 30_000] * 10, []):
        judging.check(strings(texts))
    assert judged_bytes == [encode.CHECKED_BYTES - 1, 16, encode.CHECKED_BYTES, 0]
    assert judging.engine == "gigatoken"


def test_an_encoder_is_made_once_for_each_policy(byte_level, spec_of):
    assert encoder(spec_of(byte_level)) is encoder(spec_of(json.loads(json.dumps(byte_level))))
    assert encoder(spec_of(byte_level)) is not encoder(spec_of(byte_level, append_eos=False))


def test_no_thread_is_started(byte_level, spec_of, unsupported):
    Encoder(spec_of(byte_level)).encode(strings(SENTENCES))
    before = psutil.Process().num_threads()
    for tokenizer in (byte_level, unsupported):
        fresh = Encoder(spec_of(tokenizer))
        fresh.encode(strings(SENTENCES * 50))
    assert psutil.Process().num_threads() == before


@pytest.mark.parametrize("kind", ["byte_level", "surrounded"])
def test_decoding_gives_the_text_back(request, spec_of, kind):
    whole = encoder(spec_of(request.getfixturevalue(kind), special_tokens=False))
    tokens = whole.encode(strings(SENTENCES))
    for number, text in enumerate(SENTENCES):
        assert whole.decode(tokens.document(number)) == text + "<|endoftext|>"
