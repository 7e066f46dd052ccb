"""What OpenDocument presentations run, fetch or have embedded is named, and only that."""

from pathlib import Path

import pytest

from kbd.formats import Source
from kbd_odp import OdpFormat
from odp_decks import box, deck_file, flat_deck, rich_deck_file, slide

_SCRIPT = (
    '<draw:rect><office:event-listeners><script:event-listener script:event-name="dom:click" '
    'script:language="ooo:script" xlink:href="vnd.sun.star.script:M.Run?language=Basic"/>'
    "</office:event-listeners></draw:rect>"
)
_OPENING = (
    "<draw:rect><office:event-listeners><presentation:event-listener "
    'presentation:action="show" xlink:href="file:///etc/passwd"/></office:event-listeners>'
    "</draw:rect>"
)
SHAPES = {
    "a picture from elsewhere": (
        box("P", '<draw:image xlink:href="http://a.example/x.png"/>'),
        "external image: http://a.example/x.png",
    ),
    "a click that calls": (
        _SCRIPT, "event listener: dom:click vnd.sun.star.script:M.Run?language=Basic"
    ),
    "a click that opens": (_OPENING, "external event-listener: file:///etc/passwd"),
    "a film": (box("F", '<draw:plugin xlink:href="./x.mp4"/>'), "plugin: ./x.mp4"),
}  # fmt: skip


@pytest.mark.parametrize("which", SHAPES)
def test_what_a_deck_runs_or_fetches_is_named(which: str, tmp_path: Path) -> None:
    """Zipped and in one file; not what another version has already."""
    shapes, told = SHAPES[which]
    path = deck_file(tmp_path / "a.odp", slide(shapes))
    source = Source(path, "a.odp")
    assert OdpFormat().active_content(source, ()) == (told,)
    assert OdpFormat().active_content(source, (source,)) == ()
    (tmp_path / "a.fodp").write_bytes(flat_deck(slide(shapes)))
    assert OdpFormat().active_content(Source(tmp_path / "a.fodp", "a.fodp"), ()) == (told,)


def test_an_ordinary_deck_has_none(tmp_path: Path) -> None:
    """Pictures and charts in the file, and a link that a person clicks on, are none."""
    path = rich_deck_file(tmp_path / "a.odp")
    assert OdpFormat().active_content(Source(path, "a.odp"), ()) == ()
