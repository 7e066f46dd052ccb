"""Publishing and extracting: what was begun is completed, also when its client has gone."""

import errno
import os
import stat
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import anyio
import msgspec
import pytest

from crash_works import CHANGED, WORKS, Work, drafted, opened, publish_draft
from kbd.core.domain.commands import ConfirmDeletions, IntendPublish
from kbd.core.domain.workbench_decisions import intend_publish
from kbd.core.workbench.destination import Destination
from kbd.core.workbench.extraction import extract_files, numbered_names
from kbd.core.workbench.publish import discard, publish
from kbd.core.workbench.sandbox import file_name
from kbd.core.workbench.workbench import OpenWorkbench
from kbd.errors import (
    ConflictPublishedChanged,
    DiskFull,
    FileWriteFailed,
    KbdError,
    ValidationFailed,
)
from kbd.events.disk import Disk, LogPoisoned
from kbd.events.drafts import PublishIntended
from kbd.requests.drafts import DraftPublished
from kbd.types import FileName
from supervised import CLOCK, draft, files_in, supervised

pytestmark = pytest.mark.anyio

A, B, NEW = FileName("a.txt"), FileName("b.txt"), FileName("new.txt")


async def _publish(
    bench: OpenWorkbench,
    names: tuple[FileName, ...] | None = None,
    *,
    keep_both: bool = False,
    phases: list[str] | None = None,
) -> DraftPublished:
    return await publish(
        bench,
        CLOCK,
        names=names,
        keep_both=keep_both,
        accept_external=False,
        progress=([] if phases is None else phases).append,
    )


async def test_a_publish_tells_how_far_it_is(tmp_path: Path) -> None:
    """Its phases in order, and what is in published/ at the end."""
    async with supervised(tmp_path / "h") as running:
        bench = await running.bench(a__txt="old")
        await draft(bench, a__txt="changed", new__txt="made")
        phases: list[str] = []
        answer = await _publish(bench, phases=phases)

        assert answer.published == (A, NEW)
        assert files_in(bench.folders.published) == {"a.txt": "changed", "new.txt": "made"}
        assert phases == [
            "validating", "conflict_check", "checkpoint_pre_publish", "swap_directories",
            "finalizing",
        ]  # fmt: skip
        assert [each.checkpoint_id for each in bench.state.checkpoints] == [answer.checkpoint_id]


async def test_without_a_draft_nothing_is_recorded(tmp_path: Path) -> None:
    """No checkpoint of a publish that did not happen."""
    async with supervised(tmp_path / "h") as running:
        bench = await running.bench(a__txt="old")
        before = bench.state.seq
        with pytest.raises(ValidationFailed, match="draft not found"):
            await _publish(bench)

        assert (bench.state.seq, list(bench.state.checkpoints)) == (before, [])


async def test_a_publish_of_no_file_is_refused(tmp_path: Path) -> None:
    """A list without a name is a mistake: no checkpoint is made of nothing."""
    async with supervised(tmp_path / "h") as running:
        bench = await running.bench(a__txt="old")
        await draft(bench, a__txt="changed")
        before = bench.state.seq
        with pytest.raises(ValidationFailed, match="no file is named"):
            await _publish(bench, ())

        assert (bench.state.seq, list(bench.state.checkpoints)) == (before, [])
        assert list(bench.folders.stage.iterdir()) == []


async def test_only_what_was_staged_is_published(tmp_path: Path) -> None:
    """A draft that changed between the plan and the decision: other bytes lie in the stage."""
    async with supervised(tmp_path / "h") as running:
        bench = await running.bench(a__txt="old")
        await draft(bench, a__txt="staged")
        found = {name: entry.blob for name, entry in bench.state.files.items()}
        command = IntendPublish("p" * 16, None, dict(found))
        (plan,) = intend_publish(bench.state, command).events
        assert isinstance(plan, PublishIntended)
        await draft(bench, a__txt="changed")
        before = bench.state.seq
        with pytest.raises(ValidationFailed, match="changed meanwhile"):
            await bench.keeper.submit(msgspec.structs.replace(command, staged=plan.files))

        assert (bench.state.seq, bench.state.publish) == (before, None)


async def test_a_disk_that_fails_meanwhile_does_not_hold_the_draft(tmp_path: Path) -> None:
    """The call fails before an intent; the next one publishes, without a restart."""
    async with supervised(tmp_path / "h") as running:
        bench = await running.bench(a__txt="old")
        await draft(bench, a__txt="changed")
        bench.folders.stage.rmdir()
        bench.folders.stage.write_text("in the way")
        before = bench.state.seq
        with pytest.raises(FileWriteFailed):
            await _publish(bench)
        assert files_in(bench.folders.published) == {"a.txt": "old"}
        assert (bench.state.seq, bench.state.publish) == (before, None)
        bench.folders.stage.unlink()
        bench.folders.stage.mkdir()

        assert (await _publish(bench)).published == (A,)
        assert files_in(bench.folders.published) == {"a.txt": "changed"}
        assert (bench.state.draft, bench.state.publish) == (None, None)


async def test_what_is_left_of_the_draft_is_published_after_what_was_intended(
    tmp_path: Path,
) -> None:
    """A part of the draft whose publish stopped is completed first, then what is asked for now."""
    async with supervised(tmp_path / "h") as running:
        bench = await running.bench(a__txt="old")
        await draft(bench, a__txt="changed", new__txt="made")
        found = {name: entry.blob for name, entry in bench.state.files.items()}
        await bench.keeper.submit(IntendPublish("p" * 16, (A,), dict(found)))

        assert (await _publish(bench)).published == (NEW,)
        assert files_in(bench.folders.published) == {"a.txt": "changed", "new.txt": "made"}
        assert len(bench.state.checkpoints) == 2


async def test_a_client_that_goes_away_leaves_a_whole_publish(tmp_path: Path) -> None:
    """Cancelled at whatever step, the draft is published or it is not; it is never held."""
    async with supervised(tmp_path / "h") as running:
        for steps in range(1, 9):
            bench = await running.bench(a__txt="old")
            await draft(bench, a__txt="changed")
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_publish, bench)
                for _ in range(steps):
                    await anyio.lowlevel.checkpoint()
                tasks.cancel_scope.cancel()
            assert bench.state.publish is None
            published = files_in(bench.folders.published)
            drafted = bench.state.draft is not None
            assert published == {"a.txt": "old" if drafted else "changed"}


async def test_two_who_publish_together_publish_once(tmp_path: Path) -> None:
    """One is answered, the other hears that there is no draft any more."""
    async with supervised(tmp_path / "h") as running:
        bench = await running.bench(a__txt="old")
        await draft(bench, a__txt="changed")
        heard: list[str] = []

        async def ask() -> None:
            try:
                await _publish(bench)
                heard.append("published")
            except ValidationFailed as refused:
                heard.append(refused.message.split(":")[0])

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask)
            tasks.start_soon(ask)
        assert sorted(heard) == ["draft not found", "published"]
        assert len(bench.state.checkpoints) == 1


async def test_a_file_changed_by_hand_refuses_the_whole(tmp_path: Path) -> None:
    """The file is named, nothing is published; without it, or beside it, the rest is."""
    async with supervised(tmp_path / "h") as running:
        bench = await running.bench(a__txt="old", b__txt="old")
        await draft(bench, a__txt="changed", b__txt="changed")
        (bench.folders.published / "a.txt").write_text("by hand")
        with pytest.raises(ConflictPublishedChanged) as refused:
            await _publish(bench)
        assert refused.value.detail["files"] == [A]
        assert files_in(bench.folders.published) == {"a.txt": "by hand", "b.txt": "old"}

        assert (await _publish(bench, (B,))).published == (B,)
        answer = await _publish(bench, keep_both=True)
        (kept,) = answer.kept_both
        assert (kept.path, bench.state.draft) == (A, None)
        assert files_in(bench.folders.published) == {
            "a.txt": "by hand", "b.txt": "changed", kept.published_as: "changed",
        }  # fmt: skip


def _link(path: Path) -> None:
    path.symlink_to("elsewhere")


def _folder(path: Path) -> None:
    path.mkdir()
    (path / "inside.txt").write_text("theirs")


def _twin(path: Path) -> None:
    path.write_text("theirs")
    os.link(path, path.with_name("twin.txt"))


@pytest.mark.parametrize("put", [_link, _folder, _twin])
async def test_what_is_no_file_of_its_own_is_a_change_of_that_file_alone(
    tmp_path: Path, put: Callable[[Path], None]
) -> None:
    """A link, a folder or a file with two names is refused by name, and hinders no other file."""
    async with supervised(tmp_path / "h") as running:
        bench = await running.bench(a__txt="old", b__txt="old")
        await draft(bench, a__txt="changed", b__txt="changed")
        place = bench.folders.published / A
        place.unlink()
        put(place)
        theirs = files_in(bench.folders.published)
        with pytest.raises(ConflictPublishedChanged) as refused:
            await _publish(bench)
        assert refused.value.detail["files"] == [A]
        assert files_in(bench.folders.published) == theirs

        assert (await _publish(bench, (B,))).published == (B,)
        (kept,) = (await _publish(bench, keep_both=True)).kept_both
        assert files_in(bench.folders.published) == theirs | {
            "b.txt": "changed", kept.published_as: "changed",
        }  # fmt: skip
        assert place.is_symlink() == (put is _link)


@pytest.mark.parametrize("name", ["undo", "restore"])
@pytest.mark.parametrize("put", [_link, _folder, _twin])
async def test_what_is_no_file_of_its_own_is_in_the_way_of_going_back(
    tmp_path: Path, put: Callable[[Path], None], name: str
) -> None:
    """An undo and a restore are refused by the name of the file, and theirs stays."""
    made, (work,) = WORKS[name]
    await made(tmp_path / "root")
    async with opened(tmp_path / "root") as bench:
        place = bench.folders.published / CHANGED[1]
        place.unlink()
        put(place)
        theirs, before = files_in(bench.folders.published), bench.state.seq
        with pytest.raises(ConflictPublishedChanged) as refused:
            await work(bench)
        assert refused.value.detail["files"] == [CHANGED[1]]
        assert (files_in(bench.folders.published), bench.state.seq) == (theirs, before)
        assert place.is_symlink() == (put is _link)


async def test_permissions_of_a_published_file_stay(tmp_path: Path) -> None:
    """A new version may be read and written by whom the old one could; a new file by all."""
    async with supervised(tmp_path / "h") as running:
        bench = await running.bench(a__txt="old", b__txt="old")
        (bench.folders.published / A).chmod(0o640)
        (bench.folders.published / B).chmod(0o755)
        await draft(bench, a__txt="changed", b__txt="changed", new__txt="made")
        mask = os.umask(0o027)
        try:
            await _publish(bench)
        finally:
            os.umask(mask)

        modes = {
            name: stat.S_IMODE((bench.folders.published / name).stat().st_mode)
            for name in (A, B, NEW)
        }
        assert modes == {A: 0o640, B: 0o755, NEW: 0o640}


@pytest.mark.skipif(sys.platform != "linux", reason="has no such attributes")
async def test_labels_of_a_published_file_stay(tmp_path: Path) -> None:
    """What a program noted of a file is known of the new version, too."""
    async with supervised(tmp_path / "h") as running:
        bench = await running.bench(a__txt="old", b__txt="old")
        try:
            os.setxattr(bench.folders.published / A, "user.tag", b"mine")
        except OSError:
            pytest.skip("the file system has no attributes")
        # Whom it does not belong to may not write to it, and who owns it may not label it.
        (bench.folders.published / A).chmod(0o444)
        await draft(bench, a__txt="changed", b__txt="changed")
        await _publish(bench)

        assert files_in(bench.folders.published) == {"a.txt": "changed", "b.txt": "changed"}
        assert os.getxattr(bench.folders.published / A, "user.tag") == b"mine"
        labels = os.listxattr(bench.folders.published / B)
        assert not any(label.startswith("user.") for label in labels)


async def test_a_second_version_of_a_long_name_may_be_named(tmp_path: Path) -> None:
    """It is cut, and still no other file's; whoever names it is not told that it is too long."""
    names = [FileName(f"{'é' * 94}{number}.txt") for number in range(2)]
    async with supervised(tmp_path / "h") as running:
        bench = await running.bench(**dict.fromkeys(map(str, names), "old"))
        await draft(bench, **dict.fromkeys(map(str, names), "changed"))
        for name in names:
            (bench.folders.published / name).write_text("by hand")
        kept = [each.published_as for each in (await _publish(bench, keep_both=True)).kept_both]

        assert len(set(kept)) == 2
        assert [file_name(name) for name in kept] == kept
        held = files_in(bench.folders.published)
        assert held == dict.fromkeys(names, "by hand") | dict.fromkeys(kept, "changed")


async def test_a_deleted_file_changed_by_hand_stays(tmp_path: Path) -> None:
    """What somebody wrote is not deleted: of a deletion there are no two versions to keep."""
    async with supervised(tmp_path / "h") as running:
        bench = await running.bench(a__txt="old")
        await draft(bench, a__txt=None)
        await bench.keeper.submit(ConfirmDeletions((A,)))
        (bench.folders.published / "a.txt").write_text("by hand")
        for keep_both in (False, True):
            with pytest.raises(ConflictPublishedChanged) as refused:
                await _publish(bench, keep_both=keep_both)
            assert "keep both" not in refused.value.message

        assert files_in(bench.folders.published) == {"a.txt": "by hand"}
        assert bench.state.draft is not None


async def test_a_client_that_goes_away_leaves_no_open_extraction(tmp_path: Path) -> None:
    """Each file is extracted and recorded, or not begun; no half-written one stays."""
    async with supervised(tmp_path / "h") as running:
        bench = await running.bench(a__txt="x", b__txt="y", c__txt="z")
        for steps in range(1, 12, 2):
            out = tmp_path / str(steps)
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(extract_files, bench, CLOCK, Destination(str(out), str(out)), None)
                for _ in range(steps):
                    await anyio.lowlevel.checkpoint()
                tasks.cancel_scope.cancel()
            assert bench.state.effects == {}
            left = set(os.listdir(out)) if out.exists() else set()
            assert left <= {"a.txt", "b.txt", "c.txt"}


@pytest.mark.parametrize(
    ("name", "second"),
    [
        ("a.txt", "a(1).txt"), ("archive.tar.gz", "archive.tar(1).gz"), (".env", ".env(1)"),
        ("noext", "noext(1)"), ("a.b.", "a.b(1)."),
    ],
)  # fmt: skip
async def test_a_taken_name_is_numbered(name: str, second: str) -> None:
    """The number goes before the last suffix."""
    names = numbered_names(name)

    assert [next(names), next(names)] == [name, second]


async def test_an_extraction_never_overwrites(tmp_path: Path) -> None:
    """Each copy gets the first free name; links, folders and files of the user's stay."""
    out = tmp_path / "out"
    destination = Destination(str(out), str(out))
    async with supervised(tmp_path / "h") as running:
        bench = await running.bench(a__txt="kbd")
        out.mkdir()
        (out / "a.txt").symlink_to(tmp_path / "nowhere")
        (out / "a(1).txt").mkdir()
        (out / "a(3).txt").write_text("mine")
        results = [await extract_files(bench, CLOCK, destination, (A,)) for _ in range(2)]

        assert [Path(str(found[0].final_path)).name for found in results] == [
            "a(2).txt", "a(4).txt",
        ]  # fmt: skip
        assert (out / "a(3).txt").read_text() == "mine"
        assert (out / "a.txt").is_symlink()
        assert not (tmp_path / "nowhere").exists()


async def test_what_cannot_be_extracted_is_said(tmp_path: Path) -> None:
    """Each with its reason; the rest is extracted; no reason tells a path."""
    destination = Destination(str(tmp_path / "out"), str(tmp_path / "out"))
    async with supervised(tmp_path / "h") as running:
        bench = await running.bench(a__txt="x")
        await draft(bench, new__txt="made")
        wanted = ("a.txt", "new.txt", "none.txt", "../a.txt")
        results = await extract_files(bench, CLOCK, destination, wanted)

        assert [found.status for found in results] == ["extracted", *["skipped"] * 3]
        assert [str(found.reason) for found in results[1:3]] == ["not published", "no such file"]
        (tmp_path / "file").write_text("x")
        none = str(tmp_path / "file" / "x")
        (failed,) = await extract_files(bench, CLOCK, Destination(none, none), (A,))
        assert failed.status == "failed"
        assert str(tmp_path) not in str(failed.reason)
        assert bench.state.effects == {}


class _LosingDisk(Disk):
    """A disk that fails to make some paths durable.

    Attributes:
        loses: What stands in the paths, or "".
        refused: How many requests were refused on it.
    """

    loses = ""
    refused = 0

    def fsync(self, fd: int) -> None:
        """Sync, or fail."""
        if self.loses and self.loses in os.readlink(f"/proc/self/fd/{fd}"):
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        super().fsync(fd)


@pytest.mark.parametrize("loses", ["/stage/publish-", "/published"])
async def test_nothing_is_answered_after_a_sync_that_failed(tmp_path: Path, loses: str) -> None:
    """The next sync would say that all is well: whoever asks once more is refused as well."""
    root, disk = tmp_path / "root", _LosingDisk()
    await drafted(root)
    asked = (publish_draft, publish_draft, discard)
    with pytest.raises(BaseExceptionGroup) as ended:
        await _lose(root, disk, loses, asked)
    assert ended.group_contains(LogPoisoned)
    assert disk.refused == len(asked)


async def test_nothing_is_kept_after_a_sync_of_bytes_that_failed(tmp_path: Path) -> None:
    """The same bytes, brought once more, are there to be found: they are not said to be kept."""
    root, disk = tmp_path / "root", _LosingDisk()
    await drafted(root)
    with pytest.raises(BaseExceptionGroup) as ended:
        await _lose(root, disk, "/blobs", (_keep, _keep, discard))
    assert ended.group_contains(LogPoisoned)
    assert disk.refused == 3


async def _keep(bench: OpenWorkbench) -> None:
    await bench.blobs.put(b"kept")


async def test_a_discard_whose_sync_failed_is_not_answered(tmp_path: Path) -> None:
    """A publish that is brought back by it counts as under way until that is durable."""
    root, disk = tmp_path / "root", _LosingDisk()
    await drafted(root)
    with pytest.raises(BaseExceptionGroup) as ended:
        await _lose(root, disk, "/published", (discard, discard), _intend_all)
    assert ended.group_contains(LogPoisoned)
    assert disk.refused == 2


async def _lose(
    root: Path, disk: _LosingDisk, loses: str, asked: Sequence[Work], first: Work | None = None
) -> None:
    """Ask for one thing after the other; in the first a sync fails, and none later."""
    async with opened(root, disk) as bench:
        if first is not None:
            await first(bench)
        disk.loses = loses
        for ask in asked:
            try:
                await ask(bench)
            except KbdError:
                disk.refused += 1
            disk.loses = ""


async def _intend_all(bench: OpenWorkbench) -> None:
    """Begin a publish, and put its files in their places."""
    found = {name: entry.blob for name, entry in bench.state.files.items()}
    await bench.keeper.submit(IntendPublish("p" * 16, None, dict(found)))
    assert bench.state.publish is not None
    bench.files.transaction("p" * 16, bench.state.publish.files).carry_out()


class _FilledDisk(Disk):
    """A disk that is full from some moment on: no file grows, and some frames are refused."""

    is_full = False
    refuses = 0

    def pwrite(self, fd: int, data: bytes | memoryview, offset: int) -> int:
        """Write what is not to grow the file."""
        if self.is_full:
            self.refuses -= 1
            if self.refuses >= 0 or offset + len(data) > os.fstat(fd).st_size:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return super().pwrite(fd, data, offset)

    def reserve(self, fd: int, offset: int, size: int) -> None:
        """Reserve no more than was just given back."""
        if self.is_full and offset + size > os.fstat(fd).st_size + 8 * 1024:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        super().reserve(fd, offset, size)


async def test_a_draft_whose_publish_waits_for_space_is_discarded_without_any(
    tmp_path: Path,
) -> None:
    """The published files are brought back and the draft is gone, on a disk that stays full."""
    root, disk = tmp_path / "root", _FilledDisk()
    await drafted(root)
    before = files_in(root / "published")

    def fill(phase: str) -> None:
        if phase == "swap_directories":
            disk.is_full, disk.refuses = True, 1

    async with opened(root, disk) as bench:
        with pytest.raises(DiskFull, match="there is no space to record it"):
            await publish(
                bench, CLOCK, names=None, keep_both=False, accept_external=False, progress=fill
            )
        assert bench.state.publish is not None
        assert files_in(root / "published") != before
        await discard(bench)
        assert files_in(root / "published") == before
        left = bench.state
        assert (left.publish, left.draft) == (None, None)
