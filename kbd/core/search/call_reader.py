"""Reader of the daemon's search engine: documents are read in workers, from the engine's thread."""

from pathlib import Path

from anyio import from_thread

from kbd.core.plugins.format_calls import FormatCalls
from kbd.core.search.ports import SourceFile
from kbd.tools import FileRef
from kbd.types import BlobHash, FileName

__all__ = ["CallReader"]


class CallReader:
    """`kbd.core.search.ports.PieceReader` over a workbench's formats.

    Its thread must be one that anyio started for the event loop that the workers belong to.

    Args:
        formats: The formats.
        most_characters: Of a longer document, the rest is left out.
    """

    def __init__(self, formats: FormatCalls, most_characters: int) -> None:
        self._formats, self._most_characters = formats, most_characters

    def edition(self, name: str) -> str:
        """Return the edition of the format that reads files of that name; "" if none does."""
        return self._formats.edition(name)

    def read(self, file: SourceFile, target: Path) -> None:
        """Write the pieces of a file to `target`; raises KbdError."""
        ref = FileRef(FileName(file.name), BlobHash(file.content), file.size_bytes, file.path)
        from_thread.run(self._formats.pieces, ref, target, self._most_characters)
