"""The state at an event: what the log says, folded anew, is what the Keeper knew then."""

import errno
import hashlib
import os
from pathlib import Path

import msgspec
import pytest

from agent_rig import NoSync, Rig, open_rig
from backends import on_trio
from kbd.core.audit.moment_folder import write_moment
from kbd.core.audit.whole_paths import resolve_new_folder
from kbd.core.domain.fold import fold_workbench
from kbd.core.domain.workbench_state import WorkbenchState
from kbd.core.store.history import files_at, run_at, state_at, state_hash
from kbd.errors import DiskFull, FileWriteFailed, LogCorrupt, NotFound, ValidationFailed
from kbd.events.base import Recorded
from kbd.events.blobs import BlobStore
from kbd.events.disk import Disk
from kbd.types import Seq
from troubled_run import troubled

pytestmark = [pytest.mark.anyio, on_trio]


def files_below(folder: Path) -> dict[str, str]:
    """Return what a folder holds."""
    return {
        str(path.relative_to(folder)): path.read_text()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def names_in(folder: Path) -> list[str]:
    """Return what lies in a folder, hidden things too."""
    return sorted(path.name for path in folder.iterdir())


def write_at(state: WorkbenchState, store: BlobStore, destination: Path, disk: Disk) -> Path:
    """Write a moment to a folder that somebody names, as the daemon does; return where it is."""
    place = resolve_new_folder(destination, "the moment")
    write_moment(state, store, place, disk)
    return place


async def test_the_state_at_every_event_is_the_keepers_own(tmp_path: Path) -> None:
    """With failed and retried items and rollbacks; the files restored are equal to the byte."""
    own, known = WorkbenchState(), dict[Seq, str]()
    seen: dict[Seq, dict[str, str | None]] = {}
    async with open_rig(tmp_path / "bench", troubled) as rig:

        def note(seq: Seq, record: Recorded) -> None:
            fold_workbench(own, seq, record)
            known[seq] = state_hash(own)
            if rig.state.seq == seq:  # The Keeper has folded all that landed together.
                assert state_hash(rig.state) == known[seq]
                seen[seq] = {
                    file.name: rig.content(file.name) for file in rig.state.current_files()
                }

        rig.keeper.observe(note)
        await rig.go("write two files")

        assert len(set(known.values())) == len(known) == rig.state.seq
        assert len({str(files) for files in seen.values()}) > 4
        for seq, expected in known.items():
            state = state_at(tmp_path / "bench" / "log", seq)
            assert state_hash(state) == expected, seq
            if seq not in seen:
                continue
            made = write_at(state, rig.blobs.store, tmp_path / f"at-{seq}", NoSync())
            assert files_below(made / "files") == seen[seq]
            content = (made / "state.json").read_bytes()
            assert hashlib.sha256(content).hexdigest() == expected


async def test_a_moment_is_told_and_written_with_all_that_belongs_to_it(tmp_path: Path) -> None:
    """Files by their state, the run with its plan; on disk the draft beside what is published."""
    async with open_rig(tmp_path / "bench", troubled) as rig:
        await rig.go("write two files")
        state = state_at(tmp_path / "bench" / "log", rig.state.seq)
        made = write_at(state, rig.blobs.store, tmp_path / "made", NoSync())
        copies = tmp_path / "bench" / "meta"

        assert made == tmp_path / "made"
        assert [(file.path, file.state) for file in files_at(state)] == [
            ("1.txt", "added"), ("3.txt", "added"),
        ]  # fmt: skip
        run = run_at(state)
        assert run is not None
        summary = "All done.\n\nNot done:\n- Two: the model's reply was empty"
        assert (run.run_id[-2:], run.status, run.summary) == ("-1", "finished", summary)
        assert files_below(made / "draft") == files_below(made / "files")
        assert files_below(made / "published") == {}
        assert (made / "plan.md").read_text() == run.plan
        for name in ("plan.md", "research.md"):
            assert (made / name).read_bytes() == (copies / "_rpi" / name).read_bytes()
        lines = (made / "conversation.jsonl").read_text().splitlines()
        assert [msgspec.json.decode(line)["text"] for line in lines] == [
            "write two files", summary,
        ]  # fmt: skip
        assert names_in(tmp_path) == ["bench", "made"]


async def test_a_moment_that_is_not_there_is_refused(tmp_path: Path) -> None:
    """Beyond the end, behind damage; with bytes that are missing or changed: each by its name."""
    async with open_rig(tmp_path / "bench", troubled) as rig:
        await rig.go("write two files")
        log, last = tmp_path / "bench" / "log", rig.state.seq
        with pytest.raises(NotFound, match=f"ends at event {last}"):
            state_at(log, Seq(last + 1))
        assert state_at(log, Seq(0)) == WorkbenchState()
        state = state_at(log, last)
        _check_bytes(rig, state, tmp_path)
    (segment,) = log.glob("*.kbl")
    data = bytearray(segment.read_bytes())
    data[len(data) // 2] ^= 1
    segment.write_bytes(data)
    with pytest.raises(LogCorrupt, match="damaged behind event"):
        state_at(log, last)
    assert state_at(log, Seq(4)).seq == 4


def _check_bytes(rig: Rig, state: WorkbenchState, folder: Path) -> None:
    found = state.current_file(files_at(state)[0].path)
    assert found is not None
    blob = rig.blobs.path(found.blob)
    whole = blob.read_bytes()
    blob.chmod(0o600)
    blob.write_bytes(whole + b"!")
    with pytest.raises(LogCorrupt, match=r"'1.txt' are not what they were"):
        write_at(state, rig.blobs.store, folder / "made", NoSync())
    blob.unlink()
    with pytest.raises(LogCorrupt, match=r"'1.txt' are missing"):
        write_at(state, rig.blobs.store, folder / "made", NoSync())
    blob.write_bytes(whole)
    assert names_in(folder) == ["bench"]


class _Failing(NoSync):
    """A disk that fails when the folder is to get its name."""

    def __init__(self, code: int) -> None:
        self._code = code

    def move(self, source: tuple[int, str], target: tuple[int, str]) -> None:
        raise OSError(self._code, os.strerror(self._code), source[1])


async def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    """Nothing is overwritten, nothing stays behind, and each reason has its code."""
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "mine.txt").touch()
    (tmp_path / "empty").mkdir()
    async with open_rig(tmp_path / "bench", troubled) as rig:
        for place in (Path("here"), tmp_path / "taken", tmp_path / "no" / "such"):
            with pytest.raises(ValidationFailed):
                write_at(rig.state, rig.blobs.store, place, NoSync())
        with pytest.raises(DiskFull):
            write_at(rig.state, rig.blobs.store, tmp_path / "a", _Failing(errno.ENOSPC))
        with pytest.raises(FileWriteFailed) as failed:
            write_at(rig.state, rig.blobs.store, tmp_path / "a", _Failing(errno.EROFS))
        assert str(tmp_path) not in failed.value.message
        write_at(rig.state, rig.blobs.store, tmp_path / "empty", NoSync())

    assert names_in(tmp_path) == ["bench", "empty", "taken"]
    assert (tmp_path / "empty" / "state.json").exists()
