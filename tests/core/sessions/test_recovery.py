"""Opening a workbench: what a daemon that died had begun is finished or closed, and said."""

from pathlib import Path

import anyio
import pytest

from backends import on_trio
from kbd.core.domain.commands import (
    DiscardDraft,
    IntendPublish,
    RecordFacts,
    RemoveFiles,
    SendMessage,
    StartRun,
)
from kbd.core.domain.run_state import RunStatus
from kbd.core.workbench.workbench import OpenWorkbench
from kbd.errors import KbdError, LogCorrupt
from kbd.events.base import FileVersion
from kbd.events.drafts import EffectAborted, EffectIntended, PublishCompleted
from kbd.events.workbenches import LogRepaired, ModelChosen
from kbd.types import FileName, Seq
from supervised import crashed, draft, files_in, supervised

pytestmark = pytest.mark.anyio

A, B, NEW = FileName("a.txt"), FileName("b.txt"), FileName("new.txt")


async def _intend(bench: OpenWorkbench) -> None:
    """Intend the publish of the whole draft, and do no more."""
    found = {name: entry.blob for name, entry in bench.state.files.items()}
    await bench.keeper.submit(IntendPublish("p" * 16, None, dict(found)))


def _last(folder: Path) -> Path:
    return max(folder.glob("*.kbl"))


async def _types(bench: OpenWorkbench) -> list[type]:
    return [type(record.data) for _, record in await bench.keeper.journal.read(Seq(0), 10_000)]


async def test_an_intended_publish_is_carried_out(tmp_path: Path) -> None:
    """From before the first rename: published/, checkpoint and draft are as after a publish."""
    async with supervised(tmp_path / "h") as running:
        bench = await running.bench(a__txt="old", b__txt="same")
        await draft(bench, a__txt="changed", new__txt="made")
        await _intend(bench)
        home = crashed(running.home, tmp_path / "crashed")

    async with supervised(home) as again:
        opened = await again.benches.open(bench.id)
        expected = {"a.txt": "changed", "b.txt": "same", "new.txt": "made"}
        assert files_in(opened.folders.published) == expected
        assert (opened.state.draft, opened.state.publish) == (None, None)
        before = opened.state.checkpoints[-1]
        assert (before.reason, [file.name for file in before.files]) == ("publish", [A, B])
        assert files_in(opened.folders.draft) == {}


async def test_a_publish_that_was_half_carried_out_is_completed(tmp_path: Path) -> None:
    """From between two renames, and again from after the last: once completed, never twice."""
    async with supervised(tmp_path / "h") as running:
        bench = await running.bench(a__txt="old")
        await draft(bench, a__txt="changed", new__txt="made")
        await _intend(bench)
        assert bench.state.publish is not None
        bench.files.transaction("p", bench.state.publish.files[:1]).carry_out()
        half = crashed(running.home, tmp_path / "half")
        bench.files.transaction("p", bench.state.publish.files).carry_out()
        whole = crashed(running.home, tmp_path / "whole")

    for home in (half, whole):
        async with supervised(home) as again:
            opened = await again.benches.open(bench.id)
            assert files_in(opened.folders.published) == {"a.txt": "changed", "new.txt": "made"}
            assert (await _types(opened)).count(PublishCompleted) == 1
            assert opened.state.draft is None


async def test_a_file_changed_by_hand_before_recovery_is_kept(tmp_path: Path) -> None:
    """What somebody wrote into published/ meanwhile stays; kbd's version is put beside it."""
    async with supervised(tmp_path / "h") as running:
        bench = await running.bench(a__txt="old")
        await draft(bench, a__txt="changed")
        await _intend(bench)
        home = crashed(running.home, tmp_path / "crashed")
    (home / "workbenches" / bench.id / "published" / "a.txt").write_text("by hand")

    async with supervised(home) as again:
        opened = await again.benches.open(bench.id)
        beside = "a (kbd conflict pppppppp).txt"
        assert files_in(opened.folders.published) == {"a.txt": "by hand", beside: "changed"}


async def test_a_file_taken_away_in_the_moment_of_a_crash_comes_back(tmp_path: Path) -> None:
    """Somebody wrote to it just before it changed places: its slot is the only place it is in."""
    async with supervised(tmp_path / "h") as running:
        bench = await running.bench(a__txt="old")
        await draft(bench, a__txt="changed")
        await _intend(bench)
        assert bench.state.publish is not None
        transaction = bench.files.transaction("p" * 16, bench.state.publish.files)
        transaction.stage()
        transaction.carry_out()
        (transaction.folder / "0").write_text("by hand")
        home = crashed(running.home, tmp_path / "crashed")

    async with supervised(home) as again:
        opened = await again.benches.open(bench.id)
        beside = "a (kbd conflict pppppppp).txt"
        assert files_in(opened.folders.published) == {"a.txt": "by hand", beside: "changed"}
        assert list(opened.folders.stage.iterdir()) == []


async def test_an_effect_that_was_left_open_is_aborted(tmp_path: Path) -> None:
    """Its half-written file goes, what else is in the user's folder stays, and the log says so."""
    out = tmp_path / "out"
    out.mkdir()
    (out / "mine.txt").write_text("mine")
    async with supervised(tmp_path / "h") as running:
        bench = await running.bench(a__txt="text")
        file = FileVersion(A, bench.state.files[A].blob, 4)
        effect = EffectIntended("0123456789abcdef", "extract", str(out), file)
        await bench.keeper.submit(RecordFacts((effect,)))
        home = crashed(running.home, tmp_path / "crashed")
    (out / f".kbd-{effect.effect_id}.part").write_text("te")

    async with supervised(home) as again:
        opened = await again.benches.open(bench.id)
        assert files_in(out) == {"mine.txt": "mine"}
        assert opened.state.effects == {}
        assert (await _types(opened)).count(EffectAborted) == 1


async def test_projections_are_made_again(tmp_path: Path) -> None:
    """The stage is cleared; published/ and draft/ hold what the log says, whatever became of them.

    A file that somebody put there stays in published/, and goes from draft/.
    """
    async with supervised(tmp_path / "h") as running:
        bench = await running.bench(a__txt="text", b__txt="kept")
        await draft(bench, b__txt="drafted", new__txt="made")
        home = crashed(running.home, tmp_path / "crashed")
    root = home / "workbenches" / bench.id
    (root / "stage" / "half").write_text("x")
    (root / "published" / "a.txt").unlink()
    (root / "published" / "stray.txt").write_text("somebody's")
    for path in (root / "draft").iterdir():
        path.unlink()
    (root / "draft" / "stray.txt").write_text("x")

    async with supervised(home):
        published = {"a.txt": "text", "b.txt": "kept", "stray.txt": "somebody's"}
        assert files_in(root / "published") == published
        assert files_in(root / "draft") == {"b.txt": "drafted", "new.txt": "made"}
        assert files_in(root / "stage") == {}


async def test_a_removal_that_was_cut_off_is_finished(tmp_path: Path) -> None:
    """What was removed is gone after a crash; what somebody put in its place stays."""
    async with supervised(tmp_path / "h") as running:
        bench = await running.bench(a__txt="old", b__txt="old")
        await bench.keeper.submit(RemoveFiles((A, B)))
        (bench.folders.published / "b.txt").write_text("somebody's")
        home = crashed(running.home, tmp_path / "crashed")

    async with supervised(home) as again:
        opened = await again.benches.open(bench.id)
        assert files_in(opened.folders.published) == {"b.txt": "somebody's"}
        assert opened.state.files == {}


async def test_a_link_in_published_does_not_keep_a_workbench_closed(tmp_path: Path) -> None:
    """A backup's hard link, or a symbolic one, is somebody's: it stays, and the rest works."""
    async with supervised(tmp_path / "h") as running:
        bench = await running.bench(a__txt="text", b__txt="text")
    published = tmp_path / "h" / "workbenches" / bench.id / "published"
    (tmp_path / "backup").hardlink_to(published / "a.txt")
    (published / "b.txt").unlink()
    (published / "b.txt").symlink_to(tmp_path / "backup")

    async with supervised(tmp_path / "h") as again:
        opened = await again.benches.open(bench.id)
        assert sorted(opened.state.files) == [A, B]
        assert (published / "b.txt").is_symlink()


async def test_a_run_that_was_under_way_is_interrupted(tmp_path: Path) -> None:
    """It is recorded as such before anybody can ask, so that it can be resumed."""
    async with supervised(tmp_path / "h") as running:
        bench = await running.bench(a__txt="text")
        home = crashed(running.home, tmp_path / "crashed")
        await bench.keeper.submit(SendMessage("u1", "do it"))
        log = running.folders(bench).log
        await bench.keeper.submit(StartRun(None, "nobody:model"))
        started = _last(log).read_bytes()
        with anyio.fail_after(10):
            while bench.state.runs[-1].status is RunStatus.RUNNING:  # noqa: ASYNC110 - state, no event
                await anyio.sleep(0.01)
    # As it was when the run had started and nothing more: the agent was quick to fail.
    frames = home / "workbenches" / bench.id / "log" / _last(log).name
    frames.write_bytes(started)

    async with supervised(home) as again:
        opened = await again.benches.open(bench.id)
        assert opened.state.runs[-1].status is RunStatus.INTERRUPTED


async def test_a_torn_end_is_cut_and_recorded(tmp_path: Path) -> None:
    """Half a frame behind the last one is set aside; what came before is whole."""
    async with supervised(tmp_path / "h") as running:
        bench = await running.bench(a__txt="text")
        home = crashed(running.home, tmp_path / "crashed")
        seq = bench.state.seq
    log = home / "workbenches" / bench.id / "log"
    with _last(log).open("ab") as segment:
        segment.write(b"\x40\x00\x00\x00half a frame")

    async with supervised(home) as again:
        opened = await again.benches.open(bench.id)
        repaired = (await opened.keeper.journal.read(seq, 10))[0][1].data
        assert isinstance(repaired, LogRepaired)
        assert sorted(opened.state.files) == [A]
        assert opened.damage is None


async def test_a_damaged_log_opens_for_reading_only(tmp_path: Path) -> None:
    """What comes before the damage can be read; nothing is written, nothing is repaired alone."""
    async with supervised(tmp_path / "h") as running:
        bench = await running.bench(a__txt="text")
        await draft(bench, b__txt="drafted")
        for number in range(3):
            await bench.keeper.submit(RecordFacts((ModelChosen(f"p:{number}" + "x" * 200),)))
    log = tmp_path / "h" / "workbenches" / bench.id / "log"
    data = bytearray(_last(log).read_bytes())
    data[-300] ^= 1
    _last(log).write_bytes(data)
    damaged = _last(log).read_bytes()

    async with supervised(tmp_path / "h") as again:
        opened = await again.benches.open(bench.id)
        assert opened.damage is not None
        assert sorted(opened.state.files) == [A]
        # Also what would be refused anyway: that the log is damaged is the reason to tell.
        for command in (SendMessage("u1", "x"), StartRun(None, "p:m"), DiscardDraft()):
            with pytest.raises(LogCorrupt):
                await opened.keeper.submit(command)
        assert sorted((await again.bench(c__txt="fine")).state.files) == ["c.txt"]
    assert _last(log).read_bytes() == damaged


async def test_a_damaged_workbench_can_be_deleted_with_its_draft(tmp_path: Path) -> None:
    """Its draft can be neither published nor discarded any more, and must not hold it for ever."""
    async with supervised(tmp_path / "h") as running:
        bench = await running.bench(a__txt="text")
        await draft(bench, b__txt="drafted")
        for number in range(3):
            await bench.keeper.submit(RecordFacts((ModelChosen(f"p:{number}" + "x" * 200),)))
    log = tmp_path / "h" / "workbenches" / bench.id / "log"
    data = bytearray(_last(log).read_bytes())
    data[-300] ^= 1
    _last(log).write_bytes(data)

    async with supervised(tmp_path / "h") as again:
        assert (await again.benches.open(bench.id)).state.draft is not None
        await again.benches.delete(bench.id)
        assert not log.exists()


async def test_a_workbench_that_cannot_be_opened_does_not_stop_a_start(tmp_path: Path) -> None:
    """A folder that is no folder is an error of that workbench, each time it is asked for."""
    async with supervised(tmp_path / "h") as running:
        broken, whole = await running.bench(), await running.bench(a__txt="text")
        home = crashed(running.home, tmp_path / "crashed")
    draft_folder = home / "workbenches" / broken.id / "draft"
    draft_folder.symlink_to(tmp_path)

    async with supervised(home) as again:
        with pytest.raises(KbdError):
            await again.benches.open(broken.id)
        assert sorted((await again.benches.open(whole.id)).state.files) == [A]


@on_trio
async def test_what_a_kill_left_of_a_copy_is_removed(tmp_path: Path) -> None:
    """However often it happens, no half-written copies gather."""
    async with supervised(tmp_path / "h") as running:
        bench = await running.bench(a__txt="old")
        home = crashed(running.home, tmp_path / "crashed")
    workshop = home / "workbenches" / bench.id / "meta" / "workshop"
    (workshop / "_rpi").mkdir(parents=True, exist_ok=True)
    left = workshop / "_rpi" / "plan.md.139.new", workshop / "tool_log.jsonl.140.new"
    for path in left:
        path.write_text("hal")

    async with supervised(home) as again:
        await again.benches.open(bench.id)
        assert not any(path.exists() for path in left)
