"""One way of running a sentence model, in a process that benchmarks/sentence_model.py asks.

`python -m benchmarks._sentence_works WAY FOLDER` loads the model, then answers each line of its
input, a JSON array of texts, with a line: seconds, processor seconds, most memory so far in MB, and
the first text's vector.
"""

import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kbd.providers import EmbedRequest
from kbd_semantic import LocalEmbedder

__all__ = ["WAYS"]

WAYS = ("the runner alone", "kbd", "kbd, one thread")
_TICKS_A_SECOND = 100
"""In which /proc counts processor time, on every Linux."""

Embed = Callable[[Sequence[str]], "np.ndarray[Any, Any]"]


def way(name: str, folder: Path) -> Embed:
    """Return what makes vectors of texts, (texts, size), in the way of that name."""
    match name:
        case "the runner alone":
            from kbd_semantic.folder import read_model  # noqa: PLC0415 - each way loads its own
            from kbd_semantic.runner import Runner  # noqa: PLC0415 - the same

            runner = Runner(read_model(folder), 1)
            return lambda texts: runner.embed(texts, is_query=False)
        case "kbd" | "kbd, one thread":
            threads = {"threads": 1} if "one" in name else {}
            embedder = LocalEmbedder({"model": str(folder), **threads})

            def ask(texts: Sequence[str]) -> "np.ndarray[Any, Any]":
                made = embedder.embed_now(EmbedRequest("", tuple(texts), "passage"), 600.0)
                return np.frombuffer(made.data, "<f4").reshape(-1, made.size)

            return ask
    msg = f"there is no way {name!r}"
    raise ValueError(msg)


def _processes() -> Iterator[Path]:
    """Yield what Linux tells of this process and of those that it started."""
    own = Path("/proc/self")
    yield own
    for number in (own / "task" / own.resolve().name / "children").read_text().split():
        yield Path("/proc", number)


def _most_mb() -> float:
    told = [(process / "status").read_text() for process in _processes()]
    return sum(int(text.split("VmHWM:")[1].split()[0]) for text in told) / 1024


def _processor_s() -> float:
    told = [(process / "stat").read_text().rpartition(")")[2].split() for process in _processes()]
    return sum(int(fields[11]) + int(fields[12]) for fields in told) / _TICKS_A_SECOND


def main() -> None:
    """Answer each line."""
    name, folder = sys.argv[1:]
    embed = way(name, Path(folder))
    for line in sys.stdin:
        texts = json.loads(line)
        begun, spent = time.perf_counter(), _processor_s()
        vectors = embed(texts)
        taken = time.perf_counter() - begun, _processor_s() - spent
        print(json.dumps([*taken, _most_mb(), vectors[0].tolist()]), flush=True)


if __name__ == "__main__":
    main()
