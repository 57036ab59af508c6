from __future__ import annotations

import numpy as np
import pytest

from gristmill.errors import SourceError
from gristmill.mixture.lengths import collect_lengths


def test_shards_lie_side_by_side(tmp_path):
    lengths = collect_lengths([[np.array([1, 0], np.uint32), [5]], [], [np.array([9, 9], np.int64)]], tmp_path)
    assert lengths.tokens.tolist() == [1, 0, 5, 9, 9]
    assert lengths.tokens.dtype == np.uint32
    assert lengths.first_document.tolist() == [0, 3, 3, 5]
    assert lengths.source_tokens.tolist() == [6, 0, 18]
    assert lengths.empty_docs.tolist() == [1, 0, 0]
    assert list(tmp_path.iterdir()) == []


def test_no_documents_at_all():
    lengths = collect_lengths([[], []])
    assert lengths.tokens.size == 0
    assert lengths.first_document.tolist() == [0, 0, 0]


def test_a_document_beyond_32_bits_is_an_error():
    assert collect_lengths([[np.array([2**32 - 1])]]).source_tokens.tolist() == [2**32 - 1]
    with pytest.raises(SourceError, match=r"at most 4,294,967,295 tokens, found one of 4,294,967,296 in source 1"):
        collect_lengths([[[1]], [np.array([2**32])]])
