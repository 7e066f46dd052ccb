"""Files of the corpora in an index of the engine's; what words, meanings and both find in it."""

import contextlib
import math
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Self

import msgspec

from benchmarks._questions import Question, QuestionSet
from kbd.core.search.documents_table import document_id, generation
from kbd.core.search.engine import WorkspaceEngine
from kbd.core.search.index import CurrentIndex
from kbd.core.search.ports import TextEmbedder
from kbd.core.search.query import find_nearest
from kbd.core.search.ranking import MAX_NEAREST, QueryWeight, rank
from kbd.core.search.vector_index import embed_texts

__all__ = ["RANKERS", "Measured", "Searched", "mean"]

DEPTH = 10
RRF_K = 60
RANKERS = ("bm25", "embeddings", "hybrid", "plain RRF")


class Measured(msgspec.Struct, frozen=True):
    """How well one question was answered.

    Args:
        recall_1: 1 if the first piece holds the answer, else 0.
        recall_5: 1 if one of the first five does.
        ndcg_10: How high those that do stand among the first ten, from 0 to 1.
    """

    recall_1: float
    recall_5: float
    ndcg_10: float


class Place(msgspec.Struct, frozen=True):
    """A piece of the index: its document's name, its place among its pieces, its text."""

    name: str
    position: int
    text: str


class Searched:
    """An index of the files of a question set.

    Args:
        base: The folder with the files.
        index_dir: The folder of the index; one of an earlier run is brought up to date.
        embed: Makes vectors.
    """

    def __init__(self, base: Path, index_dir: Path, embed: TextEmbedder) -> None:
        self._embed = embed
        with WorkspaceEngine(base, index_dir, embed=embed) as engine:
            engine.refresh()
            while engine.embed_some(256):
                pass
        self._current = CurrentIndex(index_dir)
        self._index = self._current.current()
        query = (
            "SELECT pieces.id, name, position, text FROM pieces"
            " JOIN documents ON documents.id = pieces.document"
        )
        with self._index.reading() as connection:
            rows = connection.execute(query).fetchall()
            self._state = embed.fingerprint(), generation(connection)
        self.pieces = {key: Place(*row) for key, *row in rows}
        self._keys = {
            f"{document_id(place.name)}-{place.position}": key for key, place in self.pieces.items()
        }

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *fault: object) -> None:
        self._current.close()

    def found(self, text: str) -> dict[str, list[int]]:
        """Return what each ranker finds, best first."""
        vector = embed_texts(self._embed, [text], "query")
        meanings = self._index.vectors
        with self._index.reading() as connection:
            words = find_nearest(connection, text, MAX_NEAREST, None)
            both = find_nearest(connection, text, DEPTH, (meanings, self._state[0], vector))
            compared = meanings.compare(connection, self._state, vector, MAX_NEAREST, ())
        assert both.ranker in ("hybrid", "embeddings"), both.ranker
        by_words = [self._keys[chunk.chunk_id] for chunk in words.chunks]
        nearest = [
            each.key for each in rank((), compared, QueryWeight(1.0, 1.0), self._order).ranked
        ]
        return {
            "bm25": by_words,
            "embeddings": nearest,
            "hybrid": [self._keys[chunk.chunk_id] for chunk in both.chunks],
            "plain RRF": _fused(by_words, nearest),
        }

    def relevant(self, known: QuestionSet, question: Question) -> frozenset[int]:
        """Return which pieces hold the answer of a question."""
        own = [key for key, place in self.pieces.items() if place.name == question.answer.file]
        held = known.relevant(question.answer, [self.pieces[key].text for key in own])
        return frozenset(own[at] for at in held)

    def measured(
        self, known: QuestionSet, asked: Sequence[Question]
    ) -> Iterator[tuple[Question, dict[str, Measured]]]:
        """Yield how well each ranker answers each question.

        Raises:
            LookupError: The answer of a question is in no piece.
        """
        for question in asked:
            relevant = self.relevant(known, question)
            if not relevant:
                raise LookupError(question.answer.file, question.text)
            found = self.found(question.text)
            yield question, {name: _measure(found[name], relevant) for name in RANKERS}

    def _order(self, key: int) -> tuple[str, int]:
        return self.pieces[key].name, self.pieces[key].position


@contextlib.contextmanager
def searched(
    corpora: Path, folder: Path, known: QuestionSet, embed: TextEmbedder
) -> Iterator[Searched]:
    """Lend an index of the files of a question set, made or brought up to date in a folder."""
    for name in known.files:
        target = folder / "documents" / name
        if not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(corpora / name, target)
    with Searched(folder / "documents", folder / "index", embed) as found:
        yield found


def mean(measured: Sequence[Measured]) -> Measured:
    """Return the means of measures."""
    columns = zip(*map(msgspec.structs.astuple, measured), strict=True)
    return Measured(*(sum(column) / len(measured) for column in columns))


def _measure(found: Sequence[int], relevant: frozenset[int]) -> Measured:
    gains = [1 / math.log2(at + 2) for at, key in enumerate(found[:DEPTH]) if key in relevant]
    ideal = sum(1 / math.log2(at + 2) for at in range(min(len(relevant), DEPTH)))
    return Measured(
        float(found[0] in relevant) if found else 0.0,
        float(not relevant.isdisjoint(found[:5])),
        sum(gains) / ideal,
    )


def _fused(*orders: Sequence[int]) -> list[int]:
    """Return plain reciprocal rank fusion, equal weights, as it is published (k = 60)."""
    scores: dict[int, float] = {}
    for order in orders:
        for at, key in enumerate(order):
            scores[key] = scores.get(key, 0.0) + 1 / (RRF_K + at + 1)
    return sorted(scores, key=lambda key: (-scores[key], key))
