"""Elements of a part, found in its bytes and changed where they stand.

What is not changed keeps every byte. Names are those without a prefix.
"""

import re
from collections.abc import Iterator

from kbd_xlsx.parts.cells import escaped
from kbd_xlsx.parts.markup import ATTRIBUTES, attribute, plain, with_attributes, without_mark

__all__ = ["MarkupTree", "Node"]

_TAG = re.compile(rb"<(/?)([^\s<>/!?]+)(" + ATTRIBUTES + rb")>")
_END_OF_NAME = re.compile(rb"[\s/>]")


class Node:
    """An element: where its tags lie, what it is in, what is in it."""

    __slots__ = ("attributes", "children", "end", "inner", "inner_end", "name", "parent", "start")

    def __init__(self, name: str, attributes: bytes, start: int, parent: "Node | None") -> None:
        self.name, self.attributes, self.start, self.parent = name, attributes, start, parent
        self.inner = self.inner_end = self.end = start
        self.children: list[Node] = []

    def get(self, name: str) -> str | None:
        """Return the value of an attribute, None if there is none."""
        return attribute(self.attributes, name.encode())

    def child(self, name: str) -> "Node | None":
        """Return the first element of a name that is directly in it."""
        return next((child for child in self.children if child.name == name), None)

    def within(self) -> Iterator["Node"]:
        """Yield all elements in it, in the order of the part."""
        for child in self.children:
            yield child
            yield from child.within()


class MarkupTree:
    """The elements between two places of a part, and what is to change of them.

    Args:
        data: The part in UTF-8.
        scan: The same without comments and the like.
        start: Where the first element may begin.
        stop: Where to end; an end tag without its start tag ends it as well.
    """

    def __init__(
        self, data: bytes, scan: bytes | None = None, start: int = 0, stop: int | None = None
    ) -> None:
        self._data = data
        self._scan = data if scan is None else scan
        self.top = Node("", b"", start, None)
        self._changes: dict[int, tuple[int, bytes]] = {}
        self._gone: set[Node] = set()
        self._read(start, len(data) if stop is None else stop)

    def _read(self, start: int, stop: int) -> None:
        node = self.top
        for tag in _TAG.finditer(self._scan, start, stop):
            if tag[1]:
                node.inner_end, node.end = tag.start(), tag.end()
                if node.parent is None:
                    return
                node = node.parent
                continue
            name = tag[2].rpartition(b":")[2].decode("utf-8", "replace")
            is_closed = tag[3].endswith(b"/")
            written = tag[3][:-1].rstrip() if is_closed else tag[3].rstrip()
            made = Node(name, written, tag.start(), node)
            node.children.append(made)
            made.inner = made.inner_end = made.end = tag.end()
            if not is_closed:
                node = made

    def elements(self) -> Iterator[Node]:
        """Yield all elements in the order of the part."""
        yield from self.top.within()

    def text(self, node: Node) -> str:
        """Return the text of an element that holds nothing else."""
        return plain(without_mark(self._data[node.inner : node.inner_end]))

    def set_text(self, node: Node, text: str) -> None:
        """Set the text of an element that holds nothing else."""
        if node.inner_end > node.inner:
            self._changes[node.inner] = node.inner_end, escaped(text).encode()

    def set(self, node: Node, **values: str | None) -> None:
        """Set attributes of an element, or take them out (None); the others keep their bytes."""
        changes = {
            name.encode(): None if value is None else escaped(value).replace('"', "&quot;").encode()
            for name, value in values.items()
        }
        node.attributes = with_attributes(node.attributes, changes)
        name = _END_OF_NAME.split(self._data[node.start : node.inner], maxsplit=1)[0]
        is_closed = self._scan[node.inner - 2 : node.inner - 1] == b"/"
        tag = name + node.attributes + (b"/>" if is_closed else b">")
        self._changes[node.start] = node.inner, tag

    def add_after(self, node: Node, markup: bytes) -> None:
        """Put markup behind an element."""
        self._changes[node.end] = node.end, markup

    def source(self, node: Node) -> bytes:
        """Return an element as it is written."""
        return self._data[node.start : node.end]

    def replace(self, node: Node, markup: bytes) -> None:
        """Put markup in the place of an element."""
        self._changes[node.start] = node.end, markup

    def remove(self, node: Node) -> None:
        """Take an element out."""
        self._gone.add(node)

    def is_gone(self, node: Node) -> bool:
        """Tell whether an element, or one that it is in, was taken out."""
        at: Node | None = node
        while at is not None:
            if at in self._gone:
                return True
            at = at.parent
        return False

    def left(self, node: Node) -> list[Node]:
        """Return the elements directly in another that were not taken out."""
        return [child for child in node.children if child not in self._gone]

    def splices(self) -> list[tuple[int, int, bytes]]:
        """Return the changes in order: from where to where, and what stands there then."""
        found: list[tuple[int, int, bytes]] = []
        # What goes comes before what changes at the same place: all inside of it goes with it.
        changes = [(node.start, 0, node.end, b"") for node in self._gone]
        changes += [(start, 1, end, text) for start, (end, text) in self._changes.items()]
        last = -1
        for start, _, end, text in sorted(changes):
            if start >= last:
                found.append((start, end, text))
                last = end
        return found

    def result(self) -> bytes:
        """Return the part as it will be; where nothing is to change, the part as it was."""
        pieces: list[bytes] = []
        place = 0
        for start, end, text in self.splices():
            pieces += (self._data[place:start], text)
            place = end
        return b"".join((*pieces, self._data[place:])) if pieces else self._data
