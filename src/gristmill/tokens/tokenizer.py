"""Which tokenizer a run uses, and its policy: what `tokenizer:` in a recipe becomes.

Enters: a tokenizer.json, a folder that holds one, or a Hub id. Leaves: a `TokenizerSpec`, which is plain data:
it pickles, it never changes, and two specs with one fingerprint give the same ids for every text.
Guaranteed: whatever truncation or padding the file asks for is off, so no text is ever cut short.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from gristmill.errors import TokenizerError, unknown_name

# Tried in this order when neither the recipe nor the tokenizer's own files name the end-of-sequence token.
# A base model's document end comes before a chat model's turn end: Llama 3 has both.
WELL_KNOWN_EOS = (
    "<|endoftext|>",
    "</s>",
    "<|end_of_text|>",
    "<eos>",
    "<｜end▁of▁sentence｜>",
    "[EOS]",
    "<|eot_id|>",
    "<|im_end|>",
)

_EOS_FILES = ("tokenizer_config.json", "special_tokens_map.json")
_HUB_ID = re.compile(r"[\w-][\w.-]*(/[\w-][\w.-]*)?")
_LARGEST_16_BIT_VOCABULARY = 1 << 16


@dataclass(frozen=True)
class TokenizerSpec:
    """A tokenizer and its policy. Make one with `load` or `from_json`."""

    json_text: str = field(repr=False, compare=False)  # tokenizer.json without truncation and padding
    append_eos: bool | Literal["always"]  # every document ends with `eos_id`; always: with one more than it had
    special_tokens: bool  # add what the tokenizer's own post-processor adds, e.g. a BOS
    eos_token: str | None
    eos_id: int | None
    vocab_size: int  # the largest id + 1, added tokens included
    fingerprint: str  # SHA-256 of everything that decides ids

    @property
    def bytes_per_id(self) -> int:
        """2 where every id fits in 16 bits, else 4."""
        return 2 if self.vocab_size <= _LARGEST_16_BIT_VOCABULARY else 4

    @property
    def pad_id(self) -> int:
        """What fills the end of a row: the EOS, as labels there are ignored; 0 for a tokenizer without one."""
        return 0 if self.eos_id is None else self.eos_id


def load(
    source: str | os.PathLike[str],
    *,
    append_eos: bool | Literal["always"],
    special_tokens: bool,
    eos_token: str | None = None,
) -> TokenizerSpec:
    """The spec of a tokenizer.json file, of a folder that holds one, or of a repository on the Hugging Face Hub.

    The end-of-sequence token is `eos_token`, else what tokenizer_config.json or special_tokens_map.json beside
    tokenizer.json says, else the first of WELL_KNOWN_EOS that the tokenizer has among its added tokens.
    """
    read = _reader(source)
    content = read("tokenizer.json")
    assert content is not None, "a reader gives tokenizer.json or raises"
    return from_json(
        content,
        append_eos=append_eos,
        special_tokens=special_tokens,
        eos_token=eos_token or _eos_in(_side_files(read)),
        origin=str(source),
    )


def from_json(
    content: str | bytes,
    *,
    append_eos: bool | Literal["always"],
    special_tokens: bool,
    eos_token: str | None = None,
    origin: str = "the given text",
) -> TokenizerSpec:
    """The spec of the contents of a tokenizer.json; `origin` says in error messages where they came from."""
    json_text, parsed = _untruncated(content, origin)
    tokenizer = _tokenizer(json_text, origin)
    eos_id = None
    if eos_token is None:
        added = {token.content for token in tokenizer.get_added_tokens_decoder().values()}
        eos_token = next((name for name in WELL_KNOWN_EOS if name in added), None)
    if eos_token is not None:
        eos_id = tokenizer.token_to_id(eos_token)
    if append_eos and eos_id is None:
        raise TokenizerError(_no_eos(tokenizer, eos_token, origin))
    policy = {"append_eos": eos_id if append_eos else None, "special_tokens": special_tokens}
    if append_eos == "always":
        policy["eos"] = "always"
    canonical = json.dumps([parsed, policy], sort_keys=True, separators=(",", ":"))
    return TokenizerSpec(
        json_text=json_text,
        append_eos=append_eos,
        special_tokens=special_tokens,
        eos_token=eos_token if eos_id is not None else None,
        eos_id=eos_id,
        vocab_size=max(tokenizer.get_vocab(with_added_tokens=True).values(), default=-1) + 1,
        fingerprint=hashlib.sha256(canonical.encode()).hexdigest(),
    )


def _untruncated(content: str | bytes, origin: str) -> tuple[str, dict[str, Any]]:
    """The contents as text and parsed, with truncation and padding off."""
    try:
        text = content if isinstance(content, str) else content.decode("utf-8-sig")
        parsed = json.loads(text)
    except ValueError as error:
        raise TokenizerError(
            f"expected the JSON of a tokenizer.json, found something else ({error}): {origin}\n"
            "  A SentencePiece or tiktoken model has to be converted first: load it with `transformers` and "
            "`save_pretrained` it."
        ) from error
    if not isinstance(parsed, dict) or not isinstance(parsed.get("model"), dict):
        raise TokenizerError(
            f"expected a tokenizer.json with a `model`, found other JSON: {origin}\n"
            "  Name the tokenizer.json itself, not tokenizer_config.json or vocab.json."
        )
    if parsed["model"].get("dropout"):
        raise TokenizerError(
            f"expected a tokenizer that gives one answer, found BPE dropout {parsed['model']['dropout']}: {origin}\n"
            '  Set `"dropout": null` in its model to tokenize training data.'
        )
    if parsed.get("truncation") is not None or parsed.get("padding") is not None:
        parsed |= {"truncation": None, "padding": None}
        text = json.dumps(parsed)
    return text, parsed


def _tokenizer(json_text: str, origin: str) -> Any:
    import tokenizers

    try:
        return tokenizers.Tokenizer.from_str(json_text)
    except Exception as error:
        raise TokenizerError(
            f"expected a tokenizer.json that `tokenizers` {tokenizers.__version__} can load, "
            f"found one that it cannot ({error}): {origin}"
        ) from error


def _no_eos(tokenizer: Any, eos_token: str | None, origin: str) -> str:
    added = [token.content for token in tokenizer.get_added_tokens_decoder().values()]
    if eos_token is not None:
        return f"{unknown_name('end-of-sequence token', eos_token, added)}\n  Asked for with: {origin}"
    return (
        f"expected an end-of-sequence token, found none of {', '.join(WELL_KNOWN_EOS)}: {origin}\n"
        f"  Name one with `eos_token` (added tokens: {', '.join(added[:20]) or 'none'}), "
        "or set `append_eos: false`."
    )


# A reader gives the bytes of one of the tokenizer's files, or None where there is no such file.
_Reader = Callable[[str], "bytes | None"]


@dataclass(frozen=True)
class Declared:
    """What the files beside a tokenizer.json say."""

    files: dict[str, bytes]  # those that are there, by name
    eos_token: str | None


def declared(source: str | os.PathLike[str]) -> Declared:
    """What is declared of a tokenizer beside its tokenizer.json."""
    found = _side_files(_reader(source))
    return Declared(found, _eos_in(found))


def _side_files(read: _Reader) -> dict[str, bytes]:
    contents = {name: read(name) for name in _EOS_FILES}
    return {name: content for name, content in contents.items() if content is not None}


def _eos_in(side_files: Mapping[str, bytes]) -> str | None:
    for content in side_files.values():
        try:
            named = json.loads(content).get("eos_token")
        except (ValueError, AttributeError):
            continue  # a damaged side file names nothing; the well-known names are still tried
        token = named.get("content") if isinstance(named, dict) else named
        if isinstance(token, str):
            return token
    return None


def _reader(source: str | os.PathLike[str]) -> _Reader:
    path = Path(source).expanduser()
    if path.is_file():
        return _file_reader(path)
    if path.is_dir():
        return _folder_reader(path)
    if isinstance(source, str) and _HUB_ID.fullmatch(source) and path.suffix not in (".json", ".model"):
        return _hub_reader(source)
    raise TokenizerError(
        f"expected a tokenizer.json, a folder with one, or a Hub id such as openai-community/gpt2, "
        f"found nothing: {path}\n  Correct `tokenizer` in the recipe; paths are relative to where you run."
    )


def _file_reader(file: Path) -> _Reader:
    # Files beside gpt2.json may belong to any tokenizer; those beside tokenizer.json belong to it.
    siblings = file.name == "tokenizer.json"

    def read(name: str) -> bytes | None:
        path = file if name == "tokenizer.json" else file.with_name(name)
        return path.read_bytes() if path is file or (siblings and path.is_file()) else None

    return read


def _folder_reader(folder: Path) -> _Reader:
    if not (folder / "tokenizer.json").is_file():
        names = sorted(path.name for path in folder.iterdir())
        raise TokenizerError(
            f"expected a tokenizer.json, found {', '.join(names[:10]) or 'an empty folder'}: {folder}\n"
            "  Save the tokenizer there with `save_pretrained`, as a fast tokenizer."
        )
    return _file_reader(folder / "tokenizer.json")


def _hub_reader(hub_id: str) -> _Reader:
    from huggingface_hub import hf_hub_download
    from huggingface_hub.errors import EntryNotFoundError, HfHubHTTPError, HFValidationError

    def read(name: str) -> bytes | None:
        try:
            return Path(hf_hub_download(hub_id, name)).read_bytes()
        except (EntryNotFoundError, HfHubHTTPError, HFValidationError, OSError) as error:
            if name != "tokenizer.json" and isinstance(error, EntryNotFoundError):
                return None
            reason = str(error).strip().split("\n", 1)[0]
            raise TokenizerError(
                f"expected a tokenizer.json, found no file or folder `{hub_id}` here and none on the Hub "
                f"({type(error).__name__}: {reason})\n"
                "  Check the id, log in with `hf auth login` if it is gated, or give a local path."
            ) from error

    return read
