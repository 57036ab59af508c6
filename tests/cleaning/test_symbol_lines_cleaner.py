from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from gristmill.cleaning.symbol_lines import SymbolLines

TEXT = "Title\n=====\n* * *\n\n1 * 2\r\n—\n\t-\nend\n"


def clean(unit: SymbolLines, *texts: str) -> list[str]:
    return unit.clean(pa.array(texts, pa.large_string())).to_pylist()  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({}, "Title\n\n1 * 2\n\t-\nend"),
        ({"replace_char": "#"}, "Title\n#\n\n1 * 2\n#\n\t-\nend"),
        ({"symbols_to_remove": ["*", "—"]}, "Title\n=====\n\n1 * 2\n\t-\nend"),
        ({"symbols_to_remove": ["-", "\t"]}, "Title\n=====\n* * *\n\n1 * 2\n—\nend"),
        ({"symbols_to_remove": []}, "Title\n=====\n* * *\n\n1 * 2\n—\n\t-\nend"),
    ],
)
def test_each_parameter_as_datatrove_has_it(parameters: dict[str, Any], expected: str) -> None:
    assert clean(SymbolLines(**parameters), TEXT, "", "***") == [
        expected,
        "",
        clean(SymbolLines(**parameters), "***")[0],
    ]
    formatter = pytest.importorskip("datatrove.pipeline.formatters").SymbolLinesFormatter
    assert clean(SymbolLines(**parameters), TEXT) == [formatter(**parameters).format(TEXT)]


def test_refuses_more_than_a_character() -> None:
    with pytest.raises(ValueError, match="expected `symbols_to_remove` to be single characters, found"):
        SymbolLines(["--"])
