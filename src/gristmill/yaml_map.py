"""YAML files that hold a map: recipes, and configs of others.

What enters: a path, or text. What leaves: the map as plain data, and the line of each place in it. Whatever is no such
file is a RecipeError that says what was found.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from gristmill.errors import RecipeError


def read_text(path: str | os.PathLike[str], kind: str) -> str:
    """The text of a file; `kind` says in an error what it should have been."""
    file = Path(path)
    if not file.is_file():
        raise RecipeError(f"expected a {kind} file, found {'a folder' if file.is_dir() else 'nothing'}: {file}")
    try:
        return file.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise RecipeError(f"expected a {kind} in UTF-8, found other bytes ({error}): {file}") from error


def read_map(text: str, keys: Iterable[str], name: str) -> dict[str, Any]:
    """The map in a text; `keys` are those that it may have, `name` says where it comes from."""
    import yaml

    class Loader(yaml.SafeLoader):
        """Keys are names: `on: url` says `on`, which YAML 1.1 takes for true."""

        def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
            for key, _ in node.value:
                if key.tag == "tag:yaml.org,2002:bool":
                    key.tag = "tag:yaml.org,2002:str"
            return super().construct_mapping(node, deep)

    try:
        value = yaml.load(text, Loader)
    except yaml.YAMLError as error:
        raise RecipeError(f"expected YAML, found a syntax error: {name}\n  {error}") from error
    if not isinstance(value, dict):
        raise RecipeError(f"expected a map with the keys {', '.join(keys)}, found {type(value).__name__}: {name}")
    return value


def line_numbers(text: str) -> dict[str, int]:
    """Place -> line (from 1) for each key and item of a YAML text."""
    import yaml

    lines: dict[str, int] = {}

    def walk(node: Any, place: str) -> None:
        if isinstance(node, yaml.MappingNode):
            for key, child in node.value:
                inner = f"{place}.{key.value}".lstrip(".")
                lines[inner] = key.start_mark.line + 1
                walk(child, inner)
        elif isinstance(node, yaml.SequenceNode):
            for number, child in enumerate(node.value):
                lines[f"{place}[{number}]"] = child.start_mark.line + 1
                walk(child, f"{place}[{number}]")

    root = yaml.compose(text, Loader=yaml.SafeLoader)
    if root is not None:
        walk(root, "")
    return lines
