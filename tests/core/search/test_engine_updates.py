"""Bringing an index up to date: what cannot be read, what takes too long, a disk that is full."""

import sqlite3
import struct
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from indexed import PlainReader, engine_over, write
from kbd.core.search import index_file
from kbd.core.search.engine import WorkspaceEngine
from kbd.core.search.ports import SourceFile
from kbd.errors import DiskFull, FileReadFailed, ProviderUnavailable, ToolWorkerUnavailable
from kbd.providers import Embeddings


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    """A folder with three documents, one of them unreadable."""
    folder = tmp_path / "docs"
    write(folder, a="the river is wide", b="broken beyond repair", c="the river has a toll")
    return folder


def test_what_cannot_be_read_stays_listed_with_its_reason(tmp_path: Path, docs: Path) -> None:
    """It is not tried again until it changes, and then it is; a search says what it left out."""
    reader = PlainReader()
    with engine_over(docs, tmp_path / "index", reader) as engine:
        found = engine.ask("river")
        (broken,) = [each for each in engine.list_docs() if each.title == "b"]
        assert len(found.chunks) == 2
        assert engine.unread() == {broken.doc_id: "b.txt is broken"}
        assert found.warnings == ("not searched, or not all of it: b.txt (b.txt is broken)",)
        assert engine.get_doc_text(broken.doc_id) is None
        engine.refresh()
    with engine_over(docs, tmp_path / "index", reader) as engine:
        engine.refresh()
        assert reader.read_names.count("b.txt") == 1
        assert len(engine.unread()) == 1
        write(docs, b="mended: a river")
        assert len(engine.search("river")) == 3
        assert engine.unread() == {}
        assert engine.get_doc_text(broken.doc_id) == "mended: a river\n"


def test_what_fails_for_once_is_tried_again_by_the_next_engine(tmp_path: Path, docs: Path) -> None:
    """A worker that died may not have been the document's fault."""
    reader = PlainReader()
    reader.error = ToolWorkerUnavailable("The worker died.")
    with engine_over(docs, tmp_path / "index", reader) as engine:
        engine.refresh()
        engine.refresh()
        assert sorted(reader.read_names) == ["a.txt", "b.txt", "c.txt"]
        assert set(engine.unread().values()) == {"The worker died."}
    reader.error = None
    with engine_over(docs, tmp_path / "index", reader) as engine:
        assert len(engine.search("river")) == 2


def test_a_text_without_words_and_one_that_is_cut_short_are_told(tmp_path: Path) -> None:
    """Neither is an error, and neither goes unsaid."""
    docs = tmp_path / "docs"
    write(docs, blank=" \n\n", long="river " * 500)
    reader = PlainReader()
    reader.most_characters = 1000
    with WorkspaceEngine(
        docs, tmp_path / "index", reader=reader, embed=None, document_characters=1000
    ) as engine:
        engine.refresh()
        assert sorted(engine.unread().values()) == [
            "it has no text",
            "only its first 1,000 characters are searched",
        ]
        assert engine.get_doc_text(engine.list_docs()[0].doc_id) == ""


def test_a_deadline_stops_between_documents_and_keeps_what_was_done(tmp_path: Path) -> None:
    """The next update goes on where this one stopped; until then a search says so."""
    docs, reader = tmp_path / "docs", PlainReader()
    write(docs, **{f"d{at}": f"river number {at}" for at in range(5)})
    with engine_over(docs, tmp_path / "index", reader) as engine:
        assert engine.refresh(deadline_s=0.0).left == 5
        assert engine.num_docs == 5
        assert engine.unread() == {}
        assert engine.find("river", 9).warnings == ("5 documents have not been read yet",)

        # Reading one takes longer than the deadline, however quick the machine is.
        reader.then = lambda _file, _target: time.sleep(0.3)
        assert engine.refresh(deadline_s=0.25).left == 4
        reader.then = lambda _file, _target: None
        assert len(engine.find("river", 9).chunks) == 1
        assert engine.refresh(deadline_s=60.0).left == 0
        assert len(engine.find("river", 9).chunks) == 5
        assert sorted(reader.read_names) == [f"d{at}.txt" for at in range(5)]


def test_a_full_disk_is_told_and_loses_nothing(
    tmp_path: Path, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the index held is found as before, and with room again the rest is added."""
    index = tmp_path / "index"
    connected = index_file.connected

    def narrow(path: Path) -> sqlite3.Connection:
        connection = connected(path)
        connection.execute("PRAGMA max_page_count = 60")
        return connection

    with engine_over(docs, index) as engine:
        engine.refresh()
    write(docs, **{f"big{at}": f"harbour {at} " * 9000 for at in range(3)})
    monkeypatch.setattr("kbd.core.search.index.connected", narrow)
    with engine_over(docs, index) as engine:
        with pytest.raises(DiskFull, match="no space"):
            engine.refresh()
        assert len(engine.find("river", 5).chunks) == 2
        assert engine.find("harbour", 5).chunks == []
    monkeypatch.undo()
    with engine_over(docs, index) as engine:
        assert len(engine.search("harbour")) == 5
        assert list(index.glob("pieces-*")) == []


def test_an_update_that_is_broken_off_keeps_what_it_did(tmp_path: Path, docs: Path) -> None:
    """It leaves nothing on its way behind, and the next one reads the rest."""
    reader = PlainReader()

    def break_off(file: SourceFile, _target: Path) -> None:
        if file.name == "c.txt":
            raise KeyboardInterrupt

    reader.then = break_off
    with engine_over(docs, tmp_path / "index", reader) as engine:
        with pytest.raises(KeyboardInterrupt):
            engine.refresh()
        assert list((tmp_path / "index").glob("pieces-*")) == []
        assert len(engine.find("river", 5).chunks) == 1
        reader.then = lambda _file, _target: None
        assert len(engine.search("river")) == 2
        assert reader.read_names == ["a.txt", "b.txt", "c.txt", "c.txt"]


def test_a_reader_that_writes_nonsense_spoils_only_its_own_document(
    tmp_path: Path, docs: Path
) -> None:
    """The others of the batch are indexed."""
    reader = PlainReader()

    def garble(file: SourceFile, target: Path) -> None:
        if file.name == "a.txt":
            target.write_bytes(b"\x00\x00\x00\x09garbled")

    reader.then = garble
    with engine_over(docs, tmp_path / "index", reader) as engine:
        (found,) = engine.search("river")
        assert found.metadata["filename"] == "c.txt"
        reasons = sorted(engine.unread().values())
        assert reasons == ["b.txt is broken", "the text of a.txt was not written as pieces"]


class _Letters:
    """An embedder for which texts are alike that share letters; it counts what it is asked."""

    model_id = "letters:1"
    most_texts = 2

    def __init__(self) -> None:
        self.asked: list[tuple[str, ...]] = []
        self.error: FileReadFailed | ProviderUnavailable | None = None

    def fingerprint(self) -> str:
        """Return the same always."""
        return "letters"

    def embed(self, texts: Sequence[str], purpose: str) -> Embeddings:
        """Return how often each of four letters stands in a text."""
        if self.error is not None:
            raise self.error
        self.asked.append((purpose, *texts))
        rows = [[text.count(letter) + 0.01 for letter in "wtzq"] for text in texts]
        lengths = [sum(each * each for each in row) ** 0.5 for row in rows]
        flat = [each / size for row, size in zip(rows, lengths, strict=True) for each in row]
        return Embeddings(struct.pack(f"<{len(flat)}f", *flat), 4)


def test_vectors_are_made_once_for_each_text_and_kept(tmp_path: Path, docs: Path) -> None:
    """Those of one text in two documents are one; a text that comes back has its vector still."""
    letters = _Letters()
    write(docs, d="the river is wide", e="zzz qqq")
    with WorkspaceEngine(docs, tmp_path / "index", reader=PlainReader(), embed=letters) as engine:
        engine.refresh()
        assert letters.asked == []
        assert engine.embed_some(2) == 1
        assert engine.embed_some(9) == 0
        assert engine.embedded == engine.num_chunks == 4
        found = engine.ask("zqzq")
        assert (found.ranker, found.chunks[0].text) == ("embeddings", "zzz qqq\n")
        assert [each[0] for each in letters.asked] == ["passage", "passage", "query"]
        write(docs, g="a fourth river")
        engine.search("river")
        assert engine.embedded == engine.num_chunks == 5
        (docs / "g.txt").unlink()
        (docs / "e.txt").unlink()
        assert [each.text for each in engine.search("zqzq")].count("zzz qqq\n") == 0
        write(docs, f="zzz qqq")
        assert engine.search("zqzq")[0].metadata["filename"] == "f.txt"
        assert [each[0] for each in letters.asked].count("passage") == 3


def test_an_embedder_that_fails_leaves_the_search_by_words(tmp_path: Path, docs: Path) -> None:
    """The answer says why; what was embedded before stays."""
    letters = _Letters()
    with WorkspaceEngine(docs, tmp_path / "index", reader=PlainReader(), embed=letters) as engine:
        engine.refresh()
        engine.embed_some(9)
        letters.error = ProviderUnavailable("It is out.")
        found = engine.ask("river")
        assert (found.ranker, len(found.chunks)) == ("bm25", 2)
        assert "not searched by meaning: It is out." in found.warnings
        letters.error = None
        assert engine.ask("river").ranker == "hybrid"


def test_vectors_of_an_earlier_engine_are_used_at_once(tmp_path: Path, docs: Path) -> None:
    """None is made again, and none need be made first."""
    first, second = _Letters(), _Letters()
    with WorkspaceEngine(docs, tmp_path / "index", reader=PlainReader(), embed=first) as engine:
        engine.refresh()
        engine.embed_some(9)
    with WorkspaceEngine(docs, tmp_path / "index", reader=PlainReader(), embed=second) as engine:
        engine.refresh()
        assert engine.embedded == 2
        vector = second.embed(["toll"], "query")
        assert engine.find("ferry", 1, vector).ranker == "embeddings"
        assert second.asked == [("query", "toll")]


def test_vectors_of_texts_that_are_gone_do_not_pile_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of texts that are there stay, and so do some of the others."""
    monkeypatch.setattr("kbd.core.search.vector_index.MAX_UNUSED_VECTORS", 4)
    docs, letters = tmp_path / "docs", _Letters()
    kept = []
    write(docs, a="stays")
    with WorkspaceEngine(docs, tmp_path / "index", reader=PlainReader(), embed=letters) as engine:
        for number in range(12):
            write(docs, b=f"version {number}")
            engine.search("version")
            with sqlite3.connect(tmp_path / "index" / "search-1.db") as database:
                kept.append(database.execute("SELECT count(*) FROM vectors").fetchone()[0])
            database.close()
    assert kept == [2, 3, 4, 5, 6, 7, 8, 2, 3, 4, 5, 6]
    assert sum(text == "stays\n" for texts in letters.asked for text in texts) == 1
