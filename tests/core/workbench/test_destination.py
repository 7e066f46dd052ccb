"""What is led out goes where a person said: not through a link below, not into kbd's home."""

import hashlib
import os
from pathlib import Path
from typing import Literal

import pytest

from kbd.core.workbench.destination import hold_destination, link_partial, resolve_destination
from kbd.core.workbench.extraction import copy_to_folder, find_copy, partial_name, remove_partial
from kbd.errors import FileWriteFailed, ValidationFailed
from kbd.events.base import FileVersion
from kbd.events.blobs import BlobStore
from kbd.events.drafts import EffectIntended
from kbd.types import BlobHash, FileName

_HELLO = BlobHash(hashlib.sha256(b"hello").hexdigest())

Kind = Literal["extract", "deliver"]


class _Place:
    """A home, a folder to write to, somebody's folder that nothing may be led to, and bytes."""

    def __init__(self, base: Path) -> None:
        self.home, self.out, self.theirs = base / "home", base / "out", base / "theirs"
        for folder in (self.home / "workbenches", self.out, self.theirs):
            folder.mkdir(parents=True)
        (self.theirs / "mine.txt").write_text("mine")
        self.store = BlobStore(base / "blobs")
        self.store.put_bytes(b"hello")

    def copy(self, name: str, kind: Kind = "extract", folder: Path | None = None) -> str:
        return copy_to_folder(self.effect(name, kind, folder), self.store, self.home)

    def effect(self, name: str, kind: Kind, folder: Path | None = None) -> EffectIntended:
        file = FileVersion(FileName(name), _HELLO, 5)
        return EffectIntended("e1", kind, str(folder or self.out), file)

    def outside(self) -> dict[str, str]:
        return {path.name: path.read_text() for path in self.theirs.iterdir()}


@pytest.fixture
def place(tmp_path: Path) -> _Place:
    """A place without links in its path."""
    return _Place(tmp_path.resolve())


KINDS = pytest.mark.parametrize("kind", ["extract", "deliver"])


@KINDS
@pytest.mark.parametrize("name", ["sub/a.txt", "sub/deep/a.txt", "deep/sub/a.txt"])
def test_a_link_below_the_folder_leads_nothing_elsewhere(
    place: _Place, name: str, kind: Kind
) -> None:
    """A link that lies in the folder is not followed, made a folder, or replaced."""
    (place.out / "deep").mkdir()
    for link in (place.out / "sub", place.out / "deep" / "sub"):
        link.symlink_to(place.theirs)
    with pytest.raises(FileWriteFailed, match="a link or no folder is on the way"):
        place.copy(name, kind)
    assert place.outside() == {"mine.txt": "mine"}
    assert sorted(path.name for path in place.out.rglob("*")) == ["deep", "sub", "sub"]


@KINDS
def test_a_folder_that_became_a_link_is_not_written_to(place: _Place, kind: Kind) -> None:
    """Neither the destination itself nor one above it, once its path was resolved."""
    place.out.rename(place.out.with_name("moved"))
    place.out.symlink_to(place.theirs)
    for folder in (place.out, place.out / "below"):
        with pytest.raises(FileWriteFailed):
            place.copy("a.txt", kind, folder)
    assert place.outside() == {"mine.txt": "mine"}


@KINDS
def test_a_partial_that_lies_there_is_not_written_through(place: _Place, kind: Kind) -> None:
    """A file or a link under the partial's name is not ours: neither is written to."""
    partial = place.out / partial_name(place.effect("a.txt", kind))
    partial.symlink_to(place.theirs / "mine.txt")
    with pytest.raises(FileWriteFailed):
        place.copy("a.txt", kind)
    partial.unlink()
    os.link(place.theirs / "mine.txt", partial)
    with pytest.raises(FileWriteFailed):
        place.copy("a.txt", kind)
    assert place.outside() == {"mine.txt": "mine"}
    assert not (place.out / "a.txt").exists()


def test_only_what_was_written_gets_the_name(place: _Place) -> None:
    """A partial that somebody replaced meanwhile gets no second name."""
    folder = os.open(place.out, os.O_RDONLY)
    held = os.open(place.out / "partial", os.O_RDWR | os.O_CREAT | os.O_EXCL)
    (place.out / "partial").unlink()
    os.link(place.theirs / "mine.txt", place.out / "partial")
    with pytest.raises(OSError, match="Stale"):
        link_partial(folder, "partial", held, "a.txt")
    os.close(held)
    os.close(folder)
    assert not (place.out / "a.txt").exists()
    assert place.outside() == {"mine.txt": "mine"}


@KINDS
def test_a_link_under_the_name_stays(place: _Place, kind: Kind) -> None:
    """The copy gets the next name; what the link leads to is as it was."""
    (place.out / "a.txt").symlink_to(place.theirs / "mine.txt")
    (place.out / "a(1).txt").symlink_to(place.theirs / "new.txt")
    assert place.copy("a.txt", kind) == "a(2).txt"
    assert place.outside() == {"mine.txt": "mine"}


@KINDS
def test_kbds_home_is_refused(place: _Place, kind: Kind) -> None:
    """As the folder, below it, and where the name of a file leads into it."""
    before = sorted(place.home.rglob("*"))
    for folder, name in (
        (place.home, "a.txt"),
        (place.home / "workbenches", "a.txt"),
        (place.home.parent, "home/workbenches/a.txt"),
        (place.home.parent, "home/new/a.txt"),
    ):
        with pytest.raises(FileWriteFailed, match="home of kbd"):
            place.copy(name, kind, folder)
    assert sorted(place.home.rglob("*")) == before
    assert place.copy("home-evil/a.txt", kind, place.home.parent) == "home-evil/a.txt"


def test_kbds_home_is_refused_whatever_it_is_called(place: _Place) -> None:
    """When it is named: behind links, by `..`, and below it where nothing is yet."""
    link = place.out / "link"
    link.symlink_to(place.home)
    for named in (
        place.home, place.home / "workbenches", place.home / "new" / "deep", link, link / "new",
        place.out / ".." / "home",
    ):  # fmt: skip
        with pytest.raises(ValidationFailed, match="home of kbd"):
            resolve_destination(str(named), place.home)
    # As the system resolves it: the folder above the home.
    assert resolve_destination(f"{link}/..", place.home).real == str(place.home.parent)


def test_links_that_a_person_names_are_followed_once(place: _Place) -> None:
    """`~/Documents` may be a link: its files go to where it leads, with what is missing made."""
    documents = place.out / "Documents"
    documents.symlink_to(place.theirs)
    found = resolve_destination(str(documents / "new"), place.home)
    assert (found.named, found.real) == (str(documents / "new"), str(place.theirs / "new"))
    place.copy("sub/a.txt", folder=Path(found.real))
    assert (place.theirs / "new" / "sub" / "a.txt").read_text() == "hello"


def test_the_top_of_all_folders_is_a_destination(place: _Place) -> None:
    """What may be written there is the system's to say."""
    with hold_destination("/", "", place.home, make=True) as held:
        assert os.path.samestat(os.fstat(held), os.stat("/"))


@pytest.mark.parametrize(
    "named",
    [
        "relative", "", "/tmp/a\0b", "/" + "x" * 256, "/" + "x/" * 1000, "/" + "x" * 5000,
        "/new/" * 30, "/no/such/../folder", "{out}/loop", "{out}/loop/x", "{out}/file",
        "{out}/file/x", "{out}/dangling", "/proc/self/root/tmp", "/proc/self/fd/0/x", "/\ud800",
    ],
)  # fmt: skip
def test_what_is_no_folder_is_told(place: _Place, named: str) -> None:
    """With a code and without the path, and nothing is made of it."""
    (place.out / "loop").symlink_to("loop")
    (place.out / "dangling").symlink_to("nowhere")
    (place.out / "file").write_text("x")
    text = named.replace("{out}", str(place.out))
    with pytest.raises((ValidationFailed, FileWriteFailed)) as refused:
        place.copy("a.txt", folder=Path(resolve_destination(text, place.home).real))
    assert str(place.out) not in refused.value.message
    assert sorted(path.name for path in place.out.iterdir()) == ["dangling", "file", "loop"]


def test_what_a_crash_left_is_looked_for_without_links(place: _Place) -> None:
    """Neither is a copy found, nor a partial removed, behind a link."""
    effect = place.effect("sub/a.txt", "deliver")
    (place.out / "sub").symlink_to(place.theirs)
    for name in (partial_name(effect), "a.txt"):
        (place.theirs / name).write_text("theirs")
    with pytest.raises(FileWriteFailed):
        find_copy(effect)
    remove_partial(effect)
    assert set(place.outside()) == {"mine.txt", "a.txt", partial_name(effect)}
