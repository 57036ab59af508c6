"""The jobs that a run would submit to a cluster: names, dependencies, ranks, and what sbatch is told."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from gristmill.cluster.chain import chain_of, ranks_of
from gristmill.cluster.drive import require
from gristmill.drive import Plan, place_of
from gristmill.recipe import Recipe
from gristmill.route.groups import name_of


def print_cluster_jobs(recipe: Recipe, plan: Plan, console: Console) -> None:
    """A row for each job, in order; then, for Slurm, the options of sbatch."""
    require(recipe.engine.kind)
    chain = chain_of(recipe, name_of([plan.jobs[0].step]))
    table = Table(title=f"Jobs for {recipe.engine.kind.capitalize()}", title_justify="left")
    for heading in ("job", "ranks", "begins after", "its last rank also carries out"):
        table.add_column(heading, overflow="fold")
    before = ""
    for number, job in enumerate(chain):
        ranks = ranks_of(recipe, len(plan.jobs) if number == 0 else None)
        then = ", ".join(job.then) + (", the ledger" if job == chain[-1] else "")
        table.add_row(job.name, str(ranks) if number == 0 else f"up to {ranks}", before, then.removeprefix(", "))
        before = job.name
    console.print(table)
    if recipe.engine.kind == "slurm":
        from gristmill.cluster.executors import sbatch_options

        options = sbatch_options(recipe, place_of(recipe), chain[0], ranks_of(recipe, len(plan.jobs)))
        told = " ".join(f"--{key}={value}" if value else f"--{key}" for key, value in options.items())
        console.print(f"sbatch {told}", highlight=False, soft_wrap=True, markup=False)
        console.print("The others likewise, each with --dependency=afterok: of the one before.", highlight=False)
