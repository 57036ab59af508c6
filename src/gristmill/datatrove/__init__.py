"""datatrove's blocks, as datatrove has them, at the speed of compiled loops: change the import, and nothing else.

    from gristmill.datatrove import GopherQualityFilter, JsonlReader, MinhashDedupSignature

What enters and leaves is what enters and leaves datatrove's block of that name: constructor, place in a pipeline,
files, stats, exclusion writers. Each class here is a subclass of datatrove's own; it only works in batches. Where a
batch cannot be had (a language or a normal form that no kernel knows), it works as its parent does.
docs/datatrove.md has the table.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

try:
    import datatrove.pipeline.base  # noqa: F401
except ImportError as error:
    raise ImportError(
        f"expected datatrove, whose blocks these stand in for, found it is not installed ({error})\n"
        "  Run `pip install 'gristmill[datatrove]'`."
    ) from error

if TYPE_CHECKING:
    from datatrove.pipeline.dedup.minhash import MinhashBuildIndex, MinhashConfig
    from datatrove.pipeline.dedup.sentence_dedup import SentDedupConfig, SentenceDedupBuildIndex
    from datatrove.pipeline.filters import LambdaFilter, UnigramLogProbFilter

    from gristmill.datatrove.c4 import C4BadWordsFilter, C4ParagraphFilter, C4QualityFilter
    from gristmill.datatrove.fasttext import FastTextClassifierFilter, LanguageFilter
    from gristmill.datatrove.jsonl import JsonlReader, JsonlWriter
    from gristmill.datatrove.minhash_buckets import MinhashDedupBuckets, MinhashDedupCluster
    from gristmill.datatrove.minhash_documents import MinhashDedupFilter, MinhashDedupSignature
    from gristmill.datatrove.quality import FineWebQualityFilter, GopherQualityFilter, GopherRepetitionFilter
    from gristmill.datatrove.selection import RegexFilter, SamplerFilter, URLFilter
    from gristmill.datatrove.sentences import SentenceDedupFilter, SentenceDedupSignature, SentenceFindDedups
    from gristmill.datatrove.tokenizer import DocumentTokenizer

# Names resolve lazily: a worker loads what its task needs. Those of datatrove's own stand for themselves.
_HOMES = {
    **dict.fromkeys(["C4BadWordsFilter", "C4ParagraphFilter", "C4QualityFilter"], "gristmill.datatrove.c4"),
    **dict.fromkeys(["FastTextClassifierFilter", "LanguageFilter"], "gristmill.datatrove.fasttext"),
    **dict.fromkeys(["JsonlReader", "JsonlWriter"], "gristmill.datatrove.jsonl"),
    **dict.fromkeys(["MinhashDedupBuckets", "MinhashDedupCluster"], "gristmill.datatrove.minhash_buckets"),
    **dict.fromkeys(["MinhashDedupFilter", "MinhashDedupSignature"], "gristmill.datatrove.minhash_documents"),
    **dict.fromkeys(
        ["FineWebQualityFilter", "GopherQualityFilter", "GopherRepetitionFilter"], "gristmill.datatrove.quality"
    ),
    **dict.fromkeys(["RegexFilter", "SamplerFilter", "URLFilter"], "gristmill.datatrove.selection"),
    **dict.fromkeys(
        ["SentenceDedupFilter", "SentenceDedupSignature", "SentenceFindDedups"], "gristmill.datatrove.sentences"
    ),
    "DocumentTokenizer": "gristmill.datatrove.tokenizer",
    **dict.fromkeys(["MinhashBuildIndex", "MinhashConfig"], "datatrove.pipeline.dedup.minhash"),
    **dict.fromkeys(["SentDedupConfig", "SentenceDedupBuildIndex"], "datatrove.pipeline.dedup.sentence_dedup"),
    **dict.fromkeys(["LambdaFilter", "UnigramLogProbFilter"], "datatrove.pipeline.filters"),
}

__all__ = [
    "C4BadWordsFilter",
    "C4ParagraphFilter",
    "C4QualityFilter",
    "DocumentTokenizer",
    "FastTextClassifierFilter",
    "FineWebQualityFilter",
    "GopherQualityFilter",
    "GopherRepetitionFilter",
    "JsonlReader",
    "JsonlWriter",
    "LambdaFilter",
    "LanguageFilter",
    "MinhashBuildIndex",
    "MinhashConfig",
    "MinhashDedupBuckets",
    "MinhashDedupCluster",
    "MinhashDedupFilter",
    "MinhashDedupSignature",
    "RegexFilter",
    "SamplerFilter",
    "SentDedupConfig",
    "SentenceDedupBuildIndex",
    "SentenceDedupFilter",
    "SentenceDedupSignature",
    "SentenceFindDedups",
    "URLFilter",
    "UnigramLogProbFilter",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}; blocks: {', '.join(sorted(_HOMES))}")
    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__
