"""A hook of mkdocs: pages that are listed in the navigation and not yet written are left out of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def on_config(config: Any) -> Any:
    """The navigation without pages that are not there."""
    config["nav"] = _there(config["nav"], Path(config["docs_dir"]))
    return config


def _there(part: Any, folder: Path) -> Any:
    if isinstance(part, list):
        return [kept for kept in (_there(inner, folder) for inner in part) if kept]
    if isinstance(part, dict):
        return {title: kept for title, inner in part.items() if (kept := _there(inner, folder))}
    return part if (folder / part).exists() else None
