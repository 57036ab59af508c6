"""Which files of a dataset repository hold a config's split.

What enters: a hub id, a config, a split. What leaves: files with their sizes and content ids, sorted by path. A
repository is asked once a process, whatever the number of configs. The README's `configs` decide; where there are
none, folders and names of files do, as the hub's own viewer has it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from gristmill.errors import RecipeError, SourceError, unknown_name
from gristmill.sources.hub.asking import CONNECTIONS, patiently
from gristmill.sources.registry import format_name, known_suffixes

_SPLITS = {
    "train": ("train", "training"),
    "validation": ("validation", "valid", "dev", "val"),
    "test": ("test", "eval"),
}
_DEFAULT = "default"


@dataclass(frozen=True)
class HubFile:
    """One file of a repository."""

    path: str
    bytes: int
    stamp: str  # changes exactly when the content does


@dataclass(frozen=True)
class Repository:
    """What the hub says of a dataset at one commit."""

    id: str
    commit: str
    files: tuple[HubFile, ...]
    configs: tuple[Mapping[str, Any], ...]  # as the README's front matter has them


@lru_cache(maxsize=256)
def repository(dataset: str) -> Repository:
    """Ask the hub. Raises what huggingface_hub raises where there is none, or no access to it."""
    from huggingface_hub import HfApi
    from huggingface_hub.hf_api import RepoFile

    api = HfApi()
    info = patiently(lambda: api.dataset_info(dataset), dataset)
    if info.gated:
        patiently(lambda: api.auth_check(dataset, repo_type="dataset"), dataset)
    assert info.sha is not None
    tree = patiently(
        lambda: list(api.list_repo_tree(dataset, recursive=True, revision=info.sha, repo_type="dataset")), dataset
    )
    files = [
        HubFile(file.path, file.size, file.lfs.sha256 if file.lfs else file.blob_id)
        for file in tree
        if isinstance(file, RepoFile)
    ]
    card = getattr(info, "card_data", None) or {}
    return Repository(
        dataset, info.sha, tuple(sorted(files, key=lambda file: file.path)), tuple(card.get("configs") or ())
    )


def check_access(wanted: Iterable[tuple[str, str | None, str]]) -> None:
    """Ask for all datasets, configs and splits, several at a time. Raises RecipeError that names every one that is
    missing or gated."""
    from huggingface_hub.errors import GatedRepoError, HfHubHTTPError, RepositoryNotFoundError

    def problem(asked: tuple[str, str | None, str]) -> str | None:
        dataset, config, split = asked
        try:
            files_of(repository(dataset), config, split)
        except GatedRepoError:
            return f"{dataset}: gated; accept its terms on the hub, and log in with `hf auth login` or set HF_TOKEN"
        except RepositoryNotFoundError:
            return f"{dataset}: not on the hub, or private and not yours"
        except SourceError as error:
            return str(error)
        except HfHubHTTPError as error:
            return f"{dataset}: {str(error).splitlines()[0]}"
        return None

    asked = list(dict.fromkeys(wanted))
    with ThreadPoolExecutor(CONNECTIONS) as pool:
        list(pool.map(problem, {dataset: (dataset, config, split) for dataset, config, split in asked}.values()))
        problems = list(dict.fromkeys(found for found in pool.map(problem, asked) if found is not None))
    if problems:
        raise RecipeError(f"expected datasets that can be read, found {len(problems)} that cannot", problems)


def files_of(found: Repository, config: str | None, split: str) -> list[HubFile]:
    """The files of a config's split. Raises SourceError that lists what there is."""
    resolve = _declared if found.configs else _by_convention
    chosen = resolve(found, config, split)
    readable = [file for file in chosen if format_name(file.path, {})]
    if not readable:
        raise SourceError(
            f"expected files of config {config or _DEFAULT}, split {split}, found {len(chosen)}, none of a known "
            f"suffix: {found.id}\n  Known: {known_suffixes()}."
        )
    return readable


def _declared(found: Repository, config: str | None, split: str) -> list[HubFile]:
    by_name = {str(item.get("config_name", _DEFAULT)): item for item in found.configs}
    default = next((name for name, item in by_name.items() if item.get("default")), _DEFAULT)
    name = config or (next(iter(by_name)) if len(by_name) == 1 else default)
    if name not in by_name:
        raise SourceError(f"{found.id}: {unknown_name('config', name, by_name)}")
    patterns = _patterns(by_name[name].get("data_files"))
    if split not in patterns:
        raise SourceError(f"{found.id}, config {name}: {unknown_name('split', split, patterns)}")
    folder = str(by_name[name].get("data_dir") or "").strip("/")
    wanted = [_glob(f"{folder}/{pattern}" if folder else pattern) for pattern in patterns[split]]
    return [file for file in found.files if any(one.fullmatch(file.path) for one in wanted)]


def _patterns(data_files: Any) -> dict[str, list[str]]:
    """`data_files` of the front matter, in each of its forms, as split → patterns."""
    if data_files is None:
        return {"train": ["**"]}
    if isinstance(data_files, str):
        return {"train": [data_files]}
    if isinstance(data_files, Mapping):
        return {str(split): _list(paths) for split, paths in data_files.items()}
    found: dict[str, list[str]] = {}
    for item in data_files:
        if isinstance(item, Mapping):
            found.setdefault(str(item.get("split", "train")), []).extend(_list(item.get("path")))
        else:
            found.setdefault("train", []).append(str(item))
    return found


def _list(paths: Any) -> list[str]:
    return [paths] if isinstance(paths, str) else [str(path) for path in paths or ()]


def _glob(pattern: str) -> re.Pattern[str]:
    """`**` goes through folders, `*` and `?` stay in one."""
    parts = re.split(r"(\*\*/|\*\*|\*|\?|\{[^}]*\})", pattern.removeprefix("./"))
    meanings = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}

    def meaning(part: str) -> str:
        if part.startswith("{") and part.endswith("}"):
            return f"(?:{'|'.join(map(re.escape, part[1:-1].split(',')))})"
        return meanings.get(part) or re.escape(part)

    return re.compile("".join(meaning(part) for part in parts))


def _by_convention(found: Repository, config: str | None, split: str) -> list[HubFile]:
    """A folder of the config's name; in it, files that the split's name is part of. Where no file names a split, all
    of them are `train`."""
    files = [file for file in found.files if format_name(file.path, {}) and not file.path.startswith(".")]
    files = [file for file in files if file.path.lower() not in ("readme.md", "license.txt", "license.md")]
    if config is not None:
        files = [file for file in files if config in file.path.split("/")[:-1]]
        if not files:
            folders = {part for file in found.files for part in file.path.split("/")[:-1]}
            raise SourceError(f"{found.id}: {unknown_name('config', config, folders)}")
    named = {name: [file for file in files if _names(file.path, words)] for name, words in _SPLITS.items()}
    if any(named.values()):
        return named.get(split) or [file for file in files if _names(file.path, (split,))]
    return files if split == "train" else []


def _names(path: str, words: Sequence[str]) -> bool:
    return any(re.search(rf"(^|[/._-]){re.escape(word)}([/._-]|$)", path) for word in words)
