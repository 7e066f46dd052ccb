"""Active content as it is collected: what is new is told, however much there was before."""

import pytest

from kbd.formats.active import MAX_KEPT, MAX_TEXTS, ActiveContent


def collected(*contents: str, filler: int = 0) -> ActiveContent:
    """Return a collection of some scripts, behind as many others as are asked for."""
    found = ActiveContent()
    for number in range(filler):
        found.add("script", str(number))
    for content in contents:
        found.add("script", content, "line 1")
    return found


def test_only_what_is_new_is_told() -> None:
    """What another one has, wherever it stands there, is no news; many texts are counted."""
    assert collected("a", "b").new_texts([collected("a")]) == ("line 1: script: b",)
    assert collected("a").new_texts([collected("b"), collected("a")]) == ()
    texts = collected(*map(str, range(MAX_TEXTS + 5))).new_texts()
    assert len(texts) == MAX_TEXTS
    assert texts[-1] == "and 6 more"


@pytest.mark.full
def test_beyond_what_is_compared_nothing_passes_as_known() -> None:
    """A file with too many pieces to compare has something new, also if it had so many before."""
    before, after = collected(filler=MAX_KEPT), collected("new", filler=MAX_KEPT)
    assert before.new_texts([before]) == ()
    assert after.new_texts([before]) == ("more than 100,000 pieces",)
    assert after.new_texts([after]) == ("more than 100,000 pieces",)
