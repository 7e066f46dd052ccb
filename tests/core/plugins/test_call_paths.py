"""What a call may reach is what its arguments name as paths; what it wrote lands when it ends."""

import os
from pathlib import Path

import pytest

from kbd.core.plugins.call_paths import CallFolder, CallPaths
from kbd.core.plugins.worker_messages import Request
from kbd.core.plugins.worker_pool import WorkerPool
from kbd.errors import FileReadFailed, ToolTimeout
from kbd.tools import CallLimits


def test_files_are_read_and_what_is_not_there_is_written(tmp_path: Path) -> None:
    """Each path is sorted by what it names, and a text is no path."""
    (tmp_path / "there").write_text("x")
    blob = tmp_path / "blobs" / "ab" / ("ab" * 32)
    paths = CallPaths()
    paths.pack(
        Request(
            "m:f",
            {
                "read": tmp_path / "there",
                "gone": blob,
                "made": tmp_path / "new.xlsx",
                "kept": CallFolder(tmp_path / "shelves" / "one"),
                "text": str(tmp_path / "secret"),
            },
        )
    )
    reach = paths.reach("")

    assert reach.files == (str(tmp_path / "there"), str(blob))
    assert reach.folders == (
        str(tmp_path / "shelves" / "one"), str(tmp_path / "new.xlsx.call"),
    )  # fmt: skip
    assert not blob.parent.exists()


def test_an_output_lands_and_nothing_else_is_left(tmp_path: Path) -> None:
    """Beside the file that was asked for the call's folder, and an empty one of its own, go."""
    paths = CallPaths()
    packed = paths.pack(
        Request("m:f", {"a": tmp_path / "new.xlsx", "b": CallFolder(tmp_path / "shelf")})
    )
    made = tmp_path / "new.xlsx.call" / "new.xlsx"
    assert str(made).encode() in packed
    made.write_text("made")
    made.with_name("scratch").write_text("x")

    paths.land()
    paths.drop()

    assert os.listdir(tmp_path) == ["new.xlsx"]
    assert (tmp_path / "new.xlsx").read_text() == "made"


@pytest.mark.parametrize("kind", ["link", "hard link", "folder", "pipe"])
def test_an_output_that_is_no_plain_file_is_refused(tmp_path: Path, kind: str) -> None:
    """A call that nothing confines could leave a link to a file of the user's, to be taken in."""
    secret = tmp_path / "secret"
    secret.write_text("key")
    paths = CallPaths()
    paths.pack(Request("m:f", {"a": tmp_path / "new"}))
    made = tmp_path / "new.call" / "new"
    match kind:
        case "link":
            made.symlink_to(secret)
        case "hard link":
            made.hardlink_to(secret)
        case "folder":
            made.mkdir()
        case _:
            os.mkfifo(made)

    with pytest.raises(FileReadFailed, match="no plain file"):
        paths.land()
    paths.drop()

    assert os.listdir(tmp_path) == ["secret"]


def test_an_output_that_nobody_may_open_lands_as_a_file_of_its_owner(tmp_path: Path) -> None:
    """A call says by which mode it makes a file, and could make one that is never read again."""
    paths = CallPaths()
    paths.pack(Request("m:f", {"a": tmp_path / "new"}))
    (tmp_path / "new.call" / "new").touch(mode=0)

    paths.land()

    assert (tmp_path / "new").stat().st_mode & 0o7777 == 0o600


@pytest.mark.anyio
@pytest.mark.sampled(1)
async def test_a_call_that_fills_the_disk_is_ended(workers: WorkerPool, tmp_path: Path) -> None:
    """Each file keeps to its limit, but not all together: the call ends, and nothing is left."""
    limits = CallLimits(wall_s=600, file_bytes=1 << 20)
    arguments = {"target": tmp_path / "a", "count": 3, "size": 1 << 20}

    with pytest.raises(ToolTimeout, match="may not write more than 2 MiB or 10000") as raised:
        await workers.call("faults", "kbd_faults.work:fill", arguments, limits)

    assert raised.value.detail == {"limit": "folder"}
    assert os.listdir(tmp_path) == []


@pytest.mark.anyio
async def test_what_a_killed_call_has_half_written_goes(
    workers: WorkerPool, tmp_path: Path
) -> None:
    """Nobody takes it, and it would lie there until the daemon starts anew."""
    arguments = {"target": tmp_path / "a", "number": 9}
    with pytest.raises(ToolTimeout, match="SIGKILL"):
        await workers.call("faults", "kbd_faults.work:write_and_die", arguments)

    assert os.listdir(tmp_path) == []


@pytest.mark.anyio
async def test_a_call_opens_what_it_was_given_alone(workers: WorkerPool, tmp_path: Path) -> None:
    """The same file is read when it is named as a path, and refused when it is named as a text."""
    file = tmp_path / "a"
    file.write_text("x")
    call, function = workers.call, "kbd_faults.work:read"

    assert await call("faults", function, {"path": file}) == "x"
    with pytest.raises(FileReadFailed, match="PermissionError"):
        await call("faults", function, {"path": str(file)})
    await call("faults", "kbd_faults.work:write", {"target": tmp_path / "b", "size": 3})
    assert (tmp_path / "b").read_bytes() == b"xxx"
    # What is there is read, not written.
    with pytest.raises(FileReadFailed, match="PermissionError"):
        await call("faults", "kbd_faults.work:write", {"target": file, "size": 3})
    assert sorted(os.listdir(tmp_path)) == ["a", "b"]
