"""published/ and draft/: rebuilt from blobs, and no user's byte is lost."""

import os
from pathlib import Path

import pytest

from kbd.core.workbench.file_store import FileStore
from kbd.core.workbench.transaction import conflict_name
from kbd.errors import SandboxViolation
from kbd.events.blobs import BlobStore
from kbd.events.drafts import PlannedFile
from kbd.types import BlobHash, FileName

A = FileName("a.txt")


class _Place:
    def __init__(self, root: Path) -> None:
        for name in ("published", "draft", "stage"):
            (root / name).mkdir()
        self.root = root
        self.blobs = BlobStore(root / "blobs")
        self.files = FileStore(root / "published", root / "draft", root / "stage", self.blobs)

    def blob(self, text: str) -> BlobHash:
        return self.blobs.put_bytes(text.encode())

    def published(self) -> dict[str, str]:
        folder = self.root / "published"
        return {
            str(path.relative_to(folder)): path.read_text()
            for path in sorted(folder.rglob("*"))
            if path.is_file()
        }


@pytest.fixture
def place(tmp_path: Path) -> _Place:
    """An empty workbench's files."""
    return _Place(tmp_path)


def test_bytes_that_kbd_did_not_know_are_kept(place: _Place) -> None:
    """What somebody put into published/ is a blob before anything takes its place."""
    (place.root / "published" / "a.txt").write_text("theirs")
    place.files.place(A, place.blob("ours"))

    assert place.published() == {"a.txt": "ours"}
    assert place.blobs.has(BlobHash(_sha("theirs")))

    (place.root / "published" / "a.txt").write_text("theirs again")
    place.files.remove(A)

    assert place.published() == {}
    assert place.blobs.has(BlobHash(_sha("theirs again")))


@pytest.mark.parametrize("harm", ["flipped", "cut", "link", "pipe"])
@pytest.mark.parametrize("way", ["replaced", "removed"])
def test_the_last_good_copy_is_kept(place: _Place, harm: str, way: str) -> None:
    """A published file whose stored bytes went bad is stored again before it is hidden (R4)."""
    blob = place.blob("the only copy")
    place.files.place(A, blob)
    stored = place.blobs.path(blob)
    stored.unlink()
    match harm:
        case "flipped":
            stored.write_text("the only cozy")
        case "cut":
            stored.write_text("the only")
        case "link":
            stored.symlink_to(place.root / "published" / "a.txt")
        case _:
            os.mkfifo(stored)
    if way == "replaced":
        place.files.place(A, place.blob("ours"))
    else:
        place.files.remove(A)

    assert place.published() == ({"a.txt": "ours"} if way == "replaced" else {})
    assert place.blobs.read(blob) == b"the only copy"


def test_a_publish_is_carried_out_from_wherever_it_stopped(place: _Place) -> None:
    """Carrying out twice, or after half of it, gives the same files."""
    old, new = place.blob("old"), place.blob("new")
    gone = FileName("gone.txt")
    place.files.place(A, old)
    place.files.place(gone, old)
    deep = FileName("sub/deep/b.txt")
    planned = (
        PlannedFile(A, old, new, 3),
        PlannedFile(deep, None, new, 3),
        PlannedFile(gone, old, None),
    )
    assert place.files.transaction("m", planned[:1]).carry_out() == ()
    for _ in range(2):
        assert place.files.transaction("m", planned).carry_out() == ()

    assert place.published() == {"a.txt": "new", "sub/deep/b.txt": "new"}


def test_what_changed_in_the_last_moment_stays(place: _Place) -> None:
    """A file changed between check and rename is untouched; ours lies beside it."""
    old, new = place.blob("old"), place.blob("new")
    gone = FileName("gone.txt")
    for name in ("a.txt", "gone.txt"):
        (place.root / "published" / name).write_text("theirs")
    planned = (PlannedFile(A, old, new, 3), PlannedFile(gone, old, None))

    given = conflict_name(A, "0123456789")
    assert ((A, given), (gone, gone)) == place.files.transaction("0123456789", planned).carry_out()
    assert {"a.txt": "theirs", given: "new", "gone.txt": "theirs"} == place.published()


def test_the_draft_folder_follows(place: _Place) -> None:
    """draft/ holds just what differs, whatever was there before, and is there only for that."""
    (place.root / "draft" / "stray.txt").write_text("x")
    place.files.show_draft({A: place.blob("new"), FileName("b.txt"): None})

    assert {p.name: p.read_text() for p in (place.root / "draft").iterdir()} == {"a.txt": "new"}

    place.files.show_draft({})

    assert not (place.root / "draft").exists()


def test_single_drafted_files_are_shown(place: _Place) -> None:
    """Others stay; a file may follow a folder of its name, and a link is replaced, not followed."""
    folder, outside = place.root / "draft", place.root / "outside.txt"
    outside.write_text("outside")
    (folder / "stray.txt").write_text("x")
    deep = FileName("sub/deep/b.txt")
    place.files.show_drafted({A: place.blob("1"), deep: place.blob("2")})

    assert (folder / "a.txt").read_text() == "1"
    assert (folder / deep).read_text() == "2"
    assert (folder / "stray.txt").exists()

    (folder / "a.txt").unlink()
    (folder / "a.txt").symlink_to(outside)
    sub = FileName("sub")
    place.files.show_drafted({sub: place.blob("3"), A: place.blob("4"), deep: None})
    place.files.show_drafted({FileName("never/there.txt"): None, FileName("gone.txt"): None})

    assert (folder / "sub").read_text() == "3"
    assert not (folder / "a.txt").is_symlink()
    assert outside.read_text() == "outside"

    (folder / "a.txt").unlink()
    (folder / "a.txt").symlink_to(outside)
    place.files.show_draft({A: place.blob("5")})

    assert {p.name: p.read_text() for p in folder.iterdir()} == {"a.txt": "5"}
    assert outside.read_text() == "outside"


def test_a_link_in_published_is_not_followed(place: _Place) -> None:
    """A link is neither read nor written through."""
    outside = place.root / "outside.txt"
    outside.write_text("outside")
    (place.root / "published" / "a.txt").symlink_to(outside)

    with pytest.raises(SandboxViolation):
        place.files.place(A, place.blob("ours"))
    assert outside.read_text() == "outside"


def _sha(text: str) -> str:
    import hashlib

    return hashlib.sha256(text.encode()).hexdigest()
