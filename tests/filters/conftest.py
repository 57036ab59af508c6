"""Filters are tried on the texts that kernels are tried on."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "kernels"))
