"""MinHash, the two steps between: which documents share a bucket's hashes, and which of a cluster go.

The files are datatrove's, byte for byte, and so are the clusters: pairs come in its order, and unions are made by size
as it makes them, for that decides who stays.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from datatrove.pipeline.dedup import minhash as theirs
from datatrove.utils.binaryio import seek_to_start

from gristmill.datatrove import stats
from gristmill.datatrove.merging import stretches
from gristmill.datatrove.minhash_documents import order_of, record_type

_INDEX = theirs.SENTINEL  # stands for the index in pairs


class _Range:
    """A file from one hash up to below another."""

    def __init__(self, file: Any, kind: np.dtype[Any], most: int) -> None:
        self._file, self._kind, self._most = file, kind, most

    def read(self, size: int) -> bytes:
        raw: bytes = self._file.read(size)
        first = np.frombuffer(raw, self._kind)["hashes"][:, 0]
        stop = int(np.searchsorted(first, first.dtype.type(self._most))) * self._kind.itemsize
        return raw[:stop]


class MinhashDedupBuckets(theirs.MinhashDedupBuckets):
    """The same pairs, a stretch of hashes at a time."""

    def run(self, data: Any = None, rank: int = 0, world_size: int = 1) -> None:
        """Writes the bucket's pairs, and its part of a new index."""
        assert data is None, "You should not use an input block before MinhashDedupBuckets"
        assert world_size % self.config.num_buckets == 0, "Number of tasks must be divisible by num_buckets"
        bucket, worker = divmod(rank, world_size // self.config.num_buckets)
        folder = f"bucket_{bucket:03d}"
        with self.track_time("bucket"):
            signatures = self.input_folder.list_files(subdirectory=folder)
            indexes = self._indexes(folder) if self.index_folder else []
            least, most = self.get_worker_hash_range(signatures, rank, world_size)
            index_file = None
            if self.index_folder and self.create_index_name:
                name = f"{folder}/{self.create_index_name}_{worker:02d}.minhash.index"
                index_file = self.index_folder.open(name, mode="wb")
            with self.output_folder.open(f"{bucket:05d}_{worker:02d}.dups", mode="wb") as pairs_file:
                for groups in self._sorted(signatures, indexes, least, most, index_file is not None):
                    pairs_file.write(self._pairs(*groups, bool(indexes)).tobytes())
                    if index_file is not None:
                        index_file.write(_firsts(*groups).tobytes())
            if index_file is not None:
                index_file.close()

    def _indexes(self, folder: str) -> list[str]:
        """Those that are there already; not this run's own, of which parts may be there."""
        own = f"{self.create_index_name}_"
        listed = self.index_folder.list_files(subdirectory=folder)
        return [
            name
            for name in listed
            if not (self.create_index_name and _is_part_of(Path(name).name.removesuffix(".minhash.index"), own))
        ]

    def _sorted(
        self, signatures: list[str], indexes: list[str], least: int, most: int, every_one: bool
    ) -> Iterator[tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]]]:
        """Hashes, files and documents in datatrove's order, the index's first among equals (as file -1); only those
        whose first hash another one has, too, unless `every_one` is wanted."""
        kinds = [record_type(self.config)] * len(signatures) + [record_type(self.config, False)] * len(indexes)
        opened = [
            *self.input_folder.open_files(signatures, mode="rb"),
            *(self.index_folder.open_files(indexes, mode="rb") if indexes else ()),
        ]
        letter = self.config.hash_config.struct_format
        for file, kind in zip(opened, kinds, strict=True):
            if file.size:
                lines = f"{self.config.hashes_per_bucket}{letter}{'I' if 'document' in (kind.names or ()) else ''}"
                seek_to_start(file, least, lines, letter)
        ranges = [_Range(file, kind, most) for file, kind in zip(opened, kinds, strict=True)]
        stems = [int(Path(name).name.removesuffix(".minhash.sig")) for name in signatures]
        try:
            for parts in stretches(ranges, kinds, lambda records: records["hashes"][:, 0]):
                hashes = np.concatenate([part["hashes"] for part in parts])
                lengths = [len(part) for part in parts]
                reader = np.repeat([*range(len(signatures)), *[-1] * len(indexes)], lengths)
                documents = [part["document"] for part in parts[: len(signatures)]]
                document = np.concatenate([*documents, np.zeros(sum(lengths[len(signatures) :]), np.uint32)])
                if not every_one:
                    shared = _shared(hashes[:, 0])
                    hashes, reader, document = hashes[shared], reader[shared], document[shared]
                order = order_of(hashes, reader, document)
                file = np.append(stems, _INDEX)[reader[order]]
                yield hashes[order], file, document[order]
        finally:
            for file in opened:
                file.close()

    def _pairs(
        self, hashes: npt.NDArray[Any], file: npt.NDArray[Any], document: npt.NDArray[Any], has_index: bool
    ) -> npt.NDArray[np.uint32]:
        """Each signature with the equal one before it."""
        of_index = file == _INDEX
        follows = np.zeros(len(file), np.bool_)
        follows[1:] = (hashes[1:] == hashes[:-1]).all(axis=1) & ~of_index[1:]
        after_index = follows.copy()
        after_index[1:] &= of_index[:-1]
        paired = after_index if has_index and self.only_dedup_in_index else follows
        stats.count(self, "index_match", int(after_index.sum()))
        stats.count(self, "total_matches", int(paired.sum()))
        second = np.flatnonzero(paired)
        ids = np.stack([file, np.where(of_index, _INDEX, document)], 1).astype(np.uint32)
        return np.concatenate([ids[second - 1], ids[second]], 1)


def _firsts(hashes: npt.NDArray[Any], file: npt.NDArray[Any], document: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The signatures that are in no index, each once."""
    new = np.ones(len(file), np.bool_)
    new[1:] = (hashes[1:] != hashes[:-1]).any(axis=1)
    new &= file != _INDEX
    firsts: npt.NDArray[Any] = hashes[new]
    return firsts


def _shared(keys: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Which keys are there more than once."""
    order = np.argsort(keys, kind="stable")
    same = np.append(False, keys[order][1:] == keys[order][:-1])
    shared = np.empty(len(keys), np.bool_)
    shared[order] = same | np.append(same[1:], False)
    return shared


def _is_part_of(stem: str, own: str) -> bool:
    rest = stem.removeprefix(own)
    return rest != stem and len(rest) == 2 and rest.isdigit()


class MinhashDedupCluster(theirs.MinhashDedupCluster):
    """The same clusters, united in compiled code."""

    def run(self, data: Any = None, _: int = 0, world_size: int = 1) -> None:
        """Writes for each task which of its documents go, and what was asked for of clusters."""
        files = self.input_folder.list_files(glob_pattern="*.dups")
        assert len(files) % self.config.num_buckets == 0, (
            "Number of .dups files should be divisible by number of buckets"
        )
        assert world_size == 1, "World size must be 1 for clustering"
        with self.track_time("corpus"):
            pairs = np.concatenate([np.zeros((0, 2), np.uint64), *(self._read(name) for name in files)])
            self._write(pairs)

    def _read(self, name: str) -> npt.NDArray[np.uint64]:
        """Pairs of (file << 32 | document)."""
        with self.input_folder.open(name, "rb") as file:
            numbers = np.frombuffer(file.read(), "<u4").astype(np.uint64).reshape(-1, 2, 2)
        pairs: npt.NDArray[np.uint64] = numbers[:, :, 0] << np.uint64(32) | numbers[:, :, 1]
        return pairs[pairs[:, 0] != _NODE_OF_INDEX] if self.ignore_index_matches else pairs

    def _write(self, pairs: npt.NDArray[np.uint64]) -> None:
        from gristmill.kernels.unions_by_size import unite

        nodes, ends = np.unique(pairs, return_inverse=True)
        of_index = len(nodes) - 1 if len(nodes) and nodes[-1] == _NODE_OF_INDEX else -1
        root, size = unite(ends.reshape(-1, 2), len(nodes), of_index)
        is_root = root == np.arange(len(nodes))
        stats.count(self, "duplicates", len(nodes))
        stats.count(self, "to_remove", int((~is_root).sum()))
        stats.add(self, "cluster_size", size[is_root].tolist(), "cluster")
        columns: dict[str, tuple[Any, Any]] = {"remove": (nodes[~is_root], None)}
        if self.save_cluster_id:
            _, first, cluster = np.unique(root, return_index=True, return_inverse=True)
            numbers = np.empty(len(first), np.int64)
            numbers[np.argsort(first)] = np.arange(len(first))
            stats.count(self, "clusters", len(first))
            columns["clusters"] = (nodes, numbers[cluster])
        if self.save_cluster_size:
            columns["sizes"] = (nodes, size[root])
        with self.output_folder.get_output_file_manager(mode="wb") as output:
            for ending, (of, values) in columns.items():
                for name, content in _by_file(of, values):
                    output.write(f"{name:06d}.{ending}", content)


_NODE_OF_INDEX = np.uint64(_INDEX << 32 | _INDEX)


def _by_file(nodes: npt.NDArray[np.uint64], values: npt.NDArray[Any] | None) -> Iterator[tuple[int, bytes]]:
    """For each file its documents, each followed by its value if there are any."""
    columns = [nodes.astype("<u4"), *([] if values is None else [values.astype("<u4")])]
    table = np.stack(columns, 1)
    names, first = np.unique(nodes >> np.uint64(32), return_index=True)
    for name, part in zip(names.tolist(), np.split(table, first[1:]), strict=True):
        yield name, part.tobytes()
