"""The daemon as a service: what its manager hears of it from the start to the end."""

import os
import signal
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
