"""All text a part at a time: the parts, one after the other, are the whole."""

from hypothesis import given
from hypothesis import strategies as st

from kbd.core.plugins.pieces import Extract, extract
from kbd.formats import Passage

TEXTS = st.lists(st.text(max_size=12), max_size=8)


def passages(texts: list[str]) -> list[Passage]:
    """Passages of these texts, each with its place."""
    return [Passage(text, f"p{place}") for place, text in enumerate(texts)]


def lines(text: str) -> str:
    """The text of a passage as it is told: its last line ends."""
    return text if text.endswith("\n") else text + "\n"


def all_parts(texts: list[str], limit: int) -> list[Extract]:
    """Every part, as a client asks for them."""
    parts, cursor = [], (0, 0)
    while True:
        parts.append(extract(passages(texts), *cursor, limit))
        following = parts[-1].following
        if following is None:
            return parts
        assert following > cursor
        cursor = following


@given(TEXTS, st.integers(1, 40))
def test_the_parts_are_the_whole(texts: list[str], limit: int) -> None:
    """Whatever the limit: no part is longer, nothing is lost or told twice."""
    parts = all_parts(texts, limit)
    assert all(len(part.text) <= limit for part in parts)
    assert "".join(part.text for part in parts) == "".join(map(lines, texts))


@given(TEXTS, st.integers(1, 40))
def test_places_say_whose_text_it_is(texts: list[str], limit: int) -> None:
    """What stands from one place to the next is of that passage, in order."""
    found: dict[str, str] = {}
    for part in all_parts(texts, limit):
        starts = [start for _, start in part.places]
        ends = [*starts[1:], len(part.text)][: len(starts)]
        for (place, start), stop in zip(part.places, ends, strict=True):
            found[place] = found.get(place, "") + part.text[start:stop]
    assert found == {f"p{place}": lines(text) for place, text in enumerate(texts)}


def test_passages_stand_on_lines_of_their_own() -> None:
    """Each line ends; places say where passages start."""
    found = extract(passages(["a", "b\n", "c"]), 0, 0, 100)
    assert found == Extract("a\nb\nc\n", (("p0", 0), ("p1", 2), ("p2", 4)))


def test_past_the_end_there_is_nothing() -> None:
    """Neither is that an error, nor does it go on for ever."""
    assert extract(passages(["a"]), 5, 0, 10) == Extract("", ())
    assert extract(passages(["a"]), 0, 5, 10) == Extract("", (("p0", 0),))
