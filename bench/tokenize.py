"""bench/tokenizing.py under the name that its issue promised.

Python puts this folder before its own library, whose `tokenize` has the same name: whoever imports that gets that.
"""

import runpy
import sys
import sysconfig
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

if __name__ == "__main__":
    runpy.run_path(str(Path(__file__).with_name("tokenizing.py")), run_name="__main__")
else:
    spec = spec_from_file_location(__name__, Path(sysconfig.get_path("stdlib"), "tokenize.py"))
    assert spec is not None and spec.loader is not None, "Python's library has a tokenize.py"
    sys.modules[__name__] = module_from_spec(spec)
    spec.loader.exec_module(sys.modules[__name__])
