"""Packages by the Open Packaging Conventions: a zip of parts, with relations between them.

    package    a package for reading, guarded before any library opens it
    rewriting  a package on its way to becoming another one: what is not named is copied as it is
    archive    the zip that a rewriting is written as

Formats that are such packages share it. Only modules that a worker preloads import it.
"""

from kbd.opc.package import Package, Relation, reading_errors, xml_root
from kbd.opc.rewriting import Rewriting, xml_bytes

__all__ = ["Package", "Relation", "Rewriting", "reading_errors", "xml_bytes", "xml_root"]
