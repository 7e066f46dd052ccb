"""Past the end of the list changes are counted in another way: the counts must be the same."""

import random
from pathlib import Path
from zipfile import ZipFile

import pytest

from compared_books import book, compared, source
from kbd.formats import Source, comparison

COUNT = 400
VALUES = ("1", "1.0", "10", "1E1", "2.5", "0", "-0", "x", "inf")
TEXTS = ("0", "1", "2", " 1", "9")


def _cell(chosen: random.Random, letter: str, row: int) -> str:
    """Write a cell in one of the ways that files have, mostly the usual one."""
    place = f"{letter}{row}"
    value = chosen.choice(VALUES)
    match chosen.choice("nnnnnnnnssssffffffqdbtixe"):
        case "n":
            return f'<c r="{place}"><v>{value}</v></c>'
        case "s":
            return f'<c r="{place}" t="s"><v>{chosen.choice(TEXTS)}</v></c>'
        case "f":
            return f'<c r="{place}"><f>A{row}*$B${chosen.choice((2, 60))}</f><v>{value}</v></c>'
        case "q":
            return f'<c r="{place}"><f>A{row}&amp;"A3"</f><v>{value}</v></c>'
        case "d":
            return f'<c r="{place}" s="1"><v>{value}</v></c>' * 2
        case "b":
            return f'<c r="{place}" t="b"><v>{chosen.choice("01")}</v></c>'
        case "t":
            return f'<c r="{place}" t="str"><f>A{row}</f><v>{value}</v></c>'
        case "i":
            return f'<c r="{place}" t="inlineStr"><is><t>{value}</t></is></c>'
        case "x":
            return f'<c r="{place}" s="1"/>'
        case _:
            return f'<c r="{place}"><f>A{row}</f><v></v></c>'


def _rows(seed: int, changed: float, inserted: int) -> str:
    """Return rows of which a share of the cells is drawn anew, with one more in a place."""
    chance = random.Random(seed)
    written = []
    for number in range(COUNT):
        row = number + 1 + (bool(inserted) and number >= inserted)
        cells = [f'<c r="A{row}"><v>{number * 7919 % 99_991}</v></c>']
        for place, letter in enumerate("BCDEF"):
            own = random.Random(f"{number} {place}")
            again = chance.random() < changed
            cells.append(_cell(chance if again else own, letter, row))
        written.append(f'<row r="{row}">{"".join(cells)}</row>')
    if inserted:
        row = inserted + 1
        written.insert(inserted, f'<row r="{row}"><c r="A{row}"><v>-5</v></c></row>')
    return "".join(written)


def _sheet(path: Path, rows: str, shared: str = "aba") -> Source:
    """Write a workbook with shared texts, two of them equal, and a cell format."""

    def styled(_: object, sheet: object) -> None:
        sheet["B2"].number_format = "0.00"  # type: ignore[index]

    made = book(path.with_suffix(".base.xlsx"), [["a", "b"], ["a ", 1], ["c", "d"]], styled)
    start = '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">'
    texts = '<sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">'
    texts += "".join(f"<si><t>{text}</t></si>" for text in shared) + "</sst>"
    with ZipFile(made.path) as old, ZipFile(path, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            if name == "xl/worksheets/sheet1.xml":
                data = f"{start}<sheetData>{rows}</sheetData></worksheet>".encode()
            elif name == "xl/sharedStrings.xml":
                data = texts.encode()
            new.writestr(name, data)
    return source(path)


@pytest.mark.sampled(7)
@pytest.mark.parametrize("changed", [0.02, 0.3])
@pytest.mark.parametrize("inserted", [0, 40])
@pytest.mark.parametrize("shared", ["aba", "caab"])
@pytest.mark.parametrize("seed", range(3))
def test_what_is_not_listed_is_counted_as_if_it_were(
    seed: int,
    shared: str,
    inserted: int,
    changed: float,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A full list has the counts, and the first changes, of one that has room for all."""
    before = _sheet(tmp_path / "before.xlsx", _rows(seed, 0, 0))
    after = _sheet(tmp_path / "after.xlsx", _rows(seed, changed, inserted), shared)
    monkeypatch.setattr(comparison, "MAX_CHANGES", 1_000_000)
    slow = compared(before, after)

    monkeypatch.setattr(comparison, "MAX_CHANGES", 3)
    quick = compared(before, after)

    assert len(slow.changes) == slow.total > 10
    assert set(quick.counts) == set(slow.counts)
    assert quick.changes == slow.changes[:3]


def test_moves_past_the_list_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows in another order are counted as those of a list that has room for all."""
    rows = [[number, number * 7, f"Item {number}"] for number in range(300)]
    before = book(tmp_path / "before.xlsx", rows)
    random.Random(1).shuffle(rows)
    after = book(tmp_path / "after.xlsx", rows)
    slow = compared(before, after)

    monkeypatch.setattr(comparison, "MAX_CHANGES", 3)
    quick = compared(before, after)

    assert len(slow.changes) == slow.total > 200
    assert quick.counts == slow.counts
    assert quick.changes == slow.changes[:3]
