"""Asking Slurm what it has, and taking jobs back."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence


def cancel(numbers: Sequence[str]) -> None:
    """Take jobs back."""
    if numbers:
        subprocess.run(["scancel", *numbers], check=False, capture_output=True)


def waiting(numbers: Sequence[str]) -> list[str] | None:
    """Which of these jobs Slurm still has, waiting or at work; None where Slurm cannot be asked."""
    try:
        asked = subprocess.run(["squeue", "-h", "-r", "-o", "%A %F %T"], check=True, capture_output=True, text=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    there = {line.split()[1] for line in asked.stdout.splitlines() if line.strip()}
    return [number for number in numbers if number in there]
