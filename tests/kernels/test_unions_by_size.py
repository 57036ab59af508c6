from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gristmill.kernels.unions_by_size import unite
from reference import unions_by_size as twin

NODES = 12
node = st.integers(0, NODES - 1)


@given(st.lists(st.tuples(node, node), max_size=30), st.sampled_from([-1, NODES - 1]))
def test_equals_its_twin(pairs: list[tuple[int, int]], of_index: int) -> None:
    root, size = unite(np.array(pairs, np.int64).reshape(-1, 2), NODES, of_index)
    assert (root.tolist(), size[root].tolist()) == twin.unite(pairs, NODES, of_index)
