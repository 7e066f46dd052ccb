"""Publishing beside somebody who works in published/ at the same moment: nothing of theirs is lost.

Whatever stands in a file's place when it is to change is looked at before and after it changes
places. Here somebody is faster than that, and the process may die in the moment after.
"""

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from kbd.core.workbench.sandbox import ConfinedRoot
from kbd.core.workbench.transaction import PublishTransaction, conflict_name
from kbd.events.blobs import BlobStore
from kbd.events.disk import Disk
from kbd.events.drafts import PlannedFile
from kbd.types import BlobHash, FileName

A = FileName("a.txt")
MARK = "0123456789abcdef"
BESIDE = conflict_name(A, MARK)

Act = Callable[[Path], None]
"""What somebody does with the file."""


class _KilledError(BaseException):
    """The process died."""


class _HastyDisk(Disk):
    """A disk of which somebody is faster than a change of names.

    Args:
        path: The file.
        acts: What somebody does before the next changes, one at each.
        kill: Whether the process dies right after the first of them.
    """

    def __init__(self, path: Path, *acts: Act, kill: bool = False) -> None:
        self._path, self._acts, self._kill = path, list(acts), kill

    def move(self, source: tuple[int, str], target: tuple[int, str]) -> None:
        """Move, too late."""
        self._hurry()
        super().move(source, target)
        self._die()

    def move_new(self, source: tuple[int, str], target: tuple[int, str]) -> None:
        """Move to a free name, too late."""
        self._hurry()
        super().move_new(source, target)
        self._die()

    def exchange(self, one: tuple[int, str], other: tuple[int, str]) -> bool:
        """Exchange, too late."""
        self._hurry()
        done = super().exchange(one, other)
        self._die()
        return done

    def _hurry(self) -> None:
        if self._acts:
            self._acts.pop(0)(self._path)

    def _die(self) -> None:
        if self._kill:
            raise _KilledError


def _write(text: str) -> Act:
    def act(path: Path) -> None:
        path.write_text(text)

    return act


def _replace(path: Path) -> None:
    path.unlink(missing_ok=True)
    path.write_text("theirs")


def _link(path: Path) -> None:
    path.unlink(missing_ok=True)
    path.symlink_to("elsewhere")


def _folder(path: Path) -> None:
    path.unlink(missing_ok=True)
    path.mkdir()
    (path / "inside.txt").write_text("theirs")


ACTS = {"writes": _write("theirs"), "replaces": _replace, "links": _link, "makes a folder": _folder}


class _Place(msgspec.Struct):
    """The files of a workbench, and a plan for one of them."""

    root: Path
    blobs: BlobStore
    published: ConfinedRoot

    @property
    def path(self) -> Path:
        """Where the file is."""
        return self.root / "published" / A

    def transaction(self, old: str | None, new: str | None, disk: Disk) -> PublishTransaction:
        """Return a transaction of the file; None is no file."""
        one, other = (None if each is None else self._blob(each) for each in (old, new))
        planned = PlannedFile(A, one, other, len(new or ""))
        stage = self.root / "stage"
        return PublishTransaction(self.published, stage, self.blobs, MARK, (planned,), disk)

    def held(self) -> dict[str, str]:
        """Return what published/ holds; of a link where it leads to."""
        folder = self.root / "published"
        return {
            str(path.relative_to(folder)): (
                f"-> {path.readlink()}" if path.is_symlink() else path.read_text()
            )
            for path in folder.rglob("*")
            if path.is_symlink() or path.is_file()
        }

    def _blob(self, text: str) -> BlobHash:
        return self.blobs.put_bytes(text.encode())


@pytest.fixture
def place(tmp_path: Path) -> Iterator[_Place]:
    """A workbench with a published file."""
    for name in ("published", "stage"):
        (tmp_path / name).mkdir()
    (tmp_path / "published" / A).write_text("old")
    published = ConfinedRoot(tmp_path / "published")
    yield _Place(tmp_path, BlobStore(tmp_path / "blobs"), published)
    published.close()


def _theirs(act: str) -> dict[str, str]:
    """Return what published/ holds of what somebody did."""
    held = {
        "links": {str(A): "-> elsewhere"},
        "makes a folder": {f"{A}/inside.txt": "theirs"},
    }
    return held.get(act, {str(A): "theirs"})


@pytest.mark.parametrize("act", ACTS)
@pytest.mark.parametrize(
    ("old", "new"), [("old", "new"), ("old", None), (None, "new")], ids=["change", "delete", "add"]
)
def test_somebody_is_faster_than_a_publish(
    place: _Place, act: str, old: str | None, new: str | None
) -> None:
    """Between the look and the change: theirs stays in its place, kbd's version lies beside it."""
    if old is None:
        place.path.unlink()
    transaction = place.transaction(old, new, _HastyDisk(place.path, ACTS[act]))
    transaction.stage()
    conflicted = transaction.carry_out()
    transaction.clear()

    beside = {} if new is None else {str(BESIDE): "new"}
    assert place.held() == _theirs(act) | beside
    assert conflicted == ((A, A if new is None else BESIDE),)


@pytest.mark.parametrize("act", ACTS)
def test_somebody_is_faster_and_the_process_dies_behind_it(place: _Place, act: str) -> None:
    """What was taken away then gets its place back at the next start."""
    dying = place.transaction("old", "new", _HastyDisk(place.path, ACTS[act], kill=True))
    dying.stage()
    with pytest.raises(_KilledError):
        dying.carry_out()
    assert place.path.read_text() == "new"
    again = place.transaction("old", "new", Disk())
    conflicted = again.carry_out()
    again.clear()

    assert place.held() == _theirs(act) | {str(BESIDE): "new"}
    assert conflicted == ((A, BESIDE),)


def test_the_process_dies_and_somebody_writes_before_the_next_start(place: _Place) -> None:
    """Their bytes stay, and what is put beside them is the new version, not what the slot holds."""
    dying = place.transaction("old", "new", _HastyDisk(place.path, lambda _: None, kill=True))
    dying.stage()
    with pytest.raises(_KilledError):
        dying.carry_out()
    place.path.write_text("theirs")
    again = place.transaction("old", "new", Disk())

    assert again.carry_out() == ((A, BESIDE),)
    again.clear()
    assert place.held() == {str(A): "theirs", str(BESIDE): "new"}


def test_somebody_writes_before_and_behind_a_death(place: _Place) -> None:
    """The first of their versions is nowhere but in the slot: it is stored before that goes."""
    dying = place.transaction("old", "new", _HastyDisk(place.path, _write("first"), kill=True))
    dying.stage()
    with pytest.raises(_KilledError):
        dying.carry_out()
    place.path.write_text("second")
    again = place.transaction("old", "new", Disk())
    again.carry_out()
    again.clear()

    assert place.held() == {str(A): "second", str(BESIDE): "new"}
    assert _is_stored(place, "first")


def test_somebody_writes_before_and_behind_a_deletion(place: _Place) -> None:
    """A file that was taken away and whose place is taken, too, is stored before its slot goes."""
    transaction = place.transaction(
        "old", None, _HastyDisk(place.path, _write("first"), _write("second"))
    )
    transaction.stage()
    conflicted = transaction.carry_out()
    transaction.clear()

    assert (place.held(), conflicted) == ({str(A): "second"}, ((A, A),))
    assert _is_stored(place, "first")


def _is_stored(place: _Place, text: str) -> bool:
    blob = BlobHash(hashlib.sha256(text.encode()).hexdigest())
    return place.blobs.has(blob) and place.blobs.read(blob) == text.encode()
