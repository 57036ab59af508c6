"""The judge: Hugging Face's `tokenizers`, whose ids are right by definition.

Enters: texts. Leaves: the ids that `tokenizers` gives them. It checks gigatoken on samples, takes the documents
that gigatoken may see differently, and takes all where gigatoken cannot serve. One core gives 2 to 5 MB/s.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gristmill.tokens.tokenizer import TokenizerSpec

Ids = npt.NDArray[np.uint32]


@dataclass(frozen=True)
class Affixes:
    """The ids that the post-processor puts before and after every text."""

    prefix: list[int]
    suffix: list[int]


class Reference:
    """`tokenizers` with the spec's policy, on the calling thread."""

    def __init__(self, spec: TokenizerSpec) -> None:
        from tokenizers import Tokenizer

        # Parallelism is by process here; whoever wants its threads sets this before.
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
        self._tokenizer: Any = Tokenizer.from_str(spec.json_text)
        self._spec = spec
        self.affixes = self._find_affixes()
        self._closes_with_eos = self._ids(["a"], special_tokens=spec.special_tokens)[0][-1:] == [spec.eos_id]

    @property
    def eos_suffix(self) -> list[int]:
        """What `append_eos` still has to add: nothing where the post-processor already closes with EOS, unless
        it is to be there twice."""
        if not self._spec.append_eos or (self._closes_with_eos and self._spec.append_eos != "always"):
            return []
        assert self._spec.eos_id is not None, "a spec that appends EOS knows its id"
        return [self._spec.eos_id]

    @property
    def added_tokens(self) -> list[str]:
        """The tokens that are matched before the text is split, by id."""
        return [token.content for _, token in sorted(self._tokenizer.get_added_tokens_decoder().items())]

    def content(self, texts: Sequence[str]) -> list[Ids]:
        """The ids of each text alone."""
        return [np.array(ids, np.uint32) for ids in self._ids(texts, special_tokens=False)]

    def documents(self, texts: Sequence[str]) -> list[Ids]:
        """The ids of each text with everything the policy adds."""
        eos = self.eos_suffix
        ids_of_texts = self._ids(texts, special_tokens=self._spec.special_tokens)
        return [np.array(ids + eos, np.uint32) for ids in ids_of_texts]

    def decode(self, ids: npt.ArrayLike) -> str:
        """The text behind ids, special tokens spelled out."""
        decoded: str = self._tokenizer.decode(np.asarray(ids).tolist(), skip_special_tokens=False)
        return decoded

    def _ids(self, texts: Sequence[str], *, special_tokens: bool) -> list[list[int]]:
        encodings = self._tokenizer.encode_batch_fast(list(texts), add_special_tokens=special_tokens)
        return [encoding.ids for encoding in encodings]

    def _find_affixes(self) -> Affixes | None:
        """Found by looking, so every post-processor is covered; None where it does more than surround."""
        if not self._spec.special_tokens:
            return Affixes([], [])
        for text in ("a", "0", " ", "\n"):
            [bare], [full] = self._ids([text], special_tokens=False), self._ids([text], special_tokens=True)
            for start in range(len(full) - len(bare) + 1) if bare else ():
                if full[start : start + len(bare)] == bare:
                    return Affixes(full[:start], full[start + len(bare) :])
        return None
