"""Processes of a real daemon: they get no descriptor of its own, and cannot speak to it."""

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from real_daemon import RealDaemon
from whole.watched import SALES, Watched, shop_at

CLOSE_ON_EXEC = 0o2000000

CHILD = """
import subprocess, sys
subprocess.Popen([sys.executable, "-I", "-c", {code!r}, {socket!r}, {told!r}])
"""
ASK = r"""
import json, os, socket, sys, time
deadline = time.monotonic() + 40
while True:
    client = socket.socket(socket.AF_UNIX)
    try:
        client.connect(sys.argv[1])
        break
    except OSError:
        if time.monotonic() > deadline:
            raise
        time.sleep(0.05)
client.settimeout(40)
try:
    client.sendall(b'{"jsonrpc":"2.0","id":1,"method":"EngineGetInfo"}\n')
    answer = client.recv(65536).decode()
except ConnectionError:
    answer = ""
fds = {}
for fd in os.listdir("/proc/self/fd"):
    try:
        fds[fd] = os.readlink(f"/proc/self/fd/{fd}")
    except OSError:
        pass
fds.pop(str(client.fileno()), None)
with open(sys.argv[2] + ".part", "w") as told:
    json.dump({"answer": answer, "fds": fds}, told)
os.rename(sys.argv[2] + ".part", sys.argv[2])
"""


def test_a_child_of_the_daemon_is_not_answered_and_inherits_nothing(short_dir: Path) -> None:
    """A plain child, as a parser that was taken over is one, is closed on without a byte.

    Every descriptor of the daemon is closed by exec, also while clients are connected; its limit
    of them is the hard one.
    """
    told = short_dir / "told"
    home = short_dir / "h"
    preface = CHILD.format(code=ASK, socket=str(home / "kbd.sock"), told=str(told))
    daemon = RealDaemon(home, preface=preface)
    daemon.start()
    try:
        found = _told(told)
        assert found["answer"] == ""
        with daemon.client() as client:
            assert client.send("EngineGetInfo")["api_version"] == "1"
            assert _inheritable(daemon.pid) == []
        limits = Path(f"/proc/{daemon.pid}/limits").read_text().splitlines()
        (soft, hard) = next(line for line in limits if line.startswith("Max open files")).split()[
            3:5
        ]
        assert soft == hard
    finally:
        daemon.stop()


@pytest.mark.full
def test_a_rules_command_may_ask_the_daemon_and_workers_hold_nothing_of_its(
    short_dir: Path,
) -> None:
    """The command that the user gave is answered; neither it nor a worker has its descriptors."""
    program = short_dir / "ask.py"
    program.write_text(ASK)
    told = short_dir / "told"
    with shop_at(short_dir, "asyncio") as shop:
        command = [sys.executable, str(program), shop.daemon.socket, str(told)]
        inbox = shop.inbox("sales", on_outcome=command)
        inbox.drop("sales.csv", SALES)
        inbox.settled(1)
        found = _told(told)
        assert json.loads(found["answer"])["result"]["api_version"] == "1"
        assert all(_is_harmless(link) for link in found["fds"].values()), found["fds"]
        workers = _zygotes(shop)
        assert workers
        for pid in workers:
            links = [os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd")]
            files = [link for link in links if link.startswith("/") and link != "/dev/null"]
            assert files == []
            # Its channel to the daemon, the pair that its own signals wake it by, and that to the
            # process that waits for a call, while there is one.
            assert sum(link.startswith("socket:") for link in links) in (3, 4)
        assert _inheritable(shop.daemon.pid) == []


def _told(path: Path) -> dict[str, Any]:
    deadline = time.monotonic() + 60
    while not path.exists():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    found: dict[str, Any] = json.loads(path.read_text())
    return found


def _inheritable(pid: int) -> list[str]:
    """Return what a child would inherit but for the three streams."""
    found = []
    for fd in os.listdir(f"/proc/{pid}/fd"):
        try:
            info = Path(f"/proc/{pid}/fdinfo/{fd}").read_text()
            link = os.readlink(f"/proc/{pid}/fd/{fd}")
        except OSError:
            continue  # closed meanwhile
        flags = next(line for line in info.splitlines() if line.startswith("flags:")).split()[1]
        if int(fd) > 2 and not int(flags, 8) & CLOSE_ON_EXEC:
            found.append(f"{fd} {link}")
    return found


def _is_harmless(link: str) -> bool:
    return link == "/dev/null" or link.startswith(("pipe:", "/proc/", "socket:"))


def _zygotes(shop: Watched) -> list[int]:
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            stat = Path(f"/proc/{name}/stat").read_bytes().rpartition(b")")[2].split()
            command = Path(f"/proc/{name}/cmdline").read_bytes()
        except OSError:
            continue
        if int(stat[1]) == shop.daemon.pid and b"kbd.core.plugins.zygote" in command:
            found.append(int(name))
    return found
