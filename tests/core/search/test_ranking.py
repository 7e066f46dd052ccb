"""Ranking: neither finder makes the other worse, and scores tell how near each piece is."""

import math

from hypothesis import given
from hypothesis import strategies as st

from kbd.core.search.ranking import (
    SPARE_WORDS,
    LexicalHit,
    QueryWeight,
    inverse_document_frequency,
    rank,
    weigh_query,
)
from kbd.core.search.vector_index import Similarities

KEYS = st.integers(0, 30)
SCORES = st.floats(0.0, 60.0)
SIMILARITIES = st.floats(-1.0, 1.0)
HITS = st.dictionaries(KEYS, SCORES, max_size=12)
ASKED = QueryWeight(30.0, 7.0)
"""Some three words, and one that is nowhere."""

MEANT = st.dictionaries(KEYS, SIMILARITIES, min_size=2, max_size=30)


def order(key: int) -> tuple[str, int]:
    """Have pieces lie in two documents."""
    return f"file {key % 2}", key


def hits_of(found: dict[int, float]) -> list[LexicalHit]:
    """Return hits as the index gives them."""
    best = sorted(found, key=lambda key: (-found[key], order(key)))
    return [LexicalHit(key, found[key]) for key in best]


def compared_of(meant: dict[int, float], most: int = 50) -> Similarities:
    """Return what a table of vectors would say."""
    mean = sum(meant.values()) / len(meant)
    deviation = math.sqrt(sum((each - mean) ** 2 for each in meant.values()) / len(meant))
    best = sorted(meant.items(), key=lambda item: (-item[1], item[0]))
    return Similarities(tuple(best[:most]), meant, mean, deviation, len(meant))


@given(found=HITS, weight=st.floats(0.5, 90.0))
def test_without_vectors_the_order_is_that_of_words(found: dict[int, float], weight: float) -> None:
    """Ties are broken by name and position."""
    ranking = rank(hits_of(found), None, QueryWeight(weight, 7.0), order)
    assert ranking.ranker == "bm25"
    rounded = {key: round(score, 9) for key, score in found.items()}
    by_words = sorted(
        rounded, key=lambda key: (-round(found[key] / (found[key] + weight), 9), order(key))
    )
    assert [each.key for each in ranking.ranked] == by_words


@given(meant=MEANT)
def test_without_hits_the_order_is_that_of_meanings(meant: dict[int, float]) -> None:
    """So is what it is called; what is nearest comes first."""
    ranking = rank([], compared_of(meant), ASKED, order)
    assert ranking.ranker == "embeddings"
    similarities = [round(meant[each.key], 9) for each in ranking.ranked]
    assert similarities == sorted(similarities, reverse=True)
    assert len(similarities) == len(meant)


@given(found=HITS, meant=MEANT, weight=st.floats(0.5, 90.0))
def test_scores_lie_between_0_and_1_and_fall(
    found: dict[int, float], meant: dict[int, float], weight: float
) -> None:
    """Whatever was found, every piece is ranked once and none above a nearer one."""
    for hits, compared in ((found, None), ({}, compared_of(meant)), (found, compared_of(meant))):
        ranked = rank(hits_of(hits), compared, QueryWeight(weight, 7.0), order).ranked
        scores = [each.score for each in ranked]
        assert all(0.0 <= score <= 1.0 for score in scores)
        assert scores == sorted(scores, reverse=True)
        there = hits.keys() | (meant.keys() if compared else set())
        assert sorted(each.key for each in ranked) == sorted(there)


@given(meant=MEANT, noise=st.dictionaries(KEYS, st.floats(0.0, 10.0), min_size=1, max_size=12))
def test_hits_by_chance_leave_the_order_of_meanings(
    meant: dict[int, float], noise: dict[int, float]
) -> None:
    """Words that hold a third of a question at most do not move what is near in meaning."""
    compared = compared_of(meant)
    both = rank(hits_of(noise), compared, ASKED, order)
    assert both.ranker == "hybrid"
    alone = [each.key for each in rank([], compared, ASKED, order).ranked]
    nearer = [key for key in alone if meant[key] > compared.mean + 1e-6]
    assert [each.key for each in both.ranked][: len(nearer)] == nearer


def test_a_piece_with_all_words_is_first_though_others_are_nearer() -> None:
    """A name or a number that a model does not know is found by its letters."""
    meant = {key: 0.1 + 0.01 * (key % 3) for key in range(30)} | {3: 0.5}
    ranking = rank([LexicalHit(9, 25.0), LexicalHit(3, 3.0)], compared_of(meant), ASKED, order)
    assert [each.key for each in ranking.ranked[:2]] == [9, 3]


def test_a_crowd_of_equal_hits_is_chance() -> None:
    """A piece whose words many others have as well does not pass what is near in meaning."""
    meant = {key: 0.1 + 0.01 * (key % 3) for key in range(30)} | {3: 0.5}
    crowd = [LexicalHit(key, 16.0) for key in range(4, 24)]
    ranking = rank(crowd, compared_of(meant), ASKED, order)
    assert ranking.ranked[0].key == 3
    assert rank(crowd[:5], compared_of(meant), ASKED, order).ranked[0].key != 3


def test_of_pieces_with_all_words_the_nearer_one_is_first() -> None:
    """Where words tell nothing apart, meanings do."""
    meant = {key: 0.1 + 0.01 * (key % 3) for key in range(30)} | {4: 0.4, 5: 0.6}
    ranking = rank([LexicalHit(4, 25.0), LexicalHit(5, 25.0)], compared_of(meant), ASKED, order)
    assert [each.key for each in ranking.ranked[:2]] == [5, 4]


def test_a_hit_without_a_vector_is_ranked_by_its_words() -> None:
    """While vectors are still being made, what has all words comes first nevertheless."""
    meant = {key: 0.1 + 0.01 * (key % 3) for key in range(30)}
    ranking = rank([LexicalHit(99, 25.0)], compared_of(meant), ASKED, order)
    assert ranking.ranked[0].key == 99


def test_a_question_weighs_what_its_words_do_and_a_spare_one() -> None:
    """Of the forms of a word the rarest counts; a word that is nowhere is the heaviest."""
    words = (("house", "hous"), ("zebra",), ("xylophone",))
    found = weigh_query(words, {"house": 50, "hous": 10, "zebra": 1}, 100)
    assert found.weight == inverse_document_frequency(10, 100) + inverse_document_frequency(
        1, 100
    ) + (1 + SPARE_WORDS) * inverse_document_frequency(0, 100)
    assert found.rarest == inverse_document_frequency(0, 100)
    assert (
        inverse_document_frequency(0, 100)
        > inverse_document_frequency(1, 100)
        > inverse_document_frequency(10, 100)
        > inverse_document_frequency(99, 100)
        > 0
    )
