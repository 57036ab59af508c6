"""Options of `run` and `plan` that change the recipe; asked_recipe.py says what they do."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

OutputFolder = Annotated[str | None, typer.Option("--output", help="Instead of the recipe's `output.path`.")]
Workers = Annotated[int | None, typer.Option(help="Instead of the recipe's `engine.workers`.")]
Memory = Annotated[str | None, typer.Option(help="Instead of the recipe's `engine.memory`, e.g. 4GB.")]
Tasks = Annotated[int | None, typer.Option(help="Cut each source into about so many tasks.", min=1)]
Only = Annotated[list[str] | None, typer.Option(help="Only this source; may be given again.")]
MaxDatasets = Annotated[int | None, typer.Option(help="Only the first sources.", min=1)]
LimitDocs = Annotated[int | None, typer.Option(help="At most so many documents of each source.", min=1)]
Scale = Annotated[float | None, typer.Option(help="Times every budget of tokens, e.g. 1e-6.")]
Dedup = Annotated[
    str | None, typer.Option(help="Instead of the recipe's: exact, minhash, sentences ..., commas between.")
]
Tokenizer = Annotated[str | None, typer.Option(help="Instead of the recipe's: a path, or a hub id.")]
LocalRoot = Annotated[Path | None, typer.Option(help="Folders DIR/ORG/NAME/CONFIG in the place of hub datasets.")]
Texts = Annotated[
    bool | None, typer.Option("--texts", help="Keep the surviving texts as ORG_NAME/CONFIG/N.jsonl.gz too.")
]
AllowCode = Annotated[
    bool, typer.Option("--allow-code", help="Import the units that the recipe names as module:Class.")
]
