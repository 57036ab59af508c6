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
from gristmill.engine.pandas_left_out import leave_pandas_out
leave_pandas_out()
{_KERNELS}
import numpy as np, pyarrow as pa
pa.array(np.arange(3))
assert "pandas" not in sys.modules, "Arrow has imported pandas"
assert "scipy.linalg" not in sys.modules, "a kernel makes numba import SciPy: it uses a method as .max() or .all()"
try:
    import pandas
except ImportError:
    sys.exit()
assert pa.array([1, 2]).to_pandas().tolist() == [1, 2], "who asks for pandas gets it"
"""


def test_no_pandas_and_no_scipy() -> None:
    subprocess.run([sys.executable, "-c", _KERNELS], check=True)  # they are compiled once a machine, which needs SciPy
    ended = subprocess.run([sys.executable, "-c", _SCRIPT], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
