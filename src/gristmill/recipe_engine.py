"""The part of a recipe that says what it runs on: this machine, Slurm or Ray. None of it changes a
byte, but `blocks` where datatrove's filters and ours differ."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    field_validator,
    model_serializer,
    model_validator,
)

from gristmill import units
from gristmill.quantities import parse_bytes, parse_count

Count = Annotated[int, BeforeValidator(parse_count)]
ByteSize = Annotated[int, BeforeValidator(parse_bytes)]


def _clock(value: Any) -> Any:
    """YAML reads 1:30:00 as a number, 5400."""
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value // 3600}:{value // 60 % 60:02}:{value % 60:02}"
    return value


_KEYS: dict[str, tuple[str, ...]] = {  # what only engines of these kinds know
    "slurm": (
        "tasks", "cpus_per_task", "mem_per_cpu", "logging_dir",
        "partition", "time", "qos", "env_command", "venv", "sbatch_args", "max_array_size", "at_once",
    ),
    "ray": ("tasks", "cpus_per_task", "mem_per_cpu", "logging_dir", "address"),
}  # fmt: skip
_NEEDED: dict[str, tuple[str, ...]] = {"slurm": ("partition", "time", "tasks"), "ray": ("tasks",)}


class Engine(BaseModel):
    """What the run may use."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Literal["local", "slurm", "ray"] = "local"
    workers: Annotated[int, Field(ge=0)] | Literal["auto"] = "auto"  # 0: in this process, for debugging
    memory: ByteSize = Field(default=4 << 30, ge=256 << 20)
    blocks: Literal["own", "datatrove"] = "own"  # datatrove: its own filters judge, for comparison, at its speed
    scratch: str | None = None  # with a remote output: a folder on the machine's own disk for files at work
    scratch_size: ByteSize = Field(default=100_000_000_000, ge=10_000_000)  # what may lie there, of finished tasks

    tasks: Count | None = Field(default=None, ge=1)  # of one job of the cluster: its ranks
    cpus_per_task: int = Field(default=1, ge=1)
    mem_per_cpu: ByteSize = Field(default=2 << 30, ge=128 << 20)
    logging_dir: str | None = None  # of the jobs; else in the output folder
    partition: str | None = None
    time: Annotated[str | None, BeforeValidator(_clock)] = None  # of one task, as sbatch takes it
    qos: str | None = None
    env_command: str | None = None  # a shell command that a job begins with
    venv: str | None = None  # the `activate` of a virtual environment
    sbatch_args: Mapping[str, str | int] = {}
    max_array_size: int = Field(default=1001, ge=1)
    at_once: int | None = Field(default=None, ge=1)  # tasks of one job that may run at the same time
    address: str | None = None  # of Ray's head; none: a Ray of its own on this machine

    @field_validator("blocks")
    @classmethod
    def _is_installed(cls, blocks: str) -> str:
        if blocks == units.DATATROVE and find_spec("datatrove") is None:
            raise ValueError("expected datatrove, found it is not installed; run `pip install 'gristmill[datatrove]'`")
        return blocks

    @model_validator(mode="after")
    def _keys_fit_the_kind(self) -> Engine:
        known = _KEYS.get(self.kind, ())
        strangers = [key for key in self._strange_keys() if getattr(self, key) != type(self).model_fields[key].default]
        if strangers:
            listed = f" It takes {', '.join(known)}." if known else ""
            raise ValueError(f"expected no `{strangers[0]}` for an engine of kind {self.kind}, found one.{listed}")
        if missing := [key for key in _NEEDED.get(self.kind, ()) if getattr(self, key) is None]:
            raise ValueError(f"expected `{missing[0]}` for an engine of kind {self.kind}, found none")
        return self

    @model_serializer(mode="wrap")
    def _only_keys_of_the_kind(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        strange = self._strange_keys()
        return {key: value for key, value in write(self).items() if key not in strange}

    def _strange_keys(self) -> list[str]:
        special = dict.fromkeys(key for keys in _KEYS.values() for key in keys)
        return [key for key in special if key not in _KEYS.get(self.kind, ())]
