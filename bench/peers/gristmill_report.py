"""What `gristmill run` does, in two parts timed apart: the run, and the report at its end. Prints a line of JSON.

python bench/peers/gristmill_report.py RECIPE
"""

from __future__ import annotations

import json
import resource
import sys
import time
from pathlib import Path

from gristmill.drive import run


def processor_seconds() -> float:
    """Of this process and of its children that have ended."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def main() -> None:
    begun, begun_processor = time.perf_counter(), time.process_time()
    output = run(sys.argv[1]).path
    ran, ran_processor = time.perf_counter(), processor_seconds()
    from gristmill.report.html import write_report  # what it imports is part of what it costs

    page = write_report(output)
    reported, reported_processor = time.perf_counter(), processor_seconds()
    on_disk = sum(path.stat().st_size for path in Path(output).rglob("*") if path.is_file() and path != page)
    print(
        json.dumps(
            {
                "run_seconds": ran - begun,
                "run_processor_seconds": ran_processor - begun_processor,
                "report_seconds": reported - ran,
                "report_processor_seconds": reported_processor - ran_processor,
                "run_bytes": on_disk,
                "report_bytes": page.stat().st_size,
            }
        )
    )


if __name__ == "__main__":
    main()
