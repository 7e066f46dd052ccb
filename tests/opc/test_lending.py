"""A package lent to a library: only what the library changed comes back, all else as it was."""

import re
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import docx
import pptx
import pytest
from docx.opc.constants import RELATIONSHIP_TYPE
from lxml import etree
from pptx.opc.package import Part
from pptx.opc.packuri import PackURI

from kbd.errors import FileReadFailed, KbdError, ValidationFailed
from kbd.formats import Source
from kbd.opc import Family, Identity, identify, strict
from kbd.opc.library_bridge import LibraryBridge, library_errors
from kbd.opc.package import Package
from kbd.opc.rewriter import Rewriting
from office_packages import PNG, pack, rich_deck, rich_document

WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
SHOW = "application/vnd.openxmlformats-officedocument.presentationml.presentation.main+xml"
STORY, STORY_RELS = "word/document.xml", "word/_rels/document.xml.rels"
SLIDE_RELS = "ppt/slides/_rels/slide1.xml.rels"
TYPES = "[Content_Types].xml"

Parts = dict[str, bytes]


class Lent:
    """A package on loan, and what the library made of it."""

    def __init__(self, package: Package, lending: LibraryBridge, made: Any, lent: Any) -> None:
        self.package, self.lending = package, lending
        self.made, self._lent = made, lent

    def returned(self) -> tuple[Rewriting, tuple[str, ...]]:
        """What comes back."""
        return self.lending.returned(self._lent)


def any_identity(package: Package) -> Identity:
    """The main part, whatever it is."""
    main = next(r.target for r in package.relations("") if r.kind == "officeDocument")
    return Identity(main, package.content_type(main), has_macros=False)


@contextmanager
def lent(path: Path) -> Iterator[Lent]:
    """Lend a package to the library of its kind."""
    with Package(Source(path, path.name)) as package:
        identity = any_identity(package)
        is_deck = "presentation" in identity.type or "slideshow" in identity.type
        lending = LibraryBridge(package, identity, SHOW if is_deck else WORD)
        made: Any = (pptx.Presentation if is_deck else docx.Document)(lending.copy())
        lending.loaded(made.part.package)
        yield Lent(package, lending, made, made.part.package)


def contents(path: Path) -> Parts:
    """The parts of a package."""
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def edited(
    parts: Mapping[str, bytes], tmp: Path, edit: Callable[[Any], object]
) -> tuple[Parts, tuple[str, ...]]:
    """What a package holds after an edit by the library, and which addresses are told as new."""
    with lent(pack(parts, tmp / "before.docx")) as found:
        edit(found.made)
        rewriting, external = found.returned()
        rewriting.save(tmp / "after.docx")
    return contents(tmp / "after.docx"), external


def changed(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> set[str]:
    """The names of parts that are not the same to the byte."""
    return {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}


def as_strict(parts: Mapping[str, bytes]) -> Parts:
    """The same package in the strict variant."""
    return {name: data if data == PNG else strict(data) for name, data in parts.items()}


def with_type(parts: Mapping[str, bytes], old: str, new: str) -> Parts:
    """The same package with another type of a part."""
    table = parts[TYPES].replace(old.encode(), new.encode())
    assert table != parts[TYPES]
    return {**parts, TYPES: table}


def test_nothing_changed_is_nothing_returned(tmp_path: Path) -> None:
    """The library's own way to write is not seen, though it renames parts and drops loose ones."""
    for parts in (rich_document(), rich_deck(), as_strict(rich_document()), as_strict(rich_deck())):
        with lent(pack(parts, tmp_path / "a")) as found:
            if hasattr(found.made, "slides"):
                assert len(found.made.slides) == 2
            rewriting, external = found.returned()
            assert rewriting.changed == frozenset()
            assert external == ()
            rewriting.save(tmp_path / "b")
        assert contents(tmp_path / "b") == dict(parts)


def test_only_what_changed_comes_back(tmp_path: Path) -> None:
    """One paragraph more: the main part, and no other."""
    before = rich_document()
    after, _ = edited(before, tmp_path, lambda made: made.add_paragraph("more"))

    assert changed(before, after) == {STORY}
    assert b"more" in after[STORY]
    assert after["word/media/image1.png"] == PNG


@pytest.mark.parametrize(
    "kind",
    [
        "application/vnd.ms-word.document.macroEnabled.main+xml",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.template.main+xml",
        "application/vnd.ms-word.template.macroEnabledTemplate.main+xml",
    ],
)
def test_templates_and_macro_files_stay_what_they_are(tmp_path: Path, kind: str) -> None:
    """The library takes plain files only; what comes back is of the kind that was lent."""
    before = with_type(rich_document(), WORD, kind)
    after, _ = edited(before, tmp_path, lambda made: made.add_paragraph("more"))

    assert changed(before, after) == {STORY}
    assert kind.encode() in after[TYPES]


def test_strict_files_stay_strict(tmp_path: Path) -> None:
    """The library sees usual names; what comes back has the strict ones, new parts as well."""

    def add(made: Any) -> None:
        assert made.slides[0].shapes.title.text == "Apple harvest of 2024"
        made.slides.add_slide(made.slide_layouts[0])

    for parts, edit, count in (
        (rich_document(), lambda made: made.add_paragraph("more"), 1),
        (rich_deck(), add, 5),
    ):
        after, _ = edited(as_strict(parts), tmp_path, edit)
        names = changed(as_strict(parts), after)
        assert len(names) == count
        for name in names - {TYPES}:
            assert b"purl.oclc.org" in after[name], name
            assert not re.search(rb"openxmlformats\.org/(?!package|markup)", after[name]), name


def test_relations_that_lead_nowhere_are_kept(tmp_path: Path) -> None:
    """The library gets something at their end; what comes back leads nowhere as before."""
    before = rich_document()
    del before["word/comments.xml"]
    after, _ = edited(before, tmp_path, lambda made: made.add_paragraph("more"))

    assert changed(before, after) == {STORY}
    assert "missing/part.bin" not in after


def test_parts_keep_their_names(tmp_path: Path) -> None:
    """A library that renames the parts of slides does so in its copy only."""
    swap = {"slide1.xml": "slide9.xml", "slide2.xml": "slide1.xml"}
    before: Parts = {}
    for name, data in rich_deck().items():
        for old in swap:
            name, data = (
                name.replace(old, f"@{old}"),
                data.replace(old.encode(), b"@" + old.encode()),
            )
        for old, new in swap.items():
            name, data = (
                name.replace(f"@{old}", new),
                data.replace(b"@" + old.encode(), new.encode()),
            )
        before[name] = data

    def edit(made: Any) -> None:
        made.slides[0].shapes.title.text_frame.paragraphs[0].runs[0].text = "Pears"

    after, _ = edited(before, tmp_path, edit)

    assert changed(before, after) == {"ppt/slides/slide9.xml"}
    assert b"Pears" in after["ppt/slides/slide9.xml"]


def test_a_new_part_gets_a_name_that_is_free(tmp_path: Path) -> None:
    """Its type and the relation to it come with it; a part that the library never saw stays."""
    before = rich_deck()
    before["ppt/slides/slide3.xml"] = b"<nothing-leads-here/>"

    def edit(made: Any) -> None:
        made.slides.add_slide(made.slide_layouts[0]).shapes.title.text = "Third"

    after, external = edited(before, tmp_path, edit)

    new = set(after) - set(before)
    assert after["ppt/slides/slide3.xml"] == b"<nothing-leads-here/>"
    assert new == {"ppt/slides/slide4.xml", "ppt/slides/_rels/slide4.xml.rels"}
    assert b'PartName="/ppt/slides/slide4.xml"' in after[TYPES]
    assert b"slides/slide4.xml" in after["ppt/_rels/presentation.xml.rels"]
    assert b"../slideLayouts/slideLayout1.xml" in after["ppt/slides/_rels/slide4.xml.rels"]
    assert external == ()
    again = pptx.Presentation(str(tmp_path / "after.docx"))
    assert [slide.shapes.title.text for slide in again.slides][-1] == "Third"


def test_a_new_part_of_odd_name_is_added(tmp_path: Path) -> None:
    """Braces and no number in the name that the library wants do no harm."""

    def edit(made: Any) -> None:
        for name in ("/ppt/tags/tag1.xml", "/ppt/media/{image1}.png", "/ppt/media/image1.png"):
            part = Part(PackURI(name), "image/png", made.part.package, b"new")
            made.part.relate_to(part, RELATIONSHIP_TYPE.IMAGE)

    after, _ = edited(rich_deck(), tmp_path, edit)

    new = set(after) - set(rich_deck())
    assert len(new) == 3
    assert {after[name] for name in new} == {b"new"}
    assert after["ppt/media/image1.png"] == PNG


def test_new_addresses_are_told(tmp_path: Path) -> None:
    """Those that the part did not reach out to before; each once."""

    def edit(made: Any) -> None:
        for address in ("https://example.org/", "https://example.com/x", "https://example.com/x"):
            made.part.rels.get_or_add_ext_rel(RELATIONSHIP_TYPE.HYPERLINK, address)

    after, external = edited(rich_document(), tmp_path, edit)

    assert external == ("https://example.com/x",)
    assert after[STORY_RELS].count(b'TargetMode="External"') == 2


def test_a_part_that_goes_takes_its_relations_along(tmp_path: Path) -> None:
    """What the library lets go is dropped with its type and the relation to it."""

    def edit(made: Any) -> None:
        made.part.drop_rel(made.slides._sldIdLst.sldId_lst[1].rId)
        del made.slides._sldIdLst[1]

    after, _ = edited(rich_deck(), tmp_path, edit)

    gone = set(rich_deck()) - set(after)
    assert gone == {"ppt/slides/slide2.xml", "ppt/slides/_rels/slide2.xml.rels"}
    assert b"slide2.xml" not in after[TYPES]
    assert b"slide2.xml" not in after["ppt/_rels/presentation.xml.rels"]


def test_a_part_that_mixes_the_variants_is_not_changed(tmp_path: Path) -> None:
    """It could not be named back; an edit of another part goes through."""
    before = rich_document()
    head = b'xmlns:s="http://purl.oclc.org/ooxml/drawingml/chart" '
    before[STORY] = before[STORY].replace(b"xmlns:w14", head + b"xmlns:w14", 1)

    with pytest.raises(ValidationFailed, match=r"word/document\.xml mixes the two variants"):
        edited(before, tmp_path, lambda made: made.add_paragraph("more"))

    def edit(made: Any) -> None:
        made.styles["heading 1"].font.bold = True

    after, _ = edited(before, tmp_path, edit)
    assert changed(before, after) == {"word/styles.xml"}


def test_names_of_lent_parts_are_known(tmp_path: Path) -> None:
    """Of each part that was lent its entry, also for pictures, whose bytes stay behind."""
    with lent(pack(rich_document(), tmp_path / "a.docx")) as found:
        parts = {found.lending.name_of(part): part for part in found.made.part.package.iter_parts()}
        assert set(parts) == {
            name for name in rich_document() if not name.endswith((".rels", "loose.xml", TYPES))
        }
        picture = parts["word/media/image1.png"]
        assert picture.blob == b"word/media/image1.png"
        assert found.package.read(found.lending.name_of(picture)) == PNG
        assert found.lending.name_of(object()) == ""  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (KeyError("x"), ValidationFailed), (AttributeError("x"), ValidationFailed),
        (ValueError("x"), ValidationFailed), (RecursionError("x"), ValidationFailed),
        (etree.C14NError("x"), FileReadFailed), (FileReadFailed("x"), FileReadFailed),
    ],
)  # fmt: skip
def test_what_a_library_raises_is_told_as_ours(error: Exception, kind: type[KbdError]) -> None:
    """A package that it does not understand is refused by name; our own errors pass."""
    with pytest.raises(kind), library_errors("a.docx"):
        raise error


@pytest.mark.corpora
@pytest.mark.parametrize("kind", ["docx", "pptx"])
def test_real_files_come_back_as_they_were(corpora: Path, tmp_path: Path, kind: str) -> None:
    """Lent, loaded and taken back unchanged, every entry of small real files is the same."""
    family = Family("a file", {}, {})
    count = 0
    for path in sorted(corpora.glob(f"{kind}/*"))[::12]:
        if path.stat().st_size > 60_000:
            continue
        try:
            with Package(Source(path, path.name)) as package:
                identify(package, family)
        except FileReadFailed as error:
            if "of another kind" not in error.message:
                continue
        with lent(path) as found:
            if kind == "pptx":
                list(found.made.slides)
            rewriting, external = found.returned()
            assert (rewriting.changed, external) == (frozenset(), ()), path
        count += 1
    assert count > 8


class OddError(Exception):
    """What a library has for files that it does not understand, of no kind that Python has."""


@pytest.mark.parametrize(
    ("raised", "told"),
    [
        (KeyError("rId9"), ValidationFailed),
        (OddError("required attribute not present"), ValidationFailed),
        (etree.LxmlError("it is no XML"), FileReadFailed),
        (FileReadFailed("it is damaged"), FileReadFailed),
        (MemoryError(), MemoryError),
        (OSError(28, "no space"), OSError),
    ],
)
def test_what_a_library_raises_is_told_of_the_file(
    raised: Exception, told: type[Exception]
) -> None:
    """Whatever it is; but what befell the process or the disk is no fault of the file."""
    with pytest.raises(told), library_errors("a.pptx"):
        raise raised
