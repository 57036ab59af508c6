from itertools import chain

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gristmill.tokens.affixes import with_affixes

ids = st.lists(st.integers(0, 65_535), max_size=5)


@given(st.lists(ids, max_size=6), ids, ids, st.sampled_from([2, 4]))
def test_every_document_is_surrounded(documents, prefix, suffix, bytes_per_id):
    bounds = np.cumsum([0, *map(len, documents)], dtype=np.int64)
    flat = np.array(list(chain(*documents)), np.uint32)
    offsets, out = with_affixes(bounds, flat, np.array(prefix, np.uint32), np.array(suffix, np.uint32), bytes_per_id)
    assert out.dtype.itemsize == bytes_per_id
    surrounded = [[*prefix, *document, *suffix] for document in documents]
    assert out.tolist() == list(chain(*surrounded))
    assert np.diff(offsets).tolist() == [*map(len, surrounded)]
    assert offsets[0] == 0
