"""A home that the growth benchmark makes is one that a daemon would have left behind.

Times are measured by `benchmarks/growth.py`; here no time is asserted.
"""

from pathlib import Path

import pytest

from benchmarks._homes import make_home
from real_daemon import RealDaemon

pytestmark = pytest.mark.full

COUNT = 20


def test_a_made_home_is_listed_and_verified(short_dir: Path) -> None:
    """The daemon lists all its workbenches and runs, opens none for it, and finds only the damage.

    Its own log is whole, too, and nothing is left to be done in the watched folders.
    """
    made = make_home(short_dir / "h", COUNT)
    (damaged,), (draft,) = made.damaged(), made.drafts()
    daemon = RealDaemon(made.home)
    daemon.start()
    try:
        found = daemon.ask("WorkbenchList")
        runs = daemon.ask("RunList")
        states = {row["id"]: row["status"] for row in found["workbenches"]}

        assert made.ids == tuple(states)
        assert [found[name] for name in ("drafts", "damaged", "unread")] == [1, 1, 0]
        assert states.pop(damaged) == "damaged"
        # The rule wants a person to look at it before it is published.
        assert states.pop(draft) == "waiting"
        assert {"idle"} == set(states.values())
        assert [f"{each}-1" for each in made.ids] == [row["run_id"] for row in runs["runs"]]
        assert not list(made.home.glob("workbenches/*/open"))

        watches = daemon.ask("WatchList")["watches"]
        whole = {each: daemon.ask("LogVerify", workbench_id=each)["ok"] for each in made.ids}

        assert sum(row["landed"] for row in watches) == COUNT
        assert [row[name] for row in watches for name in ("waiting", "failed")] == [0] * 4
        assert [damaged] == [each for each, is_whole in whole.items() if not is_whole]
        assert daemon.ask("LogVerify", workbench_id="daemon")["ok"]
    finally:
        assert daemon.stop() == 0
