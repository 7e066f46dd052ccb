"""What a search costs: `python benchmarks/search.py [chunks [with vectors]]`, or `make bench`.

20,000 chunks of 120 words in 500 text files, made by a seeded generator: indexed, one file added,
searched, in the same run beside

    FTS5          the same texts in a bare table of SQLite, with the tokenizer that kbd's index has
    FTS5 porter   the same with the tokenizer that does in C what kbd does before its index: case,
                  marks, endings

which are asked for the same words: a phrase with its words, a question without those that only bind
others. And 2,000 of the chunks as vectors of a sentence model of this machine, beside that model
alone and a bare product of numpy; without a model it is said, and left out. Most of the time that
this takes is the model's. The gates are ratios in the same run where that is possible.
"""

import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from benchmarks._measure import gate, table
from benchmarks._search_works import (
    BARE,
    KBD,
    MEANINGS,
    Spent,
    bare_chunks,
    bare_index,
    no_model,
    opened,
    runner,
)
from benchmarks._texts import COMMON, made_texts, questions, write_texts

CHUNKS, EMBEDDED_CHUNKS, MODEL_CHUNKS = 20_000, 2_000, 240
QUERIES, MEANT_QUERIES = 150, 40
TOP_K = 5
ADDED = 12
MIB = 1024 * 1024

Ask = Callable[[str], object]
Latencies = dict[str, list[float]]
"""By candidate, how long each of its queries took, in seconds."""


# Words.


def indexing(texts: Path, folder: Path) -> list[bool]:
    """Compare what it costs to index all texts; the indexes are kept for the queries."""
    found = {work: spent(work, texts, folder / work) for work in (*BARE, *KBD)}
    title = f"indexing {found['kbd'].chunks:,} chunks"
    table(f"{title}, time", "s", {name: each.wall_s for name, each in found.items()}, "FTS5")
    cpu = {name: each.cpu_s for name, each in found.items()}
    cpu["kbd, its workers"] = found["kbd"].children_s
    table(f"{title}, processor time", "s CPU", cpu, "FTS5")
    memory = {name: each.grown_bytes / MIB for name, each in found.items()}
    table(f"{title}, memory beyond what it had before", "MiB", memory, "FTS5")
    disk = {name: each.disk_bytes / MIB for name, each in found.items()}
    table(f"{title}, on the disk", "MiB", disk, "FTS5")
    print()
    return [
        gate("indexing beside the workers against FTS5, CPU", cpu["kbd"] / cpu["FTS5"], most=5),
        gate("disk against FTS5", disk["kbd"] / disk["FTS5"], most=2),
        gate("memory beyond what it had before, MiB", memory["kbd"], most=64),
    ]


def adding(texts: Path, folder: Path) -> list[bool]:
    """Compare adding a file to an index, and looking that nothing has changed."""
    count = len(list(texts.iterdir()))
    found: dict[str, list[float]] = {name: [] for name in (*BARE, *KBD, "kbd, nothing new")}
    tables = {name: bare_index(folder / name, tokenizer) for name, tokenizer in BARE.items()}
    engines = {name: opened(name, texts, folder / name) for name in KBD}
    for engine in engines.values():
        engine.refresh()
    for number, text in enumerate(made_texts(ADDED, seed=3)):
        path = texts / f"added {number}.txt"
        path.write_text(text + "\n", encoding="utf-8")
        for name, connection in tables.items():
            found[name].append(seconds(partial(add_bare, connection, path)))
        for name, engine in engines.items():
            found[name].append(seconds(engine.refresh))
        found["kbd, nothing new"].append(seconds(engines["kbd"].refresh))
    for engine in engines.values():
        engine.close()
    medians = {name: statistics.median(each) * 1e3 for name, each in found.items()}
    table(f"adding one file to {count:,}", "ms", medians, "FTS5")
    print()
    return [
        gate("adding one file, ms", medians["kbd"], most=150),
        gate("looking that nothing is new, ms", medians["kbd, nothing new"], most=50),
    ]


def add_bare(connection: sqlite3.Connection, path: Path) -> None:
    """Add the chunks of a file."""
    connection.execute("BEGIN IMMEDIATE")
    connection.executemany("INSERT INTO bare VALUES (?)", bare_chunks(path))
    connection.execute("COMMIT")


def querying(texts: Sequence[str], base: Path, folder: Path) -> list[bool]:
    """Compare the first five answers to single words, phrases and whole questions."""
    met = []
    with opened("kbd, no worker", base, folder / "kbd, no worker") as engine:
        asks: dict[str, Ask] = {
            name: bare_ask(bare_index(folder / name, tokenizer)) for name, tokenizer in BARE.items()
        }
        asks["kbd"] = lambda query: engine.find(query, TOP_K)
        for kind, queries in questions(texts, QUERIES).items():
            taken = timed(asks, queries)
            tell(f"{len(queries)} {kind}", taken, "FTS5 porter")
            ours, bare = taken["kbd"], taken["FTS5 porter"]
            beyond = (percentile(ours, 50) - percentile(bare, 50)) * 1e3
            share = percentile(ours, 95) / percentile(bare, 95)
            met += [
                gate(f"{kind}, p50 beyond that of FTS5 porter, ms", beyond, most=10),
                gate(f"{kind}, p95 against FTS5 porter", share, most=4),
            ]
    return met


def bare_ask(connection: sqlite3.Connection) -> Ask:
    """Ask FTS5 as its documentation shows, for any of the words that mean something."""
    select = "SELECT rowid, rank, body FROM bare WHERE bare MATCH ? ORDER BY rank LIMIT ?"

    def ask(query: str) -> object:
        words = [word for word in query.strip('"?').split() if word not in COMMON]
        parts = [f'"{word}"' for word in words]
        if query.startswith('"'):
            parts.append(query)
        return connection.execute(select, (" OR ".join(parts) or '""', TOP_K)).fetchall()

    return ask


# Meanings.


def meaning(texts: Sequence[str], folder: Path) -> list[bool]:
    """Compare making vectors, and asking by words and meaning, with the model alone."""
    base, few = folder / "some texts", folder / "few texts"
    write_texts(base, texts)
    write_texts(few, texts[:MODEL_CHUNKS])
    alone, ours = MEANINGS
    found = {alone: spent(alone, few, folder / alone), ours: spent(ours, base, folder / ours)}
    rates = {name: each.chunks / each.wall_s for name, each in found.items()}
    counts = [f"{found[work].chunks:,}" for work in (ours, alone)]
    title = f"vectors of {counts[0]} chunks, by the model alone of {counts[1]}"
    table(title, "chunks/s", rates, alone)
    memory = {
        alone: found[alone].grown_bytes / MIB,
        "kbd, beside the model": found[ours].grown_bytes / MIB,
        "kbd, the model's process": found[ours].child_bytes / MIB,
    }
    table("memory", "MiB", memory, alone)
    disk = found[ours].disk_bytes / MIB
    print(f"  {disk:.1f} MiB on the disk, words and vectors")
    print()
    share = rates[ours] / rates[alone]
    met = [gate("chunks/s against the model alone", share, least=0.8)]
    return met + asking_by_meaning(texts, base, folder)


def asking_by_meaning(texts: Sequence[str], base: Path, folder: Path) -> list[bool]:
    """Compare questions by words and meaning with a bare query vector and matrix product."""
    embed: Any = runner()
    with opened("kbd, vectors", base, folder / "kbd, vectors") as engine:
        size = embed(["a"], is_query=True).shape[1]
        # What stands in it is no matter for the time that a product takes.
        vectors = np.random.default_rng(1).random((len(texts), size), np.float32)

        def bare(query: str) -> object:
            near = vectors @ embed([query], is_query=True)[0]
            best = np.argpartition(near, -TOP_K)[-TOP_K:]
            return best[np.argsort(-near[best])]

        asks: dict[str, Ask] = {
            "the model and numpy": bare,
            "kbd": lambda query: engine.search(query, TOP_K),
        }
        assert engine.search(texts[0][:100])[0].metadata["ranker"] == "hybrid"
        taken = timed(asks, questions(texts, MEANT_QUERIES)["questions"])
    tell(f"{MEANT_QUERIES} questions by words and meaning", taken, "the model and numpy")
    p50, bare_p50 = (percentile(taken[name], 50) for name in ("kbd", "the model and numpy"))
    return [gate("questions by meaning, p50 against the model and numpy", p50 / bare_p50, most=3)]


# Measuring.


def spent(work: str, texts: Path, index: Path) -> Spent:
    """Do a work in a process of its own."""
    command = [sys.executable, "-m", "benchmarks._search_works", work, str(texts), str(index)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE)
    return msgspec.json.decode(done.stdout, type=Spent)


def timed(asks: Mapping[str, Ask], queries: Sequence[str]) -> Latencies:
    """Ask every candidate each query in turn, once to warm up and once for the figures."""
    taken: Latencies = {name: [] for name in asks}
    for counts in (False, True):
        for query in queries:
            for name, ask in asks.items():
                lasted = seconds(partial(ask, query))
                if counts:
                    taken[name].append(lasted)
    return taken


def tell(title: str, taken: Latencies, base: str) -> None:
    """Print the middle and the slow end of what queries took."""
    for share in (50, 95):
        figures = {name: percentile(each, share) * 1e3 for name, each in taken.items()}
        table(f"{title}, p{share}", "ms", figures, base)
    print()


def percentile(values: Sequence[float], share: int) -> float:
    """Return what so many of 100 do not pass."""
    return statistics.quantiles(values, n=100)[share - 1]


def seconds(work: Callable[[], object]) -> float:
    """Return how long a work takes."""
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def main() -> None:
    """Measure and print; exit with 1 if a gate is missed."""
    count, embedded = (*map(int, sys.argv[1:]), *(CHUNKS, EMBEDDED_CHUNKS)[len(sys.argv) - 1 :])
    with tempfile.TemporaryDirectory(dir=Path.cwd(), prefix=".bench-") as name:
        folder, base = Path(name) / "indexes", Path(name) / "texts"
        texts = made_texts(count)
        write_texts(base, texts)
        met = [*indexing(base, folder), *adding(base, folder), *querying(texts, base, folder)]
        reason = no_model()
        if reason:
            print(f"\nvectors are left out: {reason}")
        else:
            met += meaning(texts[:embedded], folder)
    sys.exit(0 if all(met) else 1)


if __name__ == "__main__":
    main()
