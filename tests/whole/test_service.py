"""The daemon as a service: what its manager hears of it from the start to the end."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from real_daemon import RealDaemon
from service_manager import Manager

WATCHDOG_S = 1.0

PREFACE = """
import atexit, os, signal, threading, time
def hang(*_):
    while os.path.exists({hang!r}):
        time.sleep(0.01)
signal.signal(signal.SIGUSR1, hang)
atexit.register(lambda: open({names!r}, "w").write(" ".join(os.environ)))
"""


class Service(RealDaemon):
    """A daemon that a manager has started, which hangs at SIGUSR1 while the file `hang` is there.

    Attributes:
        manager: The manager.
        hang: The file.
        names: The file with the variables of its environment, as they were at its end.
    """

    def __init__(self, folder: Path, backend: str) -> None:
        self.manager = Manager(str(folder / "notify"))
        self.hang, self.names = folder / "hang", folder / "names"
        environment = {
            "NOTIFY_SOCKET": self.manager.address,
            "WATCHDOG_USEC": str(int(WATCHDOG_S * 1e6)),
        }
        preface = PREFACE.format(hang=str(self.hang), names=str(self.names))
        super().__init__(folder / "home", backend, environment, preface)

    def hear(self, *beginnings: str) -> None:
        """Wait for messages that begin so, one after the other; signs of life may come between."""
        for beginning in beginnings:
            message: str | None = "WATCHDOG=1"
            while message == "WATCHDOG=1" and beginning != message:
                message = self.manager.receive()
            assert message is not None
            assert message.startswith(beginning)


@pytest.fixture
def service(short_dir: Path, anyio_backend: str) -> Iterator[Service]:
    """A daemon that is not started yet."""
    made = Service(short_dir, anyio_backend)
    yield made
    made.hang.unlink(missing_ok=True)
    made.stop()
    made.manager.close()


def test_a_service_is_ready_when_it_answers_and_says_when_it_stops(service: Service) -> None:
    """At `READY=1` a client is answered; no process of its own can speak for it."""
    starting = threading.Thread(target=service.start)
    starting.start()
    service.hear("READY=1\nSTATUS=Ready")
    assert service.ask("EngineGetInfo")["pid"] == service.pid
    starting.join()
    service.hear("WATCHDOG=1", "WATCHDOG=1")
    assert service.stop() == 0
    service.hear("STOPPING=1\nSTATUS=Stopping")
    assert not {"NOTIFY_SOCKET", "WATCHDOG_USEC"} & set(service.names.read_text().split())


def test_a_daemon_whose_event_loop_hangs_gives_no_sign_of_life(
    service: Service, short_dir: Path
) -> None:
    """So its manager restarts it; one that comes round gives signs again."""
    service.start()
    service.hear("READY=1", "WATCHDOG=1")
    service.hang.touch()

    os.kill(service.pid, signal.SIGUSR1)
    # What was sent before the signal arrived may still be there.
    service.manager.receive(WATCHDOG_S)
    assert service.manager.receive(2 * WATCHDOG_S) is None
    service.hang.unlink()
    service.hear("WATCHDOG=1")


def test_a_start_that_fails_is_told(service: Service) -> None:
    """As a sentence that `systemctl status` shows."""
    service.home.mkdir(mode=0o700)
    (service.home / "settings.toml").write_text("[limits]\nfile = 3\n")
    with pytest.raises(AssertionError, match="did not start"):
        service.start()
    service.hear("STATUS=Cannot start: settings.toml: there is no setting limits.file")


def _kbd(home: Path, command: str, **settings: str) -> None:
    subprocess.run(
        [sys.executable, "-m", "kbd", "--home", str(home), command],
        check=True, capture_output=True, env={**os.environ, **settings}, timeout=60,
    )  # fmt: skip


def test_a_daemon_in_the_background_rotates_its_log(short_dir: Path) -> None:
    """`kbd up` has it write JSON lines into the home, and keep no more than the settings say."""
    home = short_dir / "home"
    log = home / "daemon" / "daemon.log"
    log.parent.mkdir(parents=True, mode=0o700)
    log.write_text("an older kbd wrote texts\n" * 170)
    _kbd(home, "up", KBD_LOG_FILE_BYTES="4096", KBD_LOG_FILES="1")
    _kbd(home, "stop")
    told = [json.loads(line)["event"] for line in log.read_text().splitlines()]

    assert told[0] == "listening"
    assert told[-1] == "stopping"
    older = log.with_name("daemon.log.1").read_text().splitlines()
    assert older == ["an older kbd wrote texts"] * 170
    assert sorted(path.name for path in log.parent.glob("daemon.log*")) == [
        "daemon.log", "daemon.log.1",
    ]  # fmt: skip
