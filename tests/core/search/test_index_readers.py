"""An index may be read, in this process and in others, while it is brought up to date."""

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from indexed import PlainReader, engine_over, versions_seen, write
from kbd.core.search.engine import WorkspaceEngine
from kbd.errors import KbdError

DOCUMENTS = 8
"""They go into the index together, so a reader sees all of one version."""

_READ = """
import sys
sys.path.insert(0, "tests")
from pathlib import Path
from indexed import PlainReader, versions_seen
from kbd.core.search.engine import WorkspaceEngine
index, stop, count = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
with WorkspaceEngine("", index, sources=tuple, reader=PlainReader(), embed=None) as engine:
    seen = versions_seen(engine, int(count), stop, lambda: print("ready", flush=True))
print(len(seen))
"""


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
            [sys.executable, "-W", "error", "-c", _READ, str(index), str(stop), str(DOCUMENTS)],
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[2],
        )
        assert other.stdout is not None
        own = WorkspaceEngine("", index, sources=tuple, reader=PlainReader(), embed=None)

        begun = threading.Semaphore(0)

        def read() -> None:
            try:
                counts.append(len(versions_seen(own, DOCUMENTS, stop, begun.release)))
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
