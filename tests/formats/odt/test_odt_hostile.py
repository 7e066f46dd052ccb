"""Texts that say of themselves what cannot be: repeats without end, depth, loops of styles."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from confined import Confined, confined
from kbd_odt import OdtFormat
from odt_texts import flat, styles, text_file

MAX_BYTES = 300 << 20


@pytest.fixture(scope="module")
def ward() -> Iterator[Confined]:
    """Where hostile texts are opened."""
    with confined(OdtFormat, ("all",)) as found:
        yield found


def tried(ward: Confined, path: Path, name: str = "a.odt") -> dict[str, str]:
    """Do all to a text, and see that nothing went out of hand."""
    answer = ward.run(path, name, ("all",))["all"]
    assert answer.kind == "returned", answer
    assert answer.peak_bytes <= MAX_BYTES, answer
    found: dict[str, str] = json.loads(answer.text)
    return found


HUGE = "1000000000"
MANY = "9" * 5_000
ENDLESS = {
    "blanks": f'<text:p>a<text:s text:c="{HUGE}"/>b</text:p>',
    "many blanks": f'<text:p>a{f"""<text:s text:c="{HUGE}"/>""" * 60}b</text:p>',
    "a number of 5,000 digits": f'<text:p>a<text:s text:c="{MANY}"/>b</text:p>',
    "cells": (
        f'<table:table><table:table-row><table:table-cell table:number-columns-repeated="{HUGE}">'
        "<text:p>ab</text:p></table:table-cell></table:table-row></table:table>"
    ),
    "rows of cells": (
        f'<table:table><table:table-row table:number-rows-repeated="{HUGE}">'
        + f'<table:table-cell table:number-columns-repeated="{HUGE}"><text:p>ab</text:p>'
        "</table:table-cell>" * 200
        + "</table:table-row></table:table>"
    ),
    "blank cells between": (
        "<table:table><table:table-row><table:table-cell><text:p>ab</text:p></table:table-cell>"
        f'<table:table-cell table:number-columns-repeated="{MANY}"/><table:table-cell>'
        "<text:p>ab</text:p></table:table-cell></table:table-row></table:table>"
    ),
    "rows of a long text": (
        f'<table:table><table:table-row table:number-rows-repeated="{HUGE}"><table:table-cell '
        f'table:number-columns-repeated="{HUGE}"><text:p>{"ab" * 500_000}</text:p>'
        "</table:table-cell></table:table-row></table:table>"
    ),
    "tables in tables": (
        f'<table:table><table:table-row table:number-rows-repeated="{HUGE}"><table:table-cell '
        f'table:number-columns-repeated="{HUGE}">' * 30
        + "<text:p>ab</text:p>"
        + "</table:table-cell></table:table-row></table:table>" * 30
    ),
    "a level of a heading": f'<text:h text:outline-level="{MANY}">ab</text:h>',
    "the number of an item": (
        '<text:list text:style-name="L"><text:list-item text:start-value="'
        f'{MANY}"><text:p>ab</text:p></text:list-item></text:list>'
    ),
    "lists in lists": "<text:list><text:list-item>" * 100 + "<text:p>ab</text:p>"
    + "</text:list-item></text:list>" * 100,
    "spans in spans": f"<text:p>{'<text:span>' * 230}ab{'</text:span>' * 230}</text:p>",
    "notes in notes": "<text:p>a" + "<text:note><text:note-body><text:p>" * 75 + "ab"
    + "</text:p></text:note-body></text:note>" * 75 + "</text:p>",
    "many changes": "<text:tracked-changes>" + "<text:changed-region><text:deletion><text:p>x"
    "</text:p></text:deletion></text:changed-region>" * 5_000 + "</text:tracked-changes>"
    "<text:p>ab</text:p>",
}  # fmt: skip
LABELS = """<text:list-style style:name="L"><text:list-level-style-number text:level="1"
 style:num-format="a" text:display-levels="9999999999"/></text:list-style>"""


@pytest.mark.parametrize("which", ENDLESS)
def test_endless_repeats_are_cut_short(which: str, ward: Confined, tmp_path: Path) -> None:
    """What is repeated is shown some times, and that is told; the text around it is read."""
    path = text_file(tmp_path / "a", ENDLESS[which], automatic=LABELS)

    found = tried(ward, path)

    assert not any(told.startswith("refused") for told in found.values()), found
    assert "a" in found["read"]
    assert "b" in found["read"]
    is_repeated = HUGE in ENDLESS[which] or "repeated" in ENDLESS[which]
    assert ("cut short" in found["map"]) == (is_repeated or "digits" in which)


def test_styles_in_a_circle_end(ward: Confined, tmp_path: Path) -> None:
    """Styles that are each other's parents, and very many of them."""
    circle = "".join(
        f'<style:style style:name="S{n}" style:family="text" style:parent-style-name="S{m}"/>'
        for n, m in ((1, 2), (2, 1), *((k, k + 1) for k in range(3, 2_000)))
    )
    body = '<text:p><text:span text:style-name="S1">one</text:span></text:p>' * 1_000
    path = text_file(tmp_path / "a", body, styles=styles(circle))

    assert "one" in tried(ward, path)["read"]


def test_a_flat_text_with_a_document_type_is_refused(ward: Confined, tmp_path: Path) -> None:
    """Entities are not made, and no file is read."""
    laughs = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10 if n else "ha"}">' for n in range(10))
    for entities in (laughs, '<!ENTITY a9 SYSTEM "file:///etc/passwd">'):
        path = tmp_path / "a"
        path.write_bytes(flat("<text:p>&a9;</text:p>", f"<!DOCTYPE x [{entities}]>"))

        found = tried(ward, path, "a.fodt")

        assert all(found[name].startswith("refused") for name in ("map", "read", "passages"))
        assert "document type" in found["map"]


def test_many_paragraphs_take_little_memory(ward: Confined, tmp_path: Path) -> None:
    """A text is looked through in pieces: what was read is let go."""
    body = "".join(f"<text:p>paragraph {n} <text:span>of</text:span> many</text:p>"
                   for n in range(20_000))  # fmt: skip
    path = text_file(tmp_path / "a", body)

    answer = ward.run(path, "a.odt", ("map",))["map"]

    assert answer.kind == "returned"
    assert json.loads(answer.text)["paragraph_count"] == 20_000
    assert answer.peak_bytes <= 40 << 20
