"""Facts for receipts of packages: every part by its hash, changed parts by what they hold.

A format says with `PartReader`s which of its parts hold which lists (cells, paragraphs, shapes);
all other parts are told by the elements at their top. `kbd.formats.receipts` makes the lists, and
`docs/reference/receipts.md` defines what is written here.
"""

import hashlib
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, NamedTuple
from zipfile import ZIP_DEFLATED, ZipInfo

from lxml import etree

from kbd.errors import FileReadFailed, KbdError
from kbd.formats import Source
from kbd.formats.receipts import (
    MAX_PART_BYTES,
    Allowance,
    ReceiptItem,
    keyed_facts,
    sequence_facts,
)
from kbd.opc import Package, reading_errors
from kbd.opc.element_names import local_name
from kbd.opc.entries import PartStream

__all__ = [
    "ItemReader",
    "PartLists",
    "PartReader",
    "element_items",
    "package_facts",
    "sha256_text",
    "write_element",
    "write_start",
]

MAX_DEPTH = 200
"""Elements in each other; a part with more is not taken apart."""

ITEM = "<?item?>"
"""What stands in an element's text for an item in it that is told by itself."""

_BLOCK_BYTES = 1 << 20


class PartLists(NamedTuple):
    """What one version of a part holds.

    Args:
        keyed: Entries by address, for each keyed list.
        sequences: Items in order, for each sequence.
    """

    keyed: Mapping[str, Mapping[Any, ReceiptItem]]
    sequences: Mapping[str, Sequence[ReceiptItem]]


class PartReader(ABC):
    """Reader of one kind of part.

    Attributes:
        kind: What such a part is called in a receipt ("sheet").
        nouns: What an address of each keyed list is called.
    """

    kind: ClassVar[str]
    nouns: ClassVar[Mapping[str, str]] = {}

    @abstractmethod
    def read(self, versions: Sequence[tuple[Package, str] | None]) -> list[PartLists | None]:
        """Return what each version holds; None where there is no such part.

        What is equal in all versions may be left out of keyed lists.

        Raises:
            FileReadFailed: A version is damaged, or says something in two ways.
        """

    def write_key(self, noun: str, key: Any) -> str:
        """Return an address as it is written."""
        del noun
        return str(key)

    def titles(self, package: Package) -> Mapping[str, str]:
        """Return what parts are called in the file, by their names in lower case."""
        del package
        return {}


class ItemReader(PartReader):
    """Reader of parts that hold one sequence of items among other markup.

    Args:
        kind: What such a part is called.
        name: What the sequence is called.
        items: The items' tags.
        describe: What is shown of an item. Items in it are not its own.
    """

    def __init__(
        self,
        kind: str,
        name: str,
        items: frozenset[str],
        describe: Callable[[etree._Element], Mapping[str, Any]],
    ) -> None:
        self._kind, self._name, self._items, self._describe = kind, name, items, describe
        # Most items are the same in all versions: each is kept once.
        self._known: dict[str, ReceiptItem] = {}

    @property
    def kind(self) -> str:  # type: ignore[override]
        """What such a part is called."""
        return self._kind

    def read(self, versions: Sequence[tuple[Package, str] | None]) -> list[PartLists | None]:
        """Parse each version and take its items out."""
        return [None if each is None else self._read(*each) for each in versions]

    def _read(self, package: Package, part: str) -> PartLists:
        root = package.root(part)
        found = []
        for element in root.iter(*self._items):
            digest = sha256_text(write_element(element, self._items))
            if digest not in self._known:
                self._known[digest] = ReceiptItem(digest, self._describe(element))
            found.append(self._known[digest])
        rest = element_items(root, self._items)
        return PartLists({}, {self._name: found, "elements": rest})


class _ElementReader(PartReader):
    """Reader of parts of which nothing more is known: the elements at their top."""

    kind = "elements"

    def read(self, versions: Sequence[tuple[Package, str] | None]) -> list[PartLists | None]:
        return [
            None
            if each is None
            else PartLists({}, {"elements": element_items(each[0].root(each[1]))})
            for each in versions
        ]


def sha256_text(*texts: str) -> str:
    """Return the hash of texts in UTF-8."""
    digest = hashlib.sha256()
    for text in texts:
        digest.update(text.encode("utf-8", "replace"))
    return digest.hexdigest()


def write_start(element: etree._Element, without: str = "") -> str:
    """Return the begin of an element: its name and attributes, with their namespaces, sorted."""
    pairs = sorted((str(name), str(value)) for name, value in element.attrib.items())
    told = "".join(f' {name}="{_quoted(value)}"' for name, value in pairs if name != without)
    return f"<{element.tag}{told}>"


def write_element(
    element: etree._Element, items: frozenset[str] = frozenset(), without: str = ""
) -> str:
    """Return an element as text in which two are equal if they say the same.

    Comments and processing instructions are left out; items in it stand as `<?item?>`.

    Raises:
        FileReadFailed: It is nested too deeply.
    """
    out: list[str] = []
    _write(element, items, without, out, MAX_DEPTH)
    return "".join(out)


def _write(
    element: etree._Element, items: frozenset[str], without: str, out: list[str], depth: int
) -> None:
    if not depth:
        raise FileReadFailed("a part is nested too deeply")
    out.append(write_start(element, without))
    if element.text:
        out.append(_escaped(element.text))
    for child in element:
        if isinstance(child.tag, str):
            if child.tag in items:
                out.append(ITEM)
            else:
                _write(child, items, "", out, depth - 1)
        if child.tail:
            out.append(_escaped(child.tail))
    out.append("</>")


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;")


def _quoted(text: str) -> str:
    return _escaped(text).replace('"', "&quot;")


def element_items(
    root: etree._Element,
    items: frozenset[str] = frozenset(),
    hollow: frozenset[str] = frozenset(),
) -> list[ReceiptItem]:
    """Return the root's own begin and the elements in it, each as an item.

    Args:
        root: The root.
        items: Tags of what is told by itself.
        hollow: Names of elements of which only the begin counts, the rest being told by itself.
    """
    own = "".join(text for text in _own_texts(root) if text.strip())
    found = [_element_item(root, write_start(root) + _escaped(own))]
    for child in root:
        if not isinstance(child.tag, str):
            continue
        if child.tag in items:
            text = ITEM
        elif local_name(child) in hollow:
            text = write_start(child)
        else:
            text = write_element(child, items)
        found.append(_element_item(child, text))
    return found


def _element_item(element: etree._Element, text: str) -> ReceiptItem:
    return ReceiptItem(sha256_text(text), {"element": local_name(element)})


def _own_texts(element: etree._Element) -> Iterable[str]:
    yield element.text or ""
    for child in element:
        yield child.tail or ""


class _Reopened(Package):
    """A package whose file is open only while a part is fetched.

    There may be a hundred versions, and a call may have fewer files open. Their files never change:
    they are named by their hashes.
    """

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self._path = source.path
        self.__exit__()

    def packed(self, info: ZipInfo) -> bytes:
        """Return an entry's raw bytes."""
        with reading_errors(self.name), self._path.open("rb") as self._file:
            return super().packed(info)


class _Version:
    """One version of a package."""

    def __init__(self, package: Package, earlier: "_Version | None") -> None:
        self.package = package
        self.types = package.content_types()
        self.entries = {
            info.filename: info for info in package.entries if not info.filename.endswith("/")
        }
        self.hashes = {name: self._hash(info, earlier) for name, info in self.entries.items()}

    def _hash(self, info: ZipInfo, earlier: "_Version | None") -> str:
        # Nearly all parts are copied as they lie packed: compared so, they need no unpacking.
        before = earlier.entries.get(info.filename) if earlier is not None else None
        if (
            earlier is not None
            and before is not None
            and (before.CRC, before.file_size, before.compress_size, before.compress_type)
            == (info.CRC, info.file_size, info.compress_size, info.compress_type)
            and earlier.package.packed(before) == self.package.packed(info)
        ):
            return earlier.hashes[info.filename]
        packed = self.package.packed(info)
        digest = hashlib.sha256()
        stream = PartStream(self.package.name, info, packed)
        try:
            while block := stream.read(_BLOCK_BYTES):
                digest.update(block)
        except FileReadFailed:
            # Some producers leave the last bits out; where nothing else is amiss all read it.
            data = _unpacked(info, packed)
            if data is None:
                raise
            return hashlib.sha256(data).hexdigest()
        return digest.hexdigest()


def _unpacked(info: ZipInfo, packed: bytes) -> bytes | None:
    """Return the bytes of an entry whose stream has no end, if they are what they should be."""
    if info.compress_type != ZIP_DEFLATED:
        return None
    try:
        data = zlib.decompressobj(-zlib.MAX_WBITS).decompress(packed, info.file_size)
    except zlib.error:
        return None
    return data if len(data) == info.file_size and zlib.crc32(data) == info.CRC else None


def package_facts(
    versions: Sequence[Source | None],
    steps: Sequence[int],
    limit: int,
    readers: Mapping[str, PartReader],
) -> dict[str, Any]:
    """Return what differs between versions of a package: every part, and what changed ones hold.

    Args:
        versions: The package as each step found it and left it; None where there was no file.
        steps: The numbers of the steps.
        limit: How many entries of lists may be shown.
        readers: How parts are read, by their content type.

    Raises:
        FileReadFailed: A version cannot be read.
    """
    found: list[_Version | None] = []
    earlier: _Version | None = None
    for source in versions:
        if source is None:
            found.append(None)
            continue
        earlier = _Version(_Reopened(source), earlier)
        found.append(earlier)
    names = {name for each in (found[0], found[-1]) if each for name in each.entries}
    parts = _Parts(found, steps, readers, Allowance(limit))
    return {"kind": "package", "parts": [parts.facts(name) for name in sorted(names)]}


class _Parts:
    """The parts of all versions of a package."""

    def __init__(
        self,
        versions: Sequence[_Version | None],
        steps: Sequence[int],
        readers: Mapping[str, PartReader],
        allowance: Allowance,
    ) -> None:
        self._allowance = allowance
        self._versions, self._steps, self._readers = versions, steps, readers
        self._titles: dict[tuple[int, str], Mapping[str, str]] = {}

    def facts(self, name: str) -> dict[str, Any]:
        """Return what a receipt says of a part."""
        hashes = [each.hashes.get(name) if each else None for each in self._versions]
        before, after = hashes[0], hashes[-1]
        if before == after:
            return {"part": name, "status": "identical", "sha256": before}
        status = "added" if before is None else "removed" if after is None else "changed"
        touched = [at for at in range(len(self._steps)) if hashes[at] != hashes[at + 1]]
        told: dict[str, Any] = {
            "part": name,
            "status": status,
            "before": before,
            "after": after,
            "by": [self._steps[at] for at in touched],
        }
        at = -1 if after is not None else 0
        shown = self._versions[at]
        assert shown is not None
        reader = self._reader(shown, name)
        if reader is None:
            return told
        title = self._title(at, shown, reader, name)
        if title:
            told["title"] = title
        if status == "changed" or reader.kind != "elements":
            told["inside"] = self._inside(reader, name, touched)
        return told

    def _reader(self, version: _Version, name: str) -> PartReader | None:
        kind = version.types.of(name)
        if kind in self._readers:
            return self._readers[kind]
        lowered = name.lower()
        is_xml = lowered.endswith((".xml", ".rels")) or kind.endswith("xml")
        return _ElementReader() if is_xml else None

    def _title(self, at: int, version: _Version, reader: PartReader, name: str) -> str:
        if (at, reader.kind) not in self._titles:
            try:
                found = reader.titles(version.package)
            except FileReadFailed:
                found = {}
            self._titles[at, reader.kind] = found
        return self._titles[at, reader.kind].get(name.lower(), "")

    def _inside(self, reader: PartReader, name: str, touched: Sequence[int]) -> dict[str, Any]:
        """Compare what a part holds, in the versions around the steps that touched it."""
        chosen = [self._versions[0]] + [self._versions[at + 1] for at in touched]
        found = [each if each is not None and name in each.entries else None for each in chosen]
        sizes = [each.entries[name].file_size for each in found if each is not None]
        if max(sizes) > MAX_PART_BYTES:
            return {"kind": reader.kind, "unread": "large"}
        pairs = [None if each is None else (each.package, name) for each in found]
        try:
            with reading_errors(name):
                lists = reader.read(pairs)
        except (KbdError, ValueError, RecursionError):
            return {"kind": reader.kind, "unread": "damaged"}
        return {
            "kind": reader.kind,
            "lists": self._lists(reader, lists, [self._steps[at] for at in touched]),
        }

    def _lists(
        self, reader: PartReader, versions: Sequence[PartLists | None], steps: Sequence[int]
    ) -> dict[str, Any]:
        model = next(each for each in versions if each is not None)
        told: dict[str, Any] = {}
        for name in model.keyed:
            keyed = [each.keyed[name] if each is not None else {} for each in versions]
            noun = reader.nouns[name]
            write_key = partial(reader.write_key, noun)
            told[name] = keyed_facts(noun, keyed, steps, self._allowance, write_key)
        for name in model.sequences:
            ordered = [each.sequences[name] if each is not None else () for each in versions]
            told[name] = sequence_facts(ordered, steps, self._allowance)
        return told
