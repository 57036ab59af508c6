"""The exception tree. Every message says what was expected, what was found, where, and what to do.

GristmillError
├── RecipeError      the recipe cannot be carried out: unknown keys, impossible values, missing files
├── SourceError      raw input cannot be read, or too much of it is malformed
├── FormatError      a file of ours is of another version, damaged, or not ours
├── TokenizerError   a tokenizer cannot be loaded, or disagrees with itself
├── ResumeError      an output folder or a loader state belongs to something else
├── TaskError        a task failed for good (a crash, no memory, a full disk)
└── LedgerError      the books do not balance, or a stage left nothing
"""

from __future__ import annotations

from collections.abc import Iterable


class GristmillError(Exception):
    """Base of all errors that are the user's to read; the command line prints them without a traceback."""


class RecipeError(GristmillError):
    """A recipe that cannot be carried out. `problems` holds one line per mistake, each with its place."""

    def __init__(self, message: str, problems: Iterable[str] = ()) -> None:
        self.problems = list(problems)
        super().__init__("\n".join([message, *(f"  - {problem}" for problem in self.problems)]))

    def __reduce__(self) -> tuple[type[RecipeError], tuple[str, list[str]]]:
        return type(self), (str(self).split("\n", 1)[0], self.problems)


class SourceError(GristmillError):
    """Raw input that cannot be read, or of which too much is malformed."""


class FormatError(GristmillError):
    """A file of ours that is of another version, damaged, or not ours at all."""


class TokenizerError(GristmillError):
    """A tokenizer that cannot be loaded, or that gives other ids than it must."""


class ResumeError(GristmillError):
    """An output folder or a loader state that belongs to something else."""


class TaskError(GristmillError):
    """A task that failed for good."""


class LedgerError(GristmillError):
    """Books that do not balance, or a stage that left nothing."""


def unknown_name(kind: str, name: str, known: Iterable[str]) -> str:
    """The sentence for a name nobody knows: says what was found and lists (and guesses) what exists."""
    import difflib

    names = sorted(known)
    close = difflib.get_close_matches(name, names, n=1)
    guess = f" Did you mean `{close[0]}`?" if close else ""
    return f"unknown {kind} `{name}`.{guess} Known: {', '.join(names)}."
