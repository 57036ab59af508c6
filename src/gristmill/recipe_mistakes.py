"""What is wrong with a recipe, as sentences for people: each with its place (`sources[1].weight`, line 7), what was
expected and what was found.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from gristmill.errors import SourceError, unknown_name


def missing_files(value: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Places whose local files are not there. Works on the raw map, so it reports beside schema mistakes."""
    from gristmill import sources as readers

    sources = value.get("sources")
    for number, source in enumerate(sources if isinstance(sources, (list, tuple)) else ()):
        for key in ("path", "local"):
            path = source.get(key) if isinstance(source, Mapping) else getattr(source, key, None)
            if isinstance(path, str) and "://" not in path:
                try:
                    readers.find(path)
                except SourceError as error:
                    yield f"sources[{number}].{key}", str(error)
    tokenizer = value.get("tokenizer")
    path = tokenizer.get("path") if isinstance(tokenizer, Mapping) else getattr(tokenizer, "path", None)
    if isinstance(path, str) and not Path(path).exists():
        yield "tokenizer.path", f"expected a tokenizer.json or a folder with one, found nothing: {path}"


def sentence(detail: Any, root: type[BaseModel], lines: Mapping[str, int]) -> str:
    """One pydantic error as: place (line N): expected ..., found ..."""
    steps = [step for step in detail["loc"] if not (isinstance(step, str) and step[0] in "cflt" and "[" in step)]
    place = _place(steps)
    if detail["type"] == "extra_forbidden":
        text = unknown_name("key", str(steps[-1]), _known_keys(root, steps[:-1]))
    elif detail["type"] == "missing":
        text = "expected a value, found none"
    else:
        message = detail["msg"].removeprefix("Value error, ")
        message = message[0].lower() + message[1:]
        if message.startswith(("input should be", "string should", "tuple should")):
            wanted = message.split(" ", 1)[1].replace("should be ", "").replace("should ", "to ")
            message = f"expected {wanted.replace('a valid tuple', 'a list')}"
        found = detail["input"]
        text = message if "found" in message or "unknown" in message else f"{message}, found {found!r}"
    return placed(place, text, lines)


def _place(steps: list[Any]) -> str:
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps).lstrip(".") or "recipe"


def placed(place: str, text: str, lines: Mapping[str, int]) -> str:
    above = place
    while above and above not in lines:
        above = above[: max(above.rfind("."), above.rfind("["), 0)]
    return f"{place} (line {lines[above]}): {text}" if above else f"{place}: {text}"


def _known_keys(root: type[BaseModel], steps: list[Any]) -> list[str]:
    """The fields of the model that lies at these steps below `root`."""
    model = root
    for step in steps:
        if isinstance(step, str):
            models = _models_in(model.model_fields[step].annotation)
            model = models[0] if models else model
    return list(model.model_fields)


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for part in getattr(annotation, "__args__", ()) for model in _models_in(part)]


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
