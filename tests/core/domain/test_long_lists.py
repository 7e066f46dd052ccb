"""Paged lists and dicts: the same as plain ones, whatever of them is in pages."""

import random
from typing import Any
from zlib import crc32

import msgspec
import pytest

from kbd.core.domain.long_lists import (
    BytesPlace,
    PagedDict,
    PagedList,
    copy_state,
    decode_state,
    encode_state,
    move_pages,
    plain_parts,
    seal_state,
    used_bytes,
)


class Item(msgspec.Struct):
    """An item that can be changed."""

    text: str
    marks: set[int] = set()


class Long(msgspec.Struct):
    """A state with one of each."""

    items: PagedList[Item] = msgspec.field(default_factory=PagedList)
    named: PagedDict[str, Item] = msgspec.field(default_factory=PagedDict)
    numbered: PagedDict[int, int] = msgspec.field(default_factory=PagedDict)


class Pages:
    """A source of pages in memory, and how often it was read."""

    def __init__(self) -> None:
        self.data, self.reads = b"", 0

    def write(self, data: bytes) -> BytesPlace:
        """Append."""
        place = BytesPlace(len(self.data), len(data), crc32(data))
        self.data += data
        return place

    def read(self, place: BytesPlace) -> bytes:
        """Return what was appended."""
        self.reads += 1
        found = self.data[place.offset : place.offset + place.size_bytes]
        assert crc32(found) == place.checksum
        return found


def sealed(state: Long, pages: Pages, page_bytes: int = 60) -> Long:
    """The state as it comes from a snapshot of it."""
    made = copy_state(state, Long)
    seal_state(made, pages.write, page_bytes)
    return decode_state(encode_state(made), Long, pages)


def check(state: Long, items: list[Item], named: dict[str, Item], numbered: dict[int, int]) -> None:
    """Look at all of it in each way that there is."""
    assert list(state.items) == items
    assert list(reversed(state.items)) == items[::-1]
    assert [state.items[place] for place in range(-len(items), len(items))] == items * 2
    assert state.items[1:-1] == items[1:-1]
    with pytest.raises(IndexError):
        state.items[len(items)]
    with pytest.raises(IndexError):
        state.items[-len(items) - 1]
    pairs: list[tuple[PagedDict[Any, Any], dict[Any, Any]]]
    pairs = [(state.named, named), (state.numbered, numbered)]
    for long, plain in pairs:
        assert dict(long.items()) == plain
        assert [key for key, _ in long.newest()][::-1] == list(long)
        assert all(long.get(key) == value for key, value in plain.items())
        assert {long.place_of(key) for key in plain} <= set(range(len(long)))
    assert state.named.get("no such key") is None
    assert -5 not in state.numbered
    shown = msgspec.to_builtins(state, enc_hook=plain_parts, order="deterministic")
    assert shown["items"] == msgspec.to_builtins(items, order="deterministic")


@pytest.mark.parametrize("seed", range(12))
def test_it_is_the_same_as_without_pages(seed: int) -> None:
    """Appended to, changed, replaced, sealed and copied in any order, it holds what it should."""
    chance, pages, state = random.Random(seed), Pages(), Long()
    items: list[Item] = []
    named: dict[str, Item] = {}
    numbered: dict[int, int] = {}
    for step in range(300):
        match chance.randrange(9):
            case 0 | 1 | 2:
                text = "x" * chance.randrange(40)
                items.append(Item(text))
                state.items.append(Item(text))
            case 3:
                key = f"k{step}"
                named[key] = Item(key)
                state.named.add(key, Item(key))
            case 4:
                numbered[step] = step * step
                state.numbered.add(step, step * step)
            case 5 if items:
                place = chance.randrange(len(items))
                items[place].marks.add(step)
                state.items.editable(place).marks.add(step)
            case 6 if named:
                key = chance.choice(list(named))
                named[key] = Item(f"again {step}")
                found = state.named.place_of(key)
                assert found is not None
                state.named.replace(found, Item(f"again {step}"))
            case 7:
                state = sealed(state, pages)
            case _:
                state = copy_state(state, Long)
    check(state, items, named, numbered)
    check(sealed(state, pages), items, named, numbered)
    assert pages.reads > 20


def test_a_copy_shares_nothing_that_is_changed() -> None:
    """What is changed in a copy, in a page or not, is not changed in the other."""
    pages, state = Pages(), Long(items=PagedList(Item("y" * 30) for _ in range(20)))
    state = sealed(state, pages)
    copy = copy_state(state, Long)
    for place in (0, 19):
        copy.items.editable(place).marks.add(place)
    copy.items.append(Item("z"))

    assert all(not item.marks for item in state.items)
    assert len(state.items) == 20
    assert [place for place, item in enumerate(copy.items) if item.marks] == [0, 19]


def test_a_state_is_small_however_long_its_lists_are() -> None:
    """What a snapshot has to read is the places of pages and the newest items."""
    sizes = []
    for count in (200, 20_000):
        long = Long(
            items=PagedList(Item(f"number {n}" * 5) for n in range(count)),
            named=PagedDict((f"k{n}", Item("v")) for n in range(count)),
        )
        pages = Pages()
        state = sealed(long, pages, 4096)
        assert used_bytes(state) == len(pages.data)
        pages.reads = 0
        state = decode_state(encode_state(state), Long, pages)
        assert pages.reads == 0, "nothing is read before it is asked for"
        state.items[0]
        state.named["k0"]
        sizes.append(len(encode_state(state)))
    assert sizes[1] < 3 * sizes[0]


def test_pages_can_be_moved() -> None:
    """With their places named anew, all is found in the new file."""
    old, new = Pages(), Pages()
    state = sealed(Long(named=PagedDict((f"k{n}", Item("v" * 20)) for n in range(50))), old)
    move_pages(state, lambda place: new.write(old.read(place)))
    moved = decode_state(encode_state(state), Long, new)

    assert [moved.named[f"k{n}"].text for n in range(50)] == ["v" * 20] * 50
    assert len(new.data) == used_bytes(moved)


def test_of_a_key_that_was_added_twice_the_newest_counts() -> None:
    """As in a dict, in pages, too."""
    state = Long(numbered=PagedDict((n % 7, n) for n in range(100)))
    for each in (state, sealed(state, Pages(), 30)):
        assert {key: each.numbered[key] for key in range(7)} == {n % 7: n for n in range(100)}
