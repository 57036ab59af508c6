"""`python -m gristmill.demo FOLDER`: write the demo corpus and say what is in it."""

from __future__ import annotations

import argparse
import sys

from gristmill.demo.corpus import DOCUMENTS, SEED
from gristmill.demo.manifest import write_corpus


def main(arguments: list[str] | None = None) -> None:
    """Write the corpus and print its files and plants."""
    parser = argparse.ArgumentParser(prog="python -m gristmill.demo", description=__doc__.split(": ", 1)[1])
    parser.add_argument("folder", help="where the files go; made if it is not there")
    parser.add_argument("--documents", type=int, default=DOCUMENTS, help="about how many rows (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=SEED, help="another seed, another corpus (default: %(default)s)")
    options = parser.parse_args(arguments)
    corpus = write_corpus(options.folder, options.documents, options.seed)
    lines = [
        f"{path}: {corpus.documents[source]:,} rows, {path.stat().st_size:,} bytes"
        for source, path in corpus.files.items()
    ]
    lines += [f"  {len(ids):5,} {kind}" for kind, ids in corpus.planted.items()]
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
