from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gristmill.document import large_strings
from gristmill.errors import FormatError
from gristmill.formats import cuts
from gristmill.formats.cuts import Cuts
from reference import cuts as twin

texts_and_spans: Any = st.text(st.sampled_from("ab \n"), max_size=12).flatmap(
    lambda text: st.tuples(
        st.just(text), st.lists(st.integers(0, len(text)), max_size=6, unique=True).map(sorted), st.booleans()
    )
)


def as_cuts(rows: list[int], spans: list[list[tuple[int, int, bool]]]) -> Cuts:
    flat = [(row, *span) for row, of_row in zip(rows, spans, strict=True) for span in of_row]
    columns = list(zip(*flat, strict=True)) if flat else [()] * 4
    return Cuts(
        *(
            np.array(column, dtype)
            for column, dtype in zip(columns, (np.int32, np.int64, np.int64, np.bool_), strict=True)
        )
    )


@given(st.lists(st.tuples(texts_and_spans, st.booleans(), st.integers(1, 3)), max_size=6))
def test_equals_its_twin(drawn: list[Any]) -> None:
    """Rows have gaps, and some documents with cuts are not in the batch."""
    rows = np.cumsum([step for _, _, step in drawn], dtype=np.int32).tolist()
    spans = [
        [(start, stop, newline) for start, stop in zip(bounds[::2], bounds[1::2], strict=False)]
        for (_, bounds, newline), _, _ in drawn
    ]
    here = [number for number, (_, there, _) in enumerate(drawn) if there]
    texts = [drawn[number][0][0] for number in here]
    left = cuts.cut_rows(
        large_strings(["before", *texts]).slice(1),
        np.array([rows[number] for number in here], np.int32),
        as_cuts(rows, spans),
    )
    expected = [twin.without(text.encode(), spans[number]).decode() for number, text in zip(here, texts, strict=True)]
    assert left.to_pylist() == expected


def test_what_is_written_is_read(tmp_path: Path) -> None:
    written = as_cuts([3, 9], [[(0, 4, False), (6, 7, True)], [(1, 2, False)]])
    cuts.write(tmp_path / "cuts.parquet", written)
    for column, expected in zip(cuts.read(tmp_path / "cuts.parquet"), written, strict=True):
        assert column.tolist() == expected.tolist()
    assert written.bytes() == 5


def test_a_foreign_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "cuts.parquet").write_bytes(b"PAR1 not at all")
    with pytest.raises(FormatError, match="expected a Parquet file of Gristmill's"):
        cuts.read(tmp_path / "cuts.parquet")
