"""A flipped byte in the store: told wherever the bytes would leave it, and never handed out."""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from backends import halved, mostly
from kbd.types import BlobHash
from wired import Wired, wired

pytestmark = halved

OLD, NEW = "old " * 50, "new " * 50


@pytest.fixture(scope="module", params=mostly("asyncio"))
def wire(request: pytest.FixtureRequest) -> Iterator[Wired]:
    """One daemon a backend for all tests here."""
    with wired(str(request.param)) as running:
        yield running


class _Store:
    """The blobs of one workbench, to be damaged and mended.

    Attributes:
        folder: Where they lie.
    """

    def __init__(self, wire: Wired, workbench_id: str) -> None:
        self.folder = wire.published(workbench_id).parent / "blobs"

    def path(self, content: str) -> Path:
        """Return where a content lies."""
        blob = BlobHash(hashlib.sha256(content.encode()).hexdigest())
        return self.folder / blob

    def flip(self, content: str) -> None:
        """Flip a bit of a content, back if it is flipped."""
        path = self.path(content)
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 4
        path.chmod(0o600)
        path.write_bytes(bytes(data))


def _drafted(wire: Wired) -> tuple[str, _Store]:
    workbench_id = wire.workbench(a__txt=OLD)
    wire.draft(workbench_id, a__txt=NEW)
    return workbench_id, _Store(wire, workbench_id)


def _texts(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in sorted(folder.glob("*"))}


def test_it_is_not_published(wire: Wired) -> None:
    """The file is named, nothing is published, the draft stays; mended, it is published."""
    workbench_id, store = _drafted(wire)
    store.flip(NEW)
    refused = wire.refused("DraftPublish", workbench_id=workbench_id)

    assert (refused.data["error_code"], "'a.txt'" in refused.message) == ("FILE_READ_FAILED", True)
    assert str(wire.published(workbench_id).parent) not in refused.message
    assert _texts(wire.published(workbench_id)) == {"a.txt": OLD}
    store.flip(NEW)
    assert wire.ask("DraftPublish", workbench_id=workbench_id)["published"] == ["a.txt"]
    assert _texts(wire.published(workbench_id)) == {"a.txt": NEW}


def test_what_a_publish_hides_is_stored_first(wire: Wired) -> None:
    """If the stored bytes of the old file are damaged the published ones mend them."""
    workbench_id, store = _drafted(wire)
    store.flip(OLD)
    checkpoint = wire.ask("DraftPublish", workbench_id=workbench_id)["checkpoint_id"]

    assert store.path(OLD).read_text() == OLD
    wire.ask("CheckpointRestore", workbench_id=workbench_id, checkpoint_id=checkpoint)
    assert _texts(wire.published(workbench_id)) == {"a.txt": OLD}


def test_it_is_not_extracted(wire: Wired, tmp_path: Path) -> None:
    """The file's result says why; no part of it is there."""
    workbench_id, store = _drafted(wire)
    store.flip(OLD)
    params = {"workbench_id": workbench_id, "destination_dir": str(tmp_path / "out")}
    (result,) = wire.ask("WorkbenchFilesExtract", **params)["extract_results"]

    assert result["status"] == "failed"
    assert "damaged" in result["reason"]
    assert _texts(tmp_path / "out") == {}


@pytest.mark.parametrize("way", ["restore", "undo"])
def test_it_is_not_brought_back(wire: Wired, way: str) -> None:
    """Refused before anything is changed."""
    workbench_id, store = _drafted(wire)
    asked = wire.ask("WorkshopGetConversation", workbench_id=workbench_id)["messages"][0]
    checkpoint = wire.ask("DraftPublish", workbench_id=workbench_id)["checkpoint_id"]
    store.flip(OLD)
    named: dict[str, Any] = {"workbench_id": workbench_id}
    if way == "restore":
        refused = wire.refused("CheckpointRestore", **named, checkpoint_id=checkpoint)
    else:
        refused = wire.refused("WorkshopUndoToMessage", **named, message_id=asked["message_id"])

    assert refused.data["error_code"] == "FILE_WRITE_FAILED"
    assert "'a.txt'" in refused.message or "a.txt" in refused.message
    assert _texts(wire.published(workbench_id)) == {"a.txt": NEW}


@pytest.mark.full
@pytest.mark.parametrize("of", ["published", "draft"])
def test_an_opened_workbench_shows_no_wrong_file(wire: Wired, of: str) -> None:
    """A file that is missing at a start is written again only if its bytes are right."""
    workbench_id, store = _drafted(wire)
    folder = wire.published(workbench_id).parent / of
    content = OLD if of == "published" else NEW
    wire.daemon.kill()
    (folder / "a.txt").unlink()
    store.flip(content)
    wire.daemon.start()
    wire.ask("WorkbenchOpen", workbench_id=workbench_id)

    assert _texts(folder) == {}
    assert "blob_damaged" in wire.daemon.log.read_text()
    wire.daemon.kill()
    store.flip(content)
    wire.daemon.start()
    wire.ask("WorkbenchOpen", workbench_id=workbench_id)
    assert _texts(folder) == {"a.txt": content}


@pytest.mark.parametrize("method", ["TextReadLines", "TextGetMap", "BlobRead"])
def test_it_is_not_read(wire: Wired, method: str) -> None:
    """Neither by a client or a tool in a worker, nor as a blob."""
    workbench_id, store = _drafted(wire)
    store.flip(NEW)
    named: dict[str, Any] = {"workbench_id": workbench_id}
    if method == "BlobRead":
        refused = wire.refused(method, **named, hash=store.path(NEW).name, limit=10)
    else:
        refused = wire.refused(method, **named, path="a.txt")

    assert refused.data["error_code"] == "FILE_READ_FAILED"
    assert "damaged" in refused.message


def test_it_is_not_compared(wire: Wired) -> None:
    """The review says why it cannot show what differs, and shows nothing of the file."""
    workbench_id, store = _drafted(wire)
    store.flip(NEW)
    # What was found when the bytes were right may be shown, but is no proof here.
    for cached in (wire.published(workbench_id).parent / "cache").rglob("*"):
        if cached.is_file():
            cached.unlink()
    found = wire.ask("ReviewGetTextDiff", workbench_id=workbench_id, path="a.txt")

    assert "damaged" in str(found)
    assert "new new" not in str(found)


def test_no_moment_is_written_with_it(wire: Wired, tmp_path: Path) -> None:
    """The state at an event with its files is refused, and leaves no folder."""
    workbench_id, store = _drafted(wire)
    store.flip(NEW)
    last = wire.daemon.events(workbench_id)[-1]["seq"]
    refused = wire.refused(
        "StateAt", workbench_id=workbench_id, seq=last, destination_dir=str(tmp_path / "then")
    )

    assert refused.data["error_code"] == "LOG_CORRUPT"
    assert not (tmp_path / "then").exists()


@pytest.mark.parametrize("into", ["draft", "folder"])
def test_it_is_not_recovered(wire: Wired, tmp_path: Path, into: str) -> None:
    """Neither as the draft nor as a file; mended, it is."""
    workbench_id, store = _drafted(wire)
    wire.ask("DraftDiscard", workbench_id=workbench_id)
    store.flip(NEW)
    params: dict[str, Any] = {"workbench_id": workbench_id}
    if into == "folder":
        found = wire.ask("WorkbenchRecover", **params, destination_dir=str(tmp_path / "out"))
        (result,) = found["extract_results"]
        assert (result["status"], "damaged" in result["reason"]) == ("failed", True)
        assert _texts(tmp_path / "out") == {}
    else:
        refused = wire.refused("WorkbenchRecover", **params)
        assert refused.data["error_code"] == "FILE_WRITE_FAILED"
        assert not wire.ask("DraftGetState", **params)["has_draft"]
    store.flip(NEW)
    wire.ask("WorkbenchRecover", **params)
    assert _texts(wire.published(workbench_id).parent / "draft") == {"a.txt": NEW}


@pytest.mark.parametrize("which", [0, 1])
def test_it_is_not_rebased(wire: Wired, which: int) -> None:
    """Of the draft or of what it began from: nothing is applied, the draft is as it was."""
    base = "".join(f"line {n}\n" for n in range(20))
    drafted = base.replace("line 2\n", "ours\n")
    workbench_id = wire.workbench(a__txt=base)
    wire.draft(workbench_id, a__txt=drafted)
    store = _Store(wire, workbench_id)
    published = wire.published(workbench_id) / "a.txt"
    published.write_text(base + "theirs\n")
    before = wire.changes(workbench_id)
    seq = wire.daemon.events(workbench_id)[-1]["seq"]
    store.flip((base, drafted)[which])
    for cached in (wire.published(workbench_id).parent / "cache").rglob("*"):
        if cached.is_file():
            cached.unlink()
    (found,) = wire.ask("DraftRebase", workbench_id=workbench_id)["conflicts"]
    assert "damaged" in found["reason"]
    assert wire.changes(workbench_id) == before
    assert wire.daemon.events(workbench_id)[-1]["seq"] == seq
    assert published.read_text() == base + "theirs\n"
    store.flip((base, drafted)[which])
    assert wire.ask("DraftRebase", workbench_id=workbench_id)["conflicts"] == []


def test_a_receipt_is_not_made_of_it(wire: Wired) -> None:
    """A file that cannot be read is named in it; one that is damaged itself is made again."""
    workbench_id, store = _drafted(wire)
    wire.ask("DraftPublish", workbench_id=workbench_id)
    made = wire.ask("ReceiptGet", workbench_id=workbench_id)
    path = store.folder / made["hash"]
    path.chmod(0o600)
    path.write_bytes(path.read_bytes().replace(b"a.txt", b"b.txt"))
    again = wire.ask("ReceiptGet", workbench_id=workbench_id)
    assert again["receipt"] == made["receipt"]
    path.unlink()
    store.flip(NEW)
    found = wire.ask("ReceiptGet", workbench_id=workbench_id)["receipt"]
    assert "damaged" in str(found["files"])


def test_bytes_that_come_again_mend_it(wire: Wired, tmp_path: Path) -> None:
    """Who adds the same file anew brings back what was lost."""
    workbench_id, store = _drafted(wire)
    store.flip(OLD)
    source = tmp_path / "again.txt"
    source.write_text(OLD)
    wire.ask("WorkbenchFilesAdd", workbench_id=workbench_id, source_paths=[str(source)])

    assert store.path(OLD).read_text() == OLD
    assert wire.ask("LogVerify", workbench_id=workbench_id)["ok"]
