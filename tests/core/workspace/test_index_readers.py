"""An index may be read, in this process and in others, while it is brought up to date."""

import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from indexed import PlainReader, engine_over, write
from kbd.core.workspace.searching import WorkspaceEngine

DOCUMENTS = 8
"""They go into the index together, so a reader sees all of one version."""

_READ = """
import sys
sys.path.insert(0, "tests")
from pathlib import Path
from kbd.core.workspace.searching import WorkspaceEngine
from indexed import PlainReader
from tests.core.workspace.test_index_readers import versions_seen
index, stop = map(Path, sys.argv[1:])
with WorkspaceEngine("", index, sources=tuple, reader=PlainReader(), embed=None) as engine:
    seen = versions_seen(engine, stop, lambda: print("ready", flush=True))
print(len(seen))
"""


def versions_seen(engine: WorkspaceEngine, stop: Path, begun: Callable[[], object]) -> set[str]:
    """Search until a file is there, and once more; return the versions, each time all of one.

    Args:
        engine: What to search with.
        stop: The file.
        begun: Called after the first search.
    """
    seen: set[str] = set()
    is_last = False
    while not is_last:
        is_last = stop.exists()
        chunks = engine.find("version", 3 * DOCUMENTS).chunks
        versions = {chunk.text.split()[1] for chunk in chunks}
        assert len(chunks) == DOCUMENTS, f"a search found {len(chunks)} documents"
        assert len(versions) == 1, f"a search found {sorted(versions)} at once"
        ids = {chunk.doc_id for chunk in chunks}
        assert {each.doc_id for each in engine.list_docs()} == ids
        assert all(engine.get_doc_text(each) for each in ids)
        if not seen:
            begun()
        seen |= versions
    return seen


def _write_version(docs: Path, number: int) -> None:
    write(docs, **{f"d{at}": f"version v{number} of document {at}" for at in range(DOCUMENTS)})


def _rewrite_while_read(tmp_path: Path, rounds: int, threads: int) -> None:
    docs, index, stop = tmp_path / "docs", tmp_path / "index", tmp_path / "stop"
    _write_version(docs, 0)
    counts: list[int] = []
    faults: list[BaseException] = []
    with engine_over(docs, index) as engine:
        engine.refresh()
        other = subprocess.Popen(
            [sys.executable, "-W", "error", "-c", _READ, str(index), str(stop)],
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[3],
        )
        assert other.stdout is not None
        own = WorkspaceEngine("", index, sources=tuple, reader=PlainReader(), embed=None)

        begun = threading.Semaphore(0)

        def read() -> None:
            try:
                counts.append(len(versions_seen(own, stop, begun.release)))
            except (AssertionError, KbdError) as fault:
                faults.append(fault)

        readers = [threading.Thread(target=read) for _ in range(threads)]
        try:
            assert other.stdout.readline() == "ready\n"
            for reader in readers:
                reader.start()
                begun.acquire()
            for number in range(1, rounds + 1):
                _write_version(docs, number)
                engine.refresh()
        finally:
            stop.touch()
            for reader in readers:
                reader.join()
            own.close()
            said, _ = other.communicate()

    assert faults == []
    assert other.returncode == 0
    assert int(said) > 1, "the other process saw it change"
    assert min(counts) > 1


def test_readers_see_one_version_or_the_next(tmp_path: Path) -> None:
    """Threads and another process search all the while, and never see half of a change."""
    _rewrite_while_read(tmp_path, 12, 1)


@pytest.mark.soak
def test_many_readers_see_one_version_or_the_next(tmp_path: Path) -> None:
    """The same for longer, with more threads."""
    _rewrite_while_read(tmp_path, 300, 3)


def test_an_index_that_is_replaced_is_followed_by_its_readers(tmp_path: Path) -> None:
    """Another engine, as another process would, finds it ruined and puts a new one in its place."""
    docs, index = tmp_path / "docs", tmp_path / "index"
    write(docs, a="river")
    with engine_over(docs, index) as reader, engine_over(docs, index) as writer:
        reader.refresh()
        (index / "search-1.db").write_bytes(b"")
        writer.reload_index()
        writer.refresh()
        assert len(reader.find("river", 5).chunks) == 1
        assert [path.name for path in index.glob("*.db")] == ["search-2.db"]


def test_two_engines_bring_one_index_up_to_date_at_once(tmp_path: Path) -> None:
    """Each document is there once, whoever read it."""
    docs, index = tmp_path / "docs", tmp_path / "index"
    write(docs, **{f"d{at}": f"version v1 of document {at}" for at in range(40)})
    with engine_over(docs, index) as one, engine_over(docs, index) as two:
        workers = [threading.Thread(target=each.refresh) for each in (one, two, one, two)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        assert (one.num_docs, one.num_chunks) == (40, 40)
        assert len(two.find("version", 100).chunks) == 40
