"""Active content of text that is shown rendered: found however it is written, at a bounded cost."""

from pathlib import Path

import pytest

from kbd.formats import Source
from kbd.plaintext.rendered_text import rendered_content

FOUND = {
    "<script>x</script>": "script",
    "<SCRIPT\nsrc=a.js>": "script",
    "<x:script>y</x:script>": "script",
    "<p onclick = 'x'>": "event handler",
    "<svg/onload=x>": "event handler",
    "<img alt='>' onerror=x>": "event handler",
    "<img alt=\"<\" onerror='x'>": "event handler",
    "<a href='java\tscript:x'>": "script address",
    "<a href='&#106;avascript:x'>": "script address",
    "<a href=vbscript:x>": "script address",
    "<a href='data:text/html,x'>": "script address",
    "<iframe srcdoc='x'>": "frame",
    "<object data=x.swf>": "frame",
    "<embed src=x>": "frame",
    "<META content='0' HTTP-EQUIV = 'refresh'>": "refresh",
    "<base href='x/'>": "base address",
    "<?xml-stylesheet href='x'?>": "raw page",
    "<!ENTITY x SYSTEM 'file:///etc/passwd'>": "raw page",
    "<img src=https://e.example/a>": "remote content: https://e.example/a",
    "<img src='//e.example/a'>": "remote content: //e.example/a",
    "<img src='\\\\e.example\\a'>": "remote content: \\\\e.example\\a",
    "<img srcset='a.png, https://e.example/b 2x'>": "remote content: https://e.example/b",
    "<img src='ht\ntps://e.example/a'>": "remote content: https://e.example/a",
    "<link rel=stylesheet href=https://e.example/a>": "remote content: https://e.example/a",
    "<p style='background: url(https://e.example/a)'>": "remote content: https://e.example/a",
    "<style>@import 'https://e.example/a';</style>": "remote content: https://e.example/a",
    "<form action=https://e.example/a>": "remote content: https://e.example/a",
    "<image xlink:href='https://e.example/a'/>": "remote content: https://e.example/a",
    "<a href=b src=//e.example/a>": "remote content: //e.example/a",
    "<a href='https://e.example/a?b'>": "link with a query: https://e.example/a?b",
    "<a href='https://b@e.example/a'>": "link with a query: https://b@e.example/a",
    "<!DOCTYPE a SYSTEM 'https://e.example/a.dtd'>": "remote content: https://e.example/a.dtd",
    "<?mso-application progid='Excel.Sheet'?><Workbook/>": "office document: <?mso-application",
    "<W xmlns='urn:schemas-microsoft-com:office:spreadsheet'/>": "office document",
    "<o xmlns:o='urn:oasis:names:tc:opendocument:xmlns:office:1.0'/>": "office document",
    "BEGIN:VCALENDAR\nACTION:PROCEDURE\nEND": "alarm or attachment: ACTION:PROCEDURE",
    "BEGIN:VCALENDAR\r\nATT\r\n ACH:https://e.example/a\r\n": "alarm or attachment: ATTACH:https",
    "BEGIN:VCARD\nPHOTO;VALUE=uri:https://e.example/a": "alarm or attachment: PHOTO",
    "<a href='mailto:a@e.example?body=b'>": "link with a query: mailto:a@e.example?body=b",
    "<\x1b(Bscript>x</\x1b(Bscript>": "script",
    "<img alt='>' x onwebkitanimationstart=x>": "event handler",
    "<meta http-equiv='&#114;efresh' content='0'>": "refresh",
    "<meta content='>' http-equiv=refresh>": "refresh",
    '<img srcset="a\' 1x, //e.example/a 2x">': "remote content: //e.example/a",
    f"<img srcset='{'a 1x, ' * 500}//e.example/a 2x'>": "remote content: //e.example/a",
    f"<img src='{' ' * 3000}//e.example/a'>": "remote content: //e.example/a",
    "<img src='http:e.example/a'>": "remote content: http:e.example/a",
    "<img src=https:/e.example/a>": "remote content: https:/e.example/a",
    "<img attributionsrc=//e.example/a>": "remote content: //e.example/a",
    "<style>u\\72l(//e.example/a)": "remote content: //e.example/a",
    "<style>a { b: url(\\2f\\2f e.example/a)": "remote content: //e.example/a",
    "<style>@\\69mport '//e.example/a'": "remote content: //e.example/a",
    "<style>@import/**/'//e.example/a'": "remote content: @import/**/'//e.example/a'",
    f"<style>a {{ b: url({' ' * 50}//e.example/a)": "remote content: //e.example/a",
    "<style>image-set('a;b' 1x, '//e.example/a' 2x)": "remote content: //e.example/a",
    "<xsl:copy-of select=\"document('//e.example/a')\"/>": "remote content: //e.example/a",
    "<!DOCTYPE x SYSTEM 'http://e.example/a'>": "remote content: http://e.example/a",
    "<a href='http:e.example/?a'>": "link with a query: http:e.example/?a",
    "<a href='http:b@e.example'>": "link with a query: http:b@e.example",
}

MARKUP = {
    "![x](https://e.example/a)": "remote content: https://e.example/a",
    "![x]( <//e.example/a>)": "remote content: //e.example/a",
    "![x][y]\n\n[y]: https://e.example/a": "remote content: https://e.example/a",
    "![y]\n\n[y]: https://e.example/a": "remote content: https://e.example/a",
    "[x](https://e.example/a?b)": "link with a query: https://e.example/a?b",
    "[x][y]\n\n[y]: https://e.example/a?b": "link with a query: https://e.example/a?b",
    "<https://e.example/a?b>": "link with a query: https://e.example/a?b",
    "[x](javascript:y)": "script address",
    ".. image:: https://e.example/a": "remote content: https://e.example/a",
    ".. raw:: html\n\n   x": "raw page",
    "image::https://e.example/a[x]": "remote content: https://e.example/a",
    "!https://e.example/a!": "remote content: https://e.example/a",
    f"![{'x' * 300}](//e.example/a)": "remote content: //e.example/a",
    f"![x]({' ' * 30}//e.example/a)": "remote content: //e.example/a",
    "![x[y]z](//e.example/a)": "remote content: //e.example/a",
    "![x `]` y](//e.example/a)": "remote content: //e.example/a",
    "![x](http\\://e.example/a)": "remote content: http://e.example/a",
    "![x](http:e.example/a)": "remote content: http:e.example/a",
    "![x[y]z][y]\n\n[y]: //e.example/a": "remote content: //e.example/a",
    "![x\nz][y]\n\n[y]: //e.example/a": "remote content: //e.example/a",
    "![y](a b)\n\n[y]: //e.example/a": "remote content: //e.example/a",
    "![x][y]\n\n> [y]: //e.example/a": "remote content: //e.example/a",
    "![x][y\\]]\n\n- [y\\]]: //e.example/a": "remote content: //e.example/a",
    "[x](javascript\\:y)": "script address",
    ".. meta::\n   :http-equiv=refresh: 3; url=a": "refresh",
}

NOTHING = (
    "words, only = 3", "<p class='only = 3'>x</p>", "<a href='https://e.example/a'>x</a>",
    "<img src='a.png'>", "JavaScript: The Good Parts", "<svg xmlns='http://www.w3.org/2000/svg'/>",
    '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0//EN" "http://www.w3.org/TR/xhtml1.dtd">',
    "BEGIN:VCARD\nPHOTO;ENCODING=b:iVBORw0KGgo=\nEND:VCARD", "ATTACH: see //the annex",
    "BEGIN:VCALENDAR\nACTION:DISPLAY\nDESCRIPTION:photo //x",
    "[x](https://e.example/a)", "![x](a.png)", "[y]: https://e.example/a", "a || b // c",
    "![x](a.png) [y](https://e.example/a)", "[![x](a.png)](https://e.example/a)",
    "![x](a.png)\n\n`[y]` [z][w]\n\n[w]: https://e.example/a", "<a href='mailto:a@e.example'>",
    '<!DOCTYPE plist PUBLIC "-//A" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">',
)  # fmt: skip


def found(tmp_path: Path, text: str, *, is_markup: bool = False) -> tuple[str, ...]:
    """Return the active content of a text."""
    path = tmp_path / "t"
    path.write_text(text)
    return rendered_content(Source(path, "t"), is_markup=is_markup).new_texts()


@pytest.mark.parametrize("text", FOUND)
def test_pages_are_looked_through(tmp_path: Path, text: str) -> None:
    """Whatever the case, the quotes, the entities and the line ends."""
    assert any(each.startswith(FOUND[text]) for each in found(tmp_path, text)), found(
        tmp_path, text
    )


@pytest.mark.parametrize("text", MARKUP)
def test_markup_has_ways_of_its_own(tmp_path: Path, text: str) -> None:
    """Pictures by their syntax, links by any."""
    texts = found(tmp_path, text, is_markup=True)
    assert any(each.startswith(MARKUP[text]) for each in texts), texts


@pytest.mark.parametrize("text", NOTHING)
def test_plain_pages_have_none(tmp_path: Path, text: str) -> None:
    """Links to read, names of formats and prose are no active content."""
    assert found(tmp_path, text, is_markup=True) == ()


@pytest.mark.parametrize(
    "piece",
    [
        "src=",
        "url(",
        "![",
        "[[",
        "<a onabc ",
        "//a!",
        "<script",
        "<!ENTITY",
        "href= ",
        "src='\"",
        "image-set('",
        "@import/*",
        "<!DOCTYPE ",
        "![`](http:",
        "\\",
        "\x1b",
    ],
)
def test_a_hostile_text_costs_no_more_than_a_long_one(tmp_path: Path, piece: str) -> None:
    """Repeated beginnings without ends: patterns that went back and forth would not end."""
    for text in (piece * 20_000, piece + " " * 100_000, piece + "a" * 100_000):
        assert len(found(tmp_path, text, is_markup=True)) < 30
