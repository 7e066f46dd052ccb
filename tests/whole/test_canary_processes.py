"""Keys of each source, looked for in all that kbd writes, gives away, starts or says at its end.

One key comes from the environment, one from settings.toml, one from a command that it names. The
model's server sends them back, a plugin prints and raises them.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from model_server import Reply, failure
from wired import Wired, wired

pytestmark = pytest.mark.full

FROM_ENVIRONMENT = "sk-canary-env-5d0b41f7c2a9"
FROM_SETTINGS = "sk-canary-set-93e1aa7f60d4"
FROM_COMMAND = "sk-canary-cmd-c81f2e7b50a6"
FORGED = '{"event": "forged", "level": "critical"}'
HOSTILE = f"x\n{FORGED}\r{FORGED}\u2028{FORGED}\x1b[2J\x00"
"""A name that would be lines of its own in a log."""
KEYS = (FROM_ENVIRONMENT, FROM_SETTINGS, FROM_COMMAND)

CRASH = f"""\
import threading, warnings
keys = [key[::-1] for key in {[key[::-1] for key in KEYS]}]
from kbd.core.watch import watch_jobs
from kbd.core.server import listener
notify = watch_jobs.WatchJobs.notify
async def loud(self, *more):
    warnings.warn("warned of " + keys[2])
    print("printed", keys[1], flush=True)
    print("for", more[1].name, *more[2].paths)
    def fail():
        raise RuntimeError(keys[0])
    failed = threading.Thread(target=fail)
    failed.start()
    failed.join()
    return await notify(self, *more)
watch_jobs.WatchJobs.notify = loud
stop = listener.Server.stop
def ended(self):
    stop(self)
    raise RuntimeError(" ".join(keys))
listener.Server.stop = ended
"""
"""A plugin's fault in a thread, in a task, and one that ends the daemon. The keys are written
backwards: this stands in the daemon's command line."""


@pytest.fixture(scope="module")
def wire() -> Iterator[Wired]:
    """A daemon that stands in the middle of its work, with all three keys."""
    more = {"SPARE_API_KEY": FROM_ENVIRONMENT}
    with wired("asyncio", CRASH, more) as running:
        running.daemon.stop()
        # Two of the keys it did not know by then.
        running.daemon.log.unlink()
        secret = running.folder / "key"
        secret.write_text(f"{FROM_COMMAND}\n")
        settings = running.daemon.home / "settings.toml"
        settings.touch(mode=0o600)
        settings.write_text(
            f'[plugins.spare]\napi_key = "{FROM_SETTINGS}"\n'
            f"[plugins.openai]\napi_key_command = ['/bin/cat', '{secret}']\n"
        )
        running.daemon.start()
        yield running


def hits(data: bytes) -> list[str]:
    """Return the keys that some bytes hold."""
    return [key for key in KEYS if key.encode() in data]


def found_below(top: Path) -> dict[str, list[str]]:
    """Return the files that hold a key, but for those that a person put it into."""
    places = [top] if top.is_file() else [path for path in top.rglob("*") if path.is_file()]
    return {str(path): hits(path.read_bytes()) for path in places if hits(path.read_bytes())}


def descendants(pid: int) -> list[int]:
    """Return all processes that a process started, and they."""
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                stat = (entry / "stat").read_text()
            except OSError:
                continue
            parents.setdefault(int(stat.rpartition(")")[2].split()[1]), []).append(int(entry.name))
    found, left = [], [pid]
    while left:
        children = parents.get(left.pop(), [])
        found += children
        left += children
    return found


def memory(pid: int) -> Iterator[bytes]:
    """Yield what can be read of a process's memory; PermissionError if nobody may."""
    with Path(f"/proc/{pid}/maps").open() as maps, Path(f"/proc/{pid}/mem").open("rb", 0) as held:
        for text in maps:
            place, flags, *_ = text.split()
            if not flags.startswith("rw"):
                continue
            begin, end = (int(part, 16) for part in place.split("-"))
            try:
                held.seek(begin)
                yield held.read(end - begin)
            except (OSError, ValueError, OverflowError):
                continue


def parrot(body: object) -> Reply:
    """Be a model that fails with all keys that there are."""
    del body
    return failure(400, f"refused: {' '.join(KEYS)}")


def _use(wire: Wired) -> str:
    """Have kbd do what it does with files, and return the workbench."""
    folder = wire.folder
    bench = wire.workbench(a__txt="mine", b__csv="Shop,Amount\nBaker,1\n")
    wire.draft(bench, out__txt=f"made {' '.join(KEYS)}")
    assert wire.server.authorization == f"Bearer {FROM_COMMAND}"
    wire.ask("DraftPublish", workbench_id=bench)
    wire.ask("WorkspaceSearch", workbench_id=bench, query="made")
    wire.script.instead = parrot
    wire.ask("WorkshopSendUserMessage", workbench_id=bench, text=f"use {FROM_SETTINGS}")
    wire.refused("WorkshopRunAgent", workbench_id=bench, wait=True)
    wire.script.instead = None

    inbox, told = folder / "in", folder / "told"
    inbox.mkdir()
    command = f"env > {told}; cat /proc/$PPID/cmdline >> {told}; ps -ef >> {told}; cat >> {told}"
    wire.ask(
        "WatchAdd", folder=str(inbox), prompt="x", quiet_s=0.1, name=HOSTILE,
        on_outcome=["/bin/sh", "-c", f"{command}; mv {told} {told}.done"],
    )  # fmt: skip
    (inbox / HOSTILE.strip("\0").replace("/", "")).write_text("x")
    wire.refused(HOSTILE, **{HOSTILE: HOSTILE})
    deadline = time.monotonic() + 40
    while not Path(f"{told}.done").exists():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return bench


def test_no_key_is_anywhere_but_in_the_daemon(wire: Wired) -> None:
    """Not in the home, a case, a backup, a page, a receipt, `ps`, nor in a process it started."""
    folder = wire.folder
    bench = _use(wire)
    run_id = wire.ask("RunList", workbench_id=bench)["runs"][0]["run_id"]
    wire.ask("RunExport", run_id=run_id, target=str(folder / "case.zip"))
    wire.ask("BackupCreate", target=str(folder / "backup"))
    for words in (
        ("replay", bench, "--html", str(folder / "page.html")),
        ("receipt", "save", bench, "--to", str(folder / "proof")),
        ("replay", bench, "--verify"),
        ("doctor",),
        ("providers",),
        ("log", "daemon"),
    ):
        done = subprocess.run(
            [sys.executable, "-m", "kbd", "--home", str(wire.daemon.home), *words],
            capture_output=True, check=False,
        )  # fmt: skip
        assert hits(done.stdout + done.stderr) == []
    for given in ("case.zip", "backup", "page.html", "proof", "told.done"):
        assert (folder / given).exists(), given
        assert found_below(folder / given) == {}
    settings = wire.daemon.home / "settings.toml"
    assert found_below(wire.daemon.home) == {str(settings): [FROM_SETTINGS]}

    started = descendants(wire.daemon.pid)
    assert started, "no worker is there"
    for pid in started:
        for what in ("environ", "cmdline"):
            try:
                assert hits(Path(f"/proc/{pid}/{what}").read_bytes()) == []
            except PermissionError:
                continue  # Nobody may look: as good.
        try:
            assert [each for data in memory(pid) for each in hits(data)] == []
        except PermissionError:
            continue
    if os.geteuid() == 0:
        # That the search finds a key where there is one.
        assert FROM_COMMAND in {key for data in memory(wire.daemon.pid) for key in hits(data)}


def test_no_key_is_in_what_is_said_at_the_end(wire: Wired) -> None:
    """A fault in a thread, a warning, a fault that ends the daemon: told, without the keys."""
    assert wire.daemon.stop() == 1
    log = wire.daemon.log.read_text()
    for text in ("printed ***", "warned of ***", "RuntimeError: ***", "*** *** ***"):
        assert text in log
    assert hits(log.encode()) == []
    # Whatever is in a name: each line is an entry of kbd's, and none is one that a name forged.
    events = [json.loads(line)["event"] for line in log.splitlines()]
    assert "failed_inside" in events
    assert "forged" in log
    assert "forged" not in events
    assert not set("\x1b\r\u2028\x00") & set(log)
