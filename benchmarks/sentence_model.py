"""What a sentence model costs: `python benchmarks/sentence_model.py`, or `make bench`.

The embedder of this machine, in its own process, beside

    the runner alone  the same encoder, in the process that asks, on one thread

Each is a process of its own that loads the model once; the same chunks of 120 words go to one after
the other, in an order of their own each round, and so do single questions. The model is that of
SEMANTIC_MODEL; without one it is said, and left out.
"""

import json
import os
import random
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks._measure import gate, interleave, table
from benchmarks._sentence_works import WAYS
from kbd_semantic import LocalEmbedder
from kbd_semantic.folder import find_folder

ROUNDS, CHUNKS, QUESTIONS = 5, 8, 8
CHUNK_WORDS = 120
BASE = "the runner alone"


class Peer:
    """One way of running the model.

    Attributes:
        load_s: From the start of its process to its first vector.
        most_mb: The most memory so far of its process and those that it started.
    """

    def __init__(self, name: str, folder: Path) -> None:
        command = [sys.executable, "-m", "benchmarks._sentence_works", name, str(folder)]
        begun = time.perf_counter()
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self.most_mb = 0.0
        self.embed(["loaded"])
        self.load_s = time.perf_counter() - begun

    def embed(self, texts: list[str]) -> tuple[float, float, list[float]]:
        """Return the seconds that texts took, those of processors, and the first one's vector."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(texts).encode() + b"\n")
        self._process.stdin.flush()
        wall_s, processor_s, self.most_mb, vector = json.loads(self._process.stdout.readline())
        return wall_s, processor_s, vector

    def close(self) -> None:
        """End its process."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def made_chunks(folder: Path, count: int) -> list[str]:
    """Return chunks of the model's own words, so that they are as many tokens as real ones.

    A text of 120 English words is some 160 tokens: each third word here gets an ending.
    """
    vocabulary = json.loads((folder / "tokenizer.json").read_text())["model"]["vocab"]
    words = sorted(word for word in vocabulary if word.isalpha() and word.isascii())
    chance = random.Random(1)
    ends = ("", "", "ish")
    return [
        " ".join(chance.choice(words) + chance.choice(ends) for _ in range(CHUNK_WORDS))
        for _ in range(count)
    ]


def compare(peers: dict[str, Peer], chunks: list[str]) -> list[bool]:
    """Print what each costs; return which gates are met."""
    chance = random.Random(2)
    spent: dict[str, list[float]] = {name: [] for name in peers}

    def rate(name: str) -> float:
        texts = chance.sample(chunks, CHUNKS)
        wall_s, processor_s, _ = peers[name].embed(texts)
        spent[name].append(processor_s)
        return len(texts) / wall_s

    def question_ms(name: str) -> float:
        asked = [" ".join(chance.choice(chunks).split()[:8]) for _ in range(QUESTIONS)]
        return min(peers[name].embed([text])[0] for text in asked) * 1e3

    rates = interleave({name: partial(rate, name) for name in peers}, ROUNDS)
    table(f"chunks of {CHUNK_WORDS} words", "a second", rates, BASE)
    own = {name: CHUNKS * len(each) / sum(each) for name, each in spent.items()}
    table("the same, by the time of processors", "a CPU s", own, BASE)
    questions = interleave({name: partial(question_ms, name) for name in peers}, ROUNDS)
    table(f"a question, the least of {QUESTIONS}", "ms", questions, BASE)
    table("start to first vector", "s", {name: each.load_s for name, each in peers.items()}, BASE)
    table("most memory", "MB", {name: each.most_mb for name, each in peers.items()}, BASE)

    vectors = {name: np.array(peer.embed(chunks[:1])[2]) for name, peer in peers.items()}
    nearest = min(float(vector @ vectors[BASE]) for vector in vectors.values())
    print()
    return [
        gate(
            "kbd against the runner alone, one thread each",
            rates["kbd, one thread"] / rates[BASE],
            least=0.8,
        ),
        gate("cosine of the same text in all ways", nearest, least=0.999),
    ]


def main() -> int:
    """Compare all ways that are there."""
    named = os.environ.get("SEMANTIC_MODEL", "")
    reason, folder = LocalEmbedder({"model": named}).status().reason, find_folder(named)
    if reason is not None or folder is None:
        print(f"left out: {reason}")
        return 0
    peers = {name: Peer(name, folder) for name in WAYS}
    try:
        return 0 if all(compare(peers, made_chunks(folder, 64))) else 1
    finally:
        for peer in peers.values():
            peer.close()


if __name__ == "__main__":
    sys.exit(main())
