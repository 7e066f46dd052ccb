"""Comparison of PDF files: pages by text and look, lines with words, what belongs to the file."""

import random
from pathlib import Path

import pytest

from kbd.errors import FileReadFailed, ValidationFailed
from kbd.formats import Change, CompareOptions, Comparison, Source
from kbd_pdf import PdfFormat
from pdf_forge import forged, one_page, shown, stream, text_pages
from samples import half_or_all

PDF = PdfFormat()


def written(folder: Path, name: str, data: bytes) -> Source:
    path = folder / name
    path.write_bytes(data)
    return Source(path, name)


def compared(before: Source | None, after: Source | None) -> Comparison:
    return PDF.compare(before, after, CompareOptions())


def told(found: tuple[Change, ...]) -> list[tuple[str, str, str]]:
    return [(each.kind, each.what, each.place.title) for each in found]


def paper(lines: list[str], extra: bytes = b"") -> bytes:
    """A page of lines."""
    painted = b"".join(shown(line, f"72 {700 - 20 * at}") for at, line in enumerate(lines))
    return one_page(stream(painted + extra))


def test_pages_that_moved_came_and_went_are_one_change_each(tmp_path: Path) -> None:
    """Other pages keep quiet, though all of them have new numbers."""
    texts = [f"Text of page {word}" for word in ("one", "two", "three", "four", "five")]
    before = written(tmp_path, "a.pdf", text_pages(texts))
    order = [texts[3], texts[0], "A fresh leaf", texts[2], texts[4]]
    after = written(tmp_path, "b.pdf", text_pages(order))

    found = compared(before, after).changes

    assert sorted(told(found)) == [
        ("added", "page", "page 3"), ("moved", "page", "page 1"), ("removed", "page", "page 2"),
    ]  # fmt: skip
    moved = next(each for each in found if each.kind == "moved")
    assert moved.moved_from is not None
    assert moved.moved_from.page == 4


def test_lines_of_a_page_are_told_with_words(tmp_path: Path) -> None:
    """A changed line has its words, and the page the share of pixels that differ."""
    before = written(tmp_path, "a.pdf", paper(["Total 314.60 euros", "Thank you", "Bye now"]))
    after = written(tmp_path, "b.pdf", paper(["Total 341.60 euros", "Thank you"]))

    page, line, gone = compared(before, after).changes

    assert told((page, line, gone)) == [
        ("changed", "page", "page 1"), ("changed", "line", "page 1, line 1"),
        ("removed", "line", "page 1, line 3"),
    ]  # fmt: skip
    assert page.note.endswith("% of its pixels differ")
    assert ("removed", "314.60") in line.words
    assert (line.place.page, line.place.line) == (1, 1)


def test_a_drawing_that_differs_is_told_by_its_pixels(tmp_path: Path) -> None:
    """Where the text is the same, what was drawn still counts."""
    before = written(tmp_path, "a.pdf", paper(["Same"], b"10 10 100 100 re f\n"))
    after = written(tmp_path, "b.pdf", paper(["Same"], b"10 10 100 150 re f\n"))

    (change,) = compared(before, after).changes

    assert told((change,)) == [("changed", "page", "page 1")]
    assert change.note.endswith("% of its pixels differ")


def test_text_that_nobody_sees_is_told_as_such(tmp_path: Path) -> None:
    """Invisible text differs in the lines alone, and the page says that it looks the same."""
    before = written(tmp_path, "a.pdf", one_page(stream(shown("words one", extra="3 Tr"))))
    after = written(tmp_path, "b.pdf", one_page(stream(shown("words two", extra="3 Tr"))))

    page, line = compared(before, after).changes

    assert "looks the same" in page.note
    assert (line.before, line.after) == ("words one", "words two")


def test_the_same_pages_written_otherwise_are_the_same(tmp_path: Path) -> None:
    """The order of objects and bytes behind the end make no difference."""
    data = paper(["Same", "text"])
    before = written(tmp_path, "a.pdf", data)
    after = written(tmp_path, "b.pdf", data + b"\n% a comment\n")

    assert compared(before, after).total == 0


def test_properties_outline_fields_and_notes_are_told(tmp_path: Path) -> None:
    """What belongs to the file is told by its name, and found by it."""

    def made(title: str, entry: str, value: str, note: str) -> bytes:
        return one_page(
            stream(shown("Page")),
            b"<</Title(%s)>>" % title.encode(),
            b"<</First 8 0 R/Last 8 0 R/Count 1>>",
            b"<</Title(%s)/Parent 7 0 R/Dest[3 0 R/Fit]>>" % entry.encode(),
            b"<</FT/Tx/T(name)/V(%s)/Type/Annot/Subtype/Widget/Rect[0 0 9 9]>>" % value.encode(),
            b"<</Type/Annot/Subtype/Text/Contents(%s)/Rect[20 20 30 30]>>" % note.encode(),
            catalogue=b"/Outlines 7 0 R/AcroForm<</Fields[9 0 R]>>",
            page=b"/Annots[9 0 R 10 0 R]",
            trailer=b"/Info 6 0 R",
        )

    before = written(tmp_path, "a.pdf", made("Old", "Start", "Ann", "check"))
    after = written(tmp_path, "b.pdf", made("New", "Begin", "Bob", "check it"))

    found = {each.place.title: each for each in compared(before, after).changes}

    assert {(title, each.before, each.after) for title, each in found.items()} >= {
        ("property title", "Old", "New"),
        ("outline entry 1", "Start", "Begin"),
        ("field name", "Ann", "Bob"),
        ("page 1, annotation 1", "note: check", "note: check it"),
    }
    for title, change in found.items():
        assert PDF.locate(after, title) == change.place
        (back,) = PDF.trace(before, after, (change.place,), forward=False)
        assert back.place == change.place
        assert back.is_changed


def test_an_entry_that_follows_its_page_is_no_change(tmp_path: Path) -> None:
    """A page that came before shifts where the outline leads, and that is no change of it."""

    def made(*texts: str) -> bytes:
        last = 3 + len(texts) - 1
        kids = b" ".join(b"%d 0 R" % (3 + at) for at in range(len(texts)))
        pages = [
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents %d 0 R"
            b"/Resources<</Font<</F<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>>>"
            % (last + 3 + at)
            for at in range(len(texts))
        ]
        return forged([
            b"<</Type/Catalog/Pages 2 0 R/Outlines %d 0 R>>" % (last + 1),
            b"<</Type/Pages/Kids[%s]/Count %d>>" % (kids, len(texts)),
            *pages,
            b"<</First %d 0 R/Last %d 0 R/Count 1>>" % (last + 2, last + 2),
            b"<</Title(End)/Parent %d 0 R/Dest[%d 0 R/Fit]>>" % (last + 1, last),
            *(stream(shown(text)) for text in texts),
        ])  # fmt: skip

    before = written(tmp_path, "a.pdf", made("first words", "last words"))
    after = written(tmp_path, "b.pdf", made("fresh leaf here", "first words", "last words"))

    found = compared(before, after).changes

    assert told(found) == [("added", "page", "page 1")]


def test_a_new_and_a_deleted_file_are_told_by_pages(tmp_path: Path) -> None:
    """Without the other version each page is one change, with its text."""
    source = written(tmp_path, "a.pdf", text_pages(["one", "two"]))

    added, removed = compared(None, source).changes, compared(source, None).changes

    assert [each.after for each in added] == [each.before for each in removed] == ["one", "two"]
    assert told(added) == [("added", "page", "page 1"), ("added", "page", "page 2")]


def test_pages_are_rebuilt_from_changes(tmp_path: Path) -> None:
    """The changes, applied to the texts of the pages before, make those after; seeded orders."""
    draw = random.Random(8)
    words = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa"]
    for _ in range(12):
        before = [f"{word} {word}{number}" for number, word in enumerate(words)]
        after = list(before)
        after.insert(draw.randrange(len(after)), after.pop(draw.randrange(len(after))))
        del after[draw.randrange(len(after))]
        after.insert(draw.randrange(len(after) + 1), f"fresh{draw.random()}")
        sources = [
            written(tmp_path, name, text_pages(texts))
            for name, texts in (("a.pdf", before), ("b.pdf", after))
        ]

        found = compared(*sources).changes

        removed = [each for each in found if (each.kind, each.what) == ("removed", "page")]
        gone = {each.place.page or 0 for each in removed}
        gone |= {each.moved_from.page or 0 for each in found if each.moved_from}
        made = [text for number, text in enumerate(before, 1) if number not in gone]
        for each in found:
            if each.kind == "added":
                made.insert((each.place.page or 0) - 1, each.after)
            elif each.moved_from:
                made.insert((each.place.page or 0) - 1, before[(each.moved_from.page or 0) - 1])
        for each in found:
            if each.what == "line":
                made[(each.place.page or 0) - 1] = each.after
        assert made == after


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("2", "page 2"),
        ("Page 2", "page 2"),
        ("p. 1", "page 1"),
        ("page 1, line 1", "page 1, line 1"),
    ],
)
def test_places_are_found_as_people_write_them(tmp_path: Path, text: str, title: str) -> None:
    """A bare number is a page."""
    source = written(tmp_path, "a.pdf", text_pages(["one", "two"]))

    assert PDF.locate(source, text).title == title


def test_lines_and_pages_are_traced(tmp_path: Path) -> None:
    """Lines follow their page, and shift on it; one that is gone is nowhere."""
    before = written(tmp_path, "a.pdf", paper(["first", "second", "third one"]))
    after = written(tmp_path, "b.pdf", paper(["new", "second", "third two"]))
    places = tuple(PDF.locate(before, f"page 1, line {number}") for number in (2, 3))

    same, changed = PDF.trace(before, after, places, forward=True)

    assert (same.place, same.is_changed) == (places[0], False)
    assert (changed.place, changed.is_changed) == (places[1], True)


def test_what_cannot_be_compared_is_refused(tmp_path: Path) -> None:
    """Damaged files, places that are not there, and options."""
    good = written(tmp_path, "a.pdf", text_pages(["one"]))
    bad = written(tmp_path, "b.pdf", b"%PDF-1.7\nnothing")

    for pair in ((good, bad), (bad, good), (None, bad), (bad, None)):
        with pytest.raises(FileReadFailed):
            compared(*pair)
    with pytest.raises(ValidationFailed, match="takes no sheet"):
        PDF.compare(good, good, CompareOptions(sheet="x"))
    for text in ("page 2", "page 1, line 9", "property none", ""):
        with pytest.raises(ValidationFailed):
            PDF.locate(good, text)


def like_themselves(paths: list[Path], folder: Path) -> int:
    """See that no file differs from itself with a byte more behind its end."""
    count = 0
    for path in paths:
        source = Source(path, path.name)
        other = written(folder, "other.pdf", path.read_bytes() + b"\n")
        try:
            found = compared(source, other)
        except FileReadFailed:
            continue
        count += 1
        assert found.changes == (), path.name
    return count


@pytest.mark.corpora
def test_a_file_is_like_itself(corpora: Path, tmp_path: Path) -> None:
    """Of a sample nothing differs."""
    assert like_themselves(sorted((corpora / "pdf").iterdir())[3::24], tmp_path) > 10


@pytest.mark.full
@pytest.mark.corpora
@half_or_all
def test_every_file_is_like_itself(corpora: Path, tmp_path: Path, every: int) -> None:
    """The same of all files."""
    paths = sorted((corpora / "pdf").iterdir())[::every]
    assert like_themselves(paths, tmp_path) > 250 // every


def packaged(
    *, file: bytes = b"one", script: str = "a()", address: str = "a", **more: str
) -> bytes:
    """A page with two attached files, a script, a link, and what only some programs write."""
    return one_page(
        stream(shown("Page")),
        stream(file, b"/Type/EmbeddedFile"),
        b"<</F(data.csv)/EF<</F 6 0 R>>>>",
        b"<</S/JavaScript/JS(%s)>>" % script.encode(),
        b"<</Type/Annot/Subtype/Link/Rect[9 9 99 99]/Border[0 0 0]"
        b"/A<</S/URI/URI(https://example.org/%s)>>>>" % address.encode(),
        stream(b"<x>%s</x>" % more.get("xmp", "").encode(), b"/Type/Metadata"),
        b"<</Company(%s)/Keywords(%s)>>"
        % (more.get("company", "").encode(), more.get("keywords", "").encode()),
        b"<</FT/Tx/T(name)/V(%s)>>" % more.get("value", "").encode(),
        catalogue=b"/Names<</EmbeddedFiles<</Names[(data.csv)7 0 R(data.csv)7 0 R]>>>>"
        b"/OpenAction 8 0 R/Metadata 10 0 R/AcroForm<</Fields[12 0 R]>>",
        page=b"/Annots[9 0 R]",
        trailer=b"/Info 11 0 R",
    )


@pytest.mark.parametrize(
    ("changed", "titles"),
    [
        ({"file": b"two"}, ["attachment data.csv", "attachment data.csv [2]"]),
        ({"script": "b()"}, ["action scripts"]),
        ({"address": "b"}, ["page 1, annotation 1"]),
        ({"xmp": "new"}, ["property XMP metadata"]),
        ({"company": "new"}, ["property Company"]),
        ({"keywords": "k" * 400 + "new"}, ["property keywords"]),
        ({"value": "v" * 400 + "new"}, ["field name"]),
    ],
)
def test_what_is_inside_objects_is_compared(
    tmp_path: Path, changed: dict[str, str], titles: list[str]
) -> None:
    """Data of attached files, scripts, targets of links and long values differ by themselves."""
    common = {"company": "old", "keywords": "k" * 400, "value": "v" * 400}
    before = written(tmp_path, "a.pdf", packaged(**common))  # type: ignore[arg-type]
    after = written(tmp_path, "b.pdf", packaged(**common | changed))  # type: ignore[arg-type]

    found = compared(before, after)

    assert [each.place.title for each in found.changes] == titles
    assert compared(before, written(tmp_path, "c.pdf", packaged(**common) + b"\n%\n")).total == 0  # type: ignore[arg-type]
    for change in found.changes:
        assert PDF.locate(after, change.place.title) == change.place
        assert PDF.trace(before, after, (change.place,), forward=True)[0].is_changed


def test_all_fields_of_a_long_form_are_compared(tmp_path: Path) -> None:
    """Fields behind those that a map lists are compared, too."""

    def made(value: int) -> bytes:
        fields = [b"<</FT/Tx/T(f%d)/V(%d)>>" % (at, at) for at in range(400)]
        fields[390] = b"<</FT/Tx/T(f390)/V(%d)>>" % value
        form = b"/AcroForm<</Fields[%s]>>" % b" ".join(b"%d 0 R" % (at + 6) for at in range(400))
        return one_page(stream(shown("Page")), *fields, catalogue=form)

    before, after = written(tmp_path, "a.pdf", made(390)), written(tmp_path, "b.pdf", made(391))

    assert [
        (each.place.title, each.before, each.after) for each in compared(before, after).changes
    ] == [("field f390", "390", "391")]


def test_what_is_too_faint_for_a_change_is_warned_of(tmp_path: Path) -> None:
    """Shades that another program might draw of the same are no change, but are not passed over."""
    before = written(tmp_path, "a.pdf", paper(["Same"]))
    after = written(tmp_path, "b.pdf", paper(["Same"], b"0.97 g 10 10 100 100 re f\n"))

    found = compared(before, after)

    assert found.total == 0
    assert found.warnings[0].startswith("On page 1 pixels differ by at most 24 of 255")
