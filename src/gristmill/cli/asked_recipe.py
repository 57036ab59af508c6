"""The recipe that a command names: a file or one that ships, changed as the command's options say."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any


def changes_of(**asked: Any) -> list[Callable[[dict[str, Any]], dict[str, Any]]]:
    """What the options of `run` change in a recipe; None changes nothing."""
    from gristmill import recipe_changes
    from gristmill.recipe_changes import replaced, with_parts

    made: dict[str, Callable[[Any], Callable[[dict[str, Any]], dict[str, Any]]]] = {
        "only": lambda names: partial(recipe_changes.only_sources, names=names),
        "max_datasets": lambda count: partial(recipe_changes.first_sources, count=count),
        "limit_docs": lambda docs: partial(recipe_changes.limited, docs=docs),
        "scale": lambda factor: partial(recipe_changes.scaled, factor=factor),
        "local_root": lambda root: partial(recipe_changes.on_local_root, root=root),
        "dedup": lambda kinds: partial(replaced, key="dedup", value=kinds.split(",")),
        "tokenizer": lambda name: partial(
            replaced, key="tokenizer", value={"path" if Path(name).exists() else "hub": name}
        ),
        "output": lambda path: partial(with_parts, changes={"output": {"path": path}}),
        "texts": lambda _: partial(with_parts, changes={"output": {"texts": True}}),
        "tasks": lambda count: partial(with_parts, changes={"output": {"tasks": count}}),
        "workers": lambda count: partial(with_parts, changes={"engine": {"workers": count}}),
        "memory": lambda size: partial(with_parts, changes={"engine": {"memory": size}}),
    }
    return [make(asked[name]) for name, make in made.items() if asked.get(name) is not None]


def load_recipe(
    recipe: str, changes: Sequence[Callable[[dict[str, Any]], dict[str, Any]]], *, allow_code: bool = False
) -> Any:
    """The recipe, checked. Raises RecipeError with every mistake at once. Code that it names may lie in the current
    folder, as with `python -m`."""
    import sys

    from gristmill.recipe import Recipe
    from gristmill.recipes import is_shipped, read_text

    if allow_code:
        sys.path.append(str(Path.cwd()))
    if not is_shipped(recipe) or Path(recipe).is_file():
        return Recipe.from_yaml(recipe, *changes, allow_code=allow_code)
    if recipe == "demo":
        from gristmill.demo import prepare

        prepare()
    return Recipe.from_text(read_text(recipe), recipe, *changes)
