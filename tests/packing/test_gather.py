from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gristmill.errors import FormatError
from gristmill.formats.draw_plan import Draws
from gristmill.packing.books import count_tokens
from gristmill.packing.gather import gather, segments_of
from gristmill.packing.packers import PACKERS, Planned

PAD = 65_535


class Shards:
    """Token shards in memory, that remember which were opened. Ids count up through the source."""

    def __init__(self, name, shards, first_id=0):
        self.name = name
        self.first_document = np.cumsum([0, *(len(shard) for shard in shards)])
        self.opened = []
        self.let_go_of = []
        self._shards = []
        for lengths in shards:
            offsets = np.cumsum([0, *lengths]).astype(np.uint64)
            self._shards.append((offsets, np.arange(first_id, first_id + sum(lengths), dtype=np.uint16)))
            first_id += sum(lengths)

    def shard(self, number):
        self.opened.append(number)
        return self._shards[number]

    def let_go(self, number):
        self.let_go_of.append(number)

    def document(self, number):
        shard = int(np.searchsorted(self.first_document, number, side="right")) - 1
        offsets, ids = self._shards[shard]
        local = number - self.first_document[shard]
        return ids[int(offsets[local]) : int(offsets[local + 1])].tolist()


def planned_of(draws, sources, name, sequence_length):
    """A plan for (source, document) draws over these shards."""
    tokens = [len(sources[source].document(document)) for source, document in draws]
    columns = Draws(
        np.array([source for source, _ in draws], np.uint16),
        np.array([document for _, document in draws], np.uint64),
        np.array(tokens, np.uint32),
    )
    return Planned(columns, PACKERS[name].plan(columns.tokens, sequence_length))


shard_lengths = st.lists(st.lists(st.integers(0, 30), max_size=6), min_size=1, max_size=4).filter(lambda s: any(s))


@pytest.mark.parametrize("name", PACKERS)
@given(st.lists(shard_lengths, min_size=1, max_size=3), st.integers(1, 25), st.data())
def test_rows_hold_the_documents_that_were_drawn(name, lengths, sequence_length, data):
    sources = [Shards(f"s{i}", shards, first_id=10_000 * i) for i, shards in enumerate(lengths)]
    documents = [(s, d) for s, source in enumerate(sources) for d in range(source.first_document[-1])]
    draws = data.draw(st.lists(st.sampled_from(documents), max_size=30))
    planned = planned_of(draws, sources, name, sequence_length)
    rows = gather(planned, sources, PAD, np.uint16)

    bins, segments = planned.bins, segments_of(planned)
    assert rows.shape == (bins.rows, sequence_length)
    pieces = {}
    for row in range(bins.rows):
        parts = segments.of_row(row)
        ends = [*parts.start[1:].tolist(), int(bins.row_lengths()[row])]
        assert parts.start[0] == 0
        assert (rows[row, ends[-1] :] == PAD).all()
        for i, (begin, end) in enumerate(zip(parts.start.tolist(), ends, strict=True)):
            ids = rows[row, begin:end].tolist()
            token, source = int(parts.token[i]), int(parts.source[i])
            assert ids == sources[source].document(int(parts.document[i]))[token : token + end - begin]
            pieces[source] = pieces.get(source, 0) + len(ids)

    counts = count_tokens(planned, len(sources))
    assert counts.packed_tokens == tuple(pieces.get(i, 0) for i in range(len(sources)))
    drawn = [sum(len(sources[s].document(d)) for s, d in draws if s == i) for i in range(len(sources))]
    assert [p + c for p, c in zip(counts.packed_tokens, counts.cropped_tokens, strict=True)] == drawn
    assert sum(counts.packed_tokens) + counts.padding_tokens == rows.size
    assert (counts.rows, counts.segments) == (bins.rows, len(segments.start))
    assert all(source.opened == sorted(set(source.opened)) for source in sources)  # each shard once, in order
    assert all(source.let_go_of == source.opened for source in sources)


def test_thirty_two_bit_ids():
    source = Shards("wide", [[3, 2]])
    source._shards = [(offsets, ids.astype(np.uint32) + 70_000) for offsets, ids in source._shards]
    rows = gather(planned_of([(0, 1), (0, 0)], [source], "wrapped", 5), [source], 0, np.uint32)
    assert rows.tolist() == [[70_003, 70_004, 70_000, 70_001, 70_002]]


@pytest.mark.parametrize(
    ("spoil", "found"),
    [
        (lambda offsets, ids: (offsets, ids.astype(np.uint32)), "ids of uint32 where the rows have uint16"),
        (lambda offsets, ids: (offsets[:-1], ids), "1 documents, not the number 1"),
        (lambda offsets, ids: (offsets, ids[:-1]), "4 ids where its documents need 5"),
        (lambda offsets, ids: (offsets - np.array([0, 1, 1], np.uint64), ids), "fewer than 3 tokens in document 0"),
    ],
)
def test_a_shard_that_does_not_fit_the_plan(spoil, found):
    source = Shards("web", [[3, 2]])
    planned = planned_of([(0, 1), (0, 0)], [source], "best_fit", 5)
    source._shards = [spoil(*shard) for shard in source._shards]
    with pytest.raises(FormatError) as caught:
        gather(planned, [source], 0, np.uint16)
    assert found in str(caught.value) and "source `web`, shard 0" in str(caught.value)
