"""How a person names a run."""

from pathlib import Path

import pytest

from kbd.cli.exits import Stop
from kbd.cli.names import find_run
from kbd.client.blocking import Client
from scripted_daemon import ScriptedDaemon
from scripted_job import WORKBENCH, workbench


@pytest.fixture
def client(daemon: ScriptedDaemon, short_dir: Path) -> Client:
    """A client of a daemon with two workbenches, of which one has eleven runs."""
    # By a clock that was set back, the last run began first.
    runs = [{"run_id": f"{WORKBENCH}-{number}"} for number in (11, *range(1, 11))]
    daemon.answers["WorkbenchList"] = {
        "workbenches": [workbench(), workbench(id="f" * 16, name="taxes-2")]
    }
    daemon.answers["RunList"] = lambda asked, _: {
        "runs": runs if asked["workbench_id"] == WORKBENCH else []
    }
    return Client(str(short_dir / "kbd.sock"))


@pytest.mark.parametrize(
    ("named", "number"),
    [("taxes", 11), (WORKBENCH, 11), (f"{WORKBENCH}-3", 3), ("taxes-11", 11), (WORKBENCH[:4], 11)],
)
def test_a_run_is_named_by_its_workbench(client: Client, named: str, number: int) -> None:
    """A workbench means its newest run; with a number behind it, that run."""
    with client:
        assert find_run(client, named)["run_id"] == f"{WORKBENCH}-{number}"


@pytest.mark.parametrize(
    ("named", "told"),
    [
        ("taxes-12", "workbench taxes has 11 runs; there is no run 12"),
        ("taxes-0", "there is no run 0"),
        ("taxes-2", "there was no run in workbench taxes-2 yet"),
        ("nobody-2", "there is no workbench nobody-2"),
        ("taxes-" + "9" * 5000, "there is no workbench"),
    ],
)
def test_a_run_that_is_not_there_is_told(client: Client, named: str, told: str) -> None:
    """Said is what is missing; a whole name goes before a name with a number."""
    with client, pytest.raises(Stop, match=told.replace(".", r"\.")):
        find_run(client, named)
