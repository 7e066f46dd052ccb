"""The strict variant's names: over to the usual ones and back is the same part."""

from pathlib import Path

import pytest

from kbd.errors import FileReadFailed
from kbd.formats import Source
from kbd.opc import read_transitional, strict, transitional
from kbd.opc.package import Package
from kbd.opc.strict import variants

PAIRS = [
    ("wordprocessingml/main", "wordprocessingml/2006/main"),
    ("presentationml/main", "presentationml/2006/main"),
    ("drawingml/chart", "drawingml/2006/chart"),
    ("drawingml/wordprocessingDrawing", "drawingml/2006/wordprocessingDrawing"),
    ("officeDocument/math", "officeDocument/2006/math"),
    ("officeDocument/docPropsVTypes", "officeDocument/2006/docPropsVTypes"),
    ("officeDocument/relationships", "officeDocument/2006/relationships"),
    ("officeDocument/relationships/image", "officeDocument/2006/relationships/image"),
    ("officeDocument/extendedProperties", "officeDocument/2006/extended-properties"),
    ("officeDocument/relationships/extendedProperties",
     "officeDocument/2006/relationships/extended-properties"),
    ("officeDocument/customProperties", "officeDocument/2006/custom-properties"),
    ("schemaLibrary/main", "schemaLibrary/2006/main"),
]  # fmt: skip


@pytest.mark.parametrize(("theirs", "usual"), PAIRS)
def test_each_name_has_its_partner(theirs: str, usual: str) -> None:
    """Of namespaces and of relations, in either direction (ISO/IEC 29500-1, annex A)."""
    one = f'<a xmlns="http://purl.oclc.org/ooxml/{theirs}"/>'.encode()
    other = f'<a xmlns="http://schemas.openxmlformats.org/{usual}"/>'.encode()

    assert transitional(one) == other
    assert strict(other) == one
    assert variants(one) == {"strict"}
    assert variants(other) == {"transitional"}


def test_what_is_not_strict_stays_the_same() -> None:
    """Names of others, of packages and of later additions are the same in both variants."""
    for part in (
        b"", b"\x89PNG\0", b"<a>http://purl.oclc.org/</a>",
        b'<a xmlns="http://schemas.openxmlformats.org/package/2006/relationships"/>',
        b'<a xmlns="http://schemas.openxmlformats.org/markup-compatibility/2006"/>',
        b'<a xmlns="http://schemas.microsoft.com/office/word/2010/wordml"/>',
    ):  # fmt: skip
        assert transitional(part) is part
        assert strict(part) == part
        assert variants(part) == frozenset()


def test_a_part_of_both_variants_is_told() -> None:
    """Naming it over would lose which name was which."""
    both = b"".join(
        f'<a xmlns="{name}"/>'.encode()
        for name in (
            "http://purl.oclc.org/ooxml/drawingml/main",
            "http://schemas.openxmlformats.org/drawingml/2006/main",
        )
    )

    assert variants(both) == {"strict", "transitional"}


@pytest.mark.parametrize("order", ["utf-16-le", "utf-16-be"])
def test_a_wide_part_is_named_over_too(order: str) -> None:
    """A part in UTF-16 comes as UTF-8, and says so."""
    name = "http://purl.oclc.org/ooxml/wordprocessingml/main"
    text = f'\ufeff<?xml version="1.0" encoding="UTF-16"?><a xmlns="{name}">é</a>'

    found = transitional(text.encode(order)).decode().lstrip("\ufeff")

    usual = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    assert found == f'<?xml version="1.0" encoding="UTF-8"?><a xmlns="{usual}">é</a>'


@pytest.mark.corpora
@pytest.mark.parametrize("kind", ["docx", "pptx"])
def test_over_and_back_is_the_same(corpora: Path, kind: str) -> None:
    """Of every part of every strict file of the corpora that does not mix the variants."""
    count = 0
    for path in sorted(corpora.glob(f"{kind}/*")):
        try:
            with Package(Source(path, path.name)) as package:
                if not package.is_strict:
                    continue
                for info in package.entries:
                    data = b"" if info.is_dir() else package.read(info.filename)
                    if variants(data) != {"strict"}:
                        continue
                    usual = read_transitional(package, info.filename)
                    assert b"purl.oclc.org/ooxml" not in usual, (path, info.filename)
                    assert strict(usual) == data, (path, info.filename)
                    count += 1
        except FileReadFailed:
            continue
    assert count > 100
