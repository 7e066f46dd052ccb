"""Rows of the matrix on what stands in a workbench's own folders, and on files that change.

What is asked: the tool `write_text_file`, publishing, rebasing, extraction. A tool reads no file of
published/ or draft/ at all: its names are those of the log, and its bytes are blobs. So the refusal
of the confined root is met where published/ is read: by a publish, which takes what it is refused
for somebody's change, and by a rebase, which would have to read it and tells the refusal itself.
"""

import hashlib
import os
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from whole.disks import bound_folder, tiny_disk
from whole.matrix_paths import look_at_watched
from whole.matrix_rig import FILE_BYTES, MatrixRig, MatrixRow
from whole.watched import eventually

__all__ = ["LINK_ROWS"]

Change = Callable[[Path], object]
"""Changes what is at a path."""

SECRET = "secret"


def _drafted(rig: MatrixRig) -> Path:
    """Begin a workbench with a published file that the draft changes, and return its path."""
    rig.wb = rig.wire.workbench(a__txt="old")
    assert rig.tool("write_text_file", path="a.txt", content="new") == "ok"
    return rig.wire.published(rig.wb) / "a.txt"


def _outside(rig: MatrixRig) -> Path:
    path = rig.place()
    path.write_text(SECRET)
    return path


def _replaced(make: Callable[[MatrixRig, Path], object], method: str) -> Callable[[MatrixRig], str]:
    """Put something else in the place of a published file, and publish over it, or rebase."""

    def ask(rig: MatrixRig) -> str:
        target = _drafted(rig)
        target.unlink()
        make(rig, target)
        before = target.lstat()
        code = rig.code(method, workbench_id=rig.wb)
        # What somebody put there is theirs.
        assert target.lstat().st_ino == before.st_ino
        assert list((target.parent.parent / "stage").iterdir()) == []
        return code

    return ask


def _both(
    number: str, shown: str, make: Callable[[MatrixRig, Path], object]
) -> Iterator[MatrixRow]:
    """Yield the rows of a replacement: what publishes finds a change, what reads is refused."""
    yield MatrixRow(
        number, f"{shown}, published over", "CONFLICT_PUBLISHED_CHANGED",
        _replaced(make, "DraftPublish"),
    )  # fmt: skip
    yield MatrixRow(
        number, f"{shown}, rebased over", "SANDBOX_VIOLATION", _replaced(make, "DraftRebase")
    )


def _link_inside(rig: MatrixRig, target: Path) -> None:
    target.with_name("b.txt").write_text("inside")
    target.symlink_to("b.txt")


def _link_added(rig: MatrixRig) -> str:
    place = rig.place()
    place.with_name("there.txt").write_text("mine")
    place.symlink_to("there.txt")
    return rig.add(place)


def _tool_reads_link(rig: MatrixRig) -> str:
    """Ask tools for a name that is a link in draft/ and in published/, and no name of the log."""
    target = _drafted(rig)
    for folder in (target.parent, rig.root() / "draft"):
        (folder / "link.txt").symlink_to("a.txt")
    codes = {rig.tool(name, path="link.txt") for name in ("read_file", "get_file_map")}
    return f"{' '.join(codes)}; extract: {rig.extract(rig.place().parent, 'link.txt')}"


def _tool_through_link(rig: MatrixRig) -> str:
    """Have a tool write below a folder of draft/ that is a link inside: nothing goes through it."""
    _drafted(rig)
    inside = rig.root() / "published" / "there"
    inside.mkdir()
    (rig.root() / "draft" / "d").symlink_to(inside)
    said = rig.tool("write_text_file", path="d/x.txt", content="new")
    assert list(inside.iterdir()) == []
    shown = rig.wire.changes(rig.wb)
    code = rig.code("DraftPublish", workbench_id=rig.wb)
    assert list(inside.iterdir()) == []
    assert (rig.root() / "published/d/x.txt").read_text() == "new"
    return f"{said}, {shown['d/x.txt']}; published: {code}"


def _link_on_the_way(method: str) -> Callable[[MatrixRig], str]:
    """Make a folder of published/ a link to one beside it, above a file; publish or rebase that."""

    def ask(rig: MatrixRig) -> str:
        _drafted(rig)
        rig.tool("write_text_file", path="d/s/x.txt", content="old")
        rig.code("DraftPublish", workbench_id=rig.wb)
        rig.tool("write_text_file", path="d/s/x.txt", content="new")
        folder = rig.root() / "published" / "d"
        beside = folder.rename(folder.with_name("beside"))
        folder.symlink_to("beside")
        (beside / "s" / "x.txt").write_text("inside")
        code = rig.code(method, workbench_id=rig.wb)
        assert (beside / "s" / "x.txt").read_text() == "inside"
        return code

    return ask


def _extract_through_link(rig: MatrixRig) -> str:
    """Extract below a folder of the destination that is a link to one beside it."""
    _drafted(rig)
    rig.tool("write_text_file", path="d/x.txt", content="new")
    rig.code("DraftPublish", workbench_id=rig.wb)
    out = rig.place().parent
    (out / "e").mkdir()
    (out / "d").symlink_to("e")
    said = rig.extract(out, "d/x.txt").replace("'d/x.txt' ", "")
    assert list((out / "e").iterdir()) == []
    return said


# Second names.


def _second_name_in_draft(rig: MatrixRig) -> str:
    """Put a second name of a file outside into draft/, edit on, publish: neither gets the other."""
    _drafted(rig)
    outside, drafted = _outside(rig), rig.root() / "draft" / "a.txt"
    drafted.unlink()
    os.link(outside, drafted)
    edit = rig.tool("write_text_file", path="a.txt", content="newer")
    code = rig.code("DraftPublish", workbench_id=rig.wb)
    published = rig.root() / "published" / "a.txt"
    assert (outside.read_text(), published.read_text()) == (SECRET, "newer")
    assert published.stat().st_nlink == 1
    return f"{edit}, then {code}"


def _second_name_added(rig: MatrixRig) -> str:
    place = rig.place()
    os.link(_outside(rig), place)
    return f"{rig.add(place)}; watched: {look_at_watched(rig, place.parent)}"


# Mounts.


def _mounted(method: str, *, bind: bool) -> Callable[[MatrixRig], str]:
    """Have a file in a folder of published/ that something is mounted on, and publish or rebase."""

    def ask(rig: MatrixRig) -> str:
        _drafted(rig)
        rig.tool("write_text_file", path="d/x.txt", content="old")
        rig.code("DraftPublish", workbench_id=rig.wb)
        rig.tool("write_text_file", path="d/x.txt", content="new")
        folder, source = rig.root() / "published" / "d", rig.place().parent
        (source / "x.txt").write_text(SECRET)
        aside = folder.rename(folder.with_name("aside"))
        with bound_folder(source, folder) if bind else tiny_disk(folder, 1 << 20):
            code = rig.code(method, workbench_id=rig.wb)
            found = [path.read_text() for path in folder.iterdir()]
        assert found == ([SECRET] if bind else [])
        folder.rmdir()
        aside.rename(folder)
        return code

    return ask


def _tool_into_mount(rig: MatrixRig) -> str:
    """Have a tool write below a folder of draft/ that another disk is mounted on."""
    _drafted(rig)
    folder = rig.root() / "draft" / "d"
    with tiny_disk(folder, 1 << 20):
        said = rig.tool("write_text_file", path="d/x.txt", content="new")
        assert list(folder.iterdir()) == []
    # It stays: with the disk gone the copy is shown there, whenever the daemon comes to it.
    return f"{said}, nothing in the mount"


# The folders themselves.


def _root_replaced(name: str) -> Callable[[MatrixRig], str]:
    """Replace published/ or draft/ by a link to somebody's folder, then write and publish."""

    def ask(rig: MatrixRig) -> str:
        _drafted(rig)
        root, outside = rig.root() / name, _outside(rig).parent
        held = root.rename(root.with_name(f"{name}.held"))
        root.symlink_to(outside)
        before = [path.name for path in outside.iterdir()]
        edit = rig.tool("write_text_file", path="b.txt", content="newer")
        code = rig.code("DraftPublish", workbench_id=rig.wb)
        assert [path.name for path in outside.iterdir()] == before
        root.unlink()
        held.rename(root)
        assert (rig.root() / "published" / "b.txt").read_text() == "newer"
        return f"{edit}, then {code}; nothing outside"

    return ask


def _immutable(rig: MatrixRig) -> str:
    """Publish over a file that the file system lets nobody change."""
    target = _drafted(rig)
    if subprocess.run(["chattr", "+i", str(target)], capture_output=True, check=False).returncode:
        pytest.skip("no file can be made immutable here: that takes root, and ext4")
    try:
        code = rig.code("DraftPublish", workbench_id=rig.wb)
        assert target.read_text() == "old"
        assert list((rig.root() / "stage").iterdir()) == []
    finally:
        subprocess.run(["chattr", "-i", str(target)], capture_output=True, check=False)
    assert rig.wire.ask("LogVerify", workbench_id=rig.wb)["ok"]
    return f"{code}, then {rig.code('DraftPublish', workbench_id=rig.wb)}"


def _read_only(rig: MatrixRig) -> str:
    """Publish over a file that nobody may write: the new version may not be written either."""
    target = _drafted(rig)
    target.chmod(0o400)
    code = rig.code("DraftPublish", workbench_id=rig.wb)
    return f"{code}, mode {target.stat().st_mode & 0o7777:04o}"


# Files that change while they are read.


class _Restless(threading.Thread):
    """Somebody who writes to a file without pause: longer and longer, or cut and filled again.

    Args:
        path: The file; all its bytes are "a".
        cuts: Whether it is cut.
    """

    def __init__(self, path: Path, *, cuts: bool) -> None:
        super().__init__(daemon=True)
        self._path, self._cuts, self._ended = path, cuts, threading.Event()
        path.write_bytes(b"a" * (FILE_BYTES // 4))
        self.start()

    def run(self) -> None:
        """Write until it is told to end."""
        with self._path.open("r+b") as file:
            while not self._ended.wait(0.001):
                size = os.fstat(file.fileno()).st_size
                if self._cuts and size > FILE_BYTES // 4:
                    os.truncate(file.fileno(), 1000)
                elif self._cuts or size < FILE_BYTES * 7 // 8:
                    file.seek(0, os.SEEK_END)
                    file.write(b"a" * (50_000 if self._cuts else 5_000))
                    file.flush()

    def end(self) -> None:
        """End it, and wait for that."""
        self._ended.set()
        self.join()


def _changing(*, cuts: bool) -> Callable[[MatrixRig], str]:
    """Add a file 20 times while it is written: each is what was copied once, and read from that."""

    def ask(rig: MatrixRig) -> str:
        rig.wb = str(rig.wire.ask("WorkbenchCreate", name="changing")["workbench_id"])
        place = rig.place()
        writer = _Restless(place, cuts=cuts)
        try:
            answers = set()
            for number in range(20):
                os.link(place, named := place.with_name(f"x{number}.txt"))
                answers.add(rig.add(named))
        finally:
            writer.end()
        added = [e["data"] for e in rig.wire.daemon.events(rig.wb) if e["type"] == "FileAdded"]
        for each in added:
            published = (rig.root() / "published" / each["name"]).read_bytes()
            assert len(published) == each["size_bytes"]
            assert hashlib.sha256(published).hexdigest() == each["blob"]
            # Who reads what is being cut may be given the zeros that the system puts there first.
            assert set(published) <= {0, *b"a"}
        sizes = len({each["size_bytes"] for each in added})
        assert sizes > 1, "the file did not change"
        return f"{len(added)} {' '.join(sorted(answers))}, each as it was copied"

    return ask


def _changing_watched(rig: MatrixRig) -> str:
    """Write to a file in a watched folder for a second: it lands once, whole, when that is over."""
    place = rig.place()
    rig.wire.script.forget()
    added = rig.wire.ask("WatchAdd", folder=str(place.parent), prompt="look", quiet_s=0.1)
    named = {"watch_id": added["watch_id"]}
    writer = _Restless(place, cuts=True)
    try:
        time.sleep(1)
        early = rig.wire.ask("WatchGet", **named)["watch"]["landed"]
    finally:
        writer.end()

    def landed() -> Any:
        watch = rig.wire.ask("WatchGet", **named)["watch"]
        return watch["recent"] if watch["outcomes"] else None

    (row,) = eventually("it does not land", landed)
    rig.wire.ask("WatchRemove", **named)
    published = rig.wire.published(row["workbench_id"]) / place.name
    assert published.read_bytes() == place.read_bytes()
    return f"{early} landed meanwhile, then 1, whole"


# Modes.


def _odd_mode(rig: MatrixRig) -> str:
    """Add a file of nobody's that is setuid and has an attribute; look at what comes out of it."""
    rig.wb = str(rig.wire.ask("WorkbenchCreate", name="modes")["workbench_id"])
    place = rig.place()
    place.write_text("x")
    os.setxattr(place, "user.odd", b"1")
    if os.geteuid() == 0:
        os.chown(place, 65534, 65534)
    place.chmod(0o6777)
    said, out = rig.add(place), rig.place().parent
    rig.extract(out, place.name)
    told = []
    for path in (rig.root() / "published" / place.name, out / place.name):
        found = path.stat()
        assert (found.st_uid, os.listxattr(path)) == (os.geteuid(), [])
        told.append(f"{found.st_mode & 0o7777:04o}")
    return f"{said}, out as {' and '.join(told)}, no label"


def _setuid_published(rig: MatrixRig) -> str:
    """Publish over a file that somebody made setuid and labelled: the bits go, the label stays."""
    target = _drafted(rig)
    os.setxattr(target, "user.mine", b"1")
    if os.geteuid() == 0:
        # cap_setuid, effective: who runs the file would have it.
        os.setxattr(target, "security.capability", bytes.fromhex("0100000280") + bytes(15))
    target.chmod(0o6755)
    code = rig.code("DraftPublish", workbench_id=rig.wb)
    assert target.read_text() == "new"
    return f"{code}, {target.stat().st_mode & 0o7777:04o} {' '.join(os.listxattr(target))}"


def _folder_there(rig: MatrixRig, target: Path) -> None:
    target.mkdir()
    shutil.copy("/etc/hostname", target / "x.txt")


_SECOND = (
    "a person named the file, or the folder; who could make the second name could read the file "
    "(fs.protected_hardlinks), and programs deliver by link(2). What lands is a copy."
)
_FROM_LOG = "tools and extract read blobs by the names of the log, and open nothing in draft/"

LINK_ROWS = (
    MatrixRow("A17", "a link beside the file, added", "skipped: symlink", _link_added),
    *_both("A17", "a link inside", _link_inside),
    MatrixRow("A17", "a link on the way, published over", "CONFLICT_PUBLISHED_CHANGED",
              _link_on_the_way("DraftPublish")),
    MatrixRow("A17", "a link on the way, rebased over", "SANDBOX_VIOLATION",
              _link_on_the_way("DraftRebase")),
    MatrixRow("A17", "a link inside, by a tool and extract",
              "NOT_FOUND; extract: skipped: no such file", _tool_reads_link, _FROM_LOG),
    MatrixRow("A17", "a tool below a link inside draft/", "ok, added; published: ok",
              _tool_through_link, "it lands in the log; no copy of it is shown in draft/"),
    MatrixRow("A17", "a destination with a link inside it",
              "failed: cannot be extracted: a link or no folder is on the way",
              _extract_through_link),
    *_both("A19", "a second name of a file", lambda rig, path: os.link(_outside(rig), path)),
    MatrixRow("A19", "a second name in draft/, edited on", "ok, then ok", _second_name_in_draft,
              _FROM_LOG),
    MatrixRow("A19", "a second name, added and watched", "added; watched: run",
              _second_name_added, _SECOND),
    MatrixRow("A38", "another disk within published/, published", "CONFLICT_PUBLISHED_CHANGED",
              _mounted("DraftPublish", bind=False)),
    MatrixRow("A38", "another disk within published/, rebased", "SANDBOX_VIOLATION",
              _mounted("DraftRebase", bind=False)),
    MatrixRow("A38", "a bind mount in published/, published", "CONFLICT_PUBLISHED_CHANGED",
              _mounted("DraftPublish", bind=True)),
    MatrixRow("A38", "a bind mount in published/, rebased", "SANDBOX_VIOLATION",
              _mounted("DraftRebase", bind=True)),
    MatrixRow("A38", "a tool below another disk in draft/", "ok, nothing in the mount",
              _tool_into_mount, _FROM_LOG),
    MatrixRow("A39", "published/ replaced by a link", "ok, then ok; nothing outside",
              _root_replaced("published")),
    MatrixRow("A39", "draft/ replaced by a link", "ok, then ok; nothing outside",
              _root_replaced("draft")),
    *_both("A40", "a folder", _folder_there),
    MatrixRow("A40", "a target that is immutable", "FILE_WRITE_FAILED, then ok", _immutable),
    MatrixRow("A40", "a target that is read-only", "ok, mode 0400", _read_only,
              "a publish puts a new file in its place, with the mode of the old one"),
    MatrixRow("A41", "a file that grows while it is added", "20 added, each as it was copied",
              _changing(cuts=False)),
    MatrixRow("A41", "a file that is cut while it is added", "20 added, each as it was copied",
              _changing(cuts=True)),
    MatrixRow("A41", "one that is cut in a watched folder", "0 landed meanwhile, then 1, whole",
              _changing_watched),
    MatrixRow("A43", "setuid, nobody's, with a label", "added, out as 0600 and 0644, no label",
              _odd_mode),
    MatrixRow("A43", "setuid and capable, published over", "ok, 0755 user.mine",
              _setuid_published),
)  # fmt: skip
"""Of A17 and A38 each path is a row: adding, publishing, rebasing, a tool, extraction."""
