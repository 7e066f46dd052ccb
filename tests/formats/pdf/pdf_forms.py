"""PDF files with forms, outlines, links and scripts, made by hand."""

from pdf_forge import FONT, forged, shown, stream

__all__ = ["form", "linked_pages", "signed"]


def form(text_value: str = "old value", catalogue: bytes = b"") -> bytes:
    """A form of one page: a text, one of at most 5 letters, a box, two radios, a choice, a list.

    Its fields are name, code, agreed, size (S, L), color (Red, Green), kinds (a, b, c), fixed
    (read-only), push and whole.part.
    """
    look = b"<</Type/XObject/Subtype/Form/BBox[0 0 20 20]/Length 0>>stream\n\nendstream"
    list_place = b"/Rect[72 540 300 600]"
    fields = (
        b"<</FT/Tx/T(name)/V(%s)/Rect[72 700 300 720]/AP<</N 21 0 R>>" % text_value.encode(),
        b"<</FT/Tx/T(code)/MaxLen 5/Ff 2/Rect[72 670 300 690]",
        b"<</FT/Btn/T(agreed)/V/Off/AS/Off/Rect[72 640 92 660]/AP<</N<</Yes 20 0 R/Off 20 0 R>>>>",
        b"<</FT/Ch/T(color)/Ff 131072/Opt[(Red)(Green)]/V(Red)/Rect[72 610 300 630]",
        b"<</FT/Ch/T(kinds)/Ff 2097152/Opt[[(a)(Apple)][(b)(Bean)][(c)(Corn)]]%s" % list_place,
        b"<</FT/Tx/T(fixed)/Ff 1/V(stays)/Rect[72 500 300 520]",
        b"<</FT/Btn/T(push)/Ff 65536/Rect[72 470 300 490]",
    )
    widget = b"/Type/Annot/Subtype/Widget/P 3 0 R/DA(/F 10 Tf 0 g)>>"
    radio = b"/Type/Annot/Subtype/Widget/P 3 0 R/Parent 13 0 R/AS/Off/Rect[%d 440 %d 460]>>"
    numbers = [6, 7, 8, 9, 10, 11, 12, 14, 15, 16]
    kids = b" ".join(b"%d 0 R" % number for number in numbers)
    root = b" ".join(b"%d 0 R" % number for number in (6, 7, 8, 9, 10, 11, 12, 13, 17))
    drawn = shown(text_value, "2 5").replace(b"/F 12", b"/F 10")
    return forged(
        (
            b"<</Type/Catalog/Pages 2 0 R/AcroForm 18 0 R%s>>" % catalogue,
            b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R"
            b"/Resources<</Font<</F 5 0 R>>>>/Annots[%s]>>" % kids,
            stream(shown("A form", "72 760")),
            FONT,
            *(field + widget for field in fields),
            b"<</FT/Btn/Ff 32768/T(size)/V/Off/Kids[14 0 R 15 0 R]>>",
            b"<</AP<</N<</S 20 0 R/Off 20 0 R>>>>" + radio % (72, 92),
            b"<</AP<</N<</L 20 0 R/Off 20 0 R>>>>" + radio % (102, 122),
            b"<</T(part)/Parent 17 0 R/Rect[72 400 300 420]" + widget,
            b"<</FT/Tx/T(whole)/Kids[16 0 R]>>",
            b"<</Fields[%s]/DA(/F 10 Tf 0 g)/DR<</Font<</F 5 0 R>>>>>>" % root,
            b"null",
            look,
            b"<</Type/XObject/Subtype/Form/BBox[0 0 228 20]/Resources<</Font<</F 5 0 R>>>>"
            b"/Length %d>>stream\n%s\nendstream" % (len(drawn), drawn),
        )
    )


def linked_pages(catalogue: bytes = b"", word: str = "Page") -> bytes:
    """Three pages, a table of contents that leads to each, and on the first a link to the third."""
    pages = (3, 4, 5)
    link = (
        b"<</Type/Annot/Subtype/Link/Rect[0 0 9 9]/Dest[5 0 R/Fit]>>"
        b"<</Type/Annot/Subtype/Link/Rect[9 0 19 9]/A<</S/URI/URI(https://example.org/x)>>>>"
    )
    return forged(
        (
            b"<</Type/Catalog/Pages 2 0 R/Outlines 10 0 R%s>>" % catalogue,
            b"<</Type/Pages/Kids[3 0 R 4 0 R 5 0 R]/Count 3>>",
            *(
                b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents %d 0 R"
                b"/Resources<</Font<</F 9 0 R>>>>%s>>"
                % (number + 3, b"/Annots[%s]" % link if number == 3 else b"")
                for number in pages
            ),
            *(stream(shown(f"{word} {number}")) for number in (1, 2, 3)),
            FONT,
            b"<</Type/Outlines/First 11 0 R/Last 13 0 R/Count 3>>",
            b"<</Title(One)/Parent 10 0 R/Dest[3 0 R/Fit]/Next 12 0 R>>",
            b"<</Title(Two)/Parent 10 0 R/Dest[4 0 R/Fit]/Prev 11 0 R/Next 13 0 R>>",
            b"<</Title(Three)/Parent 10 0 R/Dest[5 0 R/Fit]/Prev 12 0 R>>",
        )
    )


def signed() -> bytes:
    """A page with a signature field that is signed."""
    fonts = b"/Resources<</Font<</F 5 0 R>>>>"
    return forged(
        (
            b"<</Type/Catalog/Pages 2 0 R/AcroForm<</Fields[6 0 R]/SigFlags 3>>>>",
            b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents 4 0 R/Annots[6 0 R]%s>>" % fonts,
            stream(shown("Signed")),
            FONT,
            b"<</FT/Sig/T(by)/V 7 0 R/Type/Annot/Subtype/Widget/Rect[0 0 9 9]/P 3 0 R>>",
            b"<</Type/Sig/Filter/Adobe.PPKLite/Contents<00>/ByteRange[0 1 2 3]>>",
        )
    )
