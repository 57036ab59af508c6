"""Fuzz one target with atheris, which follows the branches that are taken: `tools/fuzz.py TARGET --seconds 60`.

Begins with the target's whole files and what is in tests/fuzz/corpus/TARGET.*, where inputs that break it are kept
too; the suite replays them. Finds go to a scratch folder, or to --corpus DIR, from which another run goes on. With
NUMBA_BOUNDSCHECK=1 and an empty NUMBA_CACHE_DIR in the environment, kernels check every index. Targets: see
tests/fuzz/fuzz_targets.py; `--list` names them. Needs `pip install 'gristmill[fuzz]'`.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CORPUS = ROOT / "tests" / "fuzz" / "corpus"
TESTS, KERNELS = ROOT / "tests" / "fuzz", ROOT / "src" / "gristmill" / "kernels"


def main() -> None:
    sys.path.insert(0, str(TESTS))
    import atheris

    kernels = [f"gristmill.kernels.{file.stem}" for file in KERNELS.glob("*.py")]  # numba compiles them, not Python
    with atheris.instrument_imports(include=["gristmill"], exclude=kernels, enable_loader_override=False):
        import fuzz_targets

        for package in ("sources", "formats", "engine", "loader"):  # what targets would import later
            for file in (KERNELS.parent / package).glob("*.py"):
                importlib.import_module(f"gristmill.{package}.{file.stem}".removesuffix(".__init__"))
        importlib.import_module("gristmill.recipe")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target", nargs="?", choices=list(fuzz_targets.TARGETS))
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--corpus", type=Path, help="where finds are kept; a scratch folder by default")
    parser.add_argument("--list", action="store_true", help="name the targets, a line each")
    asked = parser.parse_args()
    if asked.list or asked.target is None:
        sys.stdout.write("\n".join(fuzz_targets.TARGETS) + "\n")
        return
    target = fuzz_targets.TARGETS[asked.target]
    found = asked.corpus or Path(tempfile.mkdtemp(prefix=f"fuzz-{asked.target}-"))
    found.mkdir(parents=True, exist_ok=True)
    broke_it = [file.read_bytes() for file in CORPUS.glob(f"{asked.target}.*")]
    for number, data in enumerate([*target.seeds(), *broke_it]):
        (found / f"begin-{number}").write_bytes(data)
        target.check(data)
    most_bytes = 4 * max(len(data) for data in target.seeds())
    options = [
        f"-max_total_time={asked.seconds}",
        f"-artifact_prefix={CORPUS}/{asked.target}.",
        f"-max_len={most_bytes}",
    ]
    options += ["-timeout=20", "-rss_limit_mb=4096", "-len_control=0"]
    atheris.Setup([sys.argv[0], *options, str(found)], target.check)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
