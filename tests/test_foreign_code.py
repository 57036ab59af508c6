"""A recipe file from a stranger runs no code; one that its reader trusts, and one that a program builds, may."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import gristmill as gm
from gristmill import foreign_code
from gristmill.cli import app
from gristmill.errors import RecipeError

UNIT = """
from dataclasses import dataclass
from pathlib import Path
Path(__file__).with_name("was-imported").touch()

@dataclass(frozen=True)
class Long:
    characters: int = 300
    def keep(self, text): return len(text) >= self.characters
"""
RECIPE = """
sources: [{{name: web, path: {folder}/in.txt, unit: line{extra}}}]
{key}: [{item}]
tokenizer: {{train: {{vocab_size: 300, sample: 1MB}}}}
pack: {{sequence_length: 16}}
output: {{path: {folder}/out}}
engine: {{workers: 0}}
"""


@pytest.fixture
def stranger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "strangers_code.py").write_text(UNIT)
    (tmp_path / "in.txt").write_text("".join(f"{number} {'grain ' * number}\n" for number in range(100)))
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "strangers_code", raising=False)
    return tmp_path


def recipe_file(folder: Path, key: str = "filters", item: str = "strangers_code:Long", extra: str = "") -> Path:
    path = folder / "recipe.yaml"
    path.write_text(RECIPE.format(folder=folder, key=key, item=item, extra=extra))
    return path


@pytest.mark.parametrize("key", ["filters", "clean", "dedup"])
def test_a_file_that_names_code_is_refused_before_anything_is_imported(stranger: Path, key: str) -> None:
    with pytest.raises(RecipeError, match=rf"{key}\[0\] \(line 3\).*`strangers_code:Long`.*--allow-code"):
        gm.run(recipe_file(stranger, key))
    with pytest.raises(RecipeError, match="allow_code=True"):
        gm.plan(recipe_file(stranger, key))
    assert not (stranger / "was-imported").exists()


def test_neither_do_the_filters_of_a_source_hide_it(stranger: Path) -> None:
    with pytest.raises(RecipeError, match=r"sources\[0\]\.filters\[0\].*strangers_code:Long"):
        gm.run(recipe_file(stranger, item="", extra=", filters: [strangers_code:Long]"))
    assert not (stranger / "was-imported").exists()


def test_even_ours_by_another_name_is_code(stranger: Path) -> None:
    with pytest.raises(RecipeError, match=r"gristmill\.filters\.length:Length"):
        gm.run(recipe_file(stranger, item="gristmill.filters.length:Length: {min_words: 3}"))


@pytest.mark.parametrize("command", ["run", "plan"])
def test_the_command_line_asks_for_the_option(stranger: Path, command: str) -> None:
    path = str(recipe_file(stranger))
    refused = CliRunner().invoke(app, [command, path])
    assert isinstance(refused.exception, RecipeError)
    assert not (stranger / "was-imported").exists()
    allowed = CliRunner().invoke(app, [command, path, "--allow-code"])
    assert allowed.exit_code == 0, allowed.output
    assert (stranger / "was-imported").exists()


def test_allowed_code_judges(stranger: Path) -> None:
    result = gm.run(recipe_file(stranger), allow_code=True)
    assert result.ledger.of("sift")[0].gone == {"Long.dropped": 50}


def test_what_a_program_builds_is_trusted_unless_it_says_otherwise(stranger: Path) -> None:
    import yaml

    recipe = yaml.safe_load(recipe_file(stranger).read_text())
    with pytest.raises(RecipeError, match="strangers_code:Long"):
        gm.plan(recipe, allow_code=False)
    assert not (stranger / "was-imported").exists()
    assert gm.plan(recipe).jobs


def test_the_answer_holds_inside_the_block_only() -> None:
    with foreign_code.allowed(False), pytest.raises(ValueError, match="`a:B`"):
        foreign_code.require_allowed("a:B")
    foreign_code.require_allowed("a:B")
