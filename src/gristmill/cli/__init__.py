"""The command line: one command a user's job. Everything heavy is imported inside the command that needs it.

carry_out.py   run, plan, init, verify
look.py        report, inspect, bench
tokens.py      tokenize, export, train-tokenizer
krill.py       preprocess, inspect-dataset
"""

from __future__ import annotations

import sys

from gristmill.cli import carry_out, krill, look, tokens
from gristmill.cli.app import app

__all__ = ["app", "carry_out", "krill", "look", "main", "tokens"]


def main() -> None:
    """The entry point: errors of ours are printed without a traceback."""
    from gristmill.errors import GristmillError

    try:
        app()
    except GristmillError as error:
        sys.stderr.write(f"{type(error).__name__}: {error}\n")
        sys.exit(1)
    except KeyboardInterrupt:
        sys.stderr.write("Interrupted. What was finished is kept; run the same command again to go on.\n")
        sys.exit(130)
