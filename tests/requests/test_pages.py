"""Pages of long lists: cursors hold while lists change, and what is no cursor is refused."""

import base64
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbd.errors import ValidationFailed
from kbd.requests.base import UNSET, Unset
from kbd.requests.pages import decode_cursor, encode_cursor, page_of

OF = ("Rows", "red", "", False)
RISING = tuple((number,) for number in range(1, 6))

PLACES = st.tuples(st.text(max_size=8), st.integers(-(2**53), 2**53))
CHANGES = st.lists(st.tuples(st.sets(PLACES, max_size=5), st.sets(PLACES, max_size=5)), max_size=9)


def itself(row: Any) -> Any:
    """Return a row, which is its own place."""
    return row


def crafted(*packed: Any) -> str:
    """Return a cursor that has whatever is wanted in it."""
    return base64.urlsafe_b64encode(msgspec.msgpack.encode(packed)).rstrip(b"=").decode()


def checksum_of(cursor: str) -> int:
    """Return the checksum of its list that a cursor has in it."""
    found: list[Any] = msgspec.msgpack.decode(
        base64.urlsafe_b64decode(cursor + "=="[: -len(cursor) % 4])
    )
    return int(found[0])


@given(PLACES)
def test_a_cursor_says_the_place_that_it_was_made_of(place: tuple[str, int]) -> None:
    """Any text and number come back as they were, out of a text that can stand in an address."""
    cursor = encode_cursor(OF, place)

    assert decode_cursor(cursor, OF, (str, int)) == place
    assert set(cursor) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")


@pytest.mark.parametrize(
    "other",
    [
        ("Others", "red", "", False),
        ("Rows", "blue", "", False),
        ("Rows", "red", "blue", False),
        ("Rows", "red", "", True),
    ],
)
def test_a_cursor_of_another_list_is_refused(other: tuple[Any, ...]) -> None:
    """Its method, its filters and its order tell a list from others."""
    with pytest.raises(ValidationFailed, match="without a cursor for the first page") as refused:
        decode_cursor(encode_cursor(other, (3,)), OF, (int,))
    assert refused.value.code == "VALIDATION_FAILED"


OWN = checksum_of(encode_cursor(OF, (3,)))


@pytest.mark.parametrize(
    "cursor",
    [
        "!", "A", "AAAA", "ä", "a b=", "=", "\x00", "x" * 2048, "gICAgICA",
        crafted(), crafted(OWN), crafted(OWN, 3), crafted(OWN, [3], 1)[:-2], crafted("x", [3]),
        crafted(OWN, [3.5]), crafted(OWN, [float("nan")]), crafted(OWN, [True]),
        crafted(OWN, [None]), crafted(OWN, [[3]]), crafted(OWN, {"a": 3}),
        crafted(OWN, []), crafted(OWN, ["3"]), crafted(OWN, [3, 3]), crafted(OWN + 1, [3]),
    ],
)  # fmt: skip
def test_what_is_no_cursor_is_refused(cursor: str) -> None:
    """Also one with the right checksum and a place that no row could have: nothing else is raised.

    Such a place could not be compared with those of the rows.
    """
    with pytest.raises(ValidationFailed) as refused:
        page_of(RISING, itself, (int,), OF, UNSET, cursor)
    assert refused.value.code == "VALIDATION_FAILED"


@given(st.text(min_size=1, max_size=50))
def test_any_text_is_a_cursor_or_refused(text: str) -> None:
    """Whatever a client sends, it gets a page or a refusal."""
    try:
        rows, _ = page_of(RISING, itself, (int,), OF, UNSET, text)
    except ValidationFailed:
        return
    assert set(rows) <= set(RISING)


@pytest.mark.parametrize(
    ("limit", "after", "page", "is_last"),
    [
        (UNSET, UNSET, (1, 2, 3, 4, 5), True),
        (5, UNSET, (1, 2, 3, 4, 5), True),
        (4, UNSET, (1, 2, 3, 4), False),
        (2, 2, (3, 4), False),
        (3, 2, (3, 4, 5), True),
        (UNSET, 4, (5,), True),
        (1, 5, (), True),
    ],
)
def test_a_page_ends_where_there_are_no_more(
    limit: int | Unset, after: int | Unset, page: tuple[int, ...], is_last: bool
) -> None:
    """There is a cursor only if there are more rows, so none leads to an empty page for nothing."""
    cursor = UNSET if isinstance(after, Unset) else encode_cursor(OF, (after,))
    rows, following = page_of(RISING, itself, (int,), OF, limit, cursor)

    assert tuple(row for (row,) in rows) == page
    assert isinstance(following, Unset) is is_last


def test_a_cursor_may_be_of_a_list_that_is_empty_by_now() -> None:
    """What is gone meanwhile is no error."""
    assert page_of((), itself, (int,), OF, 2, encode_cursor(OF, (3,))) == ((), UNSET)


@given(st.sets(PLACES, max_size=30), CHANGES, st.integers(1, 7))
def test_rows_that_stay_are_met_once(
    rows: set[tuple[str, int]], changes: list[tuple[set[Any], set[Any]]], limit: int
) -> None:
    """Whatever comes and goes between pages; and no row at all is met twice."""
    stayed, met = set(rows), list[Any]()
    cursor: str | Unset = UNSET
    for added, removed in [*changes, *[(set(), set())] * 100]:
        page, cursor = page_of(sorted(rows), itself, (str, int), OF, limit, cursor)
        met += page
        if isinstance(cursor, Unset):
            break
        rows = (rows | added) - removed
        stayed -= removed

    assert cursor is UNSET
    assert len(set(met)) == len(met)
    assert stayed <= set(met)
    assert met == sorted(met)
