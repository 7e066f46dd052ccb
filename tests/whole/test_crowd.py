"""A crowd of stalled, slow, half-open and fuzzing clients harms neither the daemon nor the healthy.

Times are measured by `benchmarks/crowd.py`; here no time is asserted.
"""

import json
import subprocess
import time
from pathlib import Path

import pytest

from benchmarks.crowd import UNHANDLED, crowd_command, descriptors, memory_mib
from real_daemon import RealDaemon

ROOT = Path(__file__).resolve().parents[2]

SETTLE_S = 40.0
"""The longest that what a crowd has left takes to be seen off, on a busy machine."""


@pytest.mark.parametrize(
    ("clients", "seconds"),
    [
        pytest.param(200, 8, marks=pytest.mark.full),
        pytest.param(990, 600, marks=[pytest.mark.soak, pytest.mark.timeout(1200)]),
    ],
)
def test_a_crowd_leaves_nothing_behind(short_dir: Path, clients: int, seconds: int) -> None:
    """A healthy client is answered all the while; then descriptors and memory are as before.

    No exception goes unhandled, nothing is answered as an internal error, and the log is whole.
    The crowd comes twice: what the first one left is what the daemon has made for good.
    """
    daemon = RealDaemon(short_dir / "h")
    daemon.start()
    try:
        base_fds = descriptors(daemon.pid)
        left = [_beside(daemon, clients, seconds, seed) for seed in (1, 2)]
        assert left[1] - left[0] < 8, left
        deadline = time.monotonic() + SETTLE_S
        while descriptors(daemon.pid) > base_fds:
            assert time.monotonic() < deadline, (base_fds, descriptors(daemon.pid))
            time.sleep(0.1)
        assert daemon.ask("LogVerify", workbench_id="daemon")["ok"]
        said = daemon.log.read_text(errors="replace")
        assert [words for words in UNHANDLED if words in said] == []
    finally:
        assert daemon.stop() == 0


def _beside(daemon: RealDaemon, clients: int, seconds: int, seed: int) -> float:
    """Ask for as long as a crowd is there; return the memory in MiB when it has left."""
    before = memory_mib(daemon.pid)
    command = crowd_command(daemon.socket, clients, seconds, seed)
    with (
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as crowd,
        daemon.client() as healthy,
    ):
        while crowd.poll() is None:
            assert healthy.send("EngineGetInfo", timeout=30)["api_version"] == "1"
            assert memory_mib(daemon.pid) - before < 256
            time.sleep(0.02)
        assert crowd.stdout is not None
        counted = json.loads(crowd.stdout.read())
    assert crowd.returncode == 0
    assert counted["answers"] > clients
    assert counted.get("faults", 0) == 0
    time.sleep(1)
    return memory_mib(daemon.pid)
