"""What lies where in the output folder of a finished run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gristmill.errors import FormatError, RecipeError, ResumeError, unknown_name
from gristmill.formats.packed_stages import STAGES, read_stages


def require_output(output: Path, needed: str) -> Path:
    """`output`, if it holds `needed`. Raises ResumeError where it is no finished run's folder."""
    if not (output / needed).exists():
        found = "nothing" if not output.exists() else "a folder without it" if output.is_dir() else "a file"
        raise ResumeError(
            f"expected the output folder of a finished run (with `{needed}`), found {found}: {output}\n"
            "  Run `gristmill run RECIPE` first, and name the recipe's `output.path`."
        )
    return output


def read_recipe(output: Path) -> dict[str, Any]:
    """The recipe that a run was carried out with, as plain values: nothing that it names is imported. Raises
    FormatError where it is damaged."""
    import yaml

    path = require_output(output, "recipe.yaml") / "recipe.yaml"
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # ten times as fast, where PyYAML came with libyaml
    try:
        found: dict[str, Any] = yaml.load(path.read_text("utf-8"), loader)
        if not isinstance(found["tokenizer"], dict) or not all(
            isinstance(each["name"], str) for each in found["sources"]
        ):
            raise TypeError("other values")
    except (yaml.YAMLError, ValueError, KeyError, TypeError) as error:
        raise FormatError(f"expected the recipe as its run wrote it, found it damaged ({error}): {path}") from error
    return found


def pack_folder(output: Path, stage: str | None = None) -> Path:
    """The folder with the rows of a finished run; of a mixture in stages, those of `stage` or of the first."""
    folder = output / "pack"
    stages = read_stages(folder)
    if stages:
        if stage is not None and stage not in stages:
            raise RecipeError(unknown_name("stage", stage, stages))
        return folder / (stage or stages[0])
    if stage is not None:
        raise RecipeError(f"expected a mixture in stages, found one without ({folder / STAGES} is not there)")
    return require_output(output, "pack/manifest.json") / "pack"
