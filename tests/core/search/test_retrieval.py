"""Retrieval: on questions with known answers, words and meanings together lose to neither alone."""

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from benchmarks._questions import KINDS, load, questions, shared_stems
from benchmarks._retrieval import Measured, Searched, mean, searched
from kbd.core.search.engine import DOCUMENT_CHARACTERS
from kbd.core.search.local import LocalRuntime
from kbd.core.search.ports import TextEmbedder

pytestmark = [pytest.mark.corpora, pytest.mark.full, pytest.mark.timeout(3600)]


@pytest.fixture(scope="module")
def embed() -> Iterator[TextEmbedder]:
    """The embedder of this machine, or a skip with its reason."""
    work = LocalRuntime(DOCUMENT_CHARACTERS)
    found, why = work.embedding()
    if found is None:
        work.close()
        pytest.skip(f"no embedder on this machine: {why}")
    yield found
    work.close()


@pytest.fixture(scope="module")
def found(
    corpora: Path, embed: TextEmbedder, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Searched]:
    """An index of the files of the questions."""
    with searched(corpora, tmp_path_factory.mktemp("retrieval"), load(), embed) as index:
        yield index


def test_there_are_enough_questions_and_paraphrases_share_few_words(found: Searched) -> None:
    """At least 200, every answer is in a piece, and a paraphrase shares two words with it at most.

    Scripts without blanks share pairs of characters, of which one word has several.
    """
    known = load()
    asked = list(questions(known.answers))
    assert len(asked) >= 200
    for each in asked:
        holding = [found.pieces[key].text for key in found.relevant(known, each)]
        assert holding, each.text
        assert each.kind != "paraphrase" or shared_stems(each.text, holding) <= 2, each.text


def test_the_hybrid_is_at_least_as_good_as_the_better_of_the_two(found: Searched) -> None:
    """On each third, by recall at 1 and 5 and by nDCG at 10."""
    known = load()
    rows = list(found.measured(known, list(questions(known.answers))))
    for kind in KINDS:
        means = {
            ranker: mean([each[ranker] for asked, each in rows if asked.kind == kind])
            for ranker in ("bm25", "embeddings", "hybrid")
        }
        for measure in msgspec.structs.fields(Measured):
            alone = max(getattr(means[name], measure.name) for name in ("bm25", "embeddings"))
            ours = getattr(means["hybrid"], measure.name)
            assert ours >= alone - 1e-9, (kind, measure.name, means)
