"""What a worker does not spend its first moments on."""

from __future__ import annotations

import subprocess
import sys

_KERNELS = """
import gristmill.kernels.minhash, gristmill.kernels.packing, gristmill.kernels.repetition, gristmill.kernels.sentences
import gristmill.kernels.radix, gristmill.kernels.quality
"""
_SCRIPT = f"""
import sys
{_KERNELS}
assert "scipy.linalg" not in sys.modules, "a kernel makes numba import SciPy: it uses a method as .max() or .all()"
"""


def test_no_scipy() -> None:
    subprocess.run([sys.executable, "-c", _KERNELS], check=True)  # they are compiled once a machine, which needs SciPy
    ended = subprocess.run([sys.executable, "-c", _SCRIPT], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
