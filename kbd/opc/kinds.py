"""Kind of a package: the type of its main part against what its suffix promises.

A format says what is its own with a `Family`. Programs refuse a file whose suffix and type differ,
such as one with macros under a suffix that promises none; it can be read.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import PurePath

import msgspec

from kbd.errors import FileReadFailed
from kbd.formats import Source
from kbd.opc.package import CONTENT_TYPES, Package, reading_errors

__all__ = ["Family", "Identity", "identify", "open_member", "suffix_mismatch"]

_UNTOLD = ("", "application/xml", "text/xml")
"""Types that say nothing; then the part itself must tell."""

_MACROS = "vbaProject"
_MACROS_PROMISED = "macroEnabled"
_MAX_QUOTED_BYTES = 100


class Family(msgspec.Struct, frozen=True):
    """The packages that a format reads.

    Args:
        what: Such a file in words, with its article.
        types: The types that its main part may have, each with the suffix that goes with it, ""
            for one that every suffix of the format may have.
        refused: Types of relatives that it does not read, each with what such a file is.
    """

    what: str
    types: Mapping[str, str]
    refused: Mapping[str, str] = {}


class Identity(msgspec.Struct, frozen=True):
    """A package that belongs to a family.

    Args:
        part: Its main part.
        type: The type of that part, "" if the package does not tell.
        has_macros: Whether macros belong to it.
    """

    part: str
    type: str
    has_macros: bool


def identify(package: Package, family: Family) -> Identity:
    """Find a package's main part and check that it is of a family.

    Raises:
        FileReadFailed: It is not; the message says what it is and what to do.
    """
    name, suffix = package.name, PurePath(package.name).suffix.lower()
    save = f"open it in its program and save it as {suffix or 'a current format'}"
    # Found by its relation, for its path is the producer's choice.
    main = next((r.target for r in package.relations("") if r.kind == "officeDocument"), "")
    if not main:
        raise FileReadFailed(f"{name} is not {family.what}: {_without_main(package)}; {save}")
    if main not in package:
        raise FileReadFailed(f"{name} is damaged: it has no part {main}, which is its main one")
    found = package.content_type(main)
    if found in family.refused:
        raise FileReadFailed(f"{name} is {family.refused[found]}; {save}")
    # The suffix proves nothing: the type of the main part says which kind of file it is.
    if found not in family.types and found not in _UNTOLD:
        raise FileReadFailed(
            f"{name} is a package of another kind, not {family.what}: its main part is of type "
            f"{found[:_MAX_QUOTED_BYTES]}; give it the suffix of its kind"
        )
    macros = any(relation.kind == _MACROS for relation in package.relations(main))
    return Identity(main, found, macros)


@contextmanager
def open_member(family: Family, source: Source) -> Iterator[tuple[Package, Identity]]:
    """Open a file of a family; what is damaged in it raises FileReadFailed meanwhile, too.

    Raises:
        FileReadFailed: It is not of the family, encrypted, damaged, or past a limit.
    """
    with Package(source) as package, reading_errors(source.name):
        yield package, identify(package, family)


def suffix_mismatch(identity: Identity, family: Family, name: str) -> str:
    """Return why office programs refuse a file under its name, "" if they do not.

    It is a sentence to warn the reader of a file with.
    """
    meant = family.types.get(identity.type, "")
    if meant and meant != PurePath(name).suffix.lower():
        why = f"it is of the kind that has the suffix {meant}"
    elif identity.has_macros and meant and _MACROS_PROMISED not in identity.type:
        why = "it holds macros and says that it does not"
    else:
        return ""
    return (
        f"Office programs refuse {name}, for {why}; open it where it was made and save it under "
        "the right suffix."
    )


def _without_main(package: Package) -> str:
    """Say what a package is that names no main part."""
    if "mimetype" in package:
        with package.open("mimetype") as file:
            kind = file.read(_MAX_QUOTED_BYTES).decode("ascii", "replace").strip()
        return f"it is a package of another kind, of type {kind}"
    if CONTENT_TYPES in package:
        return "it does not say which of its parts is the main one"
    return "it is a zip archive of other files"
