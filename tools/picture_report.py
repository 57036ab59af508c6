"""Pictures of reports for the docs, by Chromium (tools/install_test_servers): the page's head, or one of its chapters.

python tools/picture_report.py OUT/report.html docs/pictures/report.png [--chapter thresholds] [--height 900]
"""

from __future__ import annotations

import argparse
import base64
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests/report"))
from browser import chromium, open_page


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("page", type=Path)
    parser.add_argument("picture", type=Path)
    parser.add_argument("--chapter", help="id of a section; else the head")
    parser.add_argument("--height", type=int, default=960)
    parser.add_argument("--width", type=int, default=1280)
    parser.add_argument("--scheme", choices=("light", "dark"), default="light")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as profile, chromium(Path(profile)) as driver:
        open_page(driver, options.page, options.width, options.scheme)
        top = 0
        if options.chapter:
            driver.execute_script("document.querySelector('nav').style.position = 'static'")
            find = "return document.getElementById(arguments[0]).getBoundingClientRect().top + scrollY"
            top = driver.execute_script(find, options.chapter)
        clip = {"x": 0, "y": top, "width": options.width, "height": options.height, "scale": 1}
        shot = driver.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": True, "clip": clip})
    options.picture.write_bytes(base64.b64decode(shot["data"]))


if __name__ == "__main__":
    main()
