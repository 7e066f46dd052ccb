"""A trial says what a rule would do, by the decision that does it, and does nothing."""

import hashlib
import os
from pathlib import Path
from typing import Literal

import pytest

from kbd.core.domain.daemon_decisions import decide_daemon
from kbd.core.domain.daemon_state import DaemonState, fold_daemon
from kbd.core.domain.watch_decisions import (
    AddWatch,
    FinishRun,
    RecordLanding,
    RecordWrites,
    StartNext,
    WatchCommand,
)
from kbd.core.watch import dry_run as trials
from kbd.core.watch.dry_run import DryRun, copy_watch_state, dry_run
from kbd.core.watch.tree import WatchedTree
from kbd.errors import NotFound
from kbd.events.codec import wrap_event
from kbd.events.watches import (
    FailurePolicy,
    FilesWritten,
    PassedFile,
    RuleLimits,
    WatchRule,
    WatchRunFinished,
    WatchRunStarted,
)
from kbd.types import Seq, WatchId

WATCH = WatchId("0123456789abcdef")
LIMIT = 1000
HOUR_US = 3_600_000_000


def sha(text: str) -> str:
    """The hash of a file with this text."""
    return hashlib.sha256(text.encode()).hexdigest()


class Watched:
    """A folder, and the daemon's state of a watch on it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.state = DaemonState()

    def do(self, command: WatchCommand) -> None:
        """Decide a command and fold what it leads to."""
        for event in decide_daemon(self.state, command).events:
            fold_daemon(self.state, Seq(self.state.seq + 1), wrap_event(event, HOUR_US, 0))

    def write(self, path: str, text: str) -> None:
        """Put a file there."""
        (self.folder / path).parent.mkdir(exist_ok=True)
        (self.folder / path).write_text(text)

    def signature(self, path: str) -> str:
        """What a file looks like."""
        with WatchedTree(str(self.folder)) as tree:
            found = tree.look(path)
        assert found is not None
        return found.signature

    def land(self, path: str, text: str) -> None:
        """Put a file there and have it land."""
        self.write(path, text)
        folder = str((self.folder / path).parent)
        self.do(RecordLanding(WATCH, path, folder, sha(text), len(text), self.signature(path)))

    def add(self, *passed: str, **rule: object) -> None:
        """Watch the folder; the named files are passed over."""
        files = tuple(PassedFile(path, self.signature(path)) for path in passed)
        made = WatchRule(name="in", folder=str(self.folder), prompt="work", **rule)  # type: ignore[arg-type]
        self.do(AddWatch(WATCH, made, files))

    def start(self) -> WatchRunStarted:
        """Start the next run."""
        command = StartNext(WATCH, HOUR_US)
        (started,) = decide_daemon(self.state, command).events
        self.do(command)
        assert isinstance(started, WatchRunStarted)
        return started

    def finish(self, started: WatchRunStarted, outcome: Literal["unchanged", "failed"]) -> None:
        """End it."""
        ended = WatchRunFinished(
            WATCH, started.landings, started.workbench_id, outcome, message="it broke"
        )
        self.do(FinishRun(ended, retryable=False, now_us=HOUR_US))

    def tried(self) -> DryRun:
        """What would happen now."""
        watch = self.state.watching.watches[WATCH]
        return dry_run(copy_watch_state(self.state.watching, watch), WATCH, watch.rule, LIMIT)


def verdicts(tried: DryRun) -> dict[str, str]:
    """What would become of each file."""
    return {file.path: file.verdict for file in tried.files}


def reasons(tried: DryRun) -> dict[str, str]:
    """Why, where that is said."""
    return {file.path: file.reason for file in tried.files if isinstance(file.reason, str)}


@pytest.fixture
def watched(tmp_path: Path) -> Watched:
    """A folder that is watched by nobody yet."""
    return Watched(tmp_path)


def test_a_folder_that_is_not_watched_can_be_tried(watched: Watched) -> None:
    """Each file that the patterns take is a run; of the others it is said what they are."""
    watched.write("b.txt", "b")
    watched.write("deep/a.txt", "a")
    watched.write("note.md", "no")
    watched.write("~$b.txt", "lock")
    watched.write("large.txt", "x" * (LIMIT + 1))
    watched.write("con.txt", "a device")
    (watched.folder / "link.txt").symlink_to(watched.folder / "b.txt")
    os.mkfifo(watched.folder / "pipe.txt")
    rule = WatchRule(name="", folder=str(watched.folder), prompt="", patterns=("*.txt",))
    tried = dry_run(copy_watch_state(watched.state.watching, None), None, rule, LIMIT)

    assert verdicts(tried) == {
        "b.txt": "run", "con.txt": "failed", "deep/a.txt": "run", "large.txt": "failed",
        "link.txt": "link", "note.md": "no_match", "pipe.txt": "special", "~$b.txt": "temporary",
    }  # fmt: skip
    assert [run.paths for run in tried.runs] == [("b.txt",), ("deep/a.txt",)]
    assert (tried.run_count, tried.counts["failed"]) == (2, 2)
    assert "1000" in reasons(tried)["large.txt"]


def test_what_is_known_is_no_run(watched: Watched) -> None:
    """A file that comes to none is told for what it is; new contents and waiting ones are runs."""
    for path in ("old.txt", "older.txt"):
        watched.write(path, path)
    watched.add("old.txt", "older.txt")
    watched.land("done.txt", "done")
    watched.finish(watched.start(), "unchanged")
    watched.land("moved.txt", "moved")
    watched.finish(watched.start(), "unchanged")
    watched.land("broken.txt", "broken")
    watched.finish(watched.start(), "failed")
    watched.land("running.txt", "running")
    watched.start()
    watched.land("waits.txt", "waits")
    watched.do(RecordWrites(FilesWritten(str(watched.folder), (sha("made"),))))
    watched.write("made.txt", "made")
    (watched.folder / "older.txt").rename(watched.folder / "renamed.txt")
    (watched.folder / "moved.txt").rename(watched.folder / "there.txt")
    os.utime(watched.folder / "done.txt", (1, 1))
    watched.write("new.txt", "new")
    before = (watched.state.seq, sorted(os.listdir(watched.folder)))
    tried = watched.tried()

    assert verdicts(tried) == {
        "broken.txt": "known", "done.txt": "known", "made.txt": "own", "new.txt": "run",
        "old.txt": "passed_over", "renamed.txt": "passed_over", "running.txt": "known",
        "there.txt": "known", "waits.txt": "run",
    }  # fmt: skip
    assert reasons(tried) == {
        "broken.txt": "it failed: it broke",
        "renamed.txt": "it was renamed or touched since",
        "running.txt": "it is worked on now",
        "there.txt": "it was moved.txt",
        "waits.txt": "it landed before, and waits",
    }
    assert [run.paths for run in tried.runs] == [("waits.txt",), ("new.txt",)]
    assert before == (watched.state.seq, sorted(os.listdir(watched.folder)))


def test_a_batch_is_one_run(watched: Watched) -> None:
    """What is new makes runs of the size allowed; what was begun together stays together."""
    watched.add(mode="batch", limits=RuleLimits(batch_files=2), on_failure=FailurePolicy(retries=1))
    watched.land("1.txt", "1")
    watched.land("2.txt", "2")
    started = watched.start()
    failed = WatchRunFinished(WATCH, started.landings, started.workbench_id, "failed")
    watched.do(FinishRun(failed, retryable=True, now_us=HOUR_US))
    (watched.folder / "1.txt").unlink()
    for name in ("3.txt", "4.txt", "5.txt"):
        watched.write(name, name)
    tried = watched.tried()

    assert [run.paths for run in tried.runs] == [
        ("1.txt", "2.txt"), ("3.txt", "4.txt"), ("5.txt",),
    ]  # fmt: skip
    assert tried.run_count == 3


def test_the_result_of_a_chain_is_judged_by_its_depth(watched: Watched) -> None:
    """What another rule delivered is a run until the chain is too long."""
    watched.add(limits=RuleLimits(chain_depth=1))
    written = FilesWritten(str(watched.folder), (sha("made"),), watch_id="f" * 16, depth=1)
    watched.do(RecordWrites(written))
    watched.write("made.txt", "made")
    tried = watched.tried()

    assert verdicts(tried) == {"made.txt": "failed"}
    assert "chain" in reasons(tried)["made.txt"]


def test_a_trial_reads_no_more_than_it_may(
    watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Past the limits a file counts as a run that was not compared, and lists are cut."""
    watched.add()
    for name in ("1.txt", "2.txt", "3.txt"):
        watched.write(name, name)
    monkeypatch.setattr(trials, "MAX_COMPARED", 2)
    monkeypatch.setattr(trials, "MAX_LISTED", 2)
    tried = watched.tried()

    assert (tried.counts, tried.run_count, len(tried.files), len(tried.runs)) == (
        {"run": 3}, 3, 2, 2,
    )  # fmt: skip
    monkeypatch.setattr(trials, "MAX_LISTED", 3)
    assert (
        len([reason for reason in reasons(watched.tried()).values() if "compared" in reason]) == 1
    )


def test_a_folder_for_results_that_went_away_is_a_problem(watched: Watched) -> None:
    """Runs would be made, and fail at their end."""
    watched.add(publish="auto", deliver_to=str(watched.folder / "out"))
    (problem,) = watched.tried().problems

    assert "results" in problem
    (watched.folder / "out").mkdir()
    assert watched.tried().problems == ()


def test_a_folder_that_is_not_there_is_said(watched: Watched, tmp_path: Path) -> None:
    """There is nothing to be tried in it."""
    rule = WatchRule(name="", folder=str(tmp_path / "none"), prompt="")
    with pytest.raises(NotFound, match="not there"):
        dry_run(copy_watch_state(watched.state.watching, None), None, rule, LIMIT)
