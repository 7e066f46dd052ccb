"""The names that head a sheet: its first row with values, without reading the rest."""

from collections.abc import Collection, Iterator
from contextlib import closing

from lxml import etree

from kbd.opc.package import Package, reading_errors

__all__ = ["first_row"]


def first_row(package: Package, sheet: str, strings: str) -> list[str]:
    """Return the values of the first row that has any, as text, blank cells left out.

    Args:
        package: The workbook.
        sheet: The sheet's part.
        strings: The part of shared texts, "" if there is none.

    Raises:
        FileReadFailed: A part is damaged.
    """
    for row in _elements(package, sheet, "row"):
        found = [value for cell in row.iterchildren("{*}c") if (value := _value(cell))]
        if found:
            shared = {int(text) for kind, text in found if kind == "s" and text.isdigit()}
            texts = _shared(package, strings, shared) if shared and strings else {}
            return [texts.get(text, "") if kind == "s" else text for kind, text in found]
    return []


def _value(cell: etree._Element) -> tuple[str, str] | None:
    """Return the kind of a cell's value and its text, for "s" the number of a shared one."""
    kind = cell.get("t", "n")
    if kind == "inlineStr":
        inline = cell.find("{*}is")
        text = "" if inline is None else _text(inline)
    else:
        text = cell.findtext("{*}v") or ""
    return (kind, text) if text else None


def _shared(package: Package, part: str, wanted: Collection[int]) -> dict[str, str]:
    """Return some of the shared texts by their numbers."""
    texts = {}
    for number, element in enumerate(_elements(package, part, "si")):
        if number in wanted:
            texts[str(number)] = _text(element)
        if number >= max(wanted):
            break
    return texts


def _text(element: etree._Element) -> str:
    """Return the text of an element that holds it whole or in runs."""
    # How it is read aloud (rPh) is not part of it.
    runs = [*element.iterfind("{*}t"), *element.iterfind("{*}r/{*}t")]
    return "".join(run.text or "" for run in runs)


def _elements(package: Package, part: str, name: str) -> Iterator[etree._Element]:
    """Yield elements of a name one by one; each is emptied after its turn."""
    with closing(package.open(part)) as file, reading_errors(package.name):
        parsed = etree.iterparse(
            file, events=("end",), tag=f"{{*}}{name}", resolve_entities=False, no_network=True
        )
        for _, element in parsed:
            yield element
            element.clear()
            while element.getprevious() is not None:
                del element.getparent()[0]
