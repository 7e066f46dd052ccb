"""Indexing, each way in a process of its own: time, memory, disk. benchmarks/search.py starts them.

Run as `python -m benchmarks._search_works WORK TEXTS INDEX`, which prints a `Spent` as JSON.
"""

import os
import re
import resource
import sqlite3
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

import msgspec

from kbd.core.plugins.pieces import cut_pieces, write_pieces
from kbd.core.search.engine import WorkspaceEngine
from kbd.core.search.ports import SourceFile
from kbd.formats import Source
from kbd_semantic import LocalEmbedder
from kbd_semantic.folder import find_folder, read_model
from kbd_text.handler import TextFormat

__all__ = [
    "BARE",
    "KBD",
    "MEANINGS",
    "Direct",
    "Spent",
    "bare_chunks",
    "bare_index",
    "no_model",
    "opened",
    "runner",
]

BARE: Mapping[str, str] = MappingProxyType(
    {"FTS5": "ascii", "FTS5 porter": "porter unicode61 remove_diacritics 2"}
)
"""The bare indexes by name, with their tokenizers."""

KBD = ("kbd", "kbd, no worker")
MEANINGS = ("the model", "kbd, vectors")

_MAX_CHARACTERS = 10_000_000
_FILES_AT_ONCE = 64

Run = Callable[[], int]
"""Does a work and returns how many chunks it was done with."""


class Spent(msgspec.Struct, frozen=True):
    """What a work cost.

    Args:
        wall_s: Seconds from the first file to the last chunk on the disk.
        cpu_s: Processor seconds of this process in that time.
        children_s: Processor seconds of the processes that it started, in their whole lives.
        grown_bytes: How much more memory the process has than before.
        child_bytes: The most memory of a process that it started, 0 for none.
        disk_bytes: What the index takes on the disk, once it is closed.
        chunks: How many chunks are in it.
    """

    wall_s: float
    cpu_s: float
    children_s: float
    grown_bytes: int
    child_bytes: int
    disk_bytes: int
    chunks: int


class Direct:
    """A reader of text files in this process: what indexing costs beside the workers."""

    def edition(self, name: str) -> str:
        """Read text files, and nothing else."""
        return "direct" if name.endswith(".txt") else ""

    def read(self, file: SourceFile, target: Path) -> None:
        """Write the pieces of a file."""
        passages = TextFormat().passages(Source(file.path, file.name))
        write_pieces(cut_pieces(passages, _MAX_CHARACTERS), target)


def opened(work: str, texts: Path, index: Path) -> WorkspaceEngine:
    """Return kbd's engine as a work has it."""
    match work:
        case "kbd":
            return WorkspaceEngine(texts, index, embed=None)
        case "kbd, no worker":
            return WorkspaceEngine(texts, index, embed=None, reader=Direct())
        case "kbd, vectors":
            return WorkspaceEngine(texts, index, reader=Direct())
    msg = f"there is no work {work!r}"
    raise ValueError(msg)


def bare_index(index: Path, tokenizer: str) -> sqlite3.Connection:
    """Return a table of FTS5 in a file, new if there is none, with the journal of kbd's index."""
    index.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(index / "bare.db", isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    create = f"CREATE VIRTUAL TABLE IF NOT EXISTS bare USING fts5(body, tokenize='{tokenizer}')"
    connection.execute(create)
    return connection


def bare_chunks(path: Path) -> list[tuple[str]]:
    """Return the chunks of a text file: its paragraphs."""
    return [(each,) for each in path.read_text(encoding="utf-8").split("\n\n")]


def no_model() -> str:
    """Return why there is no sentence model on this machine; "" if there is one."""
    settings = {"model": os.environ.get("SEMANTIC_MODEL", "")}
    return LocalEmbedder(settings).status().reason or ""


def runner() -> Callable[..., object]:
    """Return what makes texts vectors with the model alone, in this process."""
    from kbd_semantic.runner import Runner  # noqa: PLC0415 - an extra, which may be absent

    folder = find_folder(os.environ.get("SEMANTIC_MODEL", ""))
    assert folder is not None
    return Runner(read_model(folder), os.cpu_count() or 1).embed


def kbd(work: str, texts: Path, index: Path) -> tuple[Run, Callable[[], None]]:
    """Index with kbd's engine."""
    engine = opened(work, texts, index)

    def run() -> int:
        engine.refresh()
        return engine.num_chunks

    return run, engine.close


def bare(work: str, texts: Path, index: Path) -> tuple[Run, Callable[[], None]]:
    """Index with FTS5 alone, as many files in a transaction as kbd takes."""
    connection = bare_index(index, BARE[work])

    def run() -> int:
        files = sorted(texts.iterdir())
        for begin in range(0, len(files), _FILES_AT_ONCE):
            connection.execute("BEGIN IMMEDIATE")
            for path in files[begin : begin + _FILES_AT_ONCE]:
                connection.executemany("INSERT INTO bare VALUES (?)", bare_chunks(path))
            connection.execute("COMMIT")
        (count,) = connection.execute("SELECT count(*) FROM bare").fetchone()
        return int(count)

    return run, connection.close


def meanings(work: str, texts: Path, index: Path) -> tuple[Run, Callable[[], None]]:
    """Make all vectors: by the model alone, or by kbd's engine for texts that are indexed."""
    if work == "the model":
        index.mkdir(parents=True)
        embed = runner()
        chunks = [[text for (text,) in bare_chunks(path)] for path in sorted(texts.iterdir())]

        def embed_all() -> int:
            for some in chunks:
                embed(some, is_query=False)
            return sum(map(len, chunks))

        return embed_all, lambda: None
    engine = opened(work, texts, index)
    engine.refresh()
    count = engine.num_chunks

    def embed_missing() -> int:
        return count - engine.embed_some(count)

    return embed_missing, engine.close


def main() -> None:
    """Do the work that the command line names, and print what it cost."""
    work, texts, index = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    made = bare if work in BARE else meanings if work in MEANINGS else kbd
    before = _resident_bytes()
    run, close = made(work, texts, index)
    cpu, wall = time.process_time(), time.perf_counter()
    chunks = run()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    grown = _resident_bytes() - before
    close()
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    found = Spent(
        wall_s=wall,
        cpu_s=cpu,
        children_s=children.ru_utime + children.ru_stime,
        grown_bytes=grown,
        child_bytes=children.ru_maxrss * 1024,
        disk_bytes=sum(path.stat().st_size for path in index.iterdir()),
        chunks=chunks,
    )
    print(msgspec.json.encode(found).decode())


def _resident_bytes() -> int:
    found = re.search(r"VmRSS:\s+(\d+) kB", Path("/proc/self/status").read_text("ascii"))
    return int(found[1]) * 1024 if found else 0


if __name__ == "__main__":
    main()
