"""A Slurm of one node for tests: munged, slurmctld and slurmd on ports of their own, all on 127.0.0.1."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_CONF = """
ClusterName=gristmill
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
SlurmctldPort={control_port}
SlurmdPort={node_port}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
ReturnToService=2
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=sched_min_interval=50000,batch_sched_delay=0,bf_interval=1
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
NodeName={host} NodeAddr=127.0.0.1 CPUs=2 RealMemory=8000
PartitionName=test Nodes={host} Default=YES MaxTime=INFINITE State=UP OverSubscribe=FORCE:4
"""


def missing() -> str:
    """What is not here, in words; "" where tests can start a Slurm."""
    if os.getuid() != 0:
        return "slurmctld and slurmd are started as root"
    for program in ("munged", "slurmctld", "slurmd", "sbatch"):
        if program_path(program) is None:
            return f"{program} is not here: tools/install_test_servers installs it"
    return ""


def program_path(name: str) -> str | None:
    """Where a program is; servers lie in /usr/sbin, which is not on everybody's path."""
    return shutil.which(name) or shutil.which(name, path="/usr/sbin")


@contextmanager
def running_slurm(folder: Path) -> Iterator[dict[str, str]]:
    """A Slurm in this folder; what a process must have in its environment to talk to it."""
    for name in ("state", "spool"):
        (folder / name).mkdir(parents=True)
    folder.chmod(0o755)
    key = folder / "munge.key"
    key.write_bytes(os.urandom(1024))
    key.chmod(0o400)
    ports = {"control_port": _free_port(), "node_port": _free_port()}
    conf = folder / "slurm.conf"
    conf.write_text(_CONF.format(host=socket.gethostname().split(".")[0], folder=folder, **ports))
    environment = {"SLURM_CONF": str(conf)}
    at = {name: f"--{name}={folder}/munge.{name.split('-')[0]}" for name in ("socket", "pid-file", "log-file")}
    command = [str(program_path("munged")), "--foreground", "--force", f"--key-file={key}", *at.values()]
    munged = subprocess.Popen([*command, f"--seed-file={folder}/munge.seed"], stderr=subprocess.DEVNULL)
    started = [munged]
    try:
        _wait_for(lambda: (folder / "munge.socket").exists(), "munged")
        for name in ("slurmctld", "slurmd"):
            started.append(
                subprocess.Popen(
                    [str(program_path(name)), "-D", "-f", str(conf)],
                    env={**os.environ, **environment},
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                )
            )
        _wait_for(lambda: _is_idle(environment), "slurmctld and slurmd")
        yield environment
    finally:
        for process in reversed(started):
            process.terminate()
        for process in started:
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _is_idle(environment: dict[str, str]) -> bool:
    asked = subprocess.run(
        ["sinfo", "-h", "-o", "%T"], env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )
    return asked.stdout.strip() in ("idle", "mixed", "allocated")


def _wait_for(ready: object, what: str, seconds: float = 30) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if callable(ready) and ready():
            return
        time.sleep(0.05)
    raise AssertionError(f"{what} did not answer within {seconds:.0f} s")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
