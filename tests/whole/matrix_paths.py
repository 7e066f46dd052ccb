"""Rows of the matrix on paths that somebody names: in tools, sources, watched folders."""

import os
import socket
import stat
import tempfile
import unicodedata
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kbd.client.blocking import RemoteError
from whole.disks import tiny_disk
from whole.matrix_rig import FILE_BYTES, MatrixRig, MatrixRow
from whole.watched import eventually

__all__ = ["PATH_ROWS", "look_at_watched"]

Make = Callable[[Path], object]
"""Makes something at a path."""


def _named(number: str, path: str, due: str = "SANDBOX_VIOLATION", shown: str = "") -> MatrixRow:
    return MatrixRow(number, shown or ascii(path)[:40], due, lambda rig: rig.write(path))


def _added(number: str, shown: str, due: str, make: Make, reason: str = "") -> MatrixRow:
    """Return a row of what is made at a path, which is then added."""

    def ask(rig: MatrixRig) -> str:
        place = rig.place()
        make(place)
        return rig.add(place)

    return MatrixRow(number, shown, due, ask, reason)


def _source(number: str, path: str, due: str) -> MatrixRow:
    """Return a row of a path of the machine, which is added."""
    return MatrixRow(number, path, due, lambda rig: rig.add(path))


def look_at_watched(rig: MatrixRig, folder: Path) -> str:
    """Return what a rule for a folder would do with each file in it."""
    found = rig.wire.ask("WatchTest", folder=str(folder))
    return ", ".join(row["verdict"] for row in found["files"]) or "nothing"


def _linked_folder(rig: MatrixRig) -> str:
    """Add a file behind a folder that is a link."""
    place = rig.place()
    (rig.folder / "outside.txt").write_text("mine")
    (place.parent / "d").symlink_to(rig.folder)
    return rig.add(place.parent / "d" / "outside.txt")


def _linked_destination(rig: MatrixRig) -> str:
    """Extract below a folder of the destination that is a link, and see that nothing came out."""
    rig.write("behind/x.txt")
    rig.code("DraftPublish", workbench_id=rig.wb)
    out, outside = rig.place().parent / "out", rig.place().parent
    out.mkdir()
    (out / "behind").symlink_to(outside)
    said = rig.extract(out, "behind/x.txt")
    assert list(outside.iterdir()) == []
    return said.replace("'behind/x.txt' ", "")


# What is no file.


def _device(kind: int, major: int, minor: int) -> Make:
    def make(path: Path) -> None:
        try:
            os.mknod(path, kind | 0o666, os.makedev(major, minor))
        except PermissionError:
            pytest.skip("a device can only be made by root")

    return make


def _socket(path: Path) -> None:
    # Bound by a short name, for a socket's path has 107 bytes.
    with tempfile.TemporaryDirectory(prefix="kbd-", dir=path.parent.parent) as short:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(f"{short}/s")
        Path(short, "s").rename(path)


SPECIAL: dict[str, tuple[str, Make]] = {
    "A20": ("a pipe", os.mkfifo),
    "A21": ("a node of /dev/zero", _device(stat.S_IFCHR, 1, 5)),
    "A22": ("a socket", _socket),
    "A23": ("a block device", _device(stat.S_IFBLK, 7, 0)),
}


def _specials() -> Iterator[MatrixRow]:
    for number, (what, make) in SPECIAL.items():
        yield _added(number, f"{what}, added", "skipped: not a regular file", make)
        yield MatrixRow(number, f"{what} as a text to read", "VALIDATION_FAILED", _as_text(make))
        yield MatrixRow(number, f"{what} in a watched folder", "special", _in_watched(make))
        yield MatrixRow(
            number, f"{what} in a folder, added", "skipped: directory", _in_folder(make)
        )
        yield MatrixRow(number, f"{what} where a copy goes", "extracted: beside", _in_the_way(make))


def _as_text(make: Make) -> Callable[[MatrixRig], str]:
    def ask(rig: MatrixRig) -> str:
        make(place := rig.place())
        given = {"category": "situation", "source_path": str(place)}
        return rig.code("ContextSet", workbench_id=rig.wb, **given)

    return ask


def _in_watched(make: Make) -> Callable[[MatrixRig], str]:
    def ask(rig: MatrixRig) -> str:
        make(place := rig.place())
        return look_at_watched(rig, place.parent)

    return ask


def _in_folder(make: Make) -> Callable[[MatrixRig], str]:
    def ask(rig: MatrixRig) -> str:
        make(place := rig.place())
        return rig.add(place.parent)

    return ask


def _in_the_way(make: Make) -> Callable[[MatrixRig], str]:
    def ask(rig: MatrixRig) -> str:
        place = rig.place()
        make(place.with_name("a.txt"))
        said = rig.extract(place.parent, "a.txt")
        made = sorted(path.name for path in place.parent.iterdir())
        return f"{said}: beside" if made == ["a(1).txt", "a.txt"] else f"{said} {made}"

    return ask


def _watched_in_earnest(rig: MatrixRig) -> str:
    """Let all of them, a link and one good file land: one run is made."""
    place = rig.place()
    rig.wire.script.forget()
    added = rig.wire.ask("WatchAdd", folder=str(place.parent), prompt="look", quiet_s=0.1)
    named = {"watch_id": added["watch_id"]}
    for number, (_, make) in SPECIAL.items():
        make(place.with_name(f"{number}.txt"))
    place.with_name("link.txt").symlink_to("/etc/passwd")
    place.with_name("good.txt").write_text("mine")

    def landed() -> Any:
        watch = rig.wire.ask("WatchGet", **named)["watch"]
        return watch["outcomes"] and watch

    watch = eventually("nothing lands", landed)
    rig.wire.ask("WatchRemove", **named)
    return f"{watch['landed']} landed: {' '.join(watch['recent'][0]['paths'])}"


# Names that are twins, or no text.


def _twin(first: str, second: str) -> Callable[[MatrixRig], str]:
    return lambda rig: f"{rig.write(first)}, then {rig.write(second)}"


def _spelled_twice(rig: MatrixRig) -> str:
    """Write a name in its two spellings: it is one name, in the composed one."""
    said = _twin("é.txt", unicodedata.normalize("NFD", "é.txt"))(rig)
    made = [name for name in rig.wire.changes(rig.wb) if len(name) < 7 and name.endswith(".txt")]
    return f"{said}; one file" if "é.txt" in made and len(made) == len(set(made)) else f"{made}"


def _no_text(rig: MatrixRig) -> tuple[Path, str]:
    place = rig.place()
    name = os.fsdecode(b"bad\xff.txt")
    place.with_name(name).write_text("x")
    return place.parent, name


def _no_text_listed(rig: MatrixRig) -> str:
    folder, _ = _no_text(rig)
    (row,) = rig.wire.ask("WatchTest", folder=str(folder))["files"]
    return f"{row['path']}: {row['verdict']}"


def _no_text_extracted(rig: MatrixRig) -> str:
    folder, name = _no_text(rig)
    params = {"workbench_id": rig.wb, "destination_dir": str(folder / name)}
    try:
        rig.wire.ask("WorkbenchFilesExtract", **params)
    except RemoteError as error:
        return error.error_code or str(error.code)
    return "ok"


# Sizes.


def _huge(rig: MatrixRig) -> str:
    """Add a file of the size that a file may have at most; a file system in memory allows it."""
    folder = rig.place().parent / "disk"
    with tiny_disk(folder, 1 << 20):
        huge = folder / "huge.txt"
        huge.touch()
        os.truncate(huge, (1 << 63) - 4096)
        return f"{rig.add(huge)}; watched: {look_at_watched(rig, folder)}"


def _sparse(path: Path) -> None:
    path.touch()
    os.truncate(path, 10 << 30)


_TOO_LARGE = f"skipped: larger than {FILE_BYTES} bytes"
_NORMALIZED = "contract 4: a name with `..` is refused, also where it would stay inside"
_ABOVE = "contract, and paths.md: links above a file that a person names are followed"

PATH_ROWS = (
    _named("A1", "../x"),
    _named("A2", "a/../../x"),
    _named("A3", "/etc/passwd"),
    _named("A4", "~/x"),
    _named("A5", "//host/share/x"),
    _named("A6", "C:\\x"),
    _named("A7", "..\\..\\x"),
    _named("A8", "a%2e%2e/x.txt", "ok"),
    _named("A9", "a/./../x.txt")._replace(reason=_NORMALIZED),
    _named("A9", "a/./x.txt", "ok"),
    _named("A10", "…/x.txt", "ok"),
    _named("A11", "a\0.xlsx"),
    _named("A12", "x" * 256, shown="a part of 256 bytes"),
    _named("A13", "x" * 5000, shown="5,000 bytes"),
    _named("A14", "d/" * 1000 + "x", shown="1,000 levels"),
    _added("A15", "a link to a file outside", "skipped: symlink",
           lambda path: path.symlink_to("/etc/passwd")),
    MatrixRow("A15", "a link in a watched folder", "link",
              _in_watched(lambda path: path.symlink_to("/etc/passwd"))),
    MatrixRow("A16", "a file behind a linked folder, added", "added", _linked_folder, _ABOVE),
    MatrixRow("A16", "a linked folder in a destination",
              "failed: cannot be extracted: a link or no folder is on the way",
              _linked_destination),
    MatrixRow("A16", "a linked folder in a watched one", "link",
              _in_watched(lambda path: path.symlink_to("/etc"))),
    *_specials(),
    MatrixRow("A20", "all of them watched, and one good file", "1 landed: good.txt",
              _watched_in_earnest),
    _source("A24", "/proc/self/root/etc/passwd",
            "skipped: it cannot be read: Too many levels of symbolic links"),
    _source("A25", "/proc/self/fd/3", "skipped: symlink"),
    _source("A26", "/dev/stdin", "skipped: symlink"),
    MatrixRow("A27", "é as one letter, then as two", "ok, then ok; one file", _spelled_twice,
              "names are compared and kept composed (NFC), so that the second is the same file"),
    MatrixRow("A28", "B.TXT, then b.txt", "ok, then VALIDATION_FAILED", _twin("B.TXT", "b.txt")),
    _named("A29", "a\u202eb.txt"),
    _named("A30", "a\u200bb.txt"),
    _named("A31", "a\nb.txt"),
    _named("A32", "\x1b[31mred.txt"),
    MatrixRow("A33", "a name that is no UTF-8, added", "-32700",
              lambda rig: rig.add(Path(*_no_text(rig)))),
    MatrixRow("A33", "one in a watched folder", "bad\\udcff.txt: special", _no_text_listed,
              "listed escaped, as all text that is no Unicode"),
    MatrixRow("A33", "one as a destination", "-32700", _no_text_extracted),
    _named("A34", "CON.xlsx"),
    _named("A35", "x.xlsx."),
    _named("A36", "x.xlsx::$DATA"),
    _named("A37", "../draft-evil/x"),
    _added("A42", "10 GiB of nothing", _TOO_LARGE, _sparse),
    MatrixRow("A42", "8 EiB of nothing", f"{_TOO_LARGE}; watched: failed", _huge),
)  # fmt: skip
