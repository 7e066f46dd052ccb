"""Bridge to a library that loads and saves packages whole.

Such a library drops what it does not know and writes everything anew. So it is given a copy that
it can open, and of what it made of it only the parts, relations and types come back that it
changed; all else stays as it was, to the byte. The copy has the names of the usual variant, the
plain kind in place of a template or a file with macros, and something at the end of relations that
lead nowhere. Pictures and other contents that are no XML stand in it as their names only.
"""

import io
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import IO, Any, Protocol
from xml.sax.saxutils import quoteattr
from zipfile import ZIP_STORED, ZipFile

import msgspec
from lxml import etree

from kbd.errors import FileReadFailed, KbdError, ValidationFailed
from kbd.opc.guard import part_key
from kbd.opc.kinds import Identity
from kbd.opc.package import CONTENT_TYPES, Package, relations_part
from kbd.opc.rewriter import Rewriting
from kbd.opc.strict import is_strict_part, strict, transitional
from kbd.opc.whole_texts import with_whole_texts

__all__ = ["LibraryBridge", "LibraryPackage", "LibraryPart", "library_errors"]

_STUB = "missing/part.bin"
_STUB_TYPE = "application/octet-stream"
_XML = re.compile(r"[+/]xml$|vmlDrawing$")
_DIGITS = re.compile(r"\d*(?=(\.\w+)?$)")


class LibraryPart(Protocol):
    """A part as python-docx and python-pptx have it."""

    @property
    def partname(self) -> str:
        """Its name, with a slash before it."""

    @property
    def content_type(self) -> str:
        """Its type."""

    @property
    def blob(self) -> bytes:
        """Its bytes, as they would be written now."""

    @property
    def rels(self) -> Mapping[str, Any]:
        """Its relations by id."""


class LibraryPackage(Protocol):
    """A loaded package as python-docx and python-pptx have it."""

    def iter_parts(self) -> Iterator[Any]:
        """Yield each part once."""


class _LoadedPart(msgspec.Struct, frozen=True):
    """A part as it was when the library had loaded it, under the name of its entry."""

    part: LibraryPart
    name: str
    blob: bytes
    relations: Mapping[str, tuple[str, str, bool]]


class LibraryBridge:
    """Bridge of one package to a library.

    Use: give `copy()` to the library, `loaded()` what it made of it, edit, then `returned()`.

    Args:
        package: What is lent; it stays open.
        identity: What kind of package it is.
        plain_type: The type of main part that the library takes.
    """

    def __init__(self, package: Package, identity: Identity, plain_type: str) -> None:
        self._package, self._identity, self._plain_type = package, identity, plain_type
        self._known: dict[int, _LoadedPart] = {}
        self._names = {
            part_key(info.filename): info.filename for info in package.entries if not info.is_dir()
        }
        self._content_types = package.content_types()
        self.is_strict = package.is_strict

    def copy(self) -> IO[bytes]:
        """Return a zip that the library can open.

        Raises:
            FileReadFailed: A part is damaged.
        """
        made = io.BytesIO()
        # Not packed: the copy lives in memory, for one library and one call.
        with ZipFile(made, "w", ZIP_STORED) as archive:
            archive.writestr(CONTENT_TYPES, self._types())
            archive.writestr(_STUB, b"")
            for part in ("", *self._parts()):
                relations = self._relations(part)
                if relations:
                    archive.writestr(relations_part(_plain_type(part)), relations)
                if part:
                    archive.writestr(_plain_type(part), self._contents(part))
        made.seek(0)
        return made

    def loaded(self, package: LibraryPackage) -> None:
        """Remember what the library has loaded, before anything changes it."""
        for part in package.iter_parts():
            name = self._names.get(part_key(part.partname), "")
            # Its bytes as the library would write them: what it returns is compared with these, not
            # with the file. The record holds the part, lest another one get its id.
            self._known[id(part)] = _LoadedPart(part, name, part.blob, _relations_of(part))

    def name_of(self, part: LibraryPart) -> str:
        """Return the entry of a part that was lent, "" for one that the library made."""
        known = self._known.get(id(part))
        return known.name if known else ""

    def returned(self, package: LibraryPackage) -> tuple[Rewriting, tuple[str, ...]]:
        """Return the package with what was changed, and the addresses that it newly reaches out to.

        Raises:
            ValidationFailed: A part cannot be changed without a loss.
        """
        rewriting = Rewriting(self._package)
        parts = list(package.iter_parts())
        names = {id(part): self.name_of(part) for part in parts}
        for part in parts:
            # New parts get their names first, for relations of any part may lead to them.
            if id(part) not in self._known:
                names[id(part)] = self._add(rewriting, part)
        external: dict[str, None] = {}
        for part in parts:
            known = self._known.get(id(part))
            # What stands for a part that is missing has no entry, and nobody changes it.
            if known is None or known.name:
                name = names[id(part)]
                self._write_back(rewriting, name, part, known)
                before = known.relations if known else {}
                external.update(dict.fromkeys(_relate(rewriting, name, part, before, names)))
        own_parts = {id(part) for part in parts}
        # Only what the library had loaded can go; a part that nothing led to before stays.
        for key, known in self._known.items():
            if key not in own_parts and known.name:
                rewriting.drop(known.name)
        return rewriting, tuple(external)

    def _parts(self) -> Iterator[str]:
        for name in self._names.values():
            if name != CONTENT_TYPES and not name.endswith(".rels"):
                yield name

    def _contents(self, part: str) -> bytes:
        if not _XML.search(self._content_types.of(part)):
            # Pictures and fonts are lent as their own names: the libraries never read them, and
            # what comes back as it was is copied from the package.
            return part.encode()
        # Whole, or an edit would find and replace the beginning of a divided text alone.
        return with_whole_texts(transitional(self._package.read(part)))

    def _types(self) -> str:
        """Return a table that gives each part its type, the main one the plain one."""
        # python-docx and python-pptx refuse templates and files with macros by the type of the main
        # part, so they are shown the plain one.
        rows = [_override(_STUB, _STUB_TYPE)]
        for part in self._parts():
            type_ = self._content_types.of(part) or _STUB_TYPE
            if part_key(part) == part_key(self._identity.part):
                type_ = self._plain_type
            rows.append(_override(_plain_type(part), type_))
        space = "http://schemas.openxmlformats.org/package/2006/content-types"
        defaults = (
            '<Default Extension="rels" '
            'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        )
        return f'<Types xmlns="{space}">{defaults}{"".join(rows)}</Types>'

    def _relations(self, part: str) -> str:
        """Return a part's relations, all of which lead somewhere; "" if it has none."""
        rows = []
        for relation in self._package.relations(part):
            target, mode = relation.target, ' TargetMode="External"'
            if not relation.external:
                # The libraries refuse a relation that leads nowhere, such as to a thumbnail that is
                # missing: it leads to a stub here.
                found = self._names.get(part_key(target))
                target, mode = f"/{_plain_type(found) if found else _STUB}", ""
            type_ = transitional(relation.type.encode()).decode()
            rows.append(
                f"<Relationship Id={quoteattr(relation.id)} Type={quoteattr(type_)} "
                f"Target={quoteattr(target)}{mode}/>"
            )
        space = "http://schemas.openxmlformats.org/package/2006/relationships"
        return f'<Relationships xmlns="{space}">{"".join(rows)}</Relationships>' if rows else ""

    def _write_back(
        self, rewriting: Rewriting, name: str, part: LibraryPart, known: _LoadedPart | None
    ) -> None:
        """Replace a part's bytes if the library changed them."""
        if known is None:
            return
        data = part.blob
        if data == known.blob:
            return
        # The library was lent the usual names; a strict part gets its own back.
        was_strict = is_strict_part(self._package.read(name), name, self._package.name)
        rewriting.put(name, strict(data) if was_strict else data)

    def _add(self, rewriting: Rewriting, part: LibraryPart) -> str:
        """Add a part that the library made, and return its name."""
        wanted = str(part.partname).lstrip("/")
        name = wanted
        if name in rewriting:
            name = rewriting.free_name(_DIGITS.sub("{}", wanted.replace("{", ""), count=1))
        is_xml = _XML.search(part.content_type) is not None
        data = strict(part.blob) if self.is_strict and is_xml else part.blob
        rewriting.add(name, data, part.content_type)
        return name


@contextmanager
def library_errors(name: str) -> Iterator[None]:
    """Turn what a library raises on a package that it does not understand into ValidationFailed."""
    try:
        yield
    # Of the process and the disk, not of the file.
    except (KbdError, MemoryError, OSError):
        raise
    except etree.LxmlError as error:
        raise FileReadFailed(f"{name} is damaged: a part is not valid XML") from error
    # Python's own errors most often, at times one that the library has for this.
    except Exception as error:
        msg = f"{name} is not built as its kind of file should be; it cannot be changed safely"
        raise ValidationFailed(msg) from error


def _relations_of(part: LibraryPart) -> dict[str, tuple[str, str, bool]]:
    """Return a part's relations by id: type, target (address or part), whether it is outside."""
    found = {}
    for relation_id, relation in part.rels.items():
        outside = relation.is_external
        target = relation.target_ref if outside else str(id(relation.target_part))
        found[relation_id] = (relation.reltype, target, outside)
    return found


def _relate(
    rewriting: Rewriting,
    name: str,
    part: LibraryPart,
    before: Mapping[str, tuple[str, str, bool]],
    names: Mapping[int, str],
) -> Iterator[str]:
    """Bring a part's relations up to date; yield the addresses that are new."""
    now = _relations_of(part)
    # Taken away first, so that an id which leads elsewhere now is free when it is set.
    for relation_id in before:
        if relation_id not in now or now[relation_id] != before[relation_id]:
            rewriting.unrelate(name, relation_id)
    # An address that the part reached out to before is no news, whatever its id is now.
    known = {target for _, target, outside in before.values() if outside}
    for relation_id, relation in now.items():
        if before.get(relation_id) == relation:
            continue
        type_, target, outside = relation
        if outside and target not in known:
            yield target
        kind = strict(type_.encode()).decode() if rewriting.is_strict else type_
        goal = target if outside else names[int(target)]
        rewriting.relate(name, kind, goal, external=outside, relation_id=relation_id)


def _plain_type(part: str) -> str:
    return part.replace("\\", "/").lstrip("/")


def _override(part: str, type_: str) -> str:
    return f"<Override PartName={quoteattr('/' + part)} ContentType={quoteattr(type_)}/>"
