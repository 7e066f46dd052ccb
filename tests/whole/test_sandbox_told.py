"""A daemon whose workers lack a layer says so: with its first run, and to whoever asks."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from real_daemon import RealDaemon

pytestmark = pytest.mark.anyio


@pytest.fixture
def bare_daemon(short_dir: Path, anyio_backend: str) -> Iterator[RealDaemon]:
    """A daemon whose sandbox is switched off."""
    running = RealDaemon(short_dir / "bare", anyio_backend, {"KBD_WORKERS_SANDBOX": "off"})
    running.start()
    yield running
    running.stop()


def notices(daemon: RealDaemon) -> list[str]:
    """Run a job in a new workbench and return the notices that it gave."""
    workbench_id = daemon.ask("WorkbenchCreate", name="W")["workbench_id"]
    daemon.ask("WorkshopSendUserMessage", workbench_id=workbench_id, text="what is there?")
    daemon.ask("WorkshopRunAgent", workbench_id=workbench_id)
    events = daemon.events(workbench_id)
    return [event["data"]["message"] for event in events if event["type"] == "NoticeGiven"]


@pytest.mark.full
def test_the_first_run_without_a_layer_says_so_once(bare_daemon: RealDaemon) -> None:
    """The log of the first run has it, with the reason; the next one has nothing."""
    first, second = notices(bare_daemon), notices(bare_daemon)

    assert second == []
    (said,) = first
    assert said.startswith("files are opened without a layer of the sandbox (switched off by the")
    assert said.endswith("); see kbd doctor")


@pytest.mark.full
def test_whoever_asks_hears_of_each_layer(daemon: RealDaemon, bare_daemon: RealDaemon) -> None:
    """The level is that of the settings, and the layers are those of the system."""
    told = daemon.ask("ToolWorkerGetStatus")["sandbox"]
    bare = bare_daemon.ask("ToolWorkerGetStatus")["sandbox"]

    assert bare["level"] == "off"
    assert bare["layers"] == told["layers"]
    assert [layer["name"] for layer in told["layers"]] == ["landlock", "seccomp"]
    assert (told["level"] == "full") == all(layer["holds"] for layer in told["layers"])
    assert ("reason" in told) == (told["level"] != "full")
