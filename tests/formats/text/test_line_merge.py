"""Two sets of changed lines in one text: put together, or named; never lost and never guessed."""

from collections import Counter
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kbd.errors import FileReadFailed
from kbd.formats import Source
from kbd.plaintext.merge import LineClash, merge_files, merge_lines

Edits = dict[int, list[str]]
"""By the line of the base, what stands in its place."""


def _applied(base: list[str], edits: Edits) -> list[str]:
    return [line for place, own in enumerate(base) for line in edits.get(place, [own])]


def _random_edits(chance: Random, places: list[int], side: str) -> Edits:
    """Replace, remove and split lines, each marked as this side's."""
    edits: Edits = {}
    for place in places:
        mark = f"{side} {place}"
        edits[place] = chance.choice(
            ([mark], [], [mark, f"{mark} and more"], [f"line {place}", mark])
        )
    return edits


@pytest.mark.sampled(25)
@pytest.mark.parametrize("seed", range(100))
def test_changes_of_other_lines_are_put_together(seed: int) -> None:
    """It is as if both had been made one after the other, in either order."""
    chance = Random(seed)
    base = [f"line {n}" for n in range(60)]
    # A line between any two that are changed, so that nobody can doubt which is which.
    places = chance.sample(range(0, 60, 2), 16)
    mine, yours = (_random_edits(chance, part, side) for part, side in
                   ((places[:8], "ours"), (places[8:], "theirs")))  # fmt: skip
    merged, clashes = merge_lines(base, _applied(base, mine), _applied(base, yours))

    assert clashes == []
    assert merged == _applied(base, mine | yours)
    assert merge_lines(base, _applied(base, yours), _applied(base, mine)) == (merged, [])


@pytest.mark.parametrize("seed", range(100))
def test_lines_that_both_changed_are_named_exactly(seed: int) -> None:
    """Just those, with what either side has of them; what both made the same is none."""
    chance = Random(seed)
    base = [f"line {n}" for n in range(60)]
    places = chance.sample(range(1, 59, 2), 12)
    both, same = sorted(places[:4]), places[4:6]
    mine = {place: [f"ours {place}"] for place in (*both, *places[6:9])}
    yours = {place: [f"theirs {place}"] for place in (*both, *places[9:])}
    agreed = {place: [f"agreed {place}"] for place in same}
    _, clashes = merge_lines(base, _applied(base, mine | agreed), _applied(base, yours | agreed))

    spans = [(place, place + 1) for place in both]
    assert clashes == [LineClash(span, span, span) for span in spans]


def test_an_insertion_among_like_lines_has_no_certain_place() -> None:
    """Which of them was put in cannot be told, so a change of any of them is in the way."""
    base = ["begin", "-", "-", "-", "end"]
    inserted = ["begin", "-", "-", "-", "-", "end"]

    assert merge_lines(base, ["begin", "-", "CHANGED", "-", "end"], inserted)[1]
    assert merge_lines(base, ["BEGIN", "-", "-", "-", "end"], inserted)[1]
    assert merge_lines(base, ["begin", "-", "-", "end"], ["begin", "-", "CHANGED", "-", "end"])[1]


def test_two_insertions_at_one_place_are_in_each_others_way() -> None:
    """Which comes first nobody has said; two that are equal are one."""
    base = ["a", "b"]

    assert merge_lines(base, ["a", "x", "b"], ["a", "y", "b"])[1] == [
        LineClash((1, 1), (1, 2), (1, 2))
    ]
    assert merge_lines(base, ["a", "x", "b"], ["a", "x", "b"]) == (["a", "x", "b"], [])
    assert merge_lines(base, ["a", "b", "x"], ["a", "b", "y"])[1]


def test_lines_side_by_side_that_were_replaced_are_other_lines() -> None:
    """One for one: then no line can be missing between them."""
    assert merge_lines(["a", "b", "c"], ["A", "b", "c"], ["a", "B", "c"]) == (["A", "B", "c"], [])
    assert merge_lines(["a", "b", "c"], ["a", "c"], ["a", "b", "C"]) == (["a", "C"], [])
    assert merge_lines(["a", "b", "c"], ["A", "x", "b", "c"], ["a", "B", "c"])[1]


_LINES = st.lists(st.sampled_from("abcd"), max_size=8)


@settings(max_examples=300)
@given(base=_LINES, ours=_LINES, theirs=_LINES)
def test_no_line_is_lost_or_doubled(base: list[str], ours: list[str], theirs: list[str]) -> None:
    """Of any three texts: what either side put in is in, what either took out is out."""
    merged, clashes = merge_lines(base, ours, theirs)

    assert merge_lines(base, ours, base) == (ours, [])
    assert merge_lines(base, base, theirs) == (theirs, [])
    assert merge_lines(base, ours, ours) == (ours, [])
    other, others = merge_lines(base, theirs, ours)
    assert len(others) == len(clashes)
    if clashes:
        return
    assert other == merged
    if ours != theirs:
        counted = [Counter(lines) for lines in (base, ours, theirs, merged)]
        for line in "abcd":
            was, mine, yours, now = (each[line] for each in counted)
            # Both may have done some of it alike.
            assert now - was in range(
                min(mine - was, yours - was, mine + yours - 2 * was),
                max(mine - was, yours - was, mine + yours - 2 * was) + 1,
            )


def _merged(folder: Path, base: bytes, ours: bytes, theirs: bytes) -> bytes | None:
    sources = []
    for name, data in (("base", base), ("ours", ours), ("theirs", theirs)):
        path = folder / name
        path.write_bytes(data)
        sources.append(Source(path, "a.txt"))
    target = folder / "merged"
    target.unlink(missing_ok=True)
    found = merge_files(sources[0], sources[1], sources[2], target)
    assert target.exists() != bool(found.clashes)
    return target.read_bytes() if target.exists() else None


def test_encoding_and_line_ends_are_those_of_the_side_that_changed_them(tmp_path: Path) -> None:
    """What a side left alone, it did not mean to bring back."""
    base = "über\r\nzwei\r\ndrei\r\n".encode("cp1252")
    theirs = "über\r\nzwei\r\nDREI\r\n".encode("cp1252")

    # A model writes UTF-8 and line feeds, whatever there was.
    assert _merged(tmp_path, base, "ÜBER\nzwei\ndrei\n".encode(), theirs) == (
        "ÜBER\nzwei\nDREI\n".encode()
    )
    assert _merged(tmp_path, base, "ÜBER\r\nzwei\r\ndrei\r\n".encode("cp1252"), theirs) == (
        "ÜBER\r\nzwei\r\nDREI\r\n".encode("cp1252")
    )
    assert _merged(tmp_path, b"a\nb\nc\n", b"A\nb\nc\n", b"a\r\nb\r\nc\r\n") == b"A\r\nb\r\nc\r\n"


def test_ends_that_are_mixed_are_part_of_their_lines(tmp_path: Path) -> None:
    """They come back as they were."""
    base = b"a\r\nb\nc\nd\n"

    assert _merged(tmp_path, base, b"a\r\nb\nc\nD\n", b"a\r\nB\nc\nd\n") == b"a\r\nB\nc\nD\n"
    assert _merged(tmp_path, base, b"A\r\nb\nc\nd\n", b"a\nb\nc\nd\n") is None


def test_what_is_no_text_is_not_merged(tmp_path: Path) -> None:
    """Nor is a text that its encoding could not hold."""
    with pytest.raises(FileReadFailed, match="not text in one encoding"):
        _merged(tmp_path, b"a\0b\n", b"a\0c\n", b"x\0b\n")


def test_a_clash_tells_the_lines(tmp_path: Path) -> None:
    """As they are in the draft's version, with the texts of all three."""
    paths = []
    for name, text in (("b", "one\ntwo\n"), ("o", "zero\none\nTWO\n"), ("t", "one\n2\n")):
        (tmp_path / name).write_text(text)
        paths.append(Source(tmp_path / name, "a.txt"))
    (clash,) = merge_files(paths[0], paths[1], paths[2], tmp_path / "x").clashes

    assert (clash.place.title, clash.place.line) == ("line 3", 3)
    assert (clash.before, clash.ours, clash.theirs) == ("two", "TWO", "2")
