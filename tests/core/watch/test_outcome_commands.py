"""The program of a rule: what it is told, what it is not told, and that it comes to an end."""

import json
import os
from pathlib import Path

import pytest

from kbd.core.domain.watch_state import Ended
from kbd.core.runtime.peers import ChildGate
from kbd.core.watch.rule_commands import run_command
from kbd.events.watches import WatchRule
from kbd.types import RunId, Seq, WatchId, WorkbenchId

pytestmark = pytest.mark.anyio

WATCH = WatchId("00000000000000aa")
ENDED = Ended(
    landings=(Seq(3), Seq(4)),
    paths=("a.txt", "sub/ü b.txt"),
    outcome="failed",
    ended_at_us=1,
    workbench_id=WorkbenchId("00000000000000bb"),
    run_id=RunId("00000000000000bb-1"),
    code="DISK_FULL",
    message="no space",
    delivered=("/out/a.txt",),
)


async def _run(
    *command: str,
    ended: Ended = ENDED,
    key: str = "sk-secret",
    limit_s: float = 30.0,
    open_files: int = 256,
) -> tuple[int | None, str]:
    rule = WatchRule("reports", "/in", "do it", on_outcome=command)
    return await run_command(
        WATCH,
        rule,
        ended,
        holds_key=lambda text: key in text,
        limit_s=limit_s,
        gate=ChildGate(),
        open_files=open_files,
    )


async def test_a_command_is_told_of_the_outcome(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All of it on standard input, the most of it in the environment; of keys it is told none."""
    monkeypatch.setenv("OTHER_API_KEY", "x")
    monkeypatch.setenv("SNEAKY", "Bearer sk-secret")
    monkeypatch.setenv("HARMLESS", "here")
    told, variables = tmp_path / "told", tmp_path / "variables"
    done = await _run("/bin/sh", "-c", f"cat > {told}; env -0 > {variables}; exit 3; echo $0", "$X")

    assert done == (3, "")
    assert json.loads(told.read_text()) == {
        "watch_id": WATCH,
        "watch_name": "reports",
        "folder": "/in",
        "outcome": "failed",
        "paths": ["a.txt", "sub/ü b.txt"],
        "landing_ids": [3, 4],
        "workbench_id": "00000000000000bb",
        "run_id": "00000000000000bb-1",
        "code": "DISK_FULL",
        "message": "no space",
        "delivered": ["/out/a.txt"],
    }
    pairs = (line.partition("=")[::2] for line in variables.read_text().split("\0"))
    found = dict(pairs)
    assert {name: value for name, value in found.items() if name.startswith("KBD_")} == {
        name: value for name, value in os.environ.items() if name.startswith("KBD_")
    } | {
        "KBD_WATCH_ID": WATCH,
        "KBD_OUTCOME": "failed",
        "KBD_WORKBENCH_ID": "00000000000000bb",
        "KBD_RUN_ID": "00000000000000bb-1",
        "KBD_CODE": "DISK_FULL",
        "KBD_PATHS": "a.txt\nsub/ü b.txt",
    }
    assert found["HARMLESS"] == "here"
    assert not {"OTHER_API_KEY", "SNEAKY"} & found.keys()


async def test_a_command_need_not_read_what_it_is_told() -> None:
    """One that ends at once, with more to read than a pipe holds, has ended."""
    many = tuple(f"{number:0200}" for number in range(5000))
    assert await _run("/bin/true", ended=Ended(ENDED.landings, many, "failed", 1)) == (0, "")


async def test_a_command_that_cannot_be_started_is_said() -> None:
    """With the system's reason, and no more."""
    code, reason = await _run("/nowhere/at/all")
    assert (code, reason) == (None, "the command cannot be started: No such file or directory")
    code, reason = await _run("a\0b")
    assert code is None
    assert reason.startswith("the command cannot be started")


async def test_a_command_that_takes_too_long_is_killed_with_what_it_started(
    tmp_path: Path,
) -> None:
    """Nothing of its session is left to hold on to anything."""
    held = tmp_path / "held"
    os.mkfifo(held)
    reader = os.open(held, os.O_RDONLY | os.O_NONBLOCK)
    try:
        # Both hold the pipe open for writing; it is at its end when the last of them is gone.
        script = f"exec 3> {held}; sleep 600 & wait"
        code, reason = await _run("/bin/sh", "-c", script, limit_s=0.3)
        assert (code, reason) == (None, "the command took longer than 0.3 s and was killed")
        os.set_blocking(reader, True)
        assert os.read(reader, 1) == b""
    finally:
        os.close(reader)


async def test_a_command_has_the_limits_of_who_started_the_daemon(tmp_path: Path) -> None:
    """Not the daemon's own, up to which some programs close descriptor by descriptor; no more."""
    told = tmp_path / "told"
    script = (
        f"ulimit -Sn > {told}; ls /proc/self/fd | wc -l >> {told}; "
        f"grep SigIgn /proc/self/status >> {told}; cat >> {told}; printenv KBD_OUTCOME >> {told}"
    )
    assert await _run("/bin/sh", "-c", script, "a\udce4b", open_files=63) == (0, "")
    soft, descriptors, ignored, *rest = told.read_text().split("\n")
    # 0, 1, 2, and the folder that is listed.
    assert (soft, descriptors.strip()) == ("63", "4")
    assert int(ignored.split()[1], 16) & (1 << 12) == 0
    assert json.loads(rest[0])["outcome"] == rest[1] == "failed"
