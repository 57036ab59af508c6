from __future__ import annotations

import json

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from gristmill.document import buffers, strings
from gristmill.kernels.json_escape import json_strings


@given(st.lists(st.text() | st.text('"\\\b\f\n\r\t\0\x1f\x7f\u2028é', max_size=9)), st.integers(0, 2))
def test_texts_are_written_as_json_dumps_writes_them(texts: list[str], skipped: int) -> None:
    column = pa.array(texts, pa.large_string()).slice(skipped)
    escaped = strings(*json_strings(*buffers(column))).to_pylist()
    assert escaped == [json.dumps(text, ensure_ascii=False) for text in texts[skipped:]]
