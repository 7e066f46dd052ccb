"""Where an index lies: a folder of its own, several side by side, made anew if it cannot be used.

Nothing that is not ours is ever touched.
"""

import os
import shutil
import sqlite3
from pathlib import Path

import pytest
import Stemmer

from indexed import PlainReader, engine_over, write
from kbd.core.search import documents_table, index_file
from kbd.core.search.engine import WorkspaceEngine
from kbd.core.search.index_file import IndexFolder, check_fts5
from kbd.core.search.tokenizer import TOKENIZER_EDITION
from kbd.errors import FileWriteFailed, NotFound, ValidationFailed


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    """A folder with two documents."""
    folder = tmp_path / "docs"
    write(folder, a="the river is wide", b="the bridge has a toll")
    return folder


def _names(engine: WorkspaceEngine, query: str) -> list[str]:
    return [chunk.metadata["filename"] for chunk in engine.search(query)]


def test_a_folder_that_holds_anything_else_is_refused_and_left_alone(
    tmp_path: Path, docs: Path
) -> None:
    """Neither files, folders nor a database of somebody else's are touched or added to."""
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "letter.docx").write_bytes(b"dear")
    with pytest.raises(ValidationFailed, match=r"letter\.docx"):
        engine_over(docs, mine)
    assert [path.name for path in mine.iterdir()] == ["letter.docx"]

    other = tmp_path / "other"
    other.mkdir()
    with sqlite3.connect(other / "search-1.db") as database:
        database.execute("CREATE TABLE accounts(id)")
    database.close()
    before = (other / "search-1.db").read_bytes()
    with pytest.raises(ValidationFailed, match="something else"):
        engine_over(docs, other)
    assert (other / "search-1.db").read_bytes() == before


@pytest.mark.parametrize(
    "name", ["search.lock", "search-1.db", "search-1.db-wal", "pieces-0123456789abcdef.new"]
)
def test_a_link_in_the_folder_leads_nowhere(tmp_path: Path, docs: Path, name: str) -> None:
    """Under a name of ours, too: nothing is made, opened or removed where it leads."""
    folder, theirs = tmp_path / "index", tmp_path / "theirs"
    engine_over(docs, theirs).close()
    folder.mkdir()
    before = {path.name: path.read_bytes() for path in theirs.iterdir()}
    for target in (theirs / "search-1.db", tmp_path / "nothing"):
        (folder / name).symlink_to(target)
        with pytest.raises(ValidationFailed, match=name):
            engine_over(docs, folder)
        (folder / name).unlink()
    assert {path.name: path.read_bytes() for path in theirs.iterdir()} == before
    assert not (tmp_path / "nothing").exists()


def test_a_file_or_a_missing_folder_is_told_clearly(tmp_path: Path, docs: Path) -> None:
    """So is a base folder that is not there, and one that goes later."""
    with pytest.raises(FileWriteFailed, match=r"a\.txt"):
        engine_over(docs, docs / "a.txt")
    with pytest.raises(NotFound, match="nowhere"):
        engine_over(tmp_path / "nowhere", tmp_path / "index")
    with engine_over(docs, tmp_path / "index") as engine:
        shutil.rmtree(docs)
        with pytest.raises(NotFound, match="docs"):
            engine.search("river")


def test_a_ruined_index_is_made_anew(tmp_path: Path, docs: Path) -> None:
    """Whether it is found out at the start or in the middle of a search; and so is an older one."""
    index = tmp_path / "index"
    with engine_over(docs, index) as engine:
        assert _names(engine, "toll") == ["b.txt"]
    (index / "search-1.db").write_bytes(b"no database at all" * 100)
    with engine_over(docs, index) as engine:
        assert _names(engine, "toll") == ["b.txt"]
        assert [path.name for path in index.glob("*.db")] == ["search-2.db"]
    with sqlite3.connect(index / "search-2.db") as database:
        database.execute("UPDATE meta SET value = 'of old' WHERE key = 'edition'")
    database.close()
    with engine_over(docs, index) as engine:
        assert _names(engine, "toll") == ["b.txt"]
        assert [path.name for path in index.glob("*.db")] == ["search-3.db"]


def test_an_index_of_another_stemmer_is_made_anew(
    tmp_path: Path, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Terms of two stemmers are never mixed: what another version stemmed is stemmed again."""
    index = tmp_path / "index"
    assert Stemmer.version() in TOKENIZER_EDITION
    with monkeypatch.context() as before:
        before.setattr(index_file, "TOKENIZER_EDITION", "1")
        before.setattr(documents_table, "index_terms", lambda title, text: (title, "otherwise"))
        write(docs, c="many rivers")
        with engine_over(docs, index) as engine:
            assert _names(engine, "rivers") == []

    with engine_over(docs, index) as engine:
        assert sorted(_names(engine, "rivers")) == ["a.txt", "c.txt"]
    assert [path.name for path in index.glob("*.db")] == ["search-2.db"]


def test_damage_within_an_index_is_mended_by_a_new_one(tmp_path: Path, docs: Path) -> None:
    """A search that only looks says so; one that may read documents again answers."""
    index = tmp_path / "index"
    with engine_over(docs, index) as engine:
        engine.refresh()
    path = index / "search-1.db"
    # The header and the tables' list stay whole, so that opening it finds nothing.
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * (path.stat().st_size - 4096))
    reader = PlainReader()
    with engine_over(docs, index, reader) as engine:
        assert engine.list_docs() != []
        assert _names(engine, "toll") == ["b.txt"]
    assert sorted(reader.read_names) == ["a.txt", "b.txt"]


def test_an_index_that_goes_under_an_engine_is_made_again(tmp_path: Path, docs: Path) -> None:
    """Somebody empties the cache: the next search has an index again."""
    index = tmp_path / "index"
    with engine_over(docs, index) as engine:
        assert _names(engine, "toll") == ["b.txt"]
        shutil.rmtree(index)
        assert engine.find("toll", 5).chunks == []
        assert _names(engine, "toll") == ["b.txt"]


def test_several_indexes_stand_side_by_side(tmp_path: Path, docs: Path) -> None:
    """`reload_index` goes from one to the other, and stays where it is if that cannot be."""
    bad = tmp_path / "bad"
    bad.mkdir()
    (bad / "notes.md").write_text("mine")
    reader = PlainReader()
    with engine_over(docs, tmp_path / "v1", reader) as engine:
        engine.refresh()
        engine.reload_index(str(tmp_path / "v2"))
        assert engine.find("toll", 5).chunks == []
        write(docs, c="a second toll")
        assert sorted(_names(engine, "toll")) == ["b.txt", "c.txt"]
        engine.reload_index(tmp_path / "v1")
        assert [each.metadata["filename"] for each in engine.find("toll", 5).chunks] == ["b.txt"]
        with pytest.raises(ValidationFailed):
            engine.reload_index(bad)
        engine.reload_index()
        reader.read_names.clear()
        assert sorted(_names(engine, "toll")) == ["b.txt", "c.txt"]
    assert reader.read_names == ["c.txt"]


def test_a_closed_engine_says_so(tmp_path: Path, docs: Path) -> None:
    """Closing twice does nothing, and nothing hangs after it."""
    engine = engine_over(docs, tmp_path / "index")
    engine.close()
    engine.close()
    with pytest.raises(ValidationFailed, match="closed"):
        engine.search("river")


def test_what_others_left_on_the_way_is_removed_when_it_is_old(tmp_path: Path) -> None:
    """Pieces that a killed process left go after an hour; younger ones may be in use."""
    folder = IndexFolder(tmp_path / "index")
    folder.opened()
    old, young = folder.new_target(), folder.new_target()
    old.touch()
    young.touch()
    os.utime(old, (1, 1))
    folder.opened()
    assert (old.exists(), young.exists()) == (False, True)


def test_an_sqlite_without_full_text_search_is_told() -> None:
    """The message says what is missing, of which SQLite."""
    connection = sqlite3.connect(":memory:")
    try:
        check_fts5(connection)
        with pytest.raises(ValidationFailed, match="FTS5"):
            check_fts5(connection, "no such module")
    finally:
        connection.close()
