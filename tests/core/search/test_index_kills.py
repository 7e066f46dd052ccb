"""A process that is killed in the middle of its work leaves an index that goes on from there."""

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from indexed import PlainReader, engine_over, said, write

_REFRESH = """
import sys
sys.path.insert(0, "tests")
from pathlib import Path
from indexed import engine_over
print("ready", flush=True)
while True:
    with engine_over(Path(sys.argv[1]), Path(sys.argv[2])) as engine:
        engine.refresh()
        engine.reload_index()
"""


@pytest.mark.soak
def test_a_kill_at_any_moment_costs_nothing(tmp_path: Path) -> None:
    """After each kill the index finds what a fresh one finds, and reads only what is missing."""
    choice = random.Random(5)
    docs, index = tmp_path / "docs", tmp_path / "index"
    for round_ in range(12):
        texts = {f"d{at}": f"river {choice.randint(0, 9)} of {round_}\n" * 40 for at in range(60)}
        write(docs, **texts)
        other = subprocess.Popen(
            [sys.executable, "-c", _REFRESH, str(docs), str(index)],
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[3],
        )
        assert other.stdout is not None
        assert other.stdout.readline() == "ready\n"
        time.sleep(choice.random() * 0.4)
        other.send_signal(signal.SIGKILL)
        other.communicate()
        reader = PlainReader()
        with engine_over(docs, index, reader) as engine:
            engine.refresh()
            found = said(engine.find(f"river {round_}", 30).chunks)
            assert engine.num_docs == 60
        assert len(reader.read_names) <= 60
        with engine_over(docs, tmp_path / f"fresh {round_}") as fresh:
            fresh.refresh()
            assert found == said(fresh.find(f"river {round_}", 30).chunks)
