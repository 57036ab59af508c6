from __future__ import annotations

import io
import subprocess
import sys
import time

from rich.console import Console

from gristmill.report.memory import MemoryWatch, print_memory

HOLDS_60_MB = "import sys, time; block = b'x' * (60 << 20); print(len(block), flush=True); sys.stdin.read()"


def test_stages_have_their_own_peaks_and_children_count() -> None:
    with MemoryWatch() as watch:
        watch.begin("one")
        child = subprocess.Popen([sys.executable, "-c", HOLDS_60_MB], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert child.stdout is not None and child.stdout.readline()
        time.sleep(0.5)
        child.communicate(b"")
        watch.begin("two")
        watch.begin("two")
        time.sleep(0.3)
    start, one, two = watch.stages
    assert [stage.name for stage in watch.stages] == ["start", "one", "two"]
    assert one.peak_bytes > start.peak_bytes + (55 << 20)
    assert two.peak_bytes < one.peak_bytes - (40 << 20)
    assert all(0 < stage.current_bytes <= stage.peak_bytes for stage in watch.stages)

    out = io.StringIO()
    print_memory(watch.stages, Console(file=out, width=200))
    assert "peak increase" in out.getvalue() and "two" in out.getvalue()
