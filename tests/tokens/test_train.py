import json

import pyarrow as pa
import pytest
from tiny_tokenizers import SENTENCES

from gristmill.errors import TokenizerError
from gristmill.tokens.encode import Encoder
from gristmill.tokens.train import train


def strings(texts) -> pa.Array:
    return pa.array(texts, pa.large_string())


def test_the_same_texts_give_the_same_tokenizer_in_any_batches():
    once = train([strings(SENTENCES)], 400)
    assert train([strings([text]) for text in SENTENCES], 400) == once
    assert train([strings(["not this", *SENTENCES[:7], None]).slice(1), strings(SENTENCES[7:])], 400) == once
    assert train([strings(SENTENCES[::-1])], 350) != once


def test_both_engines_load_it_and_agree(spec_of):
    learnt = json.loads(train([strings(SENTENCES)], 400, special_tokens=["<|end|>", "<|user|>"]))
    spec = spec_of(learnt, eos_token="<|end|>")
    assert (spec.vocab_size, spec.eos_id) == (400, 0)
    assert [token["content"] for token in learnt["added_tokens"]] == ["<|end|>", "<|user|>"]
    both = Encoder(spec)
    texts = [*SENTENCES, "", "unseen: Ωмега 😀\x00", "<|user|> a <|end|>b"]
    both.check(strings(texts))
    assert both.engine == "gigatoken"
    tokens = both.encode(strings(texts))
    decoded = [both.decode(tokens.document(number)) for number in range(len(tokens))]
    assert decoded == [text + "<|end|>" for text in texts]
    assert len(tokens.document(0)) < len(SENTENCES[0]) / 2


def test_only_the_sample_is_read():
    read = []

    def texts():
        for number in range(1000):
            read.append(number)
            yield strings(["mill grain " * 10] * 10)

    train(texts(), 260, sample_bytes=2500)
    assert len(read) == 3
    long, short = "grinding " * 100, "slowly " * 100
    assert train([strings([long, short])], 270, sample_bytes=len(long)) == train([strings([long])], 270)


def test_no_text_and_no_room_are_errors():
    with pytest.raises(TokenizerError, match="expected text to learn a tokenizer from, found none"):
        train([strings([]), strings(["", None])], 400)
    with pytest.raises(TokenizerError, match=r"at least 257 \(256 bytes and 1 special tokens\), found vocab_size 256"):
        train([strings(SENTENCES)], 256)
    assert len(json.loads(train([strings(SENTENCES)], 257))["model"]["vocab"]) == 257
