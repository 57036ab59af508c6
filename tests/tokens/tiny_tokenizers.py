"""What the tokenizers of these tests are made of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gristmill.tokens.tokenizer import TokenizerSpec

SENTENCES = [
    "The mill grinds slowly, but it grinds exceedingly fine. The miller's daughter doesn't mind.",
    "Cối xay nghiền chậm, nhưng nghiền rất mịn. Người thợ xay không phiền.",
    "for grain in range(10):\n    print(grain, grain ** 2)\n",
    "In 1843, 12 mills stood here; in 1901 only 3 were left (see page 4).",
] * 5

KINDS = ["byte_level", "surrounded", "sentencepiece", "wide", "unsupported"]  # fixtures of conftest.py

Json = dict[str, Any]
MakeSpec = Callable[..., TokenizerSpec]


def added(content: str, token_id: int, **flags: bool) -> Json:
    """An entry of `added_tokens`."""
    plain = dict.fromkeys(["single_word", "lstrip", "rstrip", "normalized", "special"], False)
    return {"id": token_id, "content": content, **plain, "special": True, **flags}


def surrounding(before: list[str], after: list[str], ids: dict[str, int]) -> Json:
    """A post-processor that puts tokens around every text."""

    def named(names: list[str]) -> list[Json]:
        return [{"SpecialToken": {"id": name, "type_id": 0}} for name in names]

    single = [*named(before), {"Sequence": {"id": "A", "type_id": 0}}, *named(after)]
    tokens = {name: {"id": name, "ids": [ids[name]], "tokens": [name]} for name in before + after}
    pair = [*single, {"Sequence": {"id": "B", "type_id": 1}}]
    return {"type": "TemplateProcessing", "single": single, "pair": pair, "special_tokens": tokens}


def with_far_token(tokenizer: Json, token_id: int) -> Json:
    """With one more added token, of any id. `tokenizers` numbers it anew unless the model has it too."""
    model = tokenizer["model"] | {"vocab": tokenizer["model"]["vocab"] | {"<|far|>": token_id}}
    return tokenizer | {"model": model, "added_tokens": [*tokenizer["added_tokens"], added("<|far|>", token_id)]}
