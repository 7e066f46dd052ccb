"""The demo does what a newcomer is promised, and its result is right by another reckoning."""

import csv
import io
import os
import shutil
import subprocess
import sys
from collections import Counter
from decimal import Decimal
from pathlib import Path

import openpyxl
import pytest
from openpyxl.workbook import Workbook

from benchmarks.transactions import AWKWARD, CATEGORIES, HEADER, ROWS, transactions
from browsing import count_of, fitting, opened, started

pytestmark = pytest.mark.full  # `make demo` itself is a newcomer's next step.

ROOT = Path(__file__).resolve().parent.parent
RESULT = "transactions-by-category.xlsx"


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """What the demo prints, and the folder of its results."""
    folder = tmp_path_factory.mktemp("demo")
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.demo"],
        cwd=folder,
        # A key in the environment must not be used.
        env={**os.environ, "PYTHONPATH": str(ROOT), "OPENAI_API_KEY": "sk-not-a-key"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stdout
    return done.stdout, folder / "demo-out"


@pytest.fixture(scope="module")
def workbook(demo: tuple[str, Path]) -> Workbook:
    """The result, opened by a library that kbd does not write with alone."""
    return openpyxl.load_workbook(demo[1] / RESULT)


@pytest.fixture(scope="module")
def rows() -> list[dict[str, str]]:
    """The sample file, read by Python's own reader."""
    return list(csv.DictReader(io.StringIO(transactions().decode(), newline="")))


def test_the_sample_is_what_the_demo_says(rows: list[dict[str, str]]) -> None:
    """1,204 rows in 12 categories, the awkward ones among them, the same at every run."""
    assert transactions() == transactions()
    assert len(rows) == ROWS == 1204
    assert len({row["Category"] for row in rows}) == len(CATEGORIES) == 12
    assert tuple(rows[0]) == HEADER
    assert {text for _, text, _ in AWKWARD.values()} <= {row["Description"] for row in rows}
    assert [row["Description"] for row in rows if row["Amount"] == ""] == [AWKWARD[518][1]]


def test_the_demo_shows_the_whole_way(demo: tuple[str, Path]) -> None:
    """Progress, change set, the log, a change reviewed and blamed, the proof that all is whole."""
    told, folder = demo
    assert (folder / "review.html").stat().st_size > 10_000

    for part in (
        "$ kbd run 'one sheet per category",
        "Analyzing files…",
        "Planning approach…",
        f"Working on item 1 of 1: {RESULT}",
        "Summarizing results…",
        f"added   {RESULT}",
        "run finished",
        "  17 cells changed\n",
        "  ~ row 1, Description\n      - Rail pass\n      + Train ticket\n",
        "Rail pass -> Train ticket\n  run ",
        "The draft is discarded.",
        "(transactions) whole: ",
        "kbd has stopped.",
    ):
        assert part in told
    assert "Traceback" not in told


def test_there_is_a_sheet_for_each_category(workbook: Workbook, rows: list[dict[str, str]]) -> None:
    """Each has its rows with date, description and amount, in the order of dates."""
    counts = Counter(row["Category"] for row in rows)

    assert len(workbook.sheetnames) == 13
    for name, count in counts.items():
        header, *found = workbook[name].iter_rows(values_only=True)
        dates = [str(row[0]) for row in found]

        assert header == ("Date", "Description", "Amount")
        assert len(found) == count
        assert dates == sorted(dates)


def test_the_totals_are_right(
    demo: tuple[str, Path], workbook: Workbook, rows: list[dict[str, str]]
) -> None:
    """The summary's totals are the exact sums of the sample's decimals."""
    totals: dict[str, Decimal] = dict.fromkeys(CATEGORIES, Decimal(0))
    for row in rows:
        totals[row["Category"]] += Decimal(row["Amount"] or 0)
    _, *found, last = workbook["Summary"].iter_rows(values_only=True)

    assert {name: Decimal(str(total)) for name, *_, total in found} == totals
    # The sum of all is a formula, with its value stored.
    assert str(last[-1]).startswith("=SUM(")
    stored = openpyxl.load_workbook(demo[1] / RESULT, data_only=True)["Summary"]
    assert Decimal(str(stored.cell(stored.max_row, len(last)).value)) == sum(totals.values())


def test_text_that_looks_like_a_formula_is_text(workbook: Workbook) -> None:
    """A description that begins with `=` does not calculate."""
    cells = [cell for row in workbook["Entertainment"].iter_rows() for cell in row]
    museum = [cell.data_type for cell in cells if cell.value == AWKWARD[640][1]]

    assert museum == ["s"]


@pytest.mark.full
@pytest.mark.browser
def test_the_page_of_the_run_is_walked_through(demo: tuple[str, Path]) -> None:
    """In a real browser without a network: steps, timeline, search, filters, keys, deep links."""
    file = demo[1] / "replay.html"
    with started() as browser, opened(browser, file, "#step-25") as (page, *_):
        assert page.locator("article:visible").get_attribute("id") == "step-25"
        steps = fitting(page)
        assert steps == list(range(1, len(steps) + 1))
        assert len(steps) > 30
        assert count_of(page, "article") == len(steps)
        assert page.locator(".top dd").all_inner_texts()[3] == str(len(steps))
        assert page.locator("#graph svg").first.locator("a").count() == 4  # phases
        assert count_of(page, "#graph a .item") == 1

        page.keyboard.press("j")
        assert page.locator("article:visible").get_attribute("id") == "step-26"
        assert page.url.endswith("#step-26")
        assert page.locator("#plan li").count() == 1
        assert page.locator("#plan li[data-state='active']").inner_text().startswith("active")
        assert page.locator("aside caption").all_inner_texts() == [RESULT]
        assert page.locator("aside tr.here").count() == 1

        page.keyboard.press("/")
        page.keyboard.type("Groceries")
        page.locator("#matches", has_text=" steps").wait_for()
        total = int(page.locator("#matches").inner_text().split()[0])
        found = fitting(page)
        assert total >= len(found)
        assert 1 < len(found) < len(steps)
        page.keyboard.press("Enter")
        page.keyboard.press("Enter")
        assert " of " in page.locator("#matches").inner_text()
        assert page.locator("mark.here").inner_text() == "Groceries"
        page.keyboard.press("Escape")
        page.keyboard.press("Escape")
        assert fitting(page) == steps

        page.get_by_label("Kind").select_option("tool")
        page.get_by_label("Changes").check()
        changed = fitting(page)
        assert len(changed) == page.locator("aside tr[data-step]").count()
        page.get_by_label("Item", exact=True).select_option("1")
        assert set(fitting(page)) == set(changed)


@pytest.mark.full
@pytest.mark.libreoffice
def test_libreoffice_opens_the_result(demo: tuple[str, Path], tmp_path: Path) -> None:
    """An office program reads the workbook: the first sheet comes out as it went in.

    In the first tier one reads a workbook written in the same way, in the tests of the format.
    """
    office = shutil.which("soffice") or shutil.which("libreoffice")
    if office is None:
        pytest.skip("LibreOffice is not installed here")
    profile = f"-env:UserInstallation=file://{tmp_path}/profile"
    command = [office, profile, "--headless", "--convert-to", "csv", "--outdir", str(tmp_path)]
    subprocess.run([*command, str(demo[1] / RESULT)], check=True, timeout=100, capture_output=True)

    read = (tmp_path / RESULT).with_suffix(".csv").read_text("utf-8")
    assert read.startswith("Date,Description,Amount")
