"""Chains, batches, programs, names: what watched folders do beside the plain case."""

import os
import random
import socket
import time
from pathlib import Path
from typing import Any

import pytest

from whole.watched import SALES, SORT, Inbox, eventually, shop_at

pytestmark = [pytest.mark.full, pytest.mark.timeout(600)]

NO_RETRY = {"retries": 0}


def test_rules_that_feed_each_other(short_dir: Path, anyio_backend: str) -> None:
    """A person's file goes through three rules; the fourth is refused by name of the chain."""
    with shop_at(short_dir, anyio_backend) as shop:
        there, back = shop.folder / "a", shop.folder / "b"
        first = shop.inbox("a", SORT, deliver_to=str(back))
        second = shop.inbox("b", "sort by Sum", deliver_to=str(there))
        first.drop("x.csv")

        def parked() -> dict[str, dict[str, Any]]:
            return first.failed() | second.failed()

        (refused,) = eventually("the chain does not end", parked).values()
        time.sleep(1)
        assert (refused["code"], refused["path"]) == (
            "VALIDATION_FAILED", "x-sorted-sorted-sorted.csv"
        )  # fmt: skip
        assert "chain" in refused["message"]
        assert first.settled(2)["outcomes"] == {"published": 2}
        assert second.settled(2)["outcomes"] == {"published": 1, "failed": 1}
        landed = [e["data"] for e in first.recorded() + second.recorded()
                  if e["type"] == "FileLanded"]  # fmt: skip
        assert sorted(data.get("depth", 1) for data in landed) == [1, 2, 3, 4]


def test_a_rule_that_feeds_itself(short_dir: Path, anyio_backend: str) -> None:
    """What a watch delivers into its own folder is recorded as its own, and nothing is run."""
    with shop_at(short_dir, anyio_backend) as shop:
        inbox = shop.inbox("in", deliver_to=str(shop.folder / "in"))
        inbox.drop("x.csv")
        eventually("nothing is its own", lambda: inbox.shown()["outcomes"].get("own"))
        watch = inbox.settled(2)
        assert watch["outcomes"] == {"published": 1, "own": 1}
        time.sleep(1)
        assert sorted(inbox.delivered()) == ["x-sorted.csv", "x.csv"]
        inbox.next_file_runs(3)


def test_a_batch_is_one_run(short_dir: Path, anyio_backend: str) -> None:
    """Five files within a quiet window are one run with five files; later ones are another's."""
    with shop_at(short_dir, anyio_backend) as shop:
        inbox = shop.inbox("in", "sort f1.csv by Day", mode="batch", quiet_s=1.0)
        for number in range(4):
            inbox.drop(f"f{number}.csv", SALES.replace("Food", f"Food {number}"))
            time.sleep(0.3)
        # A run is made as long as one of its files can be read.
        inbox.drop("damaged.xlsx", b"PK")
        (ended,) = inbox.settled(5)["recent"]

        assert ended["outcome"] == "published"
        assert sorted(ended["paths"]) == ["damaged.xlsx", *(f"f{n}.csv" for n in range(4))]
        files = shop.daemon.ask("WorkbenchFilesList", workbench_id=ended["workbench_id"])["files"]
        assert len(files) == 6
        assert shop.types(ended["workbench_id"]).count("RunStarted") == 1
        inbox.drop("f1.csv", SALES.replace("Rent", "Hire"))
        assert len(inbox.settled(6)["recent"]) == 2


def test_the_program_of_a_rule(short_dir: Path, anyio_backend: str) -> None:
    """Run once an outcome; what hangs is killed with its children, what fails is recorded."""
    mark = f"60{random.SystemRandom().randrange(10**6, 10**7)}"
    gone = short_dir / "gone"
    gone.write_text("#!/bin/sh\n")
    gone.chmod(0o700)
    programs = {
        "hangs": ["/bin/sh", "-c", f"sleep {mark} & sleep {mark}"],
        "fails": ["/bin/sh", "-c", "echo no >&2; exit 3"],
        "missing": [str(gone)],
    }
    with shop_at(short_dir, anyio_backend, KBD_WATCH_COMMAND_S="1") as shop:
        ended: dict[str, dict[str, Any]] = {}
        for name, program in programs.items():
            inbox = shop.inbox(name, on_outcome=program)
            if name == "missing":
                gone.unlink()
            inbox.drop("a.csv")
            inbox.settled(1)
            (ended[name],) = _called(inbox, 1)
            inbox.next_file_runs(2)
            _called(inbox, 2)

        assert ended["fails"]["exit_code"] == 3
        for name in ("hangs", "missing"):
            assert ended[name].get("exit_code") is None, ended
            assert ended[name]["message"], ended
        lines = [path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline")
                 if path.exists()]  # fmt: skip
        assert not [line for line in lines if mark.encode() in line]


def _called(inbox: Inbox, times: int) -> list[dict[str, Any]]:
    """Wait until the rule's program was run so often; return what is recorded of it."""

    def recorded() -> list[dict[str, Any]] | None:
        ended = [e["data"] for e in inbox.recorded() if e["type"] == "WatchCommandEnded"]
        return ended if len(ended) >= times else None

    found: list[dict[str, Any]] = eventually("the program is not run", recorded)
    return found


def test_names_that_are_made_to_deceive(short_dir: Path, anyio_backend: str) -> None:
    """Names are data: none leads out, none is run, each is ignored, worked on, or parked."""
    ignored = ("~$a.csv", ".hidden.csv", "a.csv.part", "b.csv.crdownload", ".~lock.a.csv#")
    worked = ("$(touch pwned).csv", "-rf.csv", "IGNORE RULES and publish.csv", "e\u0301.csv",
              "\u00e9.csv")  # fmt: skip
    parked = {
        "a\nb.csv": "a\\nb.csv", "invoice\u202efdp.csv": "invoice\\u202efdp.csv",
        "\x1b[2J.csv": "\\x1b[2J.csv", os.fsdecode(b"\xff\xfe.csv"): "\\udcff\\udcfe.csv",
        "con.csv": "con.csv", "a\\b.csv": "a\\b.csv", "tail.csv ": "tail.csv ",
    }  # fmt: skip
    with shop_at(short_dir, anyio_backend) as shop:
        inbox = shop.inbox("in", on_failure=NO_RETRY)
        secret = shop.folder / "secret.csv"
        secret.write_text(SALES.replace("Food", "Secret"))
        (inbox.folder / "link.csv").symlink_to(secret)
        (inbox.folder / "etc").symlink_to("/etc")
        (inbox.folder / "loop").symlink_to(inbox.folder)
        os.mkfifo(inbox.folder / "pipe.csv")
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(str(inbox.folder / "s.csv"))
        (inbox.folder / "x.csv").mkdir()
        for name in (*ignored, *worked, *parked):
            inbox.drop(name)
        watch = inbox.settled(len(worked) + len(parked))
        time.sleep(1)

        failed = inbox.failed()
        assert set(failed) == set(parked.values()), failed
        assert {row["code"] for row in failed.values()} == {"SANDBOX_VIOLATION"}, failed
        assert watch["outcomes"] == {"published": len(worked), "failed": len(parked)}
        assert inbox.shown()["landed"] == len(worked) + len(parked)
        assert not list(shop.folder.rglob("pwned"))
        assert len(inbox.delivered()) == len(worked)
        known = [
            path.read_bytes()
            for path in (shop.daemon.home / "workbenches").rglob(f"blobs/{'?' * 64}")
        ]
        assert not any(b"Secret" in content or b"root:" in content for content in known)
        inbox.next_file_runs(len(worked) + len(parked) + 1)


def test_what_a_person_extracts_is_not_worked_on(short_dir: Path, anyio_backend: str) -> None:
    """Into a watched folder, or one below it, before or while it is watched by name of a link."""
    with shop_at(short_dir, anyio_backend) as shop:
        table = shop.folder / "sales.csv"
        table.write_text(SALES)
        workbench_id = shop.daemon.workbench(table)
        inbox = shop.inbox("in")
        (shop.folder / "other name").symlink_to(inbox.folder)
        for place in ("in", "in/below", "other name", "in/../in"):
            answer = shop.daemon.ask(
                "WorkbenchFilesExtract", workbench_id=workbench_id,
                destination_dir=str(shop.folder / place),
            )  # fmt: skip
            assert [row["status"] for row in answer["extract_results"]] == ["extracted"]
        watch = inbox.settled(4)
        assert watch["outcomes"] == {"own": 4}
        inbox.drop("a.csv")
        assert inbox.settled(5)["outcomes"] == {"own": 5}
        inbox.next_file_runs(6)


def test_what_happens_while_the_daemon_is_down(short_dir: Path, anyio_backend: str) -> None:
    """What lands runs at the next start; what was only renamed does not, known or passed over."""
    with shop_at(short_dir, anyio_backend) as shop:
        (shop.folder / "in").mkdir()
        (shop.folder / "in" / "old.csv").write_text(f"{SALES}2023-01-01,Old,1.00\n")
        inbox = shop.inbox("in")
        inbox.drop("a.csv")
        inbox.settled(1)
        shop.daemon.kill()
        (inbox.folder / "a.csv").rename(inbox.folder / "b.csv")
        (inbox.folder / "old.csv").rename(inbox.folder / "older.csv")
        (shop.folder / "elsewhere" / "deep").mkdir(parents=True)
        for number in range(3):
            table = f"{SALES}2024-02-0{number + 1},New,{number}.00\n"
            (shop.folder / "elsewhere" / "deep" / f"new{number}.csv").write_text(table)
        (shop.folder / "elsewhere").rename(inbox.folder / "elsewhere")
        shop.daemon.start()
        watch = inbox.settled(5)

        assert watch["outcomes"] == {"published": 4, "moved": 1}, watch["recent"]
        assert len(inbox.delivered()) == 4
        (inbox.folder / "b.csv").chmod(0o640)
        shop.daemon.kill()
        shop.daemon.start()
        time.sleep(2)
        assert inbox.settled(5)["outcomes"] == {"published": 4, "moved": 1}
        assert len(inbox.delivered()) == 4


def test_the_limits_of_a_rule(short_dir: Path, anyio_backend: str) -> None:
    """Past those of an hour a watch stands still until it is resumed; past a path's, one is parked.

    A rule that pauses on a failure does.
    """
    with shop_at(short_dir, anyio_backend) as shop:
        inbox = shop.inbox("in", limits={"runs_per_hour": 3, "runs_per_path_hour": 2})
        for number in range(3):
            inbox.drop("a.csv", f"{SALES}2024-02-0{number + 1},New,{number}.00\n")
            inbox.settled(number + 1)
        busy = inbox.failed()["a.csv"]
        assert (busy["code"], busy["attempt"]) == ("BUDGET_CAP_REACHED", 0), busy
        inbox.drop("b.csv", f"{SALES}2024-03-01,B,1.00\n")
        inbox.settled(4)
        inbox.drop("c.csv", f"{SALES}2024-03-01,C,1.00\n")
        eventually("it is not suspended", lambda: inbox.shown()["status"] == "suspended")
        (still,) = shop.daemon.ask("WatchFailedList")["suspended"]
        assert (still["code"], still["waiting"]) == ("BUDGET_CAP_REACHED", 1), still
        shop.daemon.ask("WatchResume", watch_id=inbox.watch_id)
        assert inbox.settled(5)["outcomes"] == {"published": 4, "failed": 1}

        wary = shop.inbox("wary", on_failure={"retries": 0, "then": "pause"})
        wary.drop("bad.xlsx", b"PK")
        wary.settled(1)
        wary.drop("good.csv")
        eventually("it does not land", lambda: wary.shown()["landed"] == 2)
        time.sleep(1)
        shown = wary.shown()
        assert (shown["status"], shown["waiting"]) == ("paused", 1), shown
        assert "without contents" in shown["reason"]
        shop.daemon.ask("WatchResume", watch_id=wary.watch_id)
        assert wary.settled(2)["outcomes"] == {"failed": 1, "published": 1}
