"""The engine as a program uses it: no daemon, a worker of its own, a clean end."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from kbd.core.search.engine import WorkspaceEngine
from kbd.core.search.local import LocalRuntime
from kbd.errors import ValidationFailed

_PROGRAM = """
import asyncio, threading
from kbd.core.workspace import WorkspaceEngine

async def main():
    # Blocking the loop is the caller's choice; the engine's own loop is elsewhere.
    engine = WorkspaceEngine("docs", "docs/index/latest")
    for chunk in engine.search("toll", top_k=1):
        print(chunk.metadata["filename"], chunk.metadata["place"], chunk.metadata["ranker"])
    return engine

engine = asyncio.run(main())
print(engine.num_docs, engine.num_chunks, engine.has_index)
kept = WorkspaceEngine("docs")
print([document.title for document in kept.list_docs()])
{end}
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with `docs` of two formats in it, beside a home without settings."""
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "notes.md").write_text("# Notes\n\nThe bridge has a toll.\n")
    (docs / "list.csv").write_text("name,amount\nferry,3\n")
    return tmp_path


def _run(place: Path, end: str) -> "subprocess.CompletedProcess[str]":
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(place),
        "KBD_HOME": str(place / "home"),
        "XDG_CACHE_HOME": str(place / "cache"),
        "KBD_SEARCH_EMBEDDER": "none",
    }
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", _PROGRAM.format(end=end)],
        cwd=place,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


_SAID = "notes.md lines 1-3 bm25\n2 2 True\n['list', 'notes']\n"


def test_a_program_that_closes_nothing_ends_cleanly(place: Path) -> None:
    """It prints no warning, leaves no process, and its index is kept with the user's caches."""
    done = _run(place, "")
    assert (done.stdout, done.stderr, done.returncode) == (_SAID, "", 0)
    assert len(list((place / "cache" / "kbd" / "search").iterdir())) == 1
    assert list((place / "docs").glob(".*")) == []
    assert not (place / "home").exists()


@pytest.mark.full
@pytest.mark.parametrize(
    "end",
    [
        "engine.close(); kept.close()",
        "del engine, kept",
        "threading.Thread(target=engine.search, args=('ferry',)).start()",
        "import sys; sys.exit(0)",
    ],
)
def test_other_ends_are_clean_too(place: Path, end: str) -> None:
    """Closed, collected, left in the middle of a search by another thread, or exited."""
    done = _run(place, end)
    assert (done.stdout, done.stderr, done.returncode) == (_SAID, "", 0)


def test_closed_work_is_refused() -> None:
    """Whoever goes on with a closed engine is told."""
    work = LocalRuntime(1000)
    work.close()
    work.close()
    with pytest.raises(ValidationFailed, match="closed"):
        work.call(asyncio.sleep, 0)


FORMATS = {
    "csv": "docling__csv-comma-in-cell.csv",
    "docx": "docx4j__Docx4j_GettingStarted.docx",
    "pptx": "docling__pptx_chart.pptx",
    "pdf": "tika__testJournalParser.pdf",
    "xlsx": "officecli__budget-tracker.xlsx",
    "image": "pandoc__rId25.jpg",
}


@pytest.mark.corpora
@pytest.mark.full
def test_real_files_of_every_format_are_found_with_their_places(
    place: Path, corpora: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A docx, a deck, a sheet, a page and a picture are texts with places to read again."""
    monkeypatch.setenv("KBD_HOME", str(place / "home"))
    for kind, name in FORMATS.items():
        (place / "docs" / name).write_bytes((corpora / kind / name).read_bytes())
    with WorkspaceEngine(place / "docs", place / "index", embed=None) as engine:
        assert engine.num_docs == len(FORMATS) + 2
        assert engine.has_index
        assert engine.unread() == {}

        def first(query: str, name: str) -> dict[str, object]:
            found = [each.metadata for each in engine.search(query, 3)]
            return next(each for each in found if each["filename"] == name)

        assert first("quarterly revenue", FORMATS["pptx"])["slide_index"] == 1
        assert first("concluding discussion scalability ESATC", FORMATS["pdf"])["pages"] == "1"
        assert first("binding repeats conditionals invoice", FORMATS["docx"])["section"] == 58
        sheet = first("IDE licenses annual", FORMATS["xlsx"])
        assert (sheet["sheet"], sheet["range"]) == ("Transactions", "A12:G21")
        assert first("JPEG width height", FORMATS["image"])["place"] == "the picture"
        for document in engine.list_docs():
            text = engine.get_doc_text(document.doc_id)
            assert text
            lines = text.splitlines()
            for chunk in engine.search(document.title.replace("_", " "), 3):
                if chunk.doc_id == document.doc_id:
                    begin, end = chunk.metadata["lines"]
                    part = "\n".join(lines[begin - 1 : end])
                    assert chunk.text.strip() in part
