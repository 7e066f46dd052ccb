"""What OpenDocument texts run, fetch or have embedded is named, and only that."""

import zipfile
from pathlib import Path

import pytest

from kbd.errors import FileReadFailed
from kbd.formats import Source
from kbd_odt import OdtFormat
from odt_texts import flat, rich_text, styles, text_file

_SPACES = "".join(
    f' xmlns:{prefix}="urn:oasis:names:tc:opendocument:xmlns:{prefix}:1.0"'
    for prefix in ("script", "form", "config")
)
LISTENER = (
    f'<office:event-listeners{_SPACES}><script:event-listener script:language="ooo:script" '
    'script:event-name="dom:load" xlink:href="vnd.sun.star.script:Standard.M.Run?language=Basic"/>'
    "</office:event-listeners>"
)
BODIES: dict[str, tuple[str, str]] = {
    "a listener": (
        LISTENER, "event listener: dom:load vnd.sun.star.script:Standard.M.Run?language=Basic"
    ),
    "a script": (
        f'<text:p><text:script{_SPACES} script:language="Basic">Shell "x"</text:script></text:p>',
        'script: Basic Shell "x"',
    ),
    "a field that calls": (
        '<text:p><text:execute-macro text:name="M.Run">go</text:execute-macro></text:p>',
        "field that calls a macro: M.Run go",
    ),
    "a picture from elsewhere": (
        ('<text:p><draw:frame><draw:image xlink:href="http://a.example/x.png"/></draw:frame>'
        "</text:p>"),
        "external image: http://a.example/x.png",
    ),
    "a picture beside the file": (
        '<text:p><draw:frame><draw:image xlink:href="..%2f../secret.png"/></draw:frame></text:p>',
        "external image: ..%2f../secret.png",
    ),
    "a picture of a share": (
        r'<text:p><draw:frame><draw:image xlink:href="\\host\x.png"/></draw:frame></text:p>',
        r"external image: \\host\x.png",
    ),
    "a linked section": (
        ('<text:section text:name="S"><text:section-source xlink:href="file:///etc/passwd"/>'
        "<text:p/></text:section>"),
        "external section-source: file:///etc/passwd",
    ),
    "a program": (
        ('<text:section text:name="S"><office:dde-source office:dde-application="cmd" '
        'office:dde-topic="/c calc" office:dde-item="x"/><text:p/></text:section>'),
        "link to a program: cmd /c calc x",
    ),
    "a frame": (
        ('<text:p><draw:frame><draw:floating-frame xlink:href="http://a.example/"/></draw:frame>'
        "</text:p>"),
        "external floating-frame: http://a.example/",
    ),
    "a plugin": (
        '<text:p><draw:frame><draw:plugin xlink:href="./x.mp4"/></draw:frame></text:p>',
        "plugin: ./x.mp4",
    ),
    "a database": (
        ('<text:p><text:database-display text:database-name="D" text:table-name="T" '
        'text:column-name="C">a</text:database-display></text:p>'),
        "data of a database: D T C a",
    ),
    "a form": (
        f'<office:forms{_SPACES}><form:form xlink:href="http://a.example/post"/></office:forms>',
        "external form: http://a.example/post",
    ),
    "a link with a query": (
        '<text:p><text:a xlink:href="http://a.example/?q=1">here</text:a></text:p>',
        "link that sends or opens: http://a.example/?q=1",
    ),
    "a link that calls": (
        '<text:p><text:a xlink:href="MACRO:///M.Run">here</text:a></text:p>',
        "link that calls code: MACRO:///M.Run",
    ),
}  # fmt: skip


def carried(path: Path, name: str = "a.odt", *known: Path) -> tuple[str, ...]:
    """What a text carries that some others do not."""
    others = tuple(Source(each, "b.odt") for each in known)
    return OdtFormat().active_content(Source(path, name), others)


@pytest.mark.parametrize("which", BODIES)
def test_what_a_text_runs_or_fetches_is_named(which: str, tmp_path: Path) -> None:
    """Zipped and in one file, in the text, in its styles and in an object; once."""
    body, told = BODIES[which]
    assert carried(text_file(tmp_path / "a.odt", body)) == (told,)
    (tmp_path / "a.fodt").write_bytes(flat(body))
    assert carried(tmp_path / "a.fodt", "a.fodt") == (told,)
    assert carried(text_file(tmp_path / "b.odt", "", styles=styles(masters=body))) == (told,)
    inner = {"Object 1/content": (tmp_path / "a.fodt").read_text()}
    assert carried(text_file(tmp_path / "c.odt", "", **inner)) == (told,)


def test_what_another_text_has_is_no_news(tmp_path: Path) -> None:
    """A text is compared with those that a person added, piece by piece."""
    one = text_file(tmp_path / "1", BODIES["a listener"][0])
    two = text_file(tmp_path / "2", BODIES["a listener"][0] + BODIES["a program"][0])
    assert carried(two, "a.odt", one) == (BODIES["a program"][1],)
    assert carried(one, "a.odt", two) == ()


def added(path: Path, **parts: bytes) -> Path:
    """A text with more parts."""
    text_file(path, "<text:p>a</text:p>", manifest=(
        '<manifest:file-entry manifest:full-path="Object 1/" '
        'manifest:media-type="application/vnd.oasis.opendocument.chart"/>'
        '<manifest:file-entry manifest:full-path="Object 2/" '
        'manifest:media-type="application/vnd.oasis.opendocument.spreadsheet"/>'
    ))  # fmt: skip
    with zipfile.ZipFile(path, "a") as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return path


def test_macros_and_embedded_objects_are_named_by_their_bytes(tmp_path: Path) -> None:
    """Modules, scripts and dialogs, objects of other programs and other kinds of texts."""
    parts = {
        "Basic/script-lc.xml": b"<a/>", "Basic/Standard/script-lb.xml": b"<a/>",
        "Basic/Standard/M.xml": b"<m>Sub Run</m>", "Scripts/python/x.py": b"import os",
        "Object 3": b"\xd0\xcf\x11\xe0", "Object 1/content.xml": b"<a/>",
        "Object 2/content.xml": b"<a/>", "ObjectReplacements/Object 1": b"picture",
    }  # fmt: skip
    first = added(tmp_path / "1", **parts)
    assert carried(first) == (
        "macros: Basic/Standard/M.xml", "macros: Scripts/python/x.py", "embedded object: Object 3",
        "embedded object: Object 2",
    )  # fmt: skip
    changed = added(tmp_path / "2", **parts | {"Basic/Standard/M.xml": b"<m>Shell</m>"})
    assert carried(changed, "a.odt", first) == ("macros: Basic/Standard/M.xml",)


def test_a_plain_text_carries_nothing(tmp_path: Path) -> None:
    """Pictures in the package, links to pages, anchors and empty lists of scripts are none."""
    assert carried(rich_text(tmp_path / "rich")) == ()
    body = (
        '<text:p><text:a xlink:href="https://a.example/page">a</text:a><text:a xlink:href="#b"/>'
        '<draw:frame><draw:image xlink:href="Pictures/1.png"/></draw:frame><draw:frame>'
        '<draw:object xlink:href="./Object 1"/></draw:frame></text:p><office:scripts>'
        "<office:script/></office:scripts>"
    )
    assert carried(text_file(tmp_path / "plain", body)) == ()


def test_settings_and_metadata_are_looked_at(tmp_path: Path) -> None:
    """Where the addresses of letters come from, a template and what is loaded again."""
    settings = (
        f'<a{_SPACES}><config:config-item config:name="CurrentDatabaseDataSource">Staff'
        "</config:config-item></a>"
    )
    meta = (
        '<m xmlns:meta="urn:oasis:names:tc:opendocument:xmlns:meta:1.0" '
        'xmlns:xlink="http://www.w3.org/1999/xlink"><meta:template '
        r'xlink:href="\\host\t.ott"/><meta:auto-reload xlink:href="http://a.example/"/></m>'
    )
    found = carried(text_file(tmp_path / "a", "", settings=settings, meta=meta))
    assert set(found) == {
        "mail merge: Staff", r"external template: \\host\t.ott",
        "external auto-reload: http://a.example/",
    }  # fmt: skip


def test_what_cannot_be_looked_into_is_refused(tmp_path: Path) -> None:
    """A damaged part may hold anything."""
    with pytest.raises(FileReadFailed):
        carried(text_file(tmp_path / "a", "", settings="<a href='x'>"))
