"""Packages by the Open Packaging Conventions: a zip of parts, with relations between them.

    magic      what a file is that is no zip
    guard      the zip, checked before anything opens a part of it
    unpacking  an entry's contents, held against what it claims
    prolog     what a part holds before its root: no document type
    package    a package for reading, guarded
    kinds      what kind of package it is, against what its suffix promises
    rewriting  a package on its way to becoming another one: what is not named is copied as it is
    archive    the zip that a rewriting is written as
    strict     the strict variant's names, and those that all others use
    lending    a package lent to a library that saves it whole; only what changed comes back

Formats that are such packages share it. Only modules that a worker preloads import it.
"""

from kbd.opc.kinds import Family, Identity, doubt, identify
from kbd.opc.library_bridge import Lending, library_errors
from kbd.opc.package import Package, Relation, reading_errors, xml_root
from kbd.opc.rewriter import Rewriting, xml_bytes
from kbd.opc.strict import read_transitional, strict, transitional

__all__ = [
    "Family",
    "Identity",
    "Lending",
    "Package",
    "Relation",
    "Rewriting",
    "doubt",
    "identify",
    "library_errors",
    "read_transitional",
    "reading_errors",
    "strict",
    "transitional",
    "xml_bytes",
    "xml_root",
]
