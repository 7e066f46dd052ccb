"""Alignment of sequences: what comes out rebuilds both sides, in linear time for whatever comes."""

import random
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbd.formats import alignment
from kbd.formats.alignment import AlignedBlock, align, diff_words, find_moves, pair_similar

FEW = st.lists(st.integers(0, 4), max_size=40)
MANY = st.lists(st.integers(0, 60), max_size=60)


def check(before: Sequence[object], after: Sequence[object]) -> tuple[AlignedBlock, ...]:
    """Align, and hold the result to all that it promises."""
    blocks = align(before, after)
    i = j = 0
    for block in blocks:
        assert (block.i1, block.j1) == (i, j), "there is a gap"
        i, j = block.i2, block.j2
        sides = (block.i2 > block.i1, block.j2 > block.j1)
        if block.kind == "equal":
            assert list(before[block.i1 : i]) == list(after[block.j1 : j])
            assert sides == (True, True)
        expected = {"removed": (True, False), "added": (False, True)}

        assert sides == expected.get(block.kind, (True, True))
    assert (i, j) == (len(before), len(after))
    for one, other in pairwise(blocks):
        assert (one.kind == "equal") != (other.kind == "equal"), "two blocks are one"
    return blocks


@given(before=st.one_of(FEW, MANY), after=st.one_of(FEW, MANY))
def test_blocks_make_one_side_of_the_other(before: list[int], after: list[int]) -> None:
    """The blocks cover both sides in order, and equal stretches are equal."""
    check(before, after)


@pytest.mark.parametrize("seed", range(20))
def test_an_edited_sequence_differs_where_it_was_edited(seed: int) -> None:
    """Of items that occur once, exactly those that were changed are not equal."""
    chance = random.Random(seed)
    before = list(range(500))
    gone = set(chance.sample(before, 20))
    after = [item for item in before if item not in gone]
    come = [1000 + number for number in range(20)]
    for item in come:
        after.insert(chance.randrange(len(after)), item)

    blocks = [block for block in check(before, after) if block.kind != "equal"]

    assert {before[i] for b in blocks for i in range(b.i1, b.i2)} == gone
    assert {after[j] for b in blocks for j in range(b.j1, b.j2)} == set(come)


def test_an_inserted_run_is_one_block() -> None:
    """Repeated items around it do not tear it apart."""
    before = [0, 0, 1, 0, 0, 2, 0, 0]
    after = [*before[:4], 7, 8, 9, *before[4:]]

    assert [block.kind for block in check(before, after)] == ["equal", "added", "equal"]


@given(before=FEW, after=FEW)
def test_few_edits_are_a_shortest_script(before: list[int], after: list[int]) -> None:
    """Without anchors as much is equal as the longest common subsequence has."""
    longest = [[0] * (len(after) + 1) for _ in range(len(before) + 1)]
    for i, one in enumerate(before):
        for j, other in enumerate(after):
            grown = longest[i][j] + 1 if one == other else 0
            longest[i + 1][j + 1] = max(longest[i][j + 1], longest[i + 1][j], grown)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(alignment, "MAX_ROUNDS", 0)
        equal = sum(b.i2 - b.i1 for b in check(before, after) if b.kind == "equal")

    assert equal == longest[-1][-1]


class Counted(list[object]):
    """A list that counts how many of its items were looked at."""

    looked_at = 0

    def __getitem__(self, place):  # type: ignore[no-untyped-def]
        found = super().__getitem__(place)
        Counted.looked_at += len(found) if isinstance(place, slice) else 1
        return found


def test_anchors_that_set_each_other_free_cost_no_square() -> None:
    """Where each anchor makes one more item unique the work ends early, the blocks are right."""
    count = 2000
    before, after = Counted(["A"]), Counted(["A"])
    for number in range(1, count):
        before += [f"x{number}", f"x{number - 1}"]
        after += [f"y{number}", f"x{number - 1}"]
    Counted.looked_at = 0
    align(before, after)

    # Without an end it would be the square of the number, some hundred times as much.
    assert Counted.looked_at < 150 * len(before)
    check(list(before), list(after))


def test_noise_between_anchors_costs_no_more_than_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """The edits that are looked for in all stretches together are limited; the blocks are right."""
    chance = random.Random(5)
    before: list[object] = []
    after: list[object] = []
    for number in range(30):
        for side in (before, after):
            side.append(f"anchor {number}")
            side.extend(chance.randrange(5) for _ in range(200))
    fine = sum(b.i2 - b.i1 for b in check(before, after) if b.kind == "equal")
    monkeypatch.setattr(alignment, "MAX_STEPS", 20_000)
    coarse = sum(b.i2 - b.i1 for b in check(before, after) if b.kind == "equal")

    assert 30 <= coarse < fine


@pytest.mark.parametrize("seed", range(20))
def test_a_moved_run_is_found_where_it_went(seed: int) -> None:
    """A run that stands elsewhere is one move with its length."""
    chance = random.Random(seed)
    before = list(range(100))
    start, length = chance.randrange(70), chance.randrange(1, 10)
    run, rest = before[start : start + length], before[:start] + before[start + length :]
    target = chance.randrange(start + 20, len(rest) + 1) if start < 60 else chance.randrange(40)
    after = rest[:target] + run + rest[target:]

    moves = find_moves(align(before, after), before, after)

    for move in moves:
        assert before[move.before :][: move.length] == after[move.after :][: move.length]
    assert [(start, target, length)] == [tuple(move) for move in moves]


@given(before=FEW, after=FEW)
def test_moves_are_of_items_that_went_and_came(before: list[int], after: list[int]) -> None:
    """What moved is equal on both sides, and was neither equal in place nor ambiguous."""
    blocks = align(before, after)
    gone = [i for b in blocks if b.kind != "equal" for i in range(b.i1, b.i2)]
    come = [j for b in blocks if b.kind != "equal" for j in range(b.j1, b.j2)]
    for move in find_moves(blocks, before, after):
        for step in range(move.length):
            i, j = move.before + step, move.after + step

            assert before[i] == after[j]
            assert [before[k] for k in gone].count(before[i]) == 1
            assert [after[k] for k in come].count(after[j]) == 1


def alike(one: int, other: int) -> float:
    return max(0.0, 1 - abs(one - other) / 10)


@given(before=MANY, after=MANY)
def test_similar_items_pair_in_order(before: list[int], after: list[int]) -> None:
    """Pairs ascend on both sides, and each is as similar as it must be."""
    pairs = pair_similar(before, after, alike, 0.7)

    for (i, j), (later_i, later_j) in pairwise(pairs):
        assert i < later_i
        assert j < later_j
    assert all(alike(before[i], after[j]) >= 0.7 for i, j in pairs)


def test_the_most_similar_pairs_win() -> None:
    """An item pairs with the one that is most like it, not with the next one."""
    assert pair_similar([10, 20], [1, 10, 19], alike, 0.5) == ((0, 1), (1, 2))


def test_many_items_pair_by_place(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where all comparisons would cost too much, those at the same place are compared."""
    monkeypatch.setattr(alignment, "MAX_PAIRINGS", 5)

    assert pair_similar([1, 50, 3], [1, 2, 3], alike, 0.5) == ((0, 0), (2, 2))


TEXT = st.text(alphabet="ab 1.,\n'é𝄞", max_size=60)


@given(before=TEXT, after=TEXT)
def test_words_rebuild_both_texts(before: str, after: str) -> None:
    """The words without those added are the text before, without those removed the text after."""
    words = diff_words(before, after)

    assert "".join(text for kind, text in words if kind != "added") == before
    assert "".join(text for kind, text in words if kind != "removed") == after
    assert all(text for _, text in words)


def test_a_character_of_a_script_without_spaces_is_a_word() -> None:
    """One that came into a sentence is shown alone, also beside letters and figures."""
    assert diff_words("太空探索历程", "太空探索的历程") == (
        ("equal", "太空探索"), ("added", "的"), ("equal", "历程"),
    )  # fmt: skip
    assert diff_words("第314.60号ABC", "第341.60号ABC") == (
        ("equal", "第"), ("removed", "314.60"), ("added", "341.60"), ("equal", "号ABC"),
    )  # fmt: skip


def test_a_number_is_one_word() -> None:
    """A figure that differs in a digit differs as a whole."""
    expected = (
        ("equal", "total "), ("removed", "314.60"), ("added", "341.60"), ("equal", " EUR"),
    )  # fmt: skip
    assert diff_words("total 314.60 EUR", "total 341.60 EUR") == expected


def test_very_long_texts_are_replaced_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """Past a number of words, or of characters, the text is not taken apart."""
    monkeypatch.setattr(alignment, "MAX_TOKENS", 10)
    for before, after in (("a " * 9, "a " * 8), ("x" * 50, "x" * 51)):
        assert diff_words(before, after) == (("removed", before), ("added", after))
