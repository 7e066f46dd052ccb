"""Sources of pivot tables: the cells of a workbook of which they keep a copy."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from lxml import etree

from kbd.errors import ValidationFailed
from kbd.opc.rewriter import Rewriting
from kbd.sheets.areas import MAX_COLUMN, MAX_ROW, Area, overlaps, parse_area
from kbd_xlsx.calculation.book import FormulaBook
from kbd_xlsx.calculation.operand_ranges import OperandRanges
from kbd_xlsx.calculation.operands import NameUse, Operands

__all__ = ["old_pivots", "pivot_sources"]

_WHOLE = Area(1, 1, MAX_ROW, MAX_COLUMN)


def pivot_sources(rewriting: Rewriting, main: str) -> Iterator[etree._Element]:
    """Yield the elements that say of which cells of this workbook pivot tables keep a copy."""
    for relation in rewriting.relations(main):
        if relation.kind == "pivotCacheDefinition" and relation.target in rewriting:
            source = rewriting.root(relation.target).find("{*}cacheSource/{*}worksheetSource")
            # One with a relation is of another workbook.
            if source is not None and not any(str(key).endswith("}id") for key in source.attrib):
                yield source


def old_pivots(
    rewriting: Rewriting,
    main: str,
    book: Callable[[], FormulaBook],
    changed: Mapping[str, Sequence[Area]],
) -> list[str]:
    """Return the ranges whose data pivot tables keep a copy of, and which the edit changed.

    Args:
        rewriting: The package.
        main: The workbook part.
        book: Returns its names and tables; only asked where a source is called by such a name.
        changed: The changed cells by the title of their sheet.
    """
    folded = {title.casefold(): areas for title, areas in changed.items()}
    found = []
    for source in pivot_sources(rewriting, main):
        # Programs bring such a one up to date when they open the workbook.
        if source.getroottree().getroot().get("refreshOnLoad") in ("1", "true"):
            continue
        title, ref = source.get("sheet", ""), source.get("ref", "")
        name = "" if ref else source.get("name", "")
        # Without a range the data may be anywhere on the sheet: better one warning too many.
        area = _area(ref)
        places = _named_areas(book(), title, name) if name else [(title, area)]
        if any(overlaps(at, one) for on, at in places for one in folded.get(on.casefold(), ())):
            found.append(name or (f"{title}!{area}" if area != _WHOLE else title))
    return found


def _named_areas(book: FormulaBook, title: str, name: str) -> list[tuple[str, Area]]:
    """Return the areas that a table or a name means, with their titles; all if that is unclear."""
    for table in book.tables:
        # With its header, which names the fields of the pivot table; a formula leaves it out.
        if table.name.casefold() == name.casefold():
            return [(table.sheet, table.area)]
    sheet = "'" + title.replace("'", "''") + "'" if title else None
    operands = Operands([], [NameUse(sheet, name)], [], [], is_clear=True)
    meaning = OperandRanges(book.titles, book.names, book.tables).of(operands, (0, 1, 1))
    if meaning.reads_all:
        return [(each, _WHOLE) for each in book.titles]
    return [(book.titles[number], Area(*sides)) for number, *sides in meaning.cells]


def _area(text: str) -> Area:
    """Return a range, or the whole sheet where none is given."""
    try:
        return parse_area(text, _WHOLE) if text else _WHOLE
    except ValidationFailed:
        return _WHOLE
