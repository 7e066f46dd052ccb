"""Charts of real workbooks changed, and charts added to them: all else keeps its bytes."""

import contextlib
import warnings
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from charted_books import FORMAT, charts_in, entries, records
from kbd.errors import KbdError
from kbd.formats import Source
from real_workbooks import real_workbooks
from small_pictures import png

Mapped = list[tuple[Path, list[dict[str, Any]]]]
TYPES = ("column", "bar", "line", "area", "scatter")


@pytest.fixture(scope="module")
def mapped(corpora: Path) -> Mapped:
    """The workbooks that can be mapped, with their sheets."""
    found = []
    for path in real_workbooks(corpora):
        with contextlib.suppress(KbdError):
            found.append((path, FORMAT.map(Source(path, path.name))["sheets"]))
    return found


def into(path: Path, folder: Path, operation: dict[str, Any]) -> Path | None:
    """Apply an operation to a workbook; None where it is refused."""
    target = folder / path.name
    target.unlink(missing_ok=True)
    try:
        FORMAT.apply(Source(path, path.name), records(operation), target)
    except KbdError:
        return None
    return target


def differing(path: Path, target: Path) -> tuple[set[str], set[str]]:
    """Return which parts differ, and which are new."""
    before, after = entries(path), entries(target)
    assert before.keys() <= after.keys()
    return {n for n in before if before[n] != after[n]}, after.keys() - before.keys()


@pytest.mark.full
@pytest.mark.corpora
def test_real_charts_are_changed_alone(mapped: Mapped, tmp_path: Path) -> None:
    """A title of a chart of any program changes its part alone, and in the map its title alone."""
    done, refused = 0, set()
    for path, sheets in mapped:
        for sheet in sheets:
            for number, chart in enumerate(sheet.get("charts", [])[:1]):
                target = into(path, tmp_path, {
                    "op": "set_chart", "sheet": sheet["name"], "chart": chart["name"],
                    "title": "New & title",
                })  # fmt: skip
                if target is None:
                    refused.add(path.name)
                    continue
                changed, new = differing(path, target)
                after = charts_in(target, sheet["name"])[number]
                assert (len(changed), new) == (1, set()), path.name
                assert after == chart | {"title": "New & title"}, path.name
                done += 1
    assert done > 60
    # Charts of 2014 and later, and a workbook from before the standard.
    assert len(refused) < 8


@pytest.mark.full
@pytest.mark.corpora
def test_charts_are_added_to_real_workbooks(mapped: Mapped, tmp_path: Path) -> None:
    """A chart of the first table of a sample is read back beside those there were; the rest keeps.

    Only the sheet and the list of types differ where a drawing is made, and the drawing alone
    where there is one, with the relations of either. A workbook without a theme gets one, for the
    colors of a chart are the theme's.
    """
    done = 0
    for number, (path, sheets) in enumerate(mapped):
        found = next(
            ((sheet["name"], island["range"]) for sheet in sheets for island in sheet["islands"]
             if island.get("headers") and island["row_count"] > 2),
            None,
        )  # fmt: skip
        if found is None or number % 3:
            continue
        target = into(path, tmp_path, {
            "op": "add_chart", "sheet": found[0], "type": TYPES[number % 5], "table": found[1],
            "title": "Added",
        })  # fmt: skip
        if target is None:
            continue
        changed, new = differing(path, target)
        if "xl/theme/theme1.xml" in new:
            new.remove("xl/theme/theme1.xml")
            changed.remove("xl/_rels/workbook.xml.rels")
        kinds = {each.rsplit("/", 1)[0].removeprefix("xl/") for each in changed}
        assert kinds <= {
            "[Content_Types].xml", "worksheets", "worksheets/_rels", "drawings", "drawings/_rels",
        }, path.name  # fmt: skip
        assert len(changed) <= 3, path.name
        assert len(new) <= 4, path.name
        assert "Added" in [each.get("title") for each in charts_in(target, found[0])], path.name
        counts = [count_by_openpyxl(each) for each in (path, target)]
        before, after = counts
        assert before is None or (after or 0) == before + 1, path.name
        done += 1
    assert done > 20


@pytest.mark.full
@pytest.mark.corpora
def test_pictures_are_added_to_real_workbooks(mapped: Mapped, tmp_path: Path) -> None:
    """A picture on a sample is one more for the map; only its sheet or drawing differs."""
    (tmp_path / "logo").write_bytes(png(64, 40))
    files = {"logo.png": Source(tmp_path / "logo", "logo.png")}
    done = 0
    for path, sheets in mapped[::4]:
        sheet = next((each for each in sheets if each["kind"] == "worksheet"), None)
        if sheet is None:
            continue
        target = tmp_path / path.name
        operation = {
            "op": "add_image", "sheet": sheet["name"], "image": "logo.png", "place": "B2",
        }  # fmt: skip
        try:
            FORMAT.apply_with_files(Source(path, path.name), records(operation), target, files)
        except KbdError:
            continue
        changed, new = differing(path, target)
        assert len(changed) <= 3, path.name
        assert len(new) <= 4, path.name
        after = FORMAT.map(Source(target, target.name))["sheets"]
        count = next(each for each in after if each["name"] == sheet["name"])["image_count"]
        assert count == sheet.get("image_count", 0) + 1, path.name
        done += 1
    assert done > 50


def count_by_openpyxl(path: Path) -> int | None:
    """Count the charts that another library finds, None where it cannot read the workbook."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            sheets = openpyxl.load_workbook(path).worksheets
            return sum(len(vars(sheet)["_charts"]) for sheet in sheets)
        except Exception:  # noqa: BLE001 - openpyxl raises anything
            return None
