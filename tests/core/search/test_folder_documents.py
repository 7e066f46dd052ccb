"""Which files of a folder are documents, and how it is known that they have not changed."""

import os
from pathlib import Path

import pytest

from indexed import PlainReader, engine_over, write
from kbd.core.search.folder import DocumentFolder, FileSignature, FolderListing


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    """A folder with documents, and with much that is none."""
    folder = tmp_path / "docs"
    write(folder / "sub" / "deep", inner="one")
    write(folder / ".hidden", secret="two")
    write(folder / "index", mine="three")
    write(tmp_path / "outside", other="four")
    write(folder, top="five")
    (folder / ".dotted.txt").write_text("six")
    (folder / "picture.bin").write_bytes(b"seven")
    (folder / "inside.txt").symlink_to(folder / "top.txt")
    (folder / "away.txt").symlink_to(tmp_path / "outside" / "other.txt")
    (folder / "nothing.txt").symlink_to(folder / "gone.txt")
    (folder / "loop").symlink_to(folder)
    os.mkfifo(folder / "pipe.txt")
    return folder


def _listing(docs: Path, seen: dict[str, FileSignature] | None = None) -> FolderListing:
    return DocumentFolder(docs).listing(
        lambda name: name.endswith(".txt"), seen or {}, docs / "index"
    )


def test_readable_files_below_the_folder_are_documents(docs: Path) -> None:
    """Hidden ones, the index, pipes and links that lead out or nowhere are left out."""
    assert [file.name for file in _listing(docs).files] == [
        "inside.txt",
        "sub/deep/inner.txt",
        "top.txt",
    ]


def test_a_folder_may_itself_be_a_link_or_have_an_odd_name(tmp_path: Path, docs: Path) -> None:
    """Names that are no text are written out, so that two of them stay two."""
    (tmp_path / "link").symlink_to(docs)
    (docs / os.fsdecode(b"caf\xe9.txt")).write_text("eight")
    found = [file.name for file in _listing(tmp_path / "link").files]
    assert found == ["caf\\xe9.txt", "inside.txt", "sub/deep/inner.txt", "top.txt"]
    with engine_over(tmp_path / "link", docs / "index-2") as engine:
        assert [each.title for each in engine.list_docs()] == [
            "caf\\xe9",
            "mine",
            "inside",
            "inner",
            "top",
        ]
        assert len(engine.search("eight")) == 1


def test_what_cannot_be_hashed_is_listed_all_the_same(docs: Path) -> None:
    """Whoever reads it will say why it cannot be read."""
    if os.geteuid() == 0:
        pytest.skip("root reads everything")
    (docs / "top.txt").chmod(0)
    assert {file.name: bool(file.content) for file in _listing(docs).files}["top.txt"] is False


def test_a_file_that_looks_the_same_is_not_hashed_again(docs: Path) -> None:
    """Size, times and inode decide; what was written just now is not relied on."""
    top = docs / "top.txt"
    fresh = _listing(docs)
    assert "top.txt" not in fresh.seen, "it may change again within the same tick"

    status = top.stat()
    times = f"{status.st_mtime_ns} {status.st_ctime_ns}"
    signature = f"{status.st_size} {times} {status.st_dev} {status.st_ino}"
    known = {"top.txt": FileSignature(signature, "as it was")}
    contents = {file.name: file.content for file in _listing(docs, known).files}
    assert contents["top.txt"] == "as it was"

    os.utime(top, (1, 1))
    contents = {file.name: file.content for file in _listing(docs, known).files}
    assert contents["top.txt"] == {file.name: file.content for file in fresh.files}["top.txt"]


def test_an_empty_folder_has_no_index_until_there_is_text(tmp_path: Path) -> None:
    """An empty folder is fine, and so is what comes and goes in it."""
    docs = tmp_path / "docs"
    docs.mkdir()
    with engine_over(docs, docs / "index" / "latest", PlainReader()) as engine:
        assert (engine.num_docs, engine.num_chunks, engine.has_index) == (0, 0, False)
        assert engine.search("anything") == []
        write(docs, first="something at last")
        assert (engine.num_docs, engine.num_chunks, engine.has_index) == (1, 1, True)
        (document,) = engine.list_docs()
        assert (document.title, document.path) == ("first", str(docs / "first.txt"))
        assert document.updated_at == (docs / "first.txt").stat().st_mtime
        assert engine.get_doc(document.doc_id) == document
        assert engine.get_doc("0" * 16) is None
        assert engine.get_doc_text("0" * 16) is None
        assert engine.get_doc_text(document.doc_id) == "something at last\n"
        (docs / "first.txt").unlink()
        assert (engine.num_docs, engine.has_index, engine.search("last")) == (0, False, [])
