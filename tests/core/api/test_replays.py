"""`ReplaySteps` and `StateAt` on a supervisor: pages, what is not there, what is written."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from backends import on_asyncio
from kbd.core.api.replays import PAGE_BYTES, ReplayMethods
from kbd.core.domain.commands import RecordFacts
from kbd.core.domain.watch_decisions import AddWatch
from kbd.core.runtime.paths import Home
from kbd.core.server.dispatch import Session
from kbd.errors import LogCorrupt, NotFound, ValidationFailed
from kbd.events.codec import wrap_event
from kbd.events.log import EventLog
from kbd.events.runs import ResearchWritten, RunStarted
from kbd.events.vocabulary import Event
from kbd.events.watches import WatchRule
from kbd.events.workbenches import ModelChosen, UserMessageAdded
from kbd.requests import replays as wire
from kbd.types import FileName, RunId, Seq, WatchId
from supervised import Supervised, draft, files_in, supervised

pytestmark = [pytest.mark.anyio, on_asyncio]

NOBODY = cast("Session", SimpleNamespace(actor=None))
"""Neither method speaks to the connection that asks."""


async def recorded_run(home: Path, *texts: str) -> Home:
    """Make a workbench whose log holds a run that wrote these texts as its research.

    The daemon stopped in the midst of it: at the next start it is interrupted.
    """
    async with supervised(home) as running:
        bench = await running.bench()
        log, first = running.folders(bench).log, running.home
    events = EventLog.open(log)
    facts: list[tuple[Event, int]] = [
        (UserMessageAdded("u-1", "look"), 0),
        (RunStarted("u-1", "gone:model"), 1),
        *((ResearchWritten(text), 1) for text in texts),
    ]
    for fact, run in facts:
        events.append([wrap_event(fact, 1, run)])
    events.close()
    return first


async def steps(running: Supervised, methods: ReplayMethods, run_id: str, **page: Any) -> Any:
    """Ask for steps."""
    return await methods.steps(wire.ReplaySteps(run_id=RunId(run_id), **page), NOBODY)


async def test_steps_come_in_pages(tmp_path: Path) -> None:
    """By number and by size; a step that is larger than a page is told alone; none is left out."""
    await recorded_run(tmp_path, "a", "x" * PAGE_BYTES, "b", "y" * (PAGE_BYTES // 2), "c")
    async with supervised(tmp_path) as running:
        methods, (workbench_id,) = ReplayMethods(running.benches), running.benches.ids()
        run_id = f"{workbench_id}-1"
        first = await steps(running, methods, run_id, limit=2)
        pages: list[list[str]] = []
        while sum(map(len, pages)) < first.total:
            page = await steps(running, methods, run_id, after=sum(map(len, pages)))
            pages.append([step.title[:8] for step in page.steps])

        assert (first.total, first.request, first.run.run_id) == (8, "look", run_id)
        assert [step.kind for step in first.steps] == ["asked", "run"]
        assert first.run.cost == 0.0
        assert [len(page) for page in pages] == [3, 1, 4]
        # What is recorded meanwhile is told at the next question.
        bench = await running.benches.open(workbench_id)
        await bench.keeper.submit(RecordFacts((ModelChosen("x:y"),)))
        again = await steps(running, methods, run_id, after=7)
        assert [step.title for step in again.steps] == [
            "run interrupted: the daemon stopped meanwhile", "model x:y was chosen",
        ]  # fmt: skip


async def test_a_run_that_is_not_there_has_no_steps(tmp_path: Path) -> None:
    """Neither a number that no run has, nor a workbench that nobody made."""
    async with supervised(tmp_path / "h") as running:
        bench = await running.bench()
        methods = ReplayMethods(running.benches)
        for run_id in (f"{bench.id}-1", f"{bench.id}-999999999999999", f"{'0' * 16}-1"):
            with pytest.raises(NotFound):
                await steps(running, methods, run_id)


async def test_a_moment_is_told_and_written(tmp_path: Path) -> None:
    """Files published and drafted as they stood then, whatever was done since."""
    async with supervised(tmp_path / "h") as running:
        bench = await running.bench(a__txt="one", b__txt="two", c__txt="three")
        await draft(bench, a__txt="changed", c__txt=None, d__txt="new")
        then = bench.state.seq
        await draft(bench, a__txt="changed again", c__txt="three")
        methods = ReplayMethods(running.benches)
        folder = tmp_path / "then"
        asked = wire.StateAt(workbench_id=bench.id, seq=then, destination_dir=str(folder))
        found = await methods.state(asked, NOBODY)

        assert [(file.path, file.state, file.size_bytes) for file in found.files] == [
            ("a.txt", "modified", 7), ("b.txt", "published", 3), ("c.txt", "deleted", 0),
            ("d.txt", "added", 3),
        ]  # fmt: skip
        assert (found.destination, found.draft_id, found.run) == (str(folder), "d-test", None)
        made = files_in(folder)
        assert made.pop("state.json")
        assert made == {
            "files/a.txt": "changed", "files/b.txt": "two", "files/d.txt": "new",
            "published/a.txt": "one", "published/b.txt": "two", "published/c.txt": "three",
            "draft/a.txt": "changed", "draft/d.txt": "new",
        }  # fmt: skip
        with pytest.raises(ValidationFailed, match="nothing is overwritten"):
            await methods.state(asked, NOBODY)
        with pytest.raises(NotFound, match=f"ends at event {bench.state.seq}"):
            await methods.state(wire.StateAt(workbench_id=bench.id, seq=Seq(99)), NOBODY)


async def test_a_moment_in_a_watched_folder_starts_no_work(tmp_path: Path) -> None:
    """What kbd writes there is told to whoever watches, before it is there."""
    async with supervised(tmp_path / "h") as running:
        bench = await running.bench(a__txt="one")
        watched = tmp_path / "watched"
        watched.mkdir()
        rule = WatchRule("w", str(watched), "do")
        await running.benches.daemon.submit(AddWatch(WatchId("0" * 16), rule))
        folder = str(watched / "then")
        asked = wire.StateAt(workbench_id=bench.id, seq=bench.state.seq, destination_dir=folder)
        await ReplayMethods(running.benches).state(asked, NOBODY)

        watching = running.benches.daemon.state.watching
        blob = bench.state.files[FileName("a.txt")].blob
        for place in ("files", "published"):
            assert watching.is_written_by_kbd(blob, f"{folder}/{place}", WatchId("0" * 16))


async def test_a_damaged_log_is_told_as_far_as_it_reads(tmp_path: Path) -> None:
    """Steps before the damage are told, a moment behind it is refused by its name."""
    home = await recorded_run(tmp_path, "a", "b")
    (workbench_id,) = home.workbench_ids()
    (segment,) = home.workbench(workbench_id).log.glob("*.kbl")
    data = segment.read_bytes()
    at = data.rindex(b"ResearchWritten")
    segment.write_bytes(data[:at] + b"ResearchRewrote" + data[at + 15 :])
    async with supervised(tmp_path) as running:
        methods = ReplayMethods(running.benches)
        told = await steps(running, methods, f"{workbench_id}-1")
        last = told.steps[-1]
        found = await methods.state(wire.StateAt(workbench_id=workbench_id, seq=last.seq), NOBODY)

        assert last.text == "a"
        assert found.run is not None
        assert found.run.research == "a"
        behind = wire.StateAt(workbench_id=workbench_id, seq=Seq(last.seq + 1))
        with pytest.raises(LogCorrupt, match="damaged"):
            await methods.state(behind, NOBODY)
