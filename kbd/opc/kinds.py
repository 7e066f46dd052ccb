"""What kind of package a file is: the type of its main part against what its suffix promises.

A format says what is its own with a `Family`. Programs refuse a file whose suffix and type differ,
such as one with macros under a suffix that promises none, so an edit of it would help nobody; it
can be read.
"""

from collections.abc import Mapping
from pathlib import PurePath

import msgspec

from kbd.errors import FileReadFailed
from kbd.opc.package import CONTENT_TYPES, Package

__all__ = ["Family", "Identity", "identify"]

_UNTOLD = ("", "application/xml", "text/xml")
"""Types that say nothing; then the part itself must tell."""

_MACROS = "vbaProject"
_MACROS_PROMISED = "macroEnabled"
_SHOWN_BYTES = 100


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
        doubt: Why other programs refuse it, "" if they do not. It is a sentence to refuse an edit
            with, and a warning for a reading.
    """

    part: str
    doubt: str = ""


def identify(package: Package, family: Family) -> Identity:
    """Find a package's main part and check that it is of a family.

    Raises:
        FileReadFailed: It is not; the message says what it is and what to do.
    """
    name, suffix = package.name, PurePath(package.name).suffix.lower()
    save = f"open it in its program and save it as {suffix or 'a current format'}"
    main = next((r.target for r in package.relations("") if r.kind == "officeDocument"), "")
    if not main:
        raise FileReadFailed(f"{name} is not {family.what}: {_without_main(package)}; {save}.")
    if main not in package:
        raise FileReadFailed(f"{name} is damaged: it has no part {main}, which is its main one.")
    found = package.content_type(main)
    if found in family.refused:
        raise FileReadFailed(f"{name} is {family.refused[found]}; {save}.")
    if found not in family.types and found not in _UNTOLD:
        raise FileReadFailed(
            f"{name} is a package of another kind, not {family.what}: its main part is of type "
            f"{found[:_SHOWN_BYTES]}. Give it the suffix of its kind."
        )
    meant = family.types.get(found, "")
    if meant and meant != suffix:
        return Identity(main, _doubt(name, f"it is of the kind that has the suffix {meant}"))
    macros = any(relation.kind == _MACROS for relation in package.relations(main))
    if macros and found and _MACROS_PROMISED not in found:
        return Identity(main, _doubt(name, "it holds macros and says that it does not"))
    return Identity(main)


def _without_main(package: Package) -> str:
    """Say what a package is that names no main part."""
    if "mimetype" in package:
        with package.open("mimetype") as file:
            kind = file.read(_SHOWN_BYTES).decode("ascii", "replace").strip()
        return f"it is a package of another kind, of type {kind}"
    if CONTENT_TYPES in package:
        return "it does not say which of its parts is the main one"
    return "it is a zip archive of other files"


def _doubt(name: str, why: str) -> str:
    return (
        f"{name} is refused by office programs, for {why}; open it where it was made and save it "
        "under the right suffix."
    )
