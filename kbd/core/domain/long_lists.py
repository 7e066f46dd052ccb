"""Lists and dicts of a state that grow for ever: the newest items in memory, the others in pages.

A workbench of a million events has tens of thousands of runs and messages, and hardly any of them
is looked at again. So a snapshot writes older items to pages of some 32 KiB, once, and a state that
comes from it reads a page when one of its items is asked for. What a fold changes in such an item
stays in memory until the next snapshot, which writes its page anew.

Nothing here does I/O: whoever makes a state from a snapshot gives it the source of its pages.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from hashlib import blake2b
from typing import Any, Generic, Protocol, TypeVar, cast, get_args, get_origin, overload

import msgspec

__all__ = [
    "PAGE_BYTES",
    "BytesPlace",
    "PageSource",
    "PagedDict",
    "PagedList",
    "copy_state",
    "decode_state",
    "describe_state",
    "encode_state",
    "move_pages",
    "plain_parts",
    "seal_state",
    "used_bytes",
]

PAGE_BYTES = 32 * 1024
"""The size at which a page is full. What is left of a list in memory is less than twice that."""

_CACHED_PAGES = 4
"""How many pages of a list stay decoded: what is asked for together is mostly near."""

_DIGEST_BYTES = 8


class BytesPlace(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A place in the file of pages: offset and size in bytes, and the checksum of what is there."""

    offset: int
    size_bytes: int
    checksum: int


class PageSource(Protocol):
    """Reads what was written to a place."""

    def read(self, place: BytesPlace) -> bytes:
        """Return the bytes of a place.

        Raises:
            KbdError: They are not there any more as they were written.
        """


Write = Callable[[bytes], BytesPlace]
"""Writes bytes and returns their place."""


class _Page(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A page: the index of its first item, how many it has, and of a dict digests of its keys."""

    first: int
    count: int
    items: BytesPlace
    digests: BytesPlace | None = None


T = TypeVar("T")
K = TypeVar("K", int, str)
V = TypeVar("V")


class PagedList(Generic[T]):
    """List to which is only ever appended.

    Args:
        items: What it begins with.
    """

    __slots__ = ("_cached", "_changed", "_kind", "_pages", "_source", "_tail", "_tail_at")

    def __init__(self, items: Iterable[T] = ()) -> None:
        self._tail = list(items)
        self._tail_at = 0
        self._pages: list[_Page] = []
        self._changed: dict[int, T] = {}
        self._cached: dict[int, list[T]] = {}
        self._kind: Any = None
        self._source: PageSource | None = None

    def __len__(self) -> int:
        return self._tail_at + len(self._tail)

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> list[T]: ...
    def __getitem__(self, index: int | slice) -> T | list[T]:
        if isinstance(index, slice):
            return [self[each] for each in range(*index.indices(len(self)))]
        if index < 0:
            index += len(self)
        if index >= self._tail_at:
            return self._tail[index - self._tail_at]
        if index < 0:
            raise IndexError(index)
        if index in self._changed:
            return self._changed[index]
        number = self._page_of(index)
        return self._items(number)[index - self._pages[number].first]

    def __iter__(self) -> Iterator[T]:
        for number, page in enumerate(self._pages):
            for index, item in enumerate(self._items(number), page.first):
                yield self._changed.get(index, item)
        yield from self._tail

    def __reversed__(self) -> Iterator[T]:
        yield from reversed(self._tail)
        for number in range(len(self._pages) - 1, -1, -1):
            items, first = self._items(number), self._pages[number].first
            for place in range(len(items) - 1, -1, -1):
                yield self._changed.get(first + place, items[place])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PagedList | list):
            return NotImplemented
        return len(self) == len(other) and all(
            one == two for one, two in zip(self, other, strict=True)
        )

    __hash__ = None  # type: ignore[assignment]  # it changes

    def __repr__(self) -> str:
        return repr(list(self))

    def append(self, item: T) -> None:
        """Add an item at the end."""
        self._tail.append(item)

    def editable(self, index: int) -> T:
        """Return an item that the caller will change; one that is only read must not be changed."""
        if index < self._tail_at and index not in self._changed:
            self._changed[index] = self[index]
        return self[index]

    def replace(self, index: int, item: T) -> None:
        """Put another item in the place of one."""
        if index >= self._tail_at:
            self._tail[index - self._tail_at] = item
        else:
            self._changed[index] = item

    def seal(
        self,
        write: Write,
        page_bytes: int,
        digests: Callable[[list[T]], bytes] | None = None,
    ) -> None:
        """Write older items, and the pages of which an item was changed, to pages.

        Args:
            write: Writes a page.
            page_bytes: The size at which a page is full.
            digests: Makes what a page of a dict is searched by.
        """
        for number in sorted({self._page_of(index) for index in self._changed}):
            page = self._pages[number]
            numbered = enumerate(self._items(number), page.first)
            changed = [self._changed.get(index, each) for index, each in numbered]
            place = write(msgspec.msgpack.encode(changed, enc_hook=_parts))
            # What it is searched by is the key, which never changes.
            self._pages[number] = msgspec.structs.replace(page, items=place)
            self._cached.pop(number, None)
        self._changed.clear()
        encoded = [msgspec.msgpack.encode(each, enc_hook=_parts) for each in self._tail]
        left, at = sum(map(len, encoded)), 0
        while left >= 2 * page_bytes:
            count = size = 0
            while size < page_bytes:
                size += len(encoded[at + count])
                count += 1
            body = _array_header(count) + b"".join(encoded[at : at + count])
            found = digests(self._tail[at : at + count]) if digests is not None else None
            searched = write(found) if found is not None else None
            self._pages.append(_Page(self._tail_at + at, count, write(body), searched))
            left, at = left - size, at + count
        del self._tail[:at]
        self._tail_at += at

    def parts(self) -> tuple[list[_Page], dict[int, T], list[T]]:
        """Return what a snapshot keeps of it: pages, changed items, and those that are in none."""
        return self._pages, self._changed, self._tail

    def places(self) -> Iterator[BytesPlace]:
        """Yield the places of its pages."""
        for page in self._pages:
            yield page.items
            if page.digests is not None:
                yield page.digests

    def move(self, move: Callable[[BytesPlace], BytesPlace]) -> None:
        """Name other places for its pages; see `move_pages`."""
        for number, page in enumerate(self._pages):
            digests = page.digests and move(page.digests)
            self._pages[number] = _Page(page.first, page.count, move(page.items), digests)

    @classmethod
    def from_parts(cls, kind: Any, parts: Any, source: PageSource | None) -> "PagedList[T]":
        """Make a list of what `parts` returned, in plain values.

        Args:
            kind: The type of its items.
            parts: The plain values.
            source: Reads its pages.
        """
        shape = tuple[list[_Page], dict[int, kind], list[kind]]
        made: PagedList[T] = cls()
        made._pages, made._changed, made._tail = msgspec.convert(
            parts, shape, str_keys=False, dec_hook=_reader(source)
        )
        made._kind, made._source = kind, source
        if made._pages:
            made._tail_at = made._pages[-1].first + made._pages[-1].count
        return made

    @property
    def source(self) -> PageSource | None:
        """What reads its pages; None if it has none."""
        return self._source

    def found_in_pages(self, digest: bytes) -> Iterator[int]:
        """Yield the indices of items in pages that a digest may be of, the newest first."""
        assert self._source is not None or not self._pages, "its pages have a source"
        for page in reversed(self._pages):
            if page.digests is None or self._source is None:
                continue
            block = self._source.read(page.digests)
            at = block.rfind(digest)
            while at >= 0:
                if at % _DIGEST_BYTES == 0:
                    yield page.first + at // _DIGEST_BYTES
                at = block.rfind(digest, 0, at + _DIGEST_BYTES - 1)

    @property
    def tail_at(self) -> int:
        """The index of the first item that is in no page."""
        return self._tail_at

    def _page_of(self, index: int) -> int:
        low, high = 0, len(self._pages)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self._pages[middle].first <= index else (low, middle)
        return low

    def _items(self, number: int) -> list[T]:
        # A dict that is only ever replaced: threads may read a state at once.
        if (items := self._cached.get(number)) is None:
            assert self._source is not None, "its pages have a source"
            data = self._source.read(self._pages[number].items)
            items = cast("list[T]", _decoder(self._kind).decode(data))
            recent = list(self._cached.items())[1 - _CACHED_PAGES :]
            self._cached = {**dict(recent), number: items}
        return items


class PagedDict(Mapping[K, V]):
    """Dict to which is only ever added; of a key that is added twice the newest value counts.

    Args:
        items: What it begins with.
    """

    __slots__ = ("_items", "_places")

    def __init__(self, items: Iterable[tuple[K, V]] = ()) -> None:
        self._items: PagedList[tuple[K, V]] = PagedList(items)
        self._places: dict[K, int] = {key: place for place, (key, _) in enumerate(self._items)}

    def __len__(self) -> int:
        return len(self._items)

    def __contains__(self, key: object) -> bool:
        return self.place_of(cast("K", key)) is not None

    def __getitem__(self, key: K) -> V:
        place = self.place_of(key)
        if place is None:
            raise KeyError(key)
        return self._items[place][1]

    def __iter__(self) -> Iterator[K]:
        return (key for key, _ in self._items)

    def __repr__(self) -> str:
        return repr(dict(self._items))

    def newest(self) -> Iterator[tuple[K, V]]:
        """Yield keys with values, the newest first."""
        return reversed(self._items)

    def at(self, place: int) -> V:
        """Return the value in a place."""
        return self._items[place][1]

    def place_of(self, key: K) -> int | None:
        """Return the place of a key, counted from the first that was added; None without it."""
        if (place := self._places.get(key)) is not None:
            return place
        if not self._items.tail_at:
            return None
        found = self._items.found_in_pages(_digest(key))
        return next((each for each in found if self._items[each][0] == key), None)

    def add(self, key: K, value: V) -> int:
        """Add a value, and return its place."""
        place = len(self._items)
        self._items.append((key, value))
        self._places[key] = place
        return place

    def replace(self, place: int, value: V) -> None:
        """Put another value in a place."""
        self._items.replace(place, (self._items[place][0], value))

    def seal(self, write: Write, page_bytes: int) -> None:
        """Write older items to pages; see `PagedList.seal`."""
        self._items.seal(
            write, page_bytes, lambda items: b"".join(_digest(key) for key, _ in items)
        )
        self._note_places()

    def plain(self) -> dict[K, V]:
        """Return all of it as a plain dict."""
        return dict(self._items)

    def parts(self) -> Any:
        """Return what a snapshot keeps of it."""
        return self._items.parts()

    def places(self) -> Iterator[BytesPlace]:
        """Yield the places of its pages."""
        return self._items.places()

    def move(self, move: Callable[[BytesPlace], BytesPlace]) -> None:
        """Name other places for its pages; see `move_pages`."""
        self._items.move(move)

    @classmethod
    def from_parts(
        cls, kinds: tuple[Any, Any], parts: Any, source: PageSource | None
    ) -> "PagedDict[K, V]":
        """Make a dict of what `parts` returned; see `PagedList.from_parts`."""
        made: PagedDict[K, V] = cls()
        kind = tuple[kinds]  # type: ignore[valid-type]
        made._items = PagedList.from_parts(kind, parts, source)
        made._note_places()
        return made

    @property
    def source(self) -> PageSource | None:
        """What reads its pages; None if it has none."""
        return self._items.source

    def _note_places(self) -> None:
        first = self._items.tail_at
        newest = (self._items[place][0] for place in range(first, len(self._items)))
        self._places = {key: place for place, key in enumerate(newest, first)}


def _digest(key: int | str) -> bytes:
    if isinstance(key, int):
        return key.to_bytes(_DIGEST_BYTES, "big", signed=True)
    return blake2b(key.encode("utf-8", "surrogatepass"), digest_size=_DIGEST_BYTES).digest()


def _digests(items: "list[tuple[Any, Any]]") -> bytes:
    return b"".join(_digest(key) for key, _ in items)


def _array_header(count: int) -> bytes:
    """Return the first bytes of a msgpack array of so many items."""
    return b"\xdd" + count.to_bytes(4, "big")


@lru_cache(maxsize=32)
def _decoder(kind: Any) -> "msgspec.msgpack.Decoder[Any]":
    return msgspec.msgpack.Decoder(list[kind], dec_hook=_reader(None))


def _parts(value: Any) -> Any:
    if isinstance(value, PagedList | PagedDict):
        return value.parts()
    raise NotImplementedError(f"no part of a state is a {type(value).__name__}")


def plain_parts(value: Any) -> Any:
    """Return a list or dict in full, as an encoding hook of msgspec."""
    match value:
        case PagedList():
            return list(value)
        case PagedDict():
            return value.plain()
        case _:
            raise NotImplementedError(f"no part of a state is a {type(value).__name__}")


def _reader(source: PageSource | None) -> Callable[[Any, Any], Any]:
    def read(kind: Any, parts: Any) -> Any:
        origin, of = get_origin(kind), get_args(kind)
        if origin is PagedList:
            return PagedList.from_parts(of[0], parts, source)
        if origin is PagedDict:
            return PagedDict.from_parts((of[0], of[1]), parts, source)
        raise NotImplementedError(f"no part of a state is a {kind}")

    return read


S = TypeVar("S")


def encode_state(state: Any) -> bytes:
    """Encode a state for a snapshot: without what is in pages, but with their places."""
    return msgspec.msgpack.encode(state, enc_hook=_parts)


def decode_state(data: bytes, kind: type[S], source: PageSource | None = None) -> S:
    """Decode what `encode_state` made.

    Args:
        data: The bytes.
        kind: The state's class.
        source: Reads its pages.

    Raises:
        msgspec.DecodeError: It is no state of this class.
        KbdError: A page cannot be read.
    """
    return msgspec.msgpack.Decoder(kind, dec_hook=_reader(source)).decode(data)


def copy_state(state: S, kind: type[S]) -> S:
    """Return a copy of a state of a class that shares nothing that a fold changes, only pages."""
    sources: list[PageSource] = []

    def note(value: Any) -> Any:
        parts = _parts(value)
        if value.source is not None:
            sources.append(value.source)
        return parts

    packed = msgspec.msgpack.encode(state, enc_hook=note)
    return decode_state(packed, kind, sources[0] if sources else None)


def seal_state(state: msgspec.Struct, write: Write, page_bytes: int = PAGE_BYTES) -> None:
    """Write what is old in the lists and dicts of a state to pages.

    Args:
        state: The state; it is encoded next, and not read before.
        write: Writes a page.
        page_bytes: The size at which a page is full.
    """
    for long in _long_parts(state):
        long.seal(write, page_bytes)


def _long_parts(state: msgspec.Struct) -> "Iterator[PagedList[Any] | PagedDict[Any, Any]]":
    for part in msgspec.structs.asdict(state).values():
        match part:
            case (PagedList() | PagedDict()) as long:
                yield long
            case msgspec.Struct():
                yield from _long_parts(part)


def describe_state(kind: type) -> Any:
    """Return the JSON schema of a state's class, that of the items of its pages included."""

    def describe(part: Any) -> Any:
        of = get_args(part)
        return {"items": [msgspec.json.schema(each) for each in of]}

    return msgspec.json.schema(kind, schema_hook=describe)


def used_bytes(state: msgspec.Struct) -> int:
    """Return how many bytes the pages of a state's lists and dicts take."""
    return sum(place.size_bytes for long in _long_parts(state) for place in long.places())


def move_pages(state: msgspec.Struct, move: Callable[[BytesPlace], BytesPlace]) -> None:
    """Name other places for the pages of a state's lists and dicts.

    Args:
        state: The state; it is encoded next, and not read before.
        move: Copies a page, and returns its new place.
    """
    for long in _long_parts(state):
        long.move(move)
