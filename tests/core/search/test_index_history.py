"""What a search finds hangs on the documents that are there, not on how they came to be there."""

import random
from pathlib import Path

import pytest

from indexed import PlainReader, engine_over, said, write
from kbd.core.search.engine import WorkspaceEngine

WORDS = ["river", "stone", "bridge", "toll", "ledger", "harbour", "grain", "salt", "mill", "ferry"]
QUERIES = ["river", "stone bridge toll", "ledger grain salt mill", "ferry harbour river"]


def _text(choice: random.Random) -> str:
    counts = [choice.randint(1, 9) for _ in range(choice.randint(1, 60))]
    return "".join(" ".join(choice.choices(WORDS, k=count)) + "\n" for count in counts)


def docs_with(folder: Path, names: list[str]) -> Path:
    """Write one and the same text under each name."""
    write(folder, **dict.fromkeys(names, "toll bridge"))
    return folder


def _found(engine: WorkspaceEngine) -> list[list[object]]:
    return [[*said(engine.find(query, 7).chunks)] for query in QUERIES]


def _check_history(tmp_path: Path, seed: int, steps: int) -> None:
    choice = random.Random(seed)
    docs = tmp_path / "docs"
    write(docs, first=_text(choice))
    names = [f"d{number}" for number in range(12)]
    with engine_over(docs, tmp_path / "aged") as aged:
        for _ in range(steps):
            for name in choice.sample(names, choice.randint(1, 4)):
                path = docs / f"{name}.txt"
                if path.exists() and choice.random() < 0.4:
                    path.unlink()
                else:
                    # Some texts are the same in several documents, so that there are ties.
                    write(docs, **{name: _text(random.Random(choice.randint(0, 5)))})
            aged.refresh()
        old = _found(aged)
    with engine_over(docs, tmp_path / "fresh") as fresh:
        fresh.refresh()
        new = _found(fresh)

    assert min(map(len, new)) > 0
    assert old == new


def test_an_index_with_a_history_finds_what_a_fresh_one_finds(tmp_path: Path) -> None:
    """Order, ids, texts and scores are exactly equal, whatever came and went before."""
    _check_history(tmp_path, 1, 6)


@pytest.mark.full
@pytest.mark.parametrize("seed", range(30))
def test_any_history_leaves_no_trace(tmp_path: Path, seed: int) -> None:
    """The same for many random histories."""
    _check_history(tmp_path, seed, 25)


def test_of_many_equal_pieces_the_first_by_name_are_found(tmp_path: Path) -> None:
    """Which of them came into the index first makes no difference, however many there are."""
    docs = tmp_path / "docs"
    names = [f"n{number:03}" for number in range(230)]
    with engine_over(docs_with(docs, names[15:]), tmp_path / "index") as engine:
        engine.refresh()
        docs_with(docs, names[:15])
        found = engine.search("toll", 3)
        assert [chunk.metadata["filename"] for chunk in found] == [
            "n000.txt",
            "n001.txt",
            "n002.txt",
        ]
        assert len({chunk.score for chunk in found}) == 1
        everything = engine.find("toll", 100_000).chunks
        assert [chunk.metadata["filename"] for chunk in everything] == sorted(
            f"{name}.txt" for name in names
        )


def test_unchanged_documents_are_never_read_again(tmp_path: Path) -> None:
    """Only what is new or has other bytes is read, by this engine and by the next one."""
    docs, reader = tmp_path / "docs", PlainReader()
    write(docs, a="river", b="stone", c="salt")
    with engine_over(docs, tmp_path / "index", reader) as engine:
        engine.refresh()
        assert sorted(reader.read_names) == ["a.txt", "b.txt", "c.txt"]
        reader.read_names.clear()
        write(docs, b="stone", d="mill")
        (docs / "a.txt").touch()
        engine.refresh()
        assert reader.read_names == ["d.txt"]
        write(docs, c="grain")
        engine.refresh()
        assert reader.read_names == ["d.txt", "c.txt"]
        assert engine.find("salt", 5).chunks == []
        assert len(engine.find("grain", 5).chunks) == 1
    reader.read_names.clear()
    with engine_over(docs, tmp_path / "index", reader) as engine:
        assert engine.num_chunks == 4
        assert reader.read_names == []
        reader.version = "2"
        engine.refresh()
        assert sorted(reader.read_names) == ["a.txt", "b.txt", "c.txt", "d.txt"]
