"""Every command and snippet of the README and the guide is run, page by page; see page_runner.py."""

from __future__ import annotations

from pathlib import Path

import pytest
from markdown_blocks import PAGES, ROOT, blocks, named_commands, set_in_commands
from page_runner import PLAIN, PageError, PageRunner, check_commands, check_options, compare


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_what_stands_in_fences_works(page: Path, scratch: Path) -> None:
    runner = PageRunner(scratch)
    for block in blocks(page.read_text("utf-8")):
        if block.language not in PLAIN:
            try:
                runner.carry_out(block)
            except Exception as error:
                raise PageError(f"{page.relative_to(ROOT)}, line {block.line}: {error!r}\n{error}") from error


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_commands_outside_fences_exist(page: Path) -> None:
    for command in set_in_commands(page.read_text("utf-8")):
        check_commands(command)
    for command in named_commands(page.read_text("utf-8")):
        check_options(command)


def test_a_page_that_is_wrong_is_found_out(scratch: Path) -> None:
    """The judge itself: commands, options, recipes and output that are not so."""
    wrong = {
        "bash": ["gristmill plan no-such.yaml", "false"],
        "console": ["$ gristmill plan recipe.yaml --no-such-option", "$ echo one\ntwo", "$ true\nRecipeError: no"],
        "python": ["1 / 0", "def"],
        "yaml": ["filters: [no_such_filter]", "sources: [{name: web, path: nowhere/*}]"],
    }
    for language, texts in wrong.items():
        for text in texts:
            page = f"```{language}\n{text}\n```"
            with pytest.raises((PageError, Exception)):
                PageRunner(scratch).carry_out(next(blocks(page)))
    page = "*Not run by the tests: it takes hours.*\n\n```bash\ngristmill run all --worker 3\n```"
    [block] = blocks(page)
    assert block.not_run == "it takes hours."
    with pytest.raises(Exception, match="--worker"):
        PageRunner(scratch).carry_out(block)
    compare("a 1\n...\nb ... s", "a   1\nx\nb 0.3 s\n")
    with pytest.raises(PageError):
        compare("b\na", "a\nb")
