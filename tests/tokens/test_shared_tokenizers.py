"""Real tokenizers on real text, where they are at hand. `bench/token_parity.py` does all of it."""

import gzip
import json
import subprocess
from itertools import islice
from pathlib import Path

import pyarrow as pa
import pytest
from tokenizers import Tokenizer

from gristmill.tokens.encode import Encoder
from gristmill.tokens.tokenizer import load

FETCH = Path(__file__).parents[3] / "shared" / "tokenizers" / "get"


@pytest.fixture(params=["gpt2", "llama2", "llama3_2", "qwen2_5"])
def tokenizer_file(request) -> Path:
    if request.param == "gpt2":
        return request.getfixturevalue("gpt2")
    if not FETCH.is_file():
        pytest.skip(f"real tokenizers are not here: {FETCH}")
    return Path(subprocess.run([FETCH, request.param], check=True, capture_output=True, text=True).stdout.strip())


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
