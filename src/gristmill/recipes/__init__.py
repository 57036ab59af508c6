"""Recipes that ship: one commented YAML file each."""

from __future__ import annotations

from importlib import resources

from gristmill.errors import RecipeError, unknown_name


def names() -> list[str]:
    """The names of the recipes that ship."""
    files = resources.files(__name__).iterdir()
    return sorted(file.name.removesuffix(".yaml") for file in files if file.name.endswith(".yaml"))


def is_shipped(name: str) -> bool:
    """Whether a recipe of that name ships."""
    return name in names()


def read_text(name: str) -> str:
    """The text of a recipe that ships."""
    if not is_shipped(name):
        raise RecipeError(unknown_name("recipe", name, names()))
    return resources.files(__name__).joinpath(f"{name}.yaml").read_text(encoding="utf-8")
