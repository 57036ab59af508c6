"""Real tokenizers on real text, where they are at hand. `bench/token_parity.py` does all of it."""

import gzip
import json
from itertools import islice
from pathlib import Path

import pyarrow as pa
import pytest
from tokenizers import Tokenizer

from gristmill.tokens.encode import Encoder
from gristmill.tokens.tokenizer import load

FETCHED = Path.home() / ".cache/gristmill-test-tokenizers"


@pytest.fixture(params=["gpt2", "llama2", "llama3_2", "qwen2_5"])
def tokenizer_file(request) -> Path:
    if request.param == "gpt2":
        return request.getfixturevalue("gpt2")
    file = FETCHED / request.param / "tokenizer.json"
    if not file.is_file():
        pytest.skip(f"fetch it with ../shared/tokenizers/get {request.param}")
    return file


def test_ids_of_documentation_are_those_of_tokenizers(tokenizer_file, corpora):
    with gzip.open(corpora / "english-docs.jsonl.gz", "rt") as lines:
        texts = [json.loads(line)["text"] for line in islice(lines, 60)]
    spec = load(tokenizer_file, append_eos=False, special_tokens=True)
    real = Encoder(spec)
    assert (real.engine, real.notice) == ("gigatoken", None)
    tokens = real.encode(pa.array(texts, pa.large_string()))
    judge = Tokenizer.from_file(str(tokenizer_file))
    for number, text in enumerate(texts):
        assert tokens.document(number).tolist() == judge.encode(text).ids
