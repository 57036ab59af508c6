"""The demo corpus: enters a folder, leaves three files in it and the list of everything that was planted.

A text is a pure function of seed, source and row number, and so is the place of every plant: the same call
gives the same rows on every machine. The share of each plant does not depend on the size of the corpus.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from gristmill.demo.grammar import Draw, between, choose, stream
from gristmill.demo.language import Language, language
from gristmill.demo.pages import article, length_in_words, web_page
from gristmill.demo.plants import COPIES, DAMAGED, EXACT_DUPLICATES, PAGES
from gristmill.demo.rows import BROKEN, Row, write_jsonl, write_jsonl_gz, write_parquet


@dataclass(frozen=True)
class Source:
    """One file of the corpus. Shares are per thousand: of the corpus, and of the source's rows by kind of plant."""

    name: str
    file: str
    write: Callable[[Path, Iterable[Row]], None]
    text: Callable[[Language, int, Draw], str]
    languages: tuple[str, ...]  # each as likely as the others
    share: int
    copies_from: tuple[str, ...]  # this source or earlier ones
    planted: Mapping[str, int]


_WEB_PLANTS = {
    "duplicate_identical": 20,
    "duplicate_spaced": 8,
    "duplicate_dirty": 6,
    "near_duplicate": 30,
    "spam": 25,
    "boilerplate": 25,
    "repetition": 15,
    "too_short": 30,
    "invalid_utf8": 5,
    "lone_surrogate": 3,
    "nul": 3,
    "broken_json": 2,  # the broken rows of a source stay below the 1 % that a recipe tolerates by default
    "missing_text": 1,
    "null_text": 2,
    "number_text": 1,
}
_ENCYCLOPEDIA_PLANTS = {"duplicate_identical": 40, "near_duplicate": 30, "too_short": 20, "null_text": 4}

SOURCES = (
    Source("web-en", "web-en.jsonl", write_jsonl, web_page, ("english",), 550, ("web-en",), _WEB_PLANTS),
    Source("web-vi", "web-vi.jsonl.gz", write_jsonl_gz, web_page, ("vietnamese",), 325, ("web-vi",), _WEB_PLANTS),
    Source(
        "encyclopedia",
        "encyclopedia.parquet",
        write_parquet,
        article,
        ("english", "english", "vietnamese"),
        125,
        ("web-en", "web-vi", "encyclopedia"),
        _ENCYCLOPEDIA_PLANTS,
    ),
)

DOCUMENTS = 4000
SEED = 1
PLAIN = "plain"

# An original is long enough that two changed words leave a near duplicate, and that no length filter takes it.
_ORIGINAL_WORDS = (150, 1500)
_TRIES = 100


@dataclass(frozen=True)
class DemoCorpus:
    """What was written. Ids end in the number of the row in its file, broken rows counted."""

    files: dict[str, Path]  # by source, in the order in which duplicates are judged
    documents: dict[str, int]  # rows, by source
    planted: dict[str, tuple[str, ...]]  # ids, by kind
    originals: dict[str, str]  # of each exact and near duplicate, the id of the row before it that it copies

    @property
    def exact_duplicates(self) -> set[str]:
        """The rows whose cleaned text is that of an earlier row."""
        return {copy for kind in EXACT_DUPLICATES for copy in self.planted[kind]}

    @property
    def broken_rows(self) -> set[str]:
        """The rows that hold no text."""
        return {broken for kind in BROKEN for broken in self.planted[kind]}


def generate(folder: Path, documents: int, seed: int) -> DemoCorpus:
    """Write the files of a corpus of about so many rows, and say what is hidden in them."""
    plan = _Plan(documents, seed)
    files = {source.name: folder / source.file for source in SOURCES}
    for source in SOURCES:
        source.write(files[source.name], plan.rows(source))
    planted: dict[str, list[str]] = {kind: [] for kind in (*PAGES, *COPIES, *DAMAGED, *BROKEN)}
    for source in SOURCES:
        for row, kind in sorted(plan.kinds[source.name].items()):
            planted[kind].append(row_id(source, row))
    return DemoCorpus(
        files=files,
        documents=plan.documents,
        planted={kind: tuple(ids) for kind, ids in planted.items()},
        originals=plan.originals,
    )


def row_id(source: Source, row: int) -> str:
    """The `id` of a row."""
    return f"{source.name}-{row:05d}"


class _Plan:
    """Which row is what. `kinds` holds the planted rows of each source; all others are plain pages."""

    def __init__(self, documents: int, seed: int) -> None:
        self.seed = seed
        self.documents = {source.name: documents * source.share // 1000 for source in SOURCES}
        self.kinds = {source.name: self._kinds(source) for source in SOURCES}
        self.originals: dict[str, str] = {}

    def rows(self, source: Source) -> Iterator[Row]:
        """The rows of a source, in order."""
        kinds = self.kinds[source.name]
        for row in range(self.documents[source.name]):
            kind = kinds.get(row, PLAIN)
            draw = stream(self.seed, source.name, row, "row")
            yield Row(
                id=row_id(source, row),
                url=self._url(source, row),
                text=self._text(source, row, kind, draw),
                broken=kind if kind in BROKEN else None,
            )

    def _kinds(self, source: Source) -> dict[int, str]:
        """Copies come after the first tenth of their source, so that there is something to copy."""
        documents = self.documents[source.name]
        draw = stream(self.seed, source.name, "plan")
        free = list(range(documents))
        kinds: dict[int, str] = {}
        for kind, share in source.planted.items():
            candidates = [row for row in free if kind not in COPIES or row >= documents // 10]
            for _ in range(documents * share // 1000):
                kinds[candidates.pop(int(draw() * len(candidates)))] = kind
            free = [row for row in free if row not in kinds]
        return kinds

    def _text(self, source: Source, row: int, kind: str, draw: Draw) -> str:
        if kind in PAGES:
            return PAGES[kind](self._language(source, row), draw)
        if kind in DAMAGED:
            return DAMAGED[kind](self._plain(source, row), draw)
        if kind in COPIES:
            origin, original, text = self._original(source, row, draw)
            self.originals[row_id(source, row)] = row_id(origin, original)
            return COPIES[kind](text, self._language(origin, original), draw)
        return self._plain(source, row)

    def _plain(self, source: Source, row: int) -> str:
        draw = stream(self.seed, source.name, row)
        return source.text(self._language(source, row), length_in_words(draw), draw)

    def _language(self, source: Source, row: int) -> Language:
        return language(choose(source.languages, stream(self.seed, source.name, row, "language")))

    def _url(self, source: Source, row: int) -> str:
        draw = stream(self.seed, source.name, row, "url")
        host = self._language(source, row).topic(draw).write("host", draw).lower()
        return f"https://{host}/{between(1998, 2024, draw)}/{row}"

    def _original(self, source: Source, row: int, draw: Draw) -> tuple[Source, int, str]:
        """A plain page before this row, of a fitting length, and its text."""
        origins = [origin for origin in SOURCES if origin.name in source.copies_from]
        for _ in range(_TRIES):
            origin = choose(origins, draw)
            before = row if origin is source else self.documents[origin.name]
            candidate = between(0, before - 1, draw)
            if candidate in self.kinds[origin.name]:
                continue
            text = self._plain(origin, candidate)
            if _ORIGINAL_WORDS[0] <= text.count(" ") <= _ORIGINAL_WORDS[1]:
                return origin, candidate, text
        raise ValueError(f"expected a page to copy before row {row} of {source.name}, found none; write more documents")
