"""The ledger against what is on disk: its numbers are those of records, token shards, draw plans and row files."""

from __future__ import annotations

from gristmill.engine.ledger import Ledger
from gristmill.errors import GristmillError
from gristmill.formats.draw_plan import DrawPlan
from gristmill.formats.token_shard import TokenShard
from gristmill.verification.check import Check
from gristmill.verification.run_folder import RunFolder

Amounts = dict[tuple[str, str, str], int]


def check_ledger(run: RunFolder) -> list[Check]:
    """Entered = left + gone in every entry, and what left is there."""
    check = Check("the ledger balances, and what it counts is there", "entries")
    try:
        ledger = Ledger.read(run.path)
    except GristmillError as error:
        check.looked(1)
        check.fails(str(error).split("\n", 1)[0])
        return [check]
    check.looked(len(ledger.entries))
    for (stage, source, unit), found in _on_disk(run).items():
        booked = [entry.left for entry in ledger.of(stage) if (entry.source, entry.unit) == (source, unit)]
        if not booked or booked[-1] != found:
            said = f"{booked[-1]:,}" if booked else "nothing"
            check.fails(f"{stage}: source {source}: {said} {unit} in the ledger, {found:,} on disk")
    return [check]


def _on_disk(run: RunFolder) -> Amounts:
    amounts: Amounts = {}
    for chunk in run.chunks:
        shard = TokenShard.open(chunk.shard)
        source = chunk.sifted.source
        for key, count in (
            (("sift", source, "documents"), int(chunk.sifted.judged.counts["kept"])),
            (("tokenize", source, "documents"), len(shard)),
            (("tokenize", source, "tokens"), shard.tokens),
        ):
            amounts[key] = amounts.get(key, 0) + count
    for number, source in enumerate(run.sources):
        for stage in run.stages:
            key = ("pack", source, "tokens")
            packed = sum(int(record.counts["packed_tokens"][number]) for record in stage.records)
            amounts[key] = amounts.get(key, 0) + packed
    for stage in run.stages:
        with DrawPlan(stage.plan) as plan:
            for window in range(len(plan)):
                draws = plan.window_draws(window)
                for number, source in enumerate(run.sources):
                    key = ("mix", source, "tokens")
                    amounts[key] = amounts.get(key, 0) + int(draws.tokens[draws.source == number].sum(dtype="int64"))
    return amounts
