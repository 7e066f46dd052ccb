"""Whole jobs of the offline provider: right by another reckoning, or declined."""

import csv
import io
import shutil
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import docx
import openpyxl
import pytest

from backends import mostly
from real_daemon import RealDaemon

COLUMNS = ("Order Date", 'Größe "Ort"', "Net Amount (€)", "Paid?", "Qty")
DAY, PLACE, AMOUNT, PAID, QUANTITY = COLUMNS
PLACES = ("Zürich", 'O\'Hare "ORD"', "Kraków, PL", "=1+1", "")

on_asyncio = pytest.mark.parametrize("shop", ["asyncio"], indirect=True)
on_trio = pytest.mark.parametrize("shop", ["trio"], indirect=True)
"""What a job's result is does not hang on the loop; whole jobs on both are the tests without."""

Row = dict[str, str]
Results = tuple[dict[str, bytes], str]


def _rows() -> list[Row]:
    """Return 120 rows: accents, quotes, commas, a formula, empty fields, negatives."""
    return [
        {
            DAY: f"2024-{n % 7 + 1:02}-{n * 5 % 28 + 1:02}",
            PLACE: PLACES[n % 5],
            AMOUNT: "" if n % 17 == 3 else f"{(n * 7919 % 90000 - 9000) / 100:.2f}",
            PAID: ("yes", "no", "no")[n % 3],
            QUANTITY: str(n % 9),
        }
        for n in range(120)
    ]


ROWS = _rows()


def _csv(rows: list[Row]) -> str:
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, COLUMNS)
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


@pytest.fixture(scope="module", params=mostly("asyncio"))
def shop(request: pytest.FixtureRequest) -> Iterator[RealDaemon]:
    """One daemon a backend for all jobs."""
    folder = Path(tempfile.mkdtemp(prefix="kbd-"))
    (folder / "sales 2024.csv").write_text(_csv(ROWS), encoding="utf-8", newline="")
    running = RealDaemon(folder / "home", str(request.param))
    running.start()
    yield running
    running.stop()
    shutil.rmtree(folder, ignore_errors=True)


def _source(shop: RealDaemon) -> Path:
    return shop.home.parent / "sales 2024.csv"


def _said(shop: RealDaemon, workbench_id: str) -> str:
    found = shop.ask("WorkshopGetConversation", workbench_id=workbench_id)["messages"]
    return [str(one["text"]) for one in found if one["type"] == "assistant_message"][-1]


def _published(shop: RealDaemon, workbench_id: str) -> dict[str, bytes]:
    shop.ask("DraftPublish", workbench_id=workbench_id)
    folder = shop.home / "workbenches" / workbench_id / "published"
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def _done(shop: RealDaemon, prompt: str) -> Results:
    """Run a prompt on the file and return what was published and said."""
    workbench_id = shop.workbench(_source(shop))
    run = shop.run_prompt(workbench_id, prompt)
    assert run["status"] == "finished", run
    assert {item["state"] for item in run["items"]} == {"done"}
    said = _said(shop, workbench_id)
    files = _published(shop, workbench_id)
    assert files.pop("sales 2024.csv") == _source(shop).read_bytes()
    return files, said


def _sheet(data: bytes, sheet: str) -> list[tuple[Any, ...]]:
    book = openpyxl.load_workbook(io.BytesIO(data), data_only=True)
    return list(book[sheet].iter_rows(values_only=True))


def _only(files: dict[str, bytes]) -> bytes:
    """Return the only file that was made, whatever it is called."""
    (data,) = files.values()
    return data


def _exact(value: Any) -> Decimal:
    """Return a number of a sheet as the decimal that it stands for: to the cent."""
    return Decimal(str(value)).quantize(Decimal("0.01"))


def _as_exported(row: dict[str, str]) -> dict[str, str]:
    """Return a row as text tables have it: what a spreadsheet program runs is marked as text."""
    return {**row, PLACE: row[PLACE].replace("=1+1", "'=1+1")}


def _sums(key: str) -> dict[str, Decimal]:
    sums: dict[str, Decimal] = defaultdict(Decimal)
    for row in ROWS:
        sums[row[key]] += Decimal(row[AMOUNT] or 0)
    return dict(sums)


@pytest.mark.full
@on_trio
def test_a_sheet_for_each_value_with_totals(shop: RealDaemon) -> None:
    """Split by a column with quotes and accents: each row on its sheet, in order, totals exact."""
    files, _ = _done(
        shop,
        'one sheet per Größe "Ort" with Order Date and Net Amount (€) sorted by Order Date,'
        " and a summary sheet with totals",
    )
    (data,) = files.values()
    book = openpyxl.load_workbook(io.BytesIO(data), data_only=True)

    assert book.sheetnames == [
        "=1+1",
        "Kraków, PL",
        'O\'Hare "ORD"',
        "Zürich",
        "(empty)",
        "Summary",
    ]
    for place in PLACES:
        header, *found = _sheet(data, place or "(empty)")
        expected = [
            (date.fromisoformat(row[DAY]), Decimal(row[AMOUNT]) if row[AMOUNT] else None)
            for row in sorted(ROWS, key=lambda row: row[DAY])
            if row[PLACE] == place
        ]
        assert header == (DAY, AMOUNT)
        assert [(d.date(), None if a is None else _exact(a)) for d, a in found] == expected
    header, *found, last = _sheet(data, "Summary")
    sums, counts = _sums(PLACE), Counter(row[PLACE] for row in ROWS)
    assert header == (PLACE, "Count", f"Total {AMOUNT}")
    assert {name or "": count for name, count, _ in found} == counts
    assert {name or "": _exact(total) for name, _, total in found} == sums
    assert last[:2] == ("Total", len(ROWS))
    assert _exact(last[2]) == sum(sums.values())


@pytest.mark.full
@on_trio
def test_totals_by_a_column(shop: RealDaemon) -> None:
    """The totals of a column by another, with a last row for all."""
    files, said = _done(shop, 'total Net Amount (€) per Größe "Ort"')
    header, *found, last = _sheet(_only(files), "Summary")
    sums = _sums(PLACE)

    assert header == (PLACE, f"Total {AMOUNT}")
    assert {name or "": _exact(total) for name, total in found} == sums
    assert _exact(last[1]) == sum(sums.values())
    assert f"{sum(sums.values()):,.2f}" in said


def test_a_count_is_answered(shop: RealDaemon) -> None:
    """A question is answered with a text, and nothing is changed."""
    workbench_id = shop.workbench(_source(shop))
    run = shop.run_prompt(workbench_id, "how many rows per Paid?")
    said = _said(shop, workbench_id)

    assert run["status"] == "finished"
    assert not shop.ask("DraftGetState", workbench_id=workbench_id)["has_draft"]
    for value, count in Counter(row[PAID] for row in ROWS).items():
        assert f"{value}: Count {count}" in said


@on_trio
@pytest.mark.full
def test_averages_by_a_column_into_csv(shop: RealDaemon) -> None:
    """Empty amounts are left out of an average."""
    files, _ = _done(shop, 'average of "Net Amount (€)" by Größe "Ort" to csv')
    found = list(csv.reader(io.StringIO(_only(files).decode())))

    assert found[0] == [PLACE, f"Average {AMOUNT}"]
    for place, average in found[1:]:
        given = [Decimal(r[AMOUNT]) for r in ROWS if r[PLACE] == place and r[AMOUNT]]
        assert abs(Decimal(average) * len(given) - sum(given)) < Decimal("0.001")
    assert len(found) == 1 + len(PLACES)


@on_asyncio
@pytest.mark.full
def test_filtered_and_sorted_rows_into_csv(shop: RealDaemon) -> None:
    """Numbers keep their form, texts their signs; rows that sort alike keep their order."""
    files, _ = _done(shop, "only rows where Net Amount (€) > 500 sorted by Order Date as csv")
    found = list(csv.DictReader(io.StringIO(_only(files).decode(), newline="")))

    chosen = [row for row in ROWS if row[AMOUNT] and Decimal(row[AMOUNT]) > 500]
    assert found == [_as_exported(row) for row in sorted(chosen, key=lambda row: row[DAY])]


@on_trio
@pytest.mark.full
def test_sorted_descending_into_a_workbook(shop: RealDaemon) -> None:
    """The result has the name that was asked for, and rows without a value come last."""
    files, _ = _done(shop, "sort by Net Amount (€) descending into sorted.xlsx")
    _, *found = _sheet(files["sorted.xlsx"], "Sheet1")

    amounts = [row[2] for row in found]
    given = [_exact(amount) for amount in amounts if amount is not None]
    assert given == sorted((Decimal(r[AMOUNT]) for r in ROWS if r[AMOUNT]), reverse=True)
    assert amounts[len(given) :] == [None] * (len(ROWS) - len(given))


@on_asyncio
@pytest.mark.full
def test_converted_to_a_workbook(shop: RealDaemon) -> None:
    """Every field is there with its type; text that looks like a formula is text."""
    files, _ = _done(shop, "convert it to xlsx")
    header, *found = _sheet(files["sales 2024.xlsx"], "Sheet1")

    assert header == COLUMNS
    for row, (day, place, amount, paid, quantity) in zip(ROWS, found, strict=True):
        assert day.date() == date.fromisoformat(row[DAY])
        assert (place or "", paid, quantity) == (row[PLACE], row[PAID], int(row[QUANTITY]))
        assert (None if amount is None else _exact(amount)) == (
            Decimal(row[AMOUNT]) if row[AMOUNT] else None
        )


@on_trio
@pytest.mark.full
def test_totals_by_month(shop: RealDaemon) -> None:
    """Months come from the only column of dates."""
    files, _ = _done(shop, "total Net Amount per month")
    header, *found, _ = _sheet(_only(files), "Summary")

    sums: dict[str, Decimal] = defaultdict(Decimal)
    for row in ROWS:
        sums[row[DAY][:7]] += Decimal(row[AMOUNT] or 0)
    assert header == ("Month", f"Total {AMOUNT}")
    assert [(month, _exact(total)) for month, total in found] == sorted(sums.items())


@pytest.mark.full
@on_asyncio
def test_totals_of_decimal_commas(shop: RealDaemon) -> None:
    """A European file: groups by dots, decimals by commas, fields by semicolons."""
    rows = [("Büro", "1.234,50"), ("Reise", "-12,05"), ("Büro", "0,1"), ("Reise", "2.000"),
            ("Büro", ""), ("Reise", "12,50"), ("Büro", "99,999")]  # fmt: skip
    path = shop.home.parent / "ausgaben.csv"
    text = "".join(f"{kind};{amount}\n" for kind, amount in [("Kategorie", "Betrag"), *rows])
    path.write_text(text, encoding="utf-8", newline="")
    sums: dict[str, Decimal] = defaultdict(Decimal)
    for kind, amount in rows:
        sums[kind] += Decimal(amount.replace(".", "").replace(",", ".") or 0)

    workbench_id = shop.workbench(path)
    assert shop.run_prompt(workbench_id, "total Betrag by Kategorie")["status"] == "finished"
    files = _published(shop, workbench_id)
    header, *found, last = _sheet(files["ausgaben-betrag-by-kategorie.xlsx"], "Summary")
    assert header == ("Kategorie", "Total Betrag")
    assert {kind: Decimal(str(total)) for kind, total in found} == sums
    assert Decimal(str(last[1])) == sum(sums.values())
    assert files["ausgaben.csv"] == path.read_bytes()

    request = "only rows where Betrag > 100 sorted by Betrag descending as csv"
    assert shop.run_prompt(workbench_id, f"in ausgaben.csv {request}")["status"] == "finished"
    filtered = _published(shop, workbench_id)["ausgaben-betrag-over-100.csv"].decode()
    large = [Decimal(row["Betrag"]) for row in csv.DictReader(io.StringIO(filtered))]
    assert large == [Decimal(2000), Decimal("1234.5")]


@on_trio
@pytest.mark.parametrize(
    ("prompt", "reason"),
    [
        ("translate the file into German", "translate"),
        ("summarise this document", "write or sum up texts"),
        ("write an email to my boss about these sales", "write or sum up texts"),
        ("edit letter.docx so that it is shorter", "there is no file letter.docx"),
        ("one sheet per month with totals per quarter", "several"),
    ],
)
def test_what_it_cannot_do_is_declined(shop: RealDaemon, prompt: str, reason: str) -> None:
    """It says what it understood, why not, what it would do, and to connect a model."""
    workbench_id = shop.workbench(_source(shop))
    run = shop.run_prompt(workbench_id, prompt)
    said = _said(shop, workbench_id)

    assert run["status"] == "declined"
    assert run["understood"] == prompt
    assert reason in run["reason"]
    assert run["suggestions"]
    assert not shop.ask("DraftGetState", workbench_id=workbench_id)["has_draft"]
    assert f"I read the request as: {prompt}" in said
    assert reason in said
    assert "kbd run" in said or 'ask "help"' in said
    assert "OPENAI_API_KEY" in said
    assert "--model openai:NAME" in said
    assert shop.ask("ReviewGetChangeSet", workbench_id=workbench_id)["changes"] == []


@on_trio
@pytest.mark.parametrize("prompt", ["the total per Paid?", "the total per place"])
def test_two_readings_are_asked_about(shop: RealDaemon, prompt: str) -> None:
    """The run is declined with the question, and each reading stands there as a command."""
    workbench_id = shop.workbench(_source(shop))
    run = shop.run_prompt(workbench_id, prompt)

    assert run["status"] == "declined"
    assert run["reason"] == 'the total may be of "Net Amount (€)", "Qty"'
    assert run["suggestions"] == [
        prompt.replace("total", f'total "{name}"') for name in (AMOUNT, QUANTITY)
    ]
    assert "Say 1: kbd run" in _said(shop, workbench_id)


@on_asyncio
@pytest.mark.full
def test_the_same_prompt_gives_the_same_bytes(shop: RealDaemon) -> None:
    """Nothing of when or where a job runs is in its result."""
    prompt = "one sheet per Paid? with totals"

    assert _done(shop, prompt) == _done(shop, prompt)


@pytest.mark.full
@on_trio
def test_a_second_message_works_on_the_result(shop: RealDaemon) -> None:
    """What the first run left in the draft is the second one's source; both are published."""
    workbench_id = shop.workbench(_source(shop))
    shop.run_prompt(workbench_id, "only rows where Paid? is no, save as open.csv")
    second = shop.run_prompt(workbench_id, "count open.csv by Qty into counts.csv")
    files = _published(shop, workbench_id)

    assert second["status"] == "finished"
    unpaid = [row for row in ROWS if row[PAID] == "no"]
    found_rows = list(csv.DictReader(io.StringIO(files["open.csv"].decode(), newline="")))
    assert found_rows == list(map(_as_exported, unpaid))
    found = list(csv.reader(io.StringIO(files["counts.csv"].decode())))
    counts = Counter(row[QUANTITY] for row in unpaid)
    assert found == [[QUANTITY, "Count"], *([key, str(n)] for key, n in sorted(counts.items()))]

    third = shop.run_prompt(workbench_id, "convert counts.csv to xlsx")
    assert third["status"] == "finished"
    assert len(_sheet(_published(shop, workbench_id)["counts.xlsx"], "Sheet1")) == len(found)


@pytest.mark.full
@on_trio
def test_several_files_are_merged_and_searched(shop: RealDaemon, tmp_path: Path) -> None:
    """One table of two with columns in another order, and a text replaced in a letter."""
    (tmp_path / "may.csv").write_text("Day,Client,Amount\n2024-05-01,acme,1.50\n")
    (tmp_path / "june.csv").write_text("Amount;Day;Client\n3,75;2024-06-01;gamma\n")
    letter = docx.Document()
    letter.add_paragraph().add_run("Dear acme, thank you.").italic = True
    letter.save(str(tmp_path / "letter.docx"))
    files = [tmp_path / name for name in ("may.csv", "june.csv", "letter.docx")]
    workbench_id = shop.workbench(*files)

    for prompt in (
        "merge may.csv and june.csv with a source column",
        'replace "ACME" with "Acme Ltd" in letter.docx, ignoring case',
    ):
        run = shop.run_prompt(workbench_id, prompt)
        assert run["status"] == "finished", run
        assert {item["state"] for item in run["items"]} == {"done"}, run
    assert "letter.docx: replaced once." in _said(shop, workbench_id)
    results = _published(shop, workbench_id)

    assert list(csv.reader(io.StringIO(results["merged.csv"].decode()))) == [
        ["Day", "Client", "Amount", "Source"],
        ["2024-05-01", "acme", "1.50", "may.csv"],
        ["2024-06-01", "gamma", "3.75", "june.csv"],
    ]
    (run_of,) = docx.Document(io.BytesIO(results["letter.docx"])).paragraphs[0].runs
    assert (run_of.text, run_of.italic) == ("Dear Acme Ltd, thank you.", True)
    assert {results[path.name] == path.read_bytes() for path in files[:2]} == {True}
