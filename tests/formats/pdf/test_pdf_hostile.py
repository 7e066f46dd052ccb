"""PDF files that are made to do harm: each is read as far as it goes, or refused, and cheaply."""

import random
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from confined import Confined, confined, opened
from kbd.formats import Region, Source
from kbd_pdf import PdfFormat
from pdf_forge import FLATE, FONT, forged, one_page, packed, rows, shown, stream, text_pages

ACTIONS = ("info", "map", "read", "passages", "preview")
MODEST_BYTES = 400 << 20
MODEST_S = 8.0

BLANKS = b" " * 1000
FORM = b"/Type/XObject/Subtype/Form/BBox[0 0 600 800]"
IMAGE = b"/Subtype/Image/Width 17000/Height 20000/BitsPerComponent 8/ColorSpace/DeviceGray"
HELLO = stream(shown("hello"))
PAGE = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]>>"
ROOT = b"<</Type/Catalog/Pages 2 0 R>>"

Build = Callable[[], bytes]


@pytest.fixture(scope="module")
def pdfs() -> Iterator[Confined]:
    """Where hostile files are opened."""
    with confined(PdfFormat, ACTIONS) as found:
        yield found


def nested_forms(
    depth: int,
    times: int,
    entries: bytes = b"",
    last: int | None = None,
    more: tuple[bytes, ...] = (),
    page: bytes = b"/X Do",
) -> bytes:
    """A page that draws a form, which draws another some times, and so on; or the first again."""
    body = b"/X Do " * times
    body = zlib.compress(body) if entries else body
    forms = [
        stream(
            body,
            FORM
            + entries
            + b"/Resources<</XObject<</X %d 0 R>>>>"
            % (last if last is not None and level == depth - 1 else 7 + level),
        )
        for level in range(depth)
    ]
    leaf = stream(shown("abc"), FORM + b"/Resources<</Font<</F 5 0 R>>>>")
    return one_page(stream(page), *forms, leaf, *more, resources=b"/XObject<</X 6 0 R>>")


def forms_of_the_page(depth: int, times: int) -> bytes:
    """Forms of forms that have resources, but the names of the next ones stand in the page's."""
    names = b"".join(b"/X%d %d 0 R" % (level, 6 + level) for level in range(depth + 1))
    forms = [
        stream(b"/X%d Do " % (level + 1) * times, FORM + b"/Resources<</ProcSet[/PDF]>>")
        for level in range(depth)
    ]
    leaf = stream(b"0 0 m 9 9 l S", FORM)
    return one_page(stream(b"/X0 Do"), *forms, leaf, resources=b"/XObject<<%s>>" % names)


def heavy_form() -> bytes:
    """A page that draws a form two thousand times, which paints a thousand lines."""
    form = packed(b"0 0 m 9 9 l S\n", 1_000, FLATE + FORM)
    return one_page(stream(b"/X Do " * 2_000), form, resources=b"/XObject<</X 6 0 R>>")


def hidden_forms() -> bytes:
    """Forms of forms, whose kind and names are written in numbers of letters."""
    return (
        nested_forms(9, 10)
        .replace(b"/Subtype/Form", b"/Sub#74ype/F#6frm")
        .replace(b"/X Do", b"/#58 Do")
    )


def nested_letters(depth: int, times: int) -> bytes:
    """A page with a text in a font of drawings, each of which writes in the next such font."""
    text = b"BT /F 9 Tf (%s) Tj ET" % (b"a" * times)
    fonts = []
    for level in range(depth):
        own = b"/Resources<</Font<</F %d 0 R>>>>" % (8 + 2 * level)
        font = (
            b"<</Type/Font/Subtype/Type3/FontBBox[0 0 9 9]/FontMatrix[1 0 0 1 0 0]/FirstChar 97"
            b"/LastChar 97/Widths[9]/Encoding<</Differences[97/a]>>/CharProcs<</a %d 0 R>>%s>>"
        ) % (7 + 2 * level, own if level < depth - 1 else b"")
        drawn = b"0 0 m 9 9 l S" if level == depth - 1 else text
        fonts += [font, stream(b"9 0 d0 " + drawn)]
    return one_page(stream(text), *fonts).replace(b"/F 5 0 R", b"/F 6 0 R")


def nested_patterns(depth: int, times: int) -> bytes:
    """A page filled with a pattern, whose tile is filled with the next one, and so on."""
    body = b"/Pattern cs /P scn " + b"0 0 9 9 re f " * times
    kind = (
        b"/PatternType 1/PaintType 1/TilingType 1/BBox[0 0 9 9]/XStep 9/YStep 9"
        b"/Resources<</Pattern<</P %d 0 R>>>>"
    )
    tiles = [stream(body, kind % (7 + level)) for level in range(depth)]
    last = stream(b"0 0 m 9 9 l S", kind % 5)
    return one_page(stream(body), *tiles, last, resources=b"/Pattern<</P 6 0 R>>")


def letters_of_forms() -> bytes:
    """A page with a letter that draws forms of forms."""
    font = (
        b"<</Type/Font/Subtype/T#79pe3/FontBBox[0 0 9 9]/FontMatrix[1 0 0 1 0 0]/FirstChar 97"
        b"/LastChar 97/Widths[9]/Encoding<</Differences[97/a]>>/CharProcs<</a 16 0 R>>"
        b"/Resources<</XObject<</X 6 0 R>>>>>>"
    )
    page = b"BT /F 9 Tf <61> Tj ET"
    return nested_forms(9, 10, more=(stream(b"9 0 d0 /X Do"),), page=page).replace(FONT, font)


def many_with_a_wrong_sum() -> bytes:
    """Three hundred streams of a megabyte each, whose checksums are wrong."""
    noise = random.Random(1).randbytes(20_000)
    body = zlib.compress(noise + b" " * 1_000_000)[:-4] + bytes(4)
    return one_page(HELLO, *[stream(body, FLATE + FORM)] * 300)


def twice(data: bytes) -> bytes:
    """A stream packed two times over."""
    body = data[data.index(b"stream\n") + 7 : data.rindex(b"\nendstream")]
    return stream(zlib.compress(body, 9), b"/Filter[/FlateDecode/FlateDecode]")


REFUSED: dict[str, tuple[Build, str]] = {
    "a page of 70 MB": (lambda: one_page(packed(BLANKS, 70_000)), "more than 64 MiB"),
    "70 MB packed twice": (lambda: one_page(twice(packed(BLANKS, 70_000))), "more than 64 MiB"),
    "300 MB in all": (
        lambda: one_page(HELLO, *[packed(BLANKS, 60_000, FLATE + FORM)] * 5), "256 MiB",
    ),
    "a picture of 340 MB": (
        lambda: one_page(HELLO, packed(b"\0" * 1000, 340_000, FLATE + IMAGE)), "300 MiB",
    ),
    "a million texts": (
        lambda: one_page(packed(shown("abc"), 1_100_000)), "paints more than 1,000,000",
    ),
    "a million lines": (
        lambda: one_page(packed(b"0 0 m 9 9 l S\n", 1_100_000)), "paints more than 1,000,000",
    ),
    "forms of forms": (lambda: nested_forms(9, 10), "forms that are drawn over and over"),
    "forms of packed forms": (lambda: nested_forms(9, 10, FLATE), "over and over"),
    "two forms a level": (lambda: nested_forms(30, 2), "over and over"),
    "forms in a circle that widens": (lambda: nested_forms(3, 2, last=6), "over and over"),
    "a form drawn often": (heavy_form, "over and over"),
    "forms under names in numbers": (hidden_forms, "over and over"),
    "forms under names of the page": (lambda: forms_of_the_page(9, 10), "over and over"),
    "letters of letters": (lambda: nested_letters(4, 100), "over and over"),
    "letters of forms": (letters_of_forms, "over and over"),
    "300 MB with wrong sums": (many_with_a_wrong_sum, "256 MiB"),
    "patterns of patterns": (lambda: nested_patterns(7, 10), "over and over"),
    "a web page": (lambda: b"<html><body>%PDF</body></html>", "a.pdf is damaged"),
    "a program": (lambda: b"\x7fELF" + bytes(5000), "a.pdf is no PDF file"),
}  # fmt: skip


@pytest.mark.parametrize("which", REFUSED)
@pytest.mark.sampled(3)
def test_what_would_fill_memory_is_refused(which: str, pdfs: Confined, tmp_path: Path) -> None:
    """In words that say why, and before a library takes the memory for it."""
    build, words = REFUSED[which]
    (tmp_path / "blob").write_bytes(build())
    # The others open it in the same way.
    for action, answer in pdfs.run(tmp_path / "blob", "a.pdf", ["map", "preview"]).items():
        assert (answer.kind, answer.code) == ("refused", "FILE_READ_FAILED"), (action, answer)
        assert words in answer.text, (action, answer)
        assert answer.peak_bytes <= MODEST_BYTES, (action, answer)


GROUP = FORM + b"/Group<</S/Transparency/CS/DeviceGray>>"
MASK = b"<</SMask<</S/Luminosity/G 6 0 R>>>>"
OWN_MASK = b"/Resources<</ExtGState<</G 7 0 R>>>>"
TILE = b"/PatternType 1/PaintType 1/TilingType 1/BBox[0 0 9 9]"
SQUARE = b"0 0 500 500 re f "
THROUGH = b"/G gs " + SQUARE * 2


def masked_page(page: bytes, mask: bytes, *more: bytes, names: bytes = b"") -> bytes:
    """A page with a mask /G: its form is object 6, its state 7, and what is more 8 and on."""
    return one_page(stream(page), mask, MASK, *more, resources=b"/ExtGState<</G 7 0 R>>%s" % names)


def masks_of_masks(depth: int, times: int) -> bytes:
    """A page that is painted some times through a mask, which is painted through the next one."""
    made = []
    for level in range(depth):
        own = b"/Resources<</ExtGState<</G %d 0 R>>>>" % (9 + 2 * level)
        made += [
            stream(b"/G gs " + SQUARE * times, GROUP + own),
            b"<</SMask<</S/Alpha/G %d 0 R>>>>" % (6 + 2 * level),
        ]
    made += [stream(SQUARE, GROUP), b"<</SMask<</G %d 0 R>>>>" % (6 + 2 * depth)]
    return one_page(stream(b"/G gs " + SQUARE * times), *made, resources=b"/ExtGState<</G 7 0 R>>")


def roundabout_mask() -> bytes:
    """A mask in itself, told in three objects, without a kind, and found in the page's names."""
    own = GROUP + b"/Subtype/Image/Resources<</ProcSet[/PDF]>>"
    page = masked_page(THROUGH, stream(THROUGH, own), b"<</#47 6 0 R>>")
    page = page.replace(MASK, b"<</SM#61sk 8 0 R>>").replace(b"/Subtype/Form", b"", 1)
    return page.replace(b"/G ", b"/H ")


def tiles(step: bytes, matrix: bytes = b"") -> bytes:
    """A page filled with the tiles of a pattern, so many points from each other."""
    tile = stream(b"0 0 9 9 re f", TILE + b"/XStep %s/YStep %s%s" % (step, step, matrix))
    page = stream(b"/Pattern cs /P scn 0 0 600 800 re f")
    return one_page(page, tile, resources=b"/Pattern<</P 6 0 R>>")


def programmed(size: int, *, is_filling: bool) -> bytes:
    """A page whose points are each computed by a program; by itself, or as a filling."""
    program = stream(
        b"{ %s pop dup dup }" % (b"sin cos " * size),
        b"/FunctionType 4/Domain[0 1 0 1]/Range[0 1 0 1 0 1]",
    )
    shading = (
        b"<</ShadingType 1/ColorSpace/DeviceRGB/Function[6 0 R]/Domain[0 1 0 1]"
        b"/Matrix[600 0 0 800 0 0]>>"
    )
    filling = b"<</PatternType 2/Shading 7 0 R>>"
    page = b"/Pattern cs /P scn 0 0 600 800 re f" if is_filling else b"/S sh"
    names = b"/Shading<</S 7 0 R>>/Pattern<</P 8 0 R>>"
    return one_page(stream(page), program, shading, filling, resources=names)


def stamped(look: bytes, *more: bytes) -> bytes:
    """A page with a stamp, whose look is object 6."""
    stamp = b"<</Subtype/Stamp/Rect[0 0 600 800]/AP<</N 6 0 R>>>>"
    return one_page(HELLO, look, *more, stamp, page=b"/Annots[%d 0 R]" % (7 + len(more)))


UNDRAWN: dict[str, Build] = {
    "a mask in itself": lambda: masked_page(THROUGH, stream(THROUGH, GROUP + OWN_MASK)),
    "a mask in itself, roundabout": roundabout_mask,
    "masks of masks": lambda: masks_of_masks(7, 10),
    "a mask with forms of forms": lambda: nested_forms(
        9, 10, more=(b"<</SMask<</S/Alpha/G 6 0 R>>>>",), page=b"/G gs 0 0 9 9 re f"
    ).replace(b"/XObject<</X 6 0 R>>>>", b"/ExtGState<</G 16 0 R>>>>", 1),
    "a mask of the things in a form": lambda: masked_page(
        b"/G gs /X Do", stream(SQUARE * 300, GROUP), stream(SQUARE * 3000, FORM),
        names=b"/XObject<</X 8 0 R>>",
    ),
    "a mask in a tile": lambda: masked_page(
        b"/Pattern cs /P scn 0 0 9 9 re f", stream(THROUGH, GROUP + OWN_MASK),
        stream(THROUGH, TILE + b"/XStep 9/YStep 9" + OWN_MASK), names=b"/Pattern<</P 8 0 R>>",
    ),
    "a mask of tiles in a circle": lambda: masked_page(
        b"/G gs " + SQUARE,
        stream(b"/Pattern cs /P scn " + SQUARE * 2, GROUP + b"/Resources<</Pattern<</P 8 0 R>>>>"),
        stream(b"/G gs 0 0 9 9 re f", TILE + b"/XStep 9/YStep 9" + OWN_MASK),
    ),
    "a mask in a stamp": lambda: stamped(stream(THROUGH, GROUP + OWN_MASK), MASK),
    "ten thousand masks": lambda: masked_page(
        b"/G gs " + SQUARE * 10_000, stream(SQUARE, GROUP)
    ),
    "tiles at each hundredth of a point": lambda: tiles(b".01"),
    "tiles that are made small": lambda: tiles(b"9", b"/Matrix[.001 0 0 .001 0 0]"),
    "a program for each point": lambda: programmed(5_000, is_filling=False),
    "a program for each point of a filling": lambda: programmed(5_000, is_filling=True),
}  # fmt: skip


@pytest.mark.parametrize("which", UNDRAWN)
@pytest.mark.sampled(3)
def test_what_would_be_drawn_without_end_is_not_drawn(
    which: str, pdfs: Confined, tmp_path: Path
) -> None:
    """In words that say why, and at once; it is mapped and read, for that draws nothing."""
    (tmp_path / "blob").write_bytes(UNDRAWN[which]())
    found = pdfs.run(tmp_path / "blob", "a.pdf", ["map", "read", "preview"])
    assert (found["map"].kind, found["read"].kind) == ("returned", "returned"), found
    answer = found["preview"]
    assert (answer.kind, answer.code) == ("refused", "FILE_READ_FAILED"), answer
    assert "page 1 of a.pdf costs more than painting 1,000,000 things" in answer.text
    assert answer.peak_bytes <= MODEST_BYTES, answer


DRAWN: dict[str, Build] = {
    "a page through a mask": lambda: masked_page(b"/G gs " + SQUARE * 1000, stream(SQUARE, GROUP)),
    "a mask of a whole form": lambda: masked_page(
        b"q /G gs /X Do Q " + SQUARE * 9000, stream(SQUARE * 300, GROUP),
        stream(SQUARE * 3000, GROUP), names=b"/XObject<</X 8 0 R>>",
    ),
    "a mask that is taken off": lambda: masked_page(
        b"/G gs /N gs " + SQUARE * 9000, stream(SQUARE * 300, GROUP), b"<</SMask/None>>"
    ).replace(b"/ExtGState<<", b"/ExtGState<</N 8 0 R"),
    "hatching": lambda: tiles(b"3"),
    "a program of one line": lambda: programmed(9, is_filling=True),
}  # fmt: skip


@pytest.mark.parametrize("which", DRAWN)
@pytest.mark.sampled(3)
def test_masks_tiles_and_programs_are_drawn(which: str, pdfs: Confined, tmp_path: Path) -> None:
    """As honest pages have them: what is painted through a mask, and what only stands beside it."""
    (tmp_path / "blob").write_bytes(DRAWN[which]())
    assert pdfs.run(tmp_path / "blob", "a.pdf", ["preview"])["preview"].kind == "returned"


def outline(entry: bytes) -> bytes:
    """A page with a table of contents of one entry, which is object 7."""
    root = b"<</Type/Outlines/First 7 0 R/Last 7 0 R>>"
    return one_page(HELLO, root, entry, catalogue=b"/Outlines 6 0 R")


def prev_circle() -> bytes:
    """A file whose table of objects goes on where it begins."""
    data = one_page(HELLO)
    return data.replace(b"/Root 1 0 R", b"/Root 1 0 R/Prev %d" % data.rindex(b"xref\n"))


READ: dict[str, Build] = {
    "pages in a circle": lambda: forged([ROOT, b"<</Type/Pages/Kids[2 0 R]/Count 1>>"]),
    "a count of two thousand million": lambda: forged(
        [ROOT, b"<</Type/Pages/Kids[3 0 R]/Count 2000000000>>", PAGE]
    ),
    "200,000 pages of one object": lambda: forged(
        [ROOT, b"<</Type/Pages/Kids[%s]/Count 200000>>" % (b"3 0 R " * 200_000), PAGE]
    ),
    "half a million brackets": lambda: one_page(HELLO, b"[" * 500_000 + b"]" * 500_000),
    "brackets as a page": lambda: one_page(HELLO, page=b"/X " + b"[" * 50_000 + b"]" * 50_000),
    "a form in itself": lambda: one_page(
        stream(b"/X Do " + shown("hello")),
        stream(b"/X Do", FORM + b"/Resources<</XObject<</X 6 0 R>>>>"),
        resources=b"/XObject<</X 6 0 R>>",
    ),
    "contents in a circle": lambda: outline(b"<</Title(A)/Parent 6 0 R/Next 7 0 R/First 7 0 R>>"),
    "a place in a circle": lambda: outline(b"<</Title(A)/Dest/a>>").replace(
        b"/Outlines 6", b"/Dests<</a<</D/a>>>>/Outlines 6"
    ),
    "names in a circle": lambda: one_page(
        HELLO, b"<</Kids[6 0 R 6 0 R]>>", catalogue=b"/Names<</EmbeddedFiles 6 0 R>>"
    ),
    "fields in a circle": lambda: one_page(
        HELLO, b"<</T(a)/Kids[6 0 R]>>", catalogue=b"/AcroForm<</Fields[6 0 R]>>"
    ),
    "actions in a circle": lambda: one_page(
        HELLO, b"<</S/JavaScript/Next[6 0 R 6 0 R]>>", catalogue=b"/OpenAction 6 0 R"
    ),
    "the same actions 90,000 times": lambda: one_page(
        HELLO,
        b"<</S/Launch/F(\\\\\\\\host\\\\x.exe)/Next[%s]>>" % (b"6 0 R " * 90_000),
        catalogue=b"/OpenAction 6 0 R",
    ),
    "20,000 notes": lambda: one_page(
        HELLO, b"<</Subtype/Text/Contents(a)>>", page=b"/Annots[%s]" % (b"6 0 R " * 20_000)
    ),
    "tables in a circle": prev_circle,
    "310,000 objects": lambda: one_page(HELLO, *[b"null"] * 310_000),
    "a long line of runs": lambda: one_page(
        stream(b"\x81 " * 2_000_000, b"/Filter/RunLengthDecode")
    ),
    "a table of letters of 6 MB": lambda: one_page(
        HELLO, packed(b"<41> <0041>\n", 500_000)
    ).replace(b"/Helvetica>>", b"/Helvetica/ToUnicode 6 0 R>>"),
    "a picture of a thousand megapixels": lambda: one_page(
        stream(b"9 0 0 9 0 0 cm /I Do " + shown("hello")),
        stream(b"\0", IMAGE.replace(b"17000", b"60000") + b"/Filter/JBIG2Decode"),
        resources=b"/XObject<</I 6 0 R>>",
    ),
    "a page of no size": lambda: one_page(HELLO, page=b"/CropBox[5 5 5 5]"),
    "a page of a million miles": lambda: one_page(HELLO, page=b"/CropBox[0 0 1e30 1e30]"),
    "a page as long as thin": lambda: one_page(HELLO, page=b"/CropBox[0 0 0.01 14000]"),
    "lies about lengths": lambda: text_pages(rows(3)).replace(b"/Length 4", b"/Length 9999999994"),
    "a zip after it": lambda: text_pages(rows(3)) + b"PK\x05\x06" + bytes(18),
    "a program before it": lambda: b"MZ" + bytes(900) + text_pages(rows(3)),
}


@pytest.mark.parametrize("which", READ)
@pytest.mark.sampled(3)
def test_odd_files_are_read_or_refused_in_words(which: str, pdfs: Confined, tmp_path: Path) -> None:
    """Circles end, lies are not believed, and nothing costs more than a large honest file."""
    found = opened(pdfs, tmp_path / "blob", READ[which](), "a.pdf")
    for action, answer in found.items():
        assert answer.peak_bytes <= MODEST_BYTES, (action, answer)
        assert answer.cpu_s <= MODEST_S, (action, answer.cpu_s)
        assert "Traceback" not in answer.text
    assert found["map"].kind == "returned", found["map"]


def test_objects_packed_together_cost_no_more_than_a_bound(tmp_path: Path) -> None:
    """A stream that packs very many objects is not made into them, and the map says so."""
    packs = stream(b"", b"/Type/ObjStm/N 65542/First 0")
    path = tmp_path / "a.pdf"
    path.write_bytes(one_page(stream(shown("Seen")), packs))
    found = PdfFormat().map(Source(path, "a.pdf"))
    assert any("packs 65,542 objects" in warning for warning in found["warnings"])
    assert "Seen" in PdfFormat().read(Source(path, "a.pdf"), Region()).text
