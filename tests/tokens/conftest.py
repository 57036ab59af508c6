"""Tokenizers of a few hundred entries, one of each kind that behaves differently, built on the spot."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pytest
from tiny_tokenizers import SENTENCES, Json, MakeSpec, added, surrounding, with_far_token

from gristmill.tokens.tokenizer import TokenizerSpec, from_json
from gristmill.tokens.train import train


@pytest.fixture(scope="session")
def byte_level() -> Json:
    """GPT-2's kind: bytes, GPT-2's split, nothing around a text."""
    return json.loads(train([pa.array(SENTENCES, pa.large_string())], 400))


@pytest.fixture(scope="session")
def surrounded(byte_level: Json) -> Json:
    """Llama 3's kind: the post-processor adds a BOS; here an EOS too."""
    tokens = [*byte_level["added_tokens"], added("<|bos|>", 400), added("<|eos|>", 401)]
    processor = surrounding(["<|bos|>"], ["<|eos|>"], {"<|bos|>": 400, "<|eos|>": 401})
    return byte_level | {"added_tokens": tokens, "post_processor": processor}


@pytest.fixture(scope="session")
def sentencepiece() -> Json:
    """Llama 2's kind: spaces are ▁, characters not in the vocabulary become bytes, no split at all."""
    vocabulary = {"<unk>": 0, "<s>": 1, "</s>": 2} | {f"<0x{byte:02X}>": 3 + byte for byte in range(256)}
    letters = sorted(set("".join(SENTENCES).replace(" ", "▁").replace("\n", "")))
    merges = [("▁", "t"), ("h", "e"), ("▁t", "he"), ("i", "n"), ("g", "r"), ("gr", "in"), ("▁", "▁"), ("n", "g")]
    for token in [*letters, *(left + right for left, right in merges)]:
        vocabulary.setdefault(token, len(vocabulary))
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [added("<unk>", 0), added("<s>", 1), added("</s>", 2)],
        "normalizer": {
            "type": "Sequence",
            "normalizers": [
                {"type": "Prepend", "prepend": "▁"},
                {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
            ],
        },
        "pre_tokenizer": None,
        "post_processor": surrounding(["<s>"], [], {"<s>": 1}),
        "decoder": None,
        "model": {
            "type": "BPE",
            "unk_token": "<unk>",
            "fuse_unk": True,
            "byte_fallback": True,
            "vocab": vocabulary,
            "merges": [list(pair) for pair in merges],
        },
    }


@pytest.fixture(scope="session")
def wide(byte_level: Json) -> Json:
    """A vocabulary whose largest id needs more than 16 bits."""
    return with_far_token(byte_level, 70_000)


@pytest.fixture(scope="session")
def unsupported(byte_level: Json) -> Json:
    """One that gigatoken refuses."""
    return byte_level | {"normalizer": {"type": "NFD"}}


@pytest.fixture(scope="session")
def spec_of() -> MakeSpec:
    """A spec of a tokenizer.json given as Python data."""

    def make(tokenizer: Json, append_eos: bool = True, special_tokens: bool = True, **others: Any) -> TokenizerSpec:
        return from_json(json.dumps(tokenizer), append_eos=append_eos, special_tokens=special_tokens, **others)

    return make
