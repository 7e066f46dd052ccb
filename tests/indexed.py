"""An engine over plain text that is read in this very process, and counts what is read."""

from collections.abc import Callable
from pathlib import Path

from kbd.core.plugins.pieces import cut_pieces, write_pieces
from kbd.core.search.documents import Chunk
from kbd.core.search.engine import WorkspaceEngine
from kbd.core.search.ports import SourceFile
from kbd.errors import FileReadFailed
from kbd.formats import Passage, Region

__all__ = ["PlainReader", "engine_over", "said", "versions_seen", "write"]


class PlainReader:
    """Reads `.txt` as text, one passage each; what begins with "broken" cannot be read.

    Attributes:
        read_names: What was read, in order.
        version: The version of what reads.
        most_characters: Where a text is cut short.
        error: What is raised in place of reading; None to read.
        then: Called after each, with what was read and where it was written.
    """

    def __init__(self) -> None:
        self.read_names: list[str] = []
        self.version = "1"
        self.most_characters = 1 << 20
        self.error: Exception | None = None
        self.then: Callable[[SourceFile, Path], None] = lambda _file, _target: None

    def edition(self, name: str) -> str:
        """Return the version for text, "" for anything else."""
        return f"plain {self.version}" if name.endswith(".txt") else ""

    def read(self, file: SourceFile, target: Path) -> None:
        """Write the pieces; raises FileReadFailed."""
        self.read_names.append(file.name)
        if self.error is not None:
            raise self.error
        text = file.path.read_text()
        if text.startswith("broken"):
            msg = f"{file.name} is broken"
            raise FileReadFailed(msg)
        lines = text.count("\n") + (not text.endswith("\n"))
        region = Region(line_start=1, line_count=lines)
        passage = Passage(text, f"lines 1-{lines}", region)
        write_pieces(cut_pieces([passage], self.most_characters), target)
        self.then(file, target)


def engine_over(folder: Path, index: Path, reader: PlainReader | None = None) -> WorkspaceEngine:
    """Return an engine that goes by words alone."""
    return WorkspaceEngine(folder, index, reader=reader or PlainReader(), embed=None)


def said(chunks: list[Chunk]) -> list[tuple[str, int, str, float, str]]:
    """Return what chunks say, without what may differ between two ways to the same index."""
    return [(c.chunk_id, c.position, c.text, c.score, str(c.metadata)) for c in chunks]


def write(folder: Path, **texts: str) -> None:
    """Write texts as files, each under its name with `.txt`."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / f"{name}.txt").write_text(text)


def versions_seen(
    engine: WorkspaceEngine, documents: int, stop: Path, begun: Callable[[], object]
) -> set[str]:
    """Search until a file is there, and once more; return the versions, each time all of one.

    Args:
        engine: What to search with.
        documents: How many there are, each with the word and its version.
        stop: The file.
        begun: Called after the first search.
    """
    seen: set[str] = set()
    is_last = False
    while not is_last:
        is_last = stop.exists()
        chunks = engine.find("version", 3 * documents).chunks
        versions = {chunk.text.split()[1] for chunk in chunks}
        assert len(chunks) == documents, f"a search found {len(chunks)} documents"
        assert len(versions) == 1, f"a search found {sorted(versions)} at once"
        ids = {chunk.doc_id for chunk in chunks}
        assert {each.doc_id for each in engine.list_docs()} == ids
        assert all(engine.get_doc_text(each) for each in ids)
        if not seen:
            begun()
        seen |= versions
    return seen
