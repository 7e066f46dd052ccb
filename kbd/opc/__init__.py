"""Packages by the Open Packaging Conventions: a zip of parts, with relations between them.

    guard           the zip, checked before anything opens a part of it; what is no zip
    entries         an entry's contents, held against what it claims; entries as they are written
    package         a package for reading, guarded; no part of it has a document type
    kinds           what kind of package it is, against what its suffix promises
    element_names   names of elements and attributes, taken apart
    rewriter        a package on its way to becoming another one; the rest is copied as it is
    strict          the strict variant's names, and those that all others use
    whole_texts     texts that comments divide, put together
    library_bridge  a package lent to a library that saves it whole; only what changed comes back

Formats that are such packages share it. Only modules that a worker preloads import it.
"""

from kbd.opc.kinds import Family, Identity, identify, open_member, suffix_mismatch
from kbd.opc.library_bridge import LibraryBridge, library_errors
from kbd.opc.package import Package, Relation, reading_errors, xml_root
from kbd.opc.rewriter import Rewriting, xml_bytes
from kbd.opc.strict import is_strict_part, read_transitional, strict, transitional

__all__ = [
    "Family",
    "Identity",
    "LibraryBridge",
    "Package",
    "Relation",
    "Rewriting",
    "identify",
    "is_strict_part",
    "library_errors",
    "open_member",
    "read_transitional",
    "reading_errors",
    "strict",
    "suffix_mismatch",
    "transitional",
    "xml_bytes",
    "xml_root",
]
