"""A document's story (verification/trace.py) as lines for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from rich.console import Console
from rich.text import Text


def print_stories(stories: Sequence[dict[str, Any]], console: Console) -> None:
    """One after another."""
    for story in stories:
        place = f"{story['source']}/{story['chunk']:05}/{story['row']}"
        console.print(Text(f"{story['id'] or 'no document'}  ({place})", style="bold"), soft_wrap=True)
        for heading, text in _lines(story):
            console.print(Text(f"  {heading:<8} {text}"), soft_wrap=True)
        console.print(Text(f"  {'end':<8} {story['end']}", style="green" if "drawn" in story["end"] else "yellow"))


def _lines(story: dict[str, Any]) -> Iterator[tuple[str, str]]:
    raw = {**story["raw"]}
    file, format_name = raw.pop("file"), raw.pop("format")
    yield "raw", f"{file!r}, {', '.join(f'{name} {value:,}' for name, value in raw.items())} ({format_name})"
    if "cleaned" in story:
        yield "cleaned", _cleaned(story["cleaned"])
        bounded = {rule["rule"] for rule in story["rules"]}
        for rule in sorted(story["rules"], key=lambda rule: rule["kept"]):
            yield "rule", f"{'kept   ' if rule['kept'] else 'BROKEN '} {rule['rule']}: {_value(rule)}"
        for name, value in story["signals"].items():
            if name not in bounded and isinstance(value, str):
                yield "signal", f"{name}: {value}"
    yield "verdict", story["verdict"] or "kept"
    yield from _after_verdict(story)


def _cleaned(steps: list[dict[str, Any]] | str) -> str:
    if isinstance(steps, str):
        return f"not shown: {steps}"
    return ", ".join(f"{step['cleaner']} {step['bytes_before']:,} → {step['bytes_after']:,} bytes" for step in steps)


def _value(rule: dict[str, Any]) -> str:
    value = rule["value"]
    least, most = (rule[name] for name in ("minimum", "maximum"))
    bounds = [f"at least {_number(least)}"] if least is not None else []
    bounds += [f"at most {_number(most)}"] if most is not None else []
    return f"{'not measured' if value is None else _number(value)} ({' and '.join(bounds) or 'no bound'})"


def _number(value: float) -> str:
    return f"{value:,.4g}" if isinstance(value, float) else f"{value:,}"


def _after_verdict(story: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for step in story.get("dedup", ()):
        if "cut" in step:
            spans = ", ".join(f"{start:,}-{stop:,}" for start, stop in step["byte_spans"])
            yield "dedup", f"{step['cut']} cuts bytes {spans}"
        else:
            whose = step["survivor"]
            place = f"{whose['source']}/{whose['chunk']:05}/{whose['row']}" if whose else ""
            yield "dedup", step["dropped"] + (f": a duplicate of {whose['id']} ({place})" if whose else "")
    if story.get("duplicates"):
        yield "dedup", f"{story['duplicates']:,} documents went for its sake"
    tokens = story.get("tokens")
    if tokens and "shard" in tokens:
        yield "tokens", f"{tokens['tokens']:,} in {tokens['shard']}, document {tokens['document']:,}"
    elif tokens:
        yield "tokens", f"fewer than {tokens['least']:,}: {tokens['gone']}"
    for draws in story.get("draws", ()):
        yield "drawn", f"{draws['times']} times" + (f" in stage {draws['stage']}" if draws["stage"] else "")
    for part in story.get("packed", ()):
        begin, end = part["columns"]
        first = part["first_token"]
        place = (
            f"{part['file']}, row {part['row']:,} (row {part['row_of_all']:,} of all), columns {begin:,}-{end - 1:,}"
        )
        yield "packed", f"{place}: tokens {first:,}-{first + part['tokens'] - 1:,}"
