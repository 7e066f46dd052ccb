"""What the contract suite must know of a format, by what the format can do; and how it is used."""

import zipfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple, Union

import msgspec

from kbd.formats import Applied, Editable, Source
from office_packages import pack

__all__ = [
    "TYPES",
    "FormatCase",
    "OfficeCase",
    "Operation",
    "PackageCase",
    "Parts",
    "Step",
    "applied",
    "entries",
    "names",
]

Operation = dict[str, Any]
Parts = dict[str, bytes]

TYPES = "[Content_Types].xml"


class Step(NamedTuple):
    """A step on a list of texts: the paragraphs, titles or cells of a file, one below the other.

    Args:
        kind: "append", "insert", "set", "delete", "move" or "replace".
        place: Where, from 0.
        other: How many, or where to.
        text: What is written.
        search: What is replaced.
    """

    kind: str
    place: int = 0
    other: int = 1
    text: str = ""
    search: str = ""


class FormatCase(msgspec.Struct, frozen=True, kw_only=True):
    """A format under the contract.

    Args:
        handler: Its handler.
        samples: Good files of it, by name; the folder is theirs to work in.
        edits: Calls that make a new file.
        bad_edits: Calls that must be refused as a whole.
        corpora: The folders of real files.
        fewest_read: The share of these that is read, at least; the rest is refused by name.
        opens_all: Whether the large and hostile ones of these are opened in the tests' process.
    """

    handler: Any
    samples: Callable[[Path], Mapping[str, bytes | Path]]
    edits: Sequence[Sequence[Operation]] = ()
    bad_edits: Sequence[Sequence[Operation]] = ()
    corpora: tuple[str, ...] = ()
    fewest_read: float = 0.97
    opens_all: bool = False

    @property
    def name(self) -> str:
        """The format's name, which a test's parameter is called by."""
        found: str = self.handler.name
        return found

    @property
    def suffix(self) -> str:
        """The suffix of its ordinary files."""
        return f".{self.handler.name}"


class PackageCase(FormatCase, frozen=True, kw_only=True):
    """A format whose files are zips of XML parts.

    Args:
        parts: A good file with a bit of everything that an edit might lose, made by hand.
        text_part: The part that holds the word.
        word: It stands in that part's text, and in what is read.
        vital: The parts that nothing can be read without.
        looked_at: Parts that nothing can be read without, but an edit may.
        nested: The text part with what may stand in itself doing so, so many levels deep.
        tried: Edits that are each tried on hostile files.
        tells_parts: Whether a damaged text part costs only itself, and the rest is read.
    """

    parts: Callable[[], Parts]
    text_part: str
    word: str
    vital: tuple[str, ...]
    looked_at: tuple[str, ...] = ()
    nested: Callable[[str, int], str]
    tried: tuple[Operation, ...] = ()
    tells_parts: bool = False


class OfficeCase(PackageCase, frozen=True, kw_only=True):
    """A format of Open XML: edited without a loss, with looks that go into other files.

    Args:
        types: What the main part is by the suffix of a file, the ordinary one first.
        main: The main part.
        makes_templates: Whether a new file may be a template.
        edit: An edit of the good file.
        touched: The parts of it that the edit may change.
        impossible: An edit that is well formed and fits no file here.
        begin: The operations that make a new file of the texts "a" and "b c".
        step: The operation for a step on texts, None where the format has none.
        texts_of: The texts of a file, as another library reads them.
        asset_kinds: The kinds of assets that the good file lists.
        branded: Writes a file that has a picture.
        picture: The picture's asset id.
        media: The part that it lies in.
        library: Opens a file as the plain library of the format does.
    """

    types: Mapping[str, str]
    main: str
    makes_templates: bool = False
    edit: Operation
    touched: frozenset[str]
    impossible: Operation
    begin: tuple[Operation, ...]
    step: Callable[[Step, list[str]], Operation | None]
    texts_of: Callable[[Path], list[str]]
    asset_kinds: frozenset[str]
    branded: Callable[[Path], object]
    picture: str
    media: str
    library: Callable[[IO[bytes]], object]

    def packed(self, path: Path, more: Parts | None = None) -> Source:
        """Write the good file, with some parts put or added, and return it."""
        pack({**self.parts(), **(more or {})}, path)
        return Source(path, path.name)

    def retyped(self, type_: str) -> Parts:
        """Return the table of types with another type of the main part."""
        plain = self.types[self.suffix].encode()
        table = self.parts()[TYPES]
        assert plain in table
        return {TYPES: table.replace(plain, type_.encode())}


def applied(
    case: FormatCase, source: Source | None, target: Path, *operations: Operation
) -> Applied:
    """Apply operations, as a model sends them, to a file or to a new one."""
    handler: Editable = case.handler
    vocabulary = Union[handler.operations]  # type: ignore[name-defined]  # noqa: UP007
    found = tuple(msgspec.convert(list(operations), list[vocabulary]))
    target.unlink(missing_ok=True)
    return handler.apply(source, found, target)


def entries(path: Path) -> Parts:
    """Return a package's entries in their order; all must be sound, and come once."""
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        names = archive.namelist()
        assert len(names) == len(set(names)), "an entry comes twice"
        return {name: archive.read(name) for name in names}


def names(case: FormatCase) -> str:
    """Return how the test of a format is called."""
    return case.name
