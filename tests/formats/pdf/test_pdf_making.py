"""New PDF files of what others have: forms filled in, pages put together, turned, left out."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pypdfium2 as pdfium
import pytest
from pypdf import PdfReader

from kbd.errors import ValidationFailed
from kbd.formats import Applied, CompareOptions, Region, Source
from kbd_pdf import PdfFormat
from kbd_pdf.making.operations import AddPages, FieldValue, FillForm, KeepPages, RotatePages
from pdf_forge import locked_by_owner, one_page, shown, stream
from pdf_forms import form, linked_pages, signed

PDF = PdfFormat()


def written(tmp_path: Path, data: bytes, name: str = "a.pdf") -> Source:
    """A file with these bytes."""
    path = tmp_path / name
    path.write_bytes(data)
    return Source(path, name)


def made(
    tmp_path: Path,
    *operations: msgspec.Struct,
    source: Source | None = None,
    files: Mapping[str, Source] | None = None,
) -> tuple[Source, Applied]:
    """The file that operations make; made twice, to the same bytes."""
    target, again = tmp_path / "made.pdf", tmp_path / "again.pdf"
    target.unlink(missing_ok=True)
    again.unlink(missing_ok=True)
    applied = PDF.apply_with_files(source, operations, target, files or {})
    assert PDF.apply_with_files(source, operations, again, files or {}) == applied
    assert again.read_bytes() == target.read_bytes()
    return Source(target, "made.pdf"), applied


def filled(tmp_path: Path, data: bytes, **values: Any) -> tuple[Source, Applied]:
    """A form with values; names have _ for a dot."""
    fields = tuple(FieldValue(name.replace("_", "."), value) for name, value in values.items())
    return made(tmp_path, FillForm(fields), source=written(tmp_path, data))


def stored(source: Source) -> dict[str, Any]:
    """The values of fields as pypdf reads them."""
    found = PdfReader(source.path).get_fields() or {}
    return {name: field.get("/V") for name, field in found.items()}


def read(source: Source) -> str:
    """All text of a file as kbd reads it."""
    return "\n".join(passage.text for passage in PDF.passages(source))


def is_inked(source: Source, left: int, top: int, right: int, bottom: int) -> bool:
    """Tell whether pdfium paints anything in a box of the first page, from its top left."""
    with pdfium.PdfDocument(source.path) as document:
        document.init_forms()
        page = document[0]
        picture = page.render(scale=1).to_pil().convert("L")
        page.close()
    least, _ = picture.crop((left, top, right, bottom)).getextrema()
    return bool(least < 200)


def test_a_form_is_filled_with_what_it_takes(tmp_path: Path) -> None:
    """Text, a box, a radio, an option, several options: stored, drawn, and read again."""
    source, applied = filled(
        tmp_path, form(), name="Ada Lovelace", code=12, agreed=True, size="L", color="Green",
        kinds=["Apple", "c"], whole_part="inner",
    )  # fmt: skip
    found = stored(source)
    assert (found["name"], found["code"], found["whole.part"]) == ("Ada Lovelace", "12", "inner")
    assert (found["agreed"], found["size"], found["color"]) == ("/Yes", "/L", "Green")
    assert found["kinds"] == ["a", "c"]
    assert applied.changed == ("7 fields filled in",)
    text = read(source)
    assert "form field name: Ada Lovelace" in text
    assert "form field agreed: ticked" in text
    assert is_inked(source, 72, 80, 300, 100)
    assert not is_inked(source, 72, 420, 300, 480)


def test_what_is_not_named_keeps_its_value(tmp_path: Path) -> None:
    """A field that is not named stays as it was; so do the page and what is on it."""
    source, _ = filled(tmp_path, form(), code="x")
    found = stored(source)
    assert (found["name"], found["fixed"], found["color"]) == ("old value", "stays", "Red")
    assert "A form" in read(source)


def test_an_old_value_is_gone_from_the_bytes(tmp_path: Path) -> None:
    """What a field held before stands nowhere in the new file, neither stored nor drawn."""
    before = form("secret of old")
    assert before.count(b"secret of old") == 2
    source, _ = filled(tmp_path, before, name="new")
    assert b"secret of old" not in source.path.read_bytes()


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"nam": "x"}, "did you mean name"),
        ({"color": "Gren"}, 'no option "Gren"; it has: Red, Green'),
        ({"size": "M"}, 'no state "M"; it takes: S, L'),
        ({"agreed": "No"}, "true, false, or Yes"),
        ({"code": "123456"}, "at most 5 characters, and got 6"),
        ({"fixed": "x"}, "fixed is read-only"),
        ({"push": "x"}, "button"),
        ({"color": ["Red", "Green"]}, "one of: Red, Green"),
        ({"name": True}, "takes text"),
    ],
)  # fmt: skip
def test_what_a_field_does_not_take_is_refused(
    tmp_path: Path, values: dict[str, Any], told: str
) -> None:
    """A name or a value that does not fit is refused with what there is, and nothing is written."""
    with pytest.raises(ValidationFailed, match=told):
        filled(tmp_path, form(), **values)
    assert not (tmp_path / "made.pdf").exists()


def test_a_file_without_a_form_is_not_filled(tmp_path: Path) -> None:
    """Where there are no fields that is said."""
    with pytest.raises(ValidationFailed, match="no form fields"):
        filled(tmp_path, one_page(stream(shown("Plain"))), name="x")


def test_letters_that_fonts_lack_are_told(tmp_path: Path) -> None:
    """A value in letters that fonts of forms do not have is stored whole, and warned of."""
    source, applied = filled(tmp_path, form(), name="Łódź 日本")
    assert stored(source)["name"] == "Łódź 日本"
    assert any("letters" in warning for warning in applied.warnings)


def test_files_are_merged_with_their_contents_and_links(tmp_path: Path) -> None:
    """Pages of two files stand in the order that is asked for, with contents and fields."""
    files = {"b.pdf": written(tmp_path, linked_pages(), "b.pdf"),
             "f.pdf": written(tmp_path, form(), "f.pdf")}  # fmt: skip
    source, applied = made(
        tmp_path, AddPages("f.pdf"), AddPages("b.pdf", "3,1", degrees=90), files=files
    )
    reader = PdfReader(source.path)
    texts = [page.extract_text().split("\n")[0] for page in reader.pages]
    assert [text.strip() for text in texts] == ["A form", "Page 3", "Page 1"]
    assert [page.rotation for page in reader.pages] == [0, 90, 90]
    assert applied.changed == ("page 1 of f.pdf added", "pages 3,1 of b.pdf added")
    assert {entry["title"]: entry["page"] for entry in PDF.map(source)["toc"]} == {
        "One": 3, "Three": 2,
    }  # fmt: skip
    assert stored(source)["name"] == "old value"
    links: Any = reader.pages[2]["/Annots"]
    target = links[0].get_object()["/Dest"][0]
    assert target.get_object() == reader.pages[1].get_object()


def test_pages_that_are_left_out_are_gone_from_the_bytes(tmp_path: Path) -> None:
    """A page that is not taken leaves no text in the new file, though links led to it."""
    source, _ = made(
        tmp_path, AddPages("b.pdf", "1-2"),
        files={"b.pdf": written(tmp_path, linked_pages(word="Leaf"), "b.pdf")},
    )  # fmt: skip
    data = source.path.read_bytes()
    assert b"Leaf 1" in data
    assert b"Leaf 3" not in data
    kept, _ = made(tmp_path, KeepPages("2"), source=written(tmp_path, linked_pages(word="Leaf")))
    assert b"Leaf 2" in kept.path.read_bytes()
    assert b"Leaf 1" not in kept.path.read_bytes()
    assert b"Leaf 3" not in kept.path.read_bytes()


def test_pages_are_turned(tmp_path: Path) -> None:
    """Pages of a copy are turned, and the copied file is not."""
    before = written(tmp_path, linked_pages())
    source, applied = made(tmp_path, RotatePages(270, "2"), source=before)
    assert [page.rotation for page in PdfReader(source.path).pages] == [0, 270, 0]
    assert applied.changed == ("page 2 turned by 270 degrees",)
    assert before.path.read_bytes() == linked_pages()


def test_what_cannot_come_along_is_named(tmp_path: Path) -> None:
    """Labels, attachments, signatures of a file are named when its pages are taken."""
    catalogue = (
        b"/PageLabels<</Nums[0<</S/r>>]>>/OCProperties<</OCGs[]/D<<>>>>"
        b"/Names<</EmbeddedFiles<</Names[]>>>>"
    )
    files = {"b.pdf": written(tmp_path, linked_pages(catalogue), "b.pdf"),
             "s.pdf": written(tmp_path, signed(), "s.pdf")}  # fmt: skip
    source, applied = made(tmp_path, AddPages("b.pdf"), AddPages("s.pdf"), files=files)
    told = " ".join(applied.warnings)
    for word in ("page labels", "attached files", "signatures"):
        assert word in told
    assert "is_signed" not in PDF.map(source)


def test_layers_stay_switched_off(tmp_path: Path) -> None:
    """The layers of a file come along with its pages; those of a second one are told."""
    layers = b"/OCProperties<</OCGs[]/D<</Name(kept)>>>>"
    files = {name: written(tmp_path, linked_pages(layers), name) for name in ("a.pdf", "b.pdf")}
    source, applied = made(tmp_path, AddPages("a.pdf"), AddPages("b.pdf"), files=files)
    assert PdfReader(source.path).root_object["/OCProperties"]["/D"]["/Name"] == "kept"  # type: ignore[index]
    assert [warning for warning in applied.warnings if "b.pdf" in warning] == [
        "Layers of b.pdf that were switched off are shown now."
    ]


def test_what_is_active_is_told(tmp_path: Path) -> None:
    """Scripts that come along are told, and are active content of the new file."""
    catalogue = b"/OpenAction<</S/JavaScript/JS(app.alert)>>"
    before = written(tmp_path, form(catalogue=catalogue))
    source, applied = made(tmp_path, RotatePages(90), source=before)
    assert any("JavaScript" in warning for warning in applied.warnings)
    assert PDF.active_content(source, ()) == ("action: JavaScript, when it is opened",)
    assert PDF.active_content(source, (before,)) == ()


def test_fields_of_one_name_are_told(tmp_path: Path) -> None:
    """Two files whose fields have one name are merged with a warning that names it."""
    files = {name: written(tmp_path, form(value), name)
             for name, value in (("a.pdf", "x"), ("b.pdf", "y"))}  # fmt: skip
    _, applied = made(tmp_path, AddPages("a.pdf"), AddPages("b.pdf"), files=files)
    assert any("agreed" in warning for warning in applied.warnings)


def test_signed_and_encrypted_files_are_refused(tmp_path: Path) -> None:
    """A copy of a signed file is not changed, and nothing is taken out of an encrypted one."""
    with pytest.raises(ValidationFailed, match="signed"):
        made(tmp_path, RotatePages(90), source=written(tmp_path, signed()))
    locked = written(tmp_path, locked_by_owner(shown("Locked")))
    with pytest.raises(ValidationFailed, match="encrypted"):
        made(tmp_path, AddPages("a.pdf"), files={"a.pdf": locked})


def test_a_new_file_has_pages(tmp_path: Path) -> None:
    """Operations on a file that has no pages yet, or none at all, are refused."""
    for operation in (RotatePages(90), KeepPages("1")):
        with pytest.raises(ValidationFailed, match="no pages yet"):
            made(tmp_path, operation)
    other = {"a.txt": written(tmp_path, b"x", "a.txt")}
    with pytest.raises(ValidationFailed, match="no PDF file"):
        made(tmp_path, AddPages("a.txt"), files=other)
    with pytest.raises(ValidationFailed, match="page 4 is not one of them"):
        made(tmp_path, KeepPages("4"), source=written(tmp_path, linked_pages()))


def test_a_copy_without_operations_is_the_file(tmp_path: Path) -> None:
    """A copy that nothing is done to has the bytes of its file."""
    source, _ = made(tmp_path, source=written(tmp_path, linked_pages()))
    assert source.path.read_bytes() == linked_pages()


def test_the_review_names_what_was_filled_in(tmp_path: Path) -> None:
    """The comparison of a form with its filled copy tells the value, and nothing else of pages."""
    before = written(tmp_path, form())
    source, _ = made(tmp_path, FillForm((FieldValue("name", "new value"),)), source=before)
    text = str(PDF.compare(before, source, CompareOptions()))
    assert "old value" in text
    assert "new value" in text


def test_fields_are_read_with_what_they_take(tmp_path: Path) -> None:
    """The map lists each field with its kind, value, options, page, and what is demanded of it."""
    fields = {each["name"]: each for each in PDF.map(written(tmp_path, form()))["form_fields"]}
    assert fields["color"] == {
        "name": "color", "type": "choice", "value": "Red", "options": ["Red", "Green"], "page": 1,
    }  # fmt: skip
    assert fields["code"]["required"]
    assert fields["code"]["max_length"] == 5
    assert fields["fixed"]["read_only"]
    assert fields["size"]["options"] == ["S", "L"]
    assert PDF.read(written(tmp_path, form()), Region()).text.count("form field") == 3
