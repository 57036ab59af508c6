"""Near duplicates: documents whose sets of word n-grams overlap, found by MinHash and buckets.

What enters: texts. What leaves: a 64-bit hash a bucket. Documents that share one are a pair; pairs that hang together
are a cluster, of which one document stays. The sets are datatrove's (MinhashDedupSignature with its defaults): its
text form, its words, its n-grams; the hash functions are our own. Two different buckets among a billion documents
share a hash by chance with a probability of 3 %.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import pyarrow as pa

from gristmill.dedup.curve import midpoint, parameters_for
from gristmill.dedup.remembered import check_index
from gristmill.dedup.survivor import check_survivor, rank_column
from gristmill.document import buffers

_DEFAULT_BUCKETS, _DEFAULT_HASHES = 14, 8
_MOST_HASHES = 4096


@dataclass(frozen=True)
class MinHash:
    """Keeps one of each cluster of similar documents; which is `survivor`'s to say.

    Say `buckets` and `hashes_per_bucket` (14 and 8 by default: half of the pairs of similarity 0.69 are found, 92 % at
    0.8), or the `similarity` that documents shall have, from which they are chosen. `confirm` compares candidates by
    their true similarity: true asks for `similarity` (or what is found half of the time), a number for itself.
    Documents of fewer than `ngram` words are kept. With `index`, a folder, documents go that are like ones that earlier
    runs kept; with `confirm` too, it keeps their sets of n-grams to compare with.
    """

    NAME: ClassVar[str] = "minhash"
    VERSION: ClassVar[int] = 1

    ngram: int = 5
    buckets: int | None = None
    hashes_per_bucket: int | None = None
    similarity: float | None = None
    confirm: bool | float = False
    survivor: Any = "lowest"
    index: Any = None

    def __post_init__(self) -> None:
        for name in ("ngram", "buckets", "hashes_per_bucket"):
            value = getattr(self, name)
            if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 1):
                raise ValueError(f"expected {name} from 1, found {value!r}")
        if self.similarity is not None:
            if self.buckets is not None or self.hashes_per_bucket is not None:
                raise ValueError("expected either `similarity`, or `buckets` and `hashes_per_bucket`, found both")
            _check_ratio("similarity", self.similarity)
        if not isinstance(self.confirm, bool):
            _check_ratio("confirm", self.confirm)
        buckets, hashes = self.shape()
        if buckets * hashes > _MOST_HASHES:
            raise ValueError(f"expected at most {_MOST_HASHES:,} hashes in all, found {buckets} x {hashes}")
        check_survivor(self.survivor)
        check_index(self.index)

    def shape(self) -> tuple[int, int]:
        """(buckets, hashes per bucket)."""
        if self.similarity is not None:
            return parameters_for(self.similarity)
        return self.buckets or _DEFAULT_BUCKETS, self.hashes_per_bucket or _DEFAULT_HASHES

    def least_similarity(self) -> float | None:
        """What candidates have to have in common, if they are compared."""
        if self.confirm is False:
            return None
        if self.confirm is True:
            return self.similarity if self.similarity is not None else midpoint(*self.shape())
        return float(self.confirm)

    def rank_column(self) -> str | None:
        """The metadata column that decides who stays."""
        return rank_column(self.survivor)

    def sketching(self) -> Mapping[str, Any]:
        """The parameters that sketches depend on."""
        buckets, hashes = self.shape()
        return {"ngram": self.ngram, "buckets": buckets, "hashes_per_bucket": hashes, "rank": self.rank_column()}

    def sketch(self, texts: Any) -> dict[str, Any]:
        """One column a bucket; null for documents without n-grams."""
        from gristmill.kernels.minhash import sign

        hashes, without = sign(_words(texts), self.ngram, *self.shape())
        return {
            f"minhash.{band}": pa.array(column, mask=without)
            for [band], column in zip(self.bands(), hashes, strict=True)
        }

    def shingle_sets(self, texts: Any) -> tuple[Any, Any]:
        """Each document's set of n-grams: offsets, and 64-bit hashes that ascend within a document."""
        from gristmill.kernels.minhash import shingle_sets

        return shingle_sets(_words(texts), self.ngram)

    def bands(self) -> list[list[str]]:
        """The columns of each hash: documents are duplicates that share any."""
        return [[f"bucket_{bucket:03}"] for bucket in range(self.shape()[0])]


def _words(texts: Any) -> Any:
    from gristmill.kernels.folding import SIMPLE, fold
    from gristmill.kernels.words import split_words

    return split_words(*fold(*buffers(texts), SIMPLE))


def _check_ratio(name: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value <= 1:
        raise ValueError(f"expected {name} above 0 and up to 1, found {value!r}")
