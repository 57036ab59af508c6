"""datatrove's DocumentTokenizer: the same files, the ids by gigatoken (checked against `tokenizers` as it goes)."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from datatrove.pipeline.tokens import tokenizer as theirs
from datatrove.utils.logging import logger

from gristmill.datatrove import stats
from gristmill.datatrove.batches import batches, column_of

if TYPE_CHECKING:
    from gristmill.tokens.tokenizer import TokenizerSpec

_UNFOLLOWED = ("truncation", "padding")  # what our encoder never does, and `tokenizers` does where a file asks for it


class DocumentTokenizer(theirs.DocumentTokenizer):
    """Writes .ds files, their indexes, loss masks and metadata as datatrove does, shuffled by the same seed."""

    def write_unshuffled(self, data: Iterable[Any], filename: str) -> Any:
        """The documents in their order, a batch at a time."""
        from gristmill.tokens.encode import encoder

        spec = self._spec()
        if spec is None:
            return super().write_unshuffled(data, filename)
        shuffles = self.shuffle_documents or self.shuffle_chunk_size
        output = theirs.TokenizedFile(
            self.local_working_dir if shuffles and self.local_working_dir else self.output_folder,
            filename,
            save_index=self.save_index or shuffles,
            save_loss_metadata=self.save_loss_metadata,
            upload_block_size=self.upload_block_size,
            tokenizer_name_or_path=self.tokenizer_name_or_path,
            save_final_metadata=self.save_final_metadata,
            token_size=self.token_size,
        )
        own, is_first = encoder(spec), True
        for batch in batches(data):
            with self.track_time("batch"):
                texts = column_of([document.text for document in batch])
                if texts is None:
                    raise ValueError("expected texts that UTF-8 can hold, found a lone surrogate: clean them before")
                if is_first:
                    own.check(texts)
                    is_first = False
                encoded = own.encode(texts)
                self._write(output, batch, encoded.offsets, encoded.ids)
        output.close()
        return output

    def _write(self, output: Any, batch: list[Any], offsets: npt.NDArray[np.int64], ids: npt.NDArray[Any]) -> None:
        masks = self._masks(batch, offsets) if self.save_loss_metadata else None
        if masks is not None:
            lengths = [len(mask) for mask in masks]
            if lengths != np.diff(offsets).tolist():  # what is behind the last range without loss goes
                ids = np.concatenate([ids[at : at + n] for at, n in zip(offsets.tolist(), lengths, strict=False)])
                offsets = np.append(0, np.cumsum(lengths))
            output.write_loss_bytes(np.concatenate(masks).astype(np.bool_).tobytes())
        kind = f"<u{self.token_size}"
        if ids.max(initial=0) > np.iinfo(kind).max:
            raise ValueError(f"expected ids of {self.token_size} bytes, found {ids.max()}: the vocabulary has gaps")
        output.write_bytes(ids.astype(kind, copy=False).tobytes(), doc_ends=offsets[1:].tolist())
        stats.add(self, "tokens", np.diff(offsets).tolist())

    def _masks(self, batch: list[Any], offsets: npt.NDArray[np.int64]) -> list[npt.NDArray[Any]]:
        masks = []
        for document, (start, stop) in zip(batch, pairwise(offsets.tolist()), strict=True):
            if document.metadata.get("no_loss_ranges"):  # only `tokenizers` knows which characters a token has
                masks.append(self.get_loss_values(document, self.tokenizer.encode(document.text)))
            else:
                masks.append(np.ones(stop - start))
        return masks

    def _spec(self) -> TokenizerSpec | None:
        """The tokenizer as datatrove sets it up; None where it cuts or fills texts."""
        spec = _spec_of(self.tokenizer.to_str(), str(self.tokenizer_name_or_path))
        if spec is None:
            asks = " or ".join(_UNFOLLOWED)
            logger.warning(f"`tokenizers` encodes, as in datatrove, because the tokenizer.json asks for {asks}")
        return spec


@lru_cache(maxsize=2)
def _spec_of(content: str, origin: str) -> TokenizerSpec | None:
    from gristmill.tokens.tokenizer import from_json

    parsed = json.loads(content)
    if any(parsed.get(name) is not None for name in _UNFOLLOWED):
        return None
    return from_json(content, append_eos=False, special_tokens=True, origin=origin)
