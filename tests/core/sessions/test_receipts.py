"""The maker of receipts: behind each publish, after a crash, and without holding anybody up."""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio
import pytest

from kbd.core.audit.receipt_check.report import check_receipt, find_receipts
from kbd.core.domain.commands import (
    CompletePublish,
    ConfirmDeletions,
    IntendPublish,
    RecordFacts,
    RemoveFiles,
)
from kbd.core.sessions.receipts import MAX_LATE, ReceiptMaker
from kbd.core.workbench.publish import publish
from kbd.core.workbench.workbench import OpenWorkbench
from kbd.errors import FileReadFailed, KbdError, ToolTimeout, ToolWorkerUnavailable
from kbd.events.drafts import ReceiptMade
from kbd.tools import FileRef
from kbd.types import FileName, Seq
from supervised import CLOCK, crashed, draft, supervised

pytestmark = pytest.mark.anyio


async def _made(bench: OpenWorkbench) -> list[str]:
    """The checkpoints of the receipts that the log has, in order."""
    events = await bench.keeper.journal.read(Seq(0), 10_000)
    return [r.data.checkpoint_id for _, r in events if isinstance(r.data, ReceiptMade)]


async def _until_made(bench: OpenWorkbench, count: int) -> list[str]:
    """Wait until the log has so many receipts, and the state, which folds them later, as well."""
    notes = bench.state.publishes
    with anyio.fail_after(30):
        while len(found := await _made(bench)) < count:  # noqa: ASYNC110 - it tells nobody
            await anyio.sleep(0.01)
        while notes[found[-1]].receipt is None:  # noqa: ASYNC110 - it tells nobody
            await anyio.sleep(0.01)
    return found


async def _publish(bench: OpenWorkbench, text: str) -> str:
    await draft(bench, a__txt=text)
    done = await publish(
        bench, CLOCK, names=None, keep_both=False, accept_external=False, progress=lambda _: None
    )
    return done.checkpoint_id


async def _publish_untold(bench: OpenWorkbench, text: str, checkpoint_id: str) -> None:
    """Publish in the log alone, as a daemon does that dies right behind it."""
    await draft(bench, a__txt=text)
    found = {name: entry.blob for name, entry in bench.state.files.items()}
    await bench.keeper.submit(IntendPublish(checkpoint_id * 2, None, dict(found)))
    await bench.keeper.submit(CompletePublish(checkpoint_id))


async def test_each_publish_gets_its_receipt(tmp_path: Path) -> None:
    """In the order of the publishes, without anybody asking; the state knows them."""
    async with supervised(tmp_path / "h") as running:
        bench = await running.bench(a__txt="old")
        published = [await _publish(bench, f"text {n}") for n in range(3)]
        assert await _until_made(bench, 3) == published
        notes = bench.state.publishes
        assert [each for each, note in notes.items() if note.receipt] == published


async def test_what_a_crash_left_unmade_is_made_at_the_next_open(tmp_path: Path) -> None:
    """From right behind the publish: the newest at once, an older one when it is asked for."""
    async with supervised(tmp_path / "h") as running:
        bench = await running.bench(a__txt="old")
        # While the lock is held the maker waits, as for a slow disk.
        maker = await running.benches.receipts(bench.id)
        async with maker._making:
            for number in range(MAX_LATE + 1):
                await _publish_untold(bench, f"text {number}", f"c{number}")
            assert await _made(bench) == []
            home = crashed(running.home, tmp_path / "crashed")

    async with supervised(home) as again:
        opened = await again.benches.open(bench.id)
        late = [f"c{number}" for number in range(1, MAX_LATE + 1)]
        assert await _until_made(opened, MAX_LATE) == late
        maker = await again.benches.receipts(bench.id)
        assert (await maker.make("c0"))[0] == "c0"
        assert await _made(opened) == [*late, "c0"]


async def test_all_who_ask_at_once_get_the_one_receipt(tmp_path: Path) -> None:
    """Ten ask while it is made: one event, the same bytes for all."""
    async with supervised(tmp_path / "h") as running:
        bench = await running.bench(a__txt="old")
        checkpoint_id = await _publish(bench, "new")
        maker = await running.benches.receipts(bench.id)
        found: list[bytes] = []

        async def ask() -> None:
            found.append((await maker.make(checkpoint_id))[2])

        async with anyio.create_task_group() as tasks:
            for _ in range(10):
                tasks.start_soon(ask)
        assert (len(found), len(set(found))) == (10, 1)
        assert await _made(bench) == [checkpoint_id]


async def test_a_receipt_of_an_older_version_is_made_anew(tmp_path: Path) -> None:
    """The check knows one version: who asks gets a receipt of it, and the log has its hash."""
    async with supervised(tmp_path / "h") as running:
        bench = await running.bench(a__txt="old")
        checkpoint_id = await _publish(bench, "new")
        maker = await running.benches.receipts(bench.id)
        _, note, data = await maker.make(checkpoint_id)
        for older in (b'"version":1', b'"version":0'):
            stored = data.replace(b'"version":2', older)
            assert stored != data
            blob = await anyio.to_thread.run_sync(bench.blobs.store.put_bytes, stored)
            made = ReceiptMade(checkpoint_id, blob, len(stored))
            await bench.keeper.submit(RecordFacts((made,)))
            assert await maker.make(checkpoint_id) == (checkpoint_id, note, data)
            # And once: what is of this version is not made again.
            assert await maker.make(checkpoint_id) == (checkpoint_id, note, data)
        assert await _made(bench) == [checkpoint_id] * 5


async def test_a_workbench_whose_receipt_is_due_is_not_idle(tmp_path: Path) -> None:
    """It is not closed for others while its receipt is made: that would be begun again."""
    async with supervised(tmp_path / "h") as running:
        bench = await running.bench(a__txt="old")
        maker = await running.benches.receipts(bench.id)
        assert maker.is_idle
        async with maker._making:
            await _publish_untold(bench, "new", "c1")
            assert not maker.is_idle
        await _until_made(bench, 1)
        await maker.make("c1")
        assert maker.is_idle


async def test_copies_that_are_gone_are_written_again_at_the_next_open(tmp_path: Path) -> None:
    """Of all publishes, the same bytes; of a damaged receipt there is none, and none is made up."""
    async with supervised(tmp_path / "h") as running:
        bench = await running.bench(a__txt="old")
        published = [await _publish(bench, f"text {n}") for n in range(MAX_LATE + 2)]
        await _until_made(bench, len(published))
        maker = await running.benches.receipts(bench.id)
        found = {each: (await maker.make(each))[2] for each in published}
        damaged = bench.state.publishes[published[0]].receipt
        home = crashed(running.home, tmp_path / "crashed")

    folder = home / "workbenches" / bench.id
    copies = folder / "meta" / "receipts"
    shutil.rmtree(copies)
    (blob,) = [each for each in (folder / "blobs").rglob("*") if each.name == damaged]
    blob.chmod(0o600)
    blob.write_bytes(b"{}")
    async with supervised(home) as again:
        await again.benches.open(bench.id)
        with anyio.fail_after(30):
            while not (copies / f"{published[-1]}.json").exists():  # noqa: ASYNC110 - it tells nobody
                await anyio.sleep(0.01)
        written = {each.stem: each.read_bytes() for each in copies.iterdir()}
        assert written == {each: found[each] for each in published[1:]}


async def test_files_that_changed_while_they_were_published_are_told(tmp_path: Path) -> None:
    """One put beside what somebody wrote meanwhile, one that was not deleted: true, and proven."""
    async with supervised(tmp_path / "h") as running:
        bench = await running.bench(a__txt="old", b__txt="stays")
        maker = await running.benches.receipts(bench.id)
        await draft(bench, a__txt="between")
        await draft(bench, a__txt="new")
        await bench.keeper.submit(RemoveFiles((FileName("b.txt"),)))
        await bench.keeper.submit(ConfirmDeletions((FileName("b.txt"),)))
        found = {name: entry.blob for name, entry in bench.state.files.items()}
        await bench.keeper.submit(IntendPublish("p1", None, dict(found)))
        a, b, beside = (FileName(name) for name in ("a.txt", "b.txt", "a (kbd conflict).txt"))
        await bench.keeper.submit(CompletePublish("c1", ((a, beside), (b, b))))
        data = (await maker.make("c1"))[2]
        told = {file["path"]: file for file in json.loads(data)["files"]}
        assert {path: file["change"] for path, file in told.items()} == {
            beside: "kept_both", b: "left",
        }  # fmt: skip
        assert told[beside]["beside"] == a
        assert told[b]["after"] is None

        folder = tmp_path / "proof"
        shutil.copytree(bench.blobs.path(found[a]).parent, folder)
        (folder / "receipt.json").write_bytes(data)
        (receipt,), others = find_receipts([str(folder)])
        report = check_receipt(receipt.path, others, {})
        assert (report.is_false, report.is_whole) == (False, True), report


async def _inside(maker: ReceiptMaker, checkpoint_id: str) -> dict[str, Any]:
    """What the receipt of a publish of one file says of the inside of that."""
    data = (await maker.make(checkpoint_id))[2]
    (file,) = json.loads(data)["files"]
    found: dict[str, Any] = file["inside"]
    return found


async def test_a_worker_that_dies_does_not_make_a_file_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ended once, by whomever: it is asked again. Ended each time: the receipt says so."""
    async with supervised(tmp_path / "h") as running:
        bench = await running.bench(a__txt="old")
        maker = await running.benches.receipts(bench.id)
        real, asked = maker._formats.receipt_facts, list[str]()

        async def dies_first(name: str, *others: Any) -> dict[str, Any] | None:
            asked.append(name)
            if len(asked) != 2:
                raise ToolWorkerUnavailable("the worker of text: receipt_facts died")
            return await real(name, *others)

        monkeypatch.setattr(maker._formats, "receipt_facts", dies_first)
        first = await _publish(bench, "new")
        assert await _inside(maker, first) == {"kind": "file"}
        assert asked == ["a.txt"] * 2
        second = await _publish(bench, "newer")
        assert await _inside(maker, second) == {"kind": "file", "unread": "worker"}


async def test_what_changed_is_told_where_the_versions_between_cannot_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All steps took too long, or one is damaged: before and after are compared, without calls."""
    async with supervised(tmp_path / "h") as running:
        bench = await running.bench(a__txt="old")
        maker = await running.benches.receipts(bench.id)
        faults: list[KbdError] = [ToolTimeout("text: receipt_facts was stopped after 30 s")]
        asked: list[list[int]] = []

        async def compared(
            _: str, versions: Sequence[FileRef | None], numbers: Sequence[int], __: int
        ) -> dict[str, Any]:
            asked.append([len(versions), *numbers])
            if len(versions) > 2 or len(faults) > 1:
                raise faults[-1]
            return {"kind": "lines", "lists": {}}

        monkeypatch.setattr(maker._formats, "receipt_facts", compared)
        await draft(bench, a__txt="between")
        first = await _publish(bench, "new")
        (file,) = json.loads((await maker.make(first))[2])["files"]
        numbers = [step["seq"] for step in file["steps"]]
        assert asked == [[3, *numbers], [2, 0]]
        assert (file["inside"], file["steps_complete"]) == ({"kind": "lines", "lists": {}}, False)
        faults.append(FileReadFailed("a.txt is damaged"))
        await draft(bench, a__txt="between them")
        second = await _publish(bench, "newer")
        (file,) = json.loads((await maker.make(second))[2])["files"]
        assert file["inside"] == {"kind": "file", "unread": "damaged"}
        assert file["steps_complete"]


async def test_nothing_is_said_of_bytes_that_a_version_did_not_have(tmp_path: Path) -> None:
    """Damaged or gone: its size is that of the log, not that of what lies there."""
    async with supervised(tmp_path / "h") as running:
        bench = await running.bench(a__txt="old")
        maker = await running.benches.receipts(bench.id)
        async with maker._making:
            await _publish_untold(bench, "new", "c1")
            path = bench.blobs.path(bench.state.files[FileName("a.txt")].blob)
            path.chmod(0o600)
            path.write_bytes(b"neu and longer")
        damaged = json.loads((await maker.make("c1"))[2])
        path.unlink()
        async with maker._making:
            await _publish_untold(bench, "newer", "c2")
        gone = json.loads((await maker.make("c2"))[2])
        assert [file["after"]["size_bytes"] for file in damaged["files"]] == [3]
        assert [file["before"]["size_bytes"] for file in gone["files"]] == [3]
