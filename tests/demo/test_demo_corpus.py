"""The demo corpus is the same everywhere, and holds what it says it holds."""

from __future__ import annotations

import json
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest
from demo_rows import Written, cleaned

from gristmill.demo import SOURCES, prepare, write_corpus
from gristmill.demo.__main__ import main
from gristmill.demo.manifest import MANIFEST

# Of the rows, as lines: the bytes of gzip and Parquet files differ between versions of their libraries.
GOLDEN = {
    "web-en": "c597852a8d37e4bd41ed3e8d43da42fb283e378ac4e8f7799bbadf0bc66562cf",
    "web-vi": "4345385736cf58e95188b1dc2994eb4ae07f6472b4b10f4d6f5dc1d71a5bef85",
    "encyclopedia": "3b21db1dd7ab2ead4a31768c7ccb7b7f39fb7a0f384b1da62aa743e3d2402034",
}


def words_in_fives(text: str) -> set[tuple[str, ...]]:
    words = text.split()
    return set(zip(*(words[start:] for start in range(5)), strict=False))


def jaccard(one: set[tuple[str, ...]], other: set[tuple[str, ...]]) -> float:
    return len(one & other) / len(one | other)


def test_the_rows_are_the_same_on_every_machine(demo: Written) -> None:
    found = {source: sha256(b"\n".join(lines)).hexdigest() for source, lines in demo.lines.items()}
    assert found == GOLDEN


def test_the_same_call_writes_the_same_files(tmp_path: Path) -> None:
    one = write_corpus(tmp_path / "one", documents=400, seed=7)
    two = write_corpus(tmp_path / "two", documents=400, seed=7)
    other = write_corpus(tmp_path / "other", documents=400, seed=8)
    assert one.planted == two.planted != other.planted
    for source, path in one.files.items():
        assert path.read_bytes() == two.files[source].read_bytes() != other.files[source].read_bytes()


def test_the_size_is_that_of_a_demo(demo: Written) -> None:
    assert demo.corpus.documents == {"web-en": 2200, "web-vi": 1300, "encyclopedia": 500}
    size_bytes = sum(len(line) + 1 for lines in demo.lines.values() for line in lines)
    assert 8_000_000 < size_bytes < 12_000_000


def test_ids_end_in_the_number_of_the_row(demo: Written) -> None:
    for source, lines in demo.lines.items():
        assert len(lines) == demo.corpus.documents[source]
        for number, line in enumerate(lines):
            assert f'"{source}-{number:05d}"'.encode() in line


def test_every_source_holds_its_share_of_each_plant(demo: Written) -> None:
    for source in SOURCES:
        for kind, rows in demo.corpus.planted.items():
            found = [row for row in rows if row.startswith(f"{source.name}-")]
            assert len(found) == demo.corpus.documents[source.name] * source.planted.get(kind, 0) // 1000
    assert min(map(len, demo.corpus.planted.values())) > 0
    assert len({row for rows in demo.corpus.planted.values() for row in rows}) == sum(
        map(len, demo.corpus.planted.values())
    )


def test_broken_rows_are_broken_as_their_kind_says(demo: Written) -> None:
    for kind, rows in demo.corpus.planted.items():
        for row in set(rows) & demo.corpus.broken_rows:
            source, number = row.rsplit("-", 1)
            line = demo.lines[source][int(number)]
            if kind == "broken_json":
                with pytest.raises(json.JSONDecodeError):
                    json.loads(line.decode("utf-8", "replace"))
            else:
                values = json.loads(line)
                assert {"missing_text": "text" not in values, "null_text": values.get("text", 0) is None}.get(
                    kind, isinstance(values.get("text"), int)
                )


def test_no_source_breaks_more_rows_than_a_recipe_tolerates(demo: Written) -> None:
    for source, documents in demo.corpus.documents.items():
        broken = [row for row in demo.corpus.broken_rows if row.startswith(f"{source}-")]
        assert len(broken) < documents / 100


def test_exact_duplicates_are_the_rows_whose_cleaned_text_was_there_before(demo: Written) -> None:
    first: dict[str, str] = {}
    copies: dict[str, str] = {}
    for row, text in demo.texts.items():
        if isinstance(text, str) and first.setdefault(cleaned(text), row) != row:
            copies[row] = first[cleaned(text)]
    assert set(copies) == demo.corpus.exact_duplicates
    assert copies.items() <= demo.corpus.originals.items()
    assert any(copy.split("-")[0] != original.split("-")[0] for copy, original in copies.items())


def test_only_identical_duplicates_are_equal_before_cleaning(demo: Written) -> None:
    for kind in ("duplicate_identical", "duplicate_spaced"):
        for row in demo.corpus.planted[kind]:
            same = demo.texts[row] == demo.texts[demo.corpus.originals[row]]
            assert same == (kind == "duplicate_identical")


def test_near_duplicates_are_near_and_no_duplicates(demo: Written) -> None:
    for row in demo.corpus.planted["near_duplicate"]:
        text, original = demo.texts[row], demo.texts[demo.corpus.originals[row]]
        assert 0.75 < jaccard(words_in_fives(text), words_in_fives(original)) < 1


def test_pages_that_were_not_planted_have_little_in_common(demo: Written) -> None:
    shingles = [words_in_fives(text) for text in list(demo.plain.values())[::16]]
    assert len(shingles) > 200
    for place, one in enumerate(shingles):
        assert all(jaccard(one, other) < 0.5 for other in shingles[:place])


def test_damage_is_in_the_bytes_and_goes_with_cleaning(demo: Written) -> None:
    signs = {"lone_surrogate": (rb"\ud83d", rb"\udc4d"), "nul": (rb"\u0000",)}
    for kind in ("invalid_utf8", "lone_surrogate", "nul"):
        for row in demo.corpus.planted[kind]:
            source, number = row.rsplit("-", 1)
            line = demo.lines[source][int(number)]
            assert any(sign in line for sign in signs.get(kind, ())) or line.decode("utf-8", "ignore").encode() != line


def test_a_written_corpus_is_not_written_again(tmp_path: Path) -> None:
    first = prepare(tmp_path)
    times = {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    assert prepare(tmp_path) == first
    assert {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()} == times


def test_a_corpus_of_another_version_is_written_again(tmp_path: Path) -> None:
    manifest = tmp_path / MANIFEST
    manifest.write_text('{"made_by": {"generator": "an older one"}}')
    assert prepare(tmp_path).documents["web-en"] == 2200
    assert "an older one" not in manifest.read_text()


@pytest.mark.parametrize("documents", [0, 1, 91, 100, 250])
def test_a_corpus_may_be_small(tmp_path: Path, documents: int) -> None:
    corpus = write_corpus(tmp_path, documents=documents)
    assert sum(corpus.documents.values()) <= documents
    assert all(path.is_file() for path in corpus.files.values())


def test_the_command_says_what_it_wrote(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main([str(tmp_path), "--documents", "400"])
    printed = capsys.readouterr().out
    assert f"{tmp_path / 'web-en.jsonl'}: 220 rows" in printed
    assert "near_duplicate" in printed


def test_importing_the_generator_loads_nothing_heavy() -> None:
    code = "import gristmill.demo, sys; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"numpy", "pyarrow", "numba", "torch", "duckdb", "datasets", "pydantic"} & set(loaded)
