"""Pictures made of markup: their size and their text; nothing in them runs."""

from pathlib import Path
from typing import Any

import pytest

from image_forge import svg
from kbd.errors import FileReadFailed, ValidationFailed
from kbd.formats import Reading, Region, Source
from kbd_image import ImageFormat

IMAGE = ImageFormat()


def source(tmp_path: Path, data: bytes) -> Source:
    """The file as a handler gets it."""
    path = tmp_path / "blob"
    path.write_bytes(data)
    return Source(path, "a.svg")


def facts(tmp_path: Path, data: bytes) -> dict[str, Any]:
    """The facts of a file."""
    return IMAGE.info(source(tmp_path, data))


def read(tmp_path: Path, data: bytes) -> Reading:
    """What a reader gets."""
    return IMAGE.read(source(tmp_path, data), Region())


@pytest.mark.parametrize(
    ("attributes", "size"),
    [
        ('width="400" height="300"', (400, 300)),
        ('width="400px" height="300.5px"', (400, 300.5)),
        ('width="210mm" height="297mm"', (793.7, 1122.52)),
        ('width="2in" height="36pt"', (192, 48)),
        ('viewBox="0 0 24 12"', (24, 12)),
        ('viewBox="-5,-5, 24 12" width="100%" height="50%"', (24, 6)),
        ('width="48" viewBox="0 0 24 12"', (48, 24)),
        ('height="48" viewBox="0 0 24 12"', (96, 48)),
        ('width="2e2" height=".5cm"', (200, 18.9)),
        ('width="auto" height="many"', (None, None)),
        ('width="1e999" height="9"', (None, 9)),
        ("", (None, None)),
    ],
)
def test_its_size_is_that_of_its_attributes(
    tmp_path: Path, attributes: str, size: tuple[float | None, float | None]
) -> None:
    """In pixels, whatever the unit; else of the view box; else nobody knows."""
    found = facts(tmp_path, svg(attributes))
    assert (found["format"], found["width"], found["height"]) == ("SVG", *size)
    assert ("does not say how large" in str(found.get("warnings"))) == (size[0] is None)


def test_it_is_read_as_text(tmp_path: Path) -> None:
    """Its facts, then its markup; pictures inside of it are left out."""
    picture = f'<image href="data:image/png;base64,{"A" * 5000}"/>'
    reading = read(tmp_path, svg('width="4" height="3"', f"<text>Sales in Q4</text>{picture}"))
    assert "width: 4\n" in reading.text
    assert "<text>Sales in Q4</text>" in reading.text
    assert "data:image/png;base64,…" in reading.text
    assert len(reading.text) < 500
    assert reading.warnings == ()
    long = read(tmp_path, svg("", "<text>abc</text>" * 20_000))
    assert len(long.text) < 201_000
    assert "first 200,000 characters" in long.warnings[-1]


def test_prefixes_and_encodings_do_not_matter(tmp_path: Path) -> None:
    """Elements may have a prefix, bytes may be UTF-16, a licence may come first."""
    prefixed = b'<s:svg xmlns:s="http://www.w3.org/2000/svg" width="4" height="3"/>'
    assert facts(tmp_path, prefixed)["width"] == 4
    markup = '<?xml version="1.0" encoding="UTF-16"?>' + svg('width="4" height="3"').decode()
    assert facts(tmp_path, markup.encode("utf-16"))["width"] == 4
    late = b"<!--" + b" licence" * 2000 + b"-->" + svg('width="4" height="3"')
    assert facts(tmp_path, late)["width"] == 4


def test_what_would_run_or_be_fetched_is_named(tmp_path: Path) -> None:
    """Scripts of every kind, other documents, files and addresses; places in the file are none."""
    inside = (
        "<script>alert(1)</script><a href='javascript:x()'/><g onclick='x()'/><foreignObject/>"
        "<image href='file:///etc/passwd'/><use href='#a'/><image href='data:image/png,x'/>"
        "<image xmlns:xlink='http://www.w3.org/1999/xlink' xlink:href='http://a.example/b.png'/>"
        "<rect style='fill:url(//b.example/c)'/><rect fill='url(#d)'/>"
    )
    warnings = "\n".join(facts(tmp_path, svg('width="4" height="3"', inside))["warnings"])
    assert "scripts, other documents" in warnings
    for target in ("file:///etc/passwd", "http://a.example/b.png", "//b.example/c"):
        assert target in warnings
    for harmless in ("#a", "data:", "#d"):
        assert harmless not in warnings
    assert "warnings" not in facts(tmp_path, svg('width="4" height="3"', "<use href='#a'/>"))


def test_it_is_not_drawn(tmp_path: Path) -> None:
    """The refusal says why."""
    with pytest.raises(ValidationFailed, match="not drawn, because markup can run scripts"):
        IMAGE.preview(source(tmp_path, svg('width="4" height="3"')), 0, 100)


def test_entities_are_not_followed(tmp_path: Path) -> None:
    """Neither files, nor a thousand million laughs; a declaration itself does no harm."""
    secret = tmp_path / "secret"
    secret.write_text("7777")
    declared = f'<!DOCTYPE svg [<!ENTITY a SYSTEM "{secret.as_uri()}">]>'.encode()
    data = declared + svg('width="4" height="3"', "<text>&a;</text>")
    reading = read(tmp_path, data)
    assert "width: 4" in reading.text
    assert "7777" not in reading.text
    laughs = b'<!DOCTYPE svg [<!ENTITY l0 "ha">' + b"".join(
        b'<!ENTITY l%d "%s">' % (n, b"&l%d;" % (n - 1) * 10) for n in range(1, 10)
    )
    for inside in (b"<text>&l9;</text>", b"<text a='&l9;'/>"):
        data = laughs + b"]>" + svg('width="4" height="3"').replace(b"</svg>", inside + b"</svg>")
        assert facts(tmp_path, data)["width"] == 4


def test_damaged_markup_is_told(tmp_path: Path) -> None:
    """What comes before the fault counts; what is no svg is refused."""
    data = svg('width="4" height="3"', "<text>abc</text>")
    found = facts(tmp_path, data[:-10])
    assert found["width"] == 4
    assert "damaged" in found["warnings"][0]
    for data in (b"<!-- <svg", b"<html xmlns='http://www.w3.org/1999/xhtml'><svg/></html>"):
        with pytest.raises(FileReadFailed, match="no svg picture"):
            facts(tmp_path, data)
    deep = svg('width="4" height="3"', "<g>" * 100_000)
    assert facts(tmp_path, deep)["width"] == 4
