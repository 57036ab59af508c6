"""Runs what stands in a page's fences, in order, in one scratch folder, as a reader would.

    bash      each block by `bash -eu`: every command has to succeed
    console   `$ command` and what it prints: each line under it has to be printed, in that order; `...` stands for
              anything. A command whose lines name an error has to fail with it
    python    all blocks of a page in one namespace; those that begin with `# name.py` are written to that file
    yaml      has to be valid: as a recipe, as parts of one (put into a small one), or as one of krill's configs;
              those that begin with `# name.yaml` are written to that file

What is marked as not run is looked at all the same: commands and options are parsed by the command line's own parser,
Python is compiled, YAML is validated.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer
from markdown_blocks import Block

from gristmill.cli import app
from gristmill.compat.krill import schema
from gristmill.recipe import Recipe
from gristmill.yaml_map import read_map

SMALL_RECIPE = {
    "sources": [{"name": "web", "path": "data/web/*"}, {"name": "wiki", "path": "data/wiki.parquet"}],
    "tokenizer": {"path": "tokenizers/gpt2.json"},
    "pack": {"sequence_length": 512},
    "output": {"path": "out/small"},
}
SHELLS = ("bash", "console")
PLAIN = ("", "text")  # shown, and nothing that could be run


class PageError(AssertionError):
    """What a page says is not so."""


class PageRunner:
    """Runs blocks in a folder; remembers the names that Python blocks make."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.names: dict[str, Any] = {"__name__": "__main__"}
        self.environment = {
            **os.environ,
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "COLUMNS": "110",
            "HF_HUB_OFFLINE": "1",
        }

    def carry_out(self, block: Block) -> None:
        """Run the block, or look at it where it says that it is not run. Raises PageError."""
        getattr(self, f"_{block.language}")(block)
        if block.file_name and block.language in ("python", "yaml"):
            (self.folder / block.file_name).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / block.file_name).write_text(block.text + "\n", encoding="utf-8")

    def _bash(self, block: Block) -> None:
        if block.not_run:
            check_commands(block.text)
            return
        done = self._shell(block.text)
        if done.returncode:
            raise PageError(f"expected success, found exit code {done.returncode}:\n{done.stdout}")

    def _console(self, block: Block) -> None:
        for part in re.split(r"^(?=\$ )", block.text, flags=re.M)[1:]:
            command, *rest = re.split(r"(?<!\\)\n", part[2:], maxsplit=1)
            check_commands(command)
            if block.not_run:
                continue
            said = "".join(rest)
            done = self._shell(command)
            should_fail = re.search(r"^[\w.]*Error: ", said, re.M) is not None
            if bool(done.returncode) != should_fail:
                raise PageError(f"`{command}`: exit code {done.returncode}:\n{done.stdout}")
            compare(said, done.stdout)

    def _python(self, block: Block) -> None:
        code = compile(block.text, f"line {block.line}", "exec")
        if not block.not_run and not block.file_name:
            exec(code, self.names)

    def _yaml(self, block: Block) -> None:
        value = read_map(block.text, Recipe.model_fields, f"line {block.line}")
        if "preprocess" in value or "hub_tokenizer_id" in value:
            file = self.folder / "krill-to-check.yaml"
            file.write_text(block.text, encoding="utf-8")
            unknown = schema.read(file).ignored()
            assert not unknown, unknown
            return
        full = value if {"sources", "output"} <= value.keys() else {**SMALL_RECIPE, **value}
        if block.not_run:
            Recipe.model_validate(full)
        else:
            Recipe.from_dict(full)

    def _shell(self, command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", "-euo", "pipefail", "-c", command],
            cwd=self.folder, env=self.environment, text=True, timeout=900,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
        )  # fmt: skip


def check_commands(script: str) -> None:
    """Every `gristmill COMMAND` in it is one, with options that it has."""
    commands: Any = typer.main.get_command(app)
    for words in _commands(script):
        while words and (words[0] in ("srun", "nice", "time", "env") or re.match(r"\w+=", words[0])):
            words.pop(0)
        if words[:3] == ["python", "-m", "gristmill"]:
            words = ["gristmill", *words[3:]]
        if words[:1] != ["gristmill"] or words[1:] == ["--help"]:
            continue
        name, *arguments = words[1:]
        if name not in commands.commands:
            raise PageError(f"unknown command `{name}`; known: {', '.join(commands.commands)}")
        commands.commands[name].make_context(name, arguments)


def check_options(command: str) -> None:
    """The command is one of ours, and it has the options that are named."""
    name, *words = command.split()[1:]
    commands: Any = typer.main.get_command(app)
    if name not in commands.commands:
        raise PageError(f"unknown command `{name}`; known: {', '.join(commands.commands)}")
    known = {option for parameter in commands.commands[name].params for option in parameter.opts}
    for word in words:
        if word.startswith("--") and word != "--help" and word not in known:
            raise PageError(f"`{command}`: `{name}` has no option {word}; it has {', '.join(sorted(known))}")


def _commands(script: str) -> Iterator[list[str]]:
    """The words of each simple command; where output goes is left out."""
    for line in re.sub(r"\\\n", " ", script).split("\n"):
        lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        command: list[str] = []
        redirected = False
        for word in lexer:
            if set(word) <= set(";|&<>()"):
                redirected = ">" in word or "<" in word
                if redirected and command and command[-1].isdigit():  # 2> file
                    command.pop()
                if not redirected:
                    yield command
                    command = []
            elif redirected:
                redirected = False
            else:
                command.append(word)
        yield command


def compare(said: str, printed: str) -> None:
    """Each line that a page shows has been printed, in that order; `...` in a line, or as one, is anything."""
    shown = [_plain(line) for line in said.split("\n")]
    found = iter([_plain(line) for line in printed.split("\n")])
    for line in shown:
        pattern = ".*".join(map(re.escape, re.split(r" ?\.\.\. ?", line)))
        if line and line != "..." and not any(re.fullmatch(pattern, other) for other in found):
            raise PageError(f"expected a line `{line}`, found:\n{printed}")


def _plain(line: str) -> str:
    return " ".join(line.split())
