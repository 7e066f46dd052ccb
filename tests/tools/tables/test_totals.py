"""Rows of a source that sum others up are no rows of its table, and are told."""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

from backends import on_trio
from kbd.errors import ValidationFailed
from kbd.testing.tools import Workbench
from kbd_tables.evidence import figure
from kbd_tables.total_notes import SummedColumn
from kbd_tables.totals import take_out_totals
from tools.small_formats import book
from tools.tables.conftest import Ask

pytestmark = [pytest.mark.anyio, on_trio]

LEFT_OUT: dict[str, tuple[str, list[int]]] = {
    "grand total": ("Item,Amount\na,10\nb,20\nTotal,30\n", [4]),
    "signs and capitals": ("Item,Amount\na,10.50\nb,20\n** TOTAL: **,30.50\n", [4]),
    "one row above": ("Item,Amount\na,10\nTotal,10\n", [3]),
    "negative amounts": ("Item,Amount\na,10\nb,-30\nSumme,-20\n", [4]),
    "zeros": ("Item,Day,Amount\na,2024-01-01,0\nb,2024-01-02,0\nTotal,,0\n", [4]),
    "subtotals": (
        ("Group,Item,Amount\nFood,a,1\nFood,b,2\nFood total,,3\nCar,c,4\nCar,d,5\nCar total,,9\n"
        "Grand total,,12\n"),
        [4, 7, 8],
    ),
    "subtotals of one row": (
        "Item,Amount\na,5\nSubtotal,5\nb,6\nc,1\nSubtotal,7\nTotal,12\n", [3, 6, 7],
    ),
    "nested": (
        ("Item,Amount\na,1\nb,2\nSubtotal,3\nc,4\nd,5\nSubtotal,9\nTotal North,12\ne,7\nf,8\n"
        "Subtotal,15\nTotal South,15\nGrand total,27\n"),
        [4, 7, 8, 11, 12, 13],
    ),
    "statistics at the top": (
        "Item,Amount\nMin,10\nMax,50\nAverage,30\na,10\nb,20\nc,30\nd,40\ne,50\n", [2, 3, 4],
    ),
    "the largest above the total": (
        "Item,Kind,Amount\nMax,,30\nTotal,,60\na,k,10\nb,k,20\nc,k,30\n", [2, 3],
    ),
    "a closing balance": (
        "Datum;Text;Betrag\n01.02.2024;Miete;-800,00\n03.02.2024;Lohn;2500,50\n;Endsaldo;1700,50\n",
        [4],
    ),
    "quarters that the sum leaves out": (
        "Monat;Umsatz\nJan;10\nFeb;20\nMrz;30\nQ1;60\nApr;5\nMai;6\nJun;7\nQ2;18\nSumme;78\n",
        [5, 9, 10],
    ),
    "at the top": ("Item,Amount\nTotal,60\na,10\nb,20\nc,30\n", [2]),
    "group heads": (
        ("Sex,Year,People\nTotal,2020,30\nMale,2020,10\nFemale,2020,20\nTotal,2021,50\n"
        "Male,2021,20\nFemale,2021,30\n"),
        [2, 5],
    ),
    "carried forward": (
        "Text;Betrag\na;10\nb;20\nÜbertrag;30\nÜbertrag;30\nc;5\nd;6\nGesamt;41\n", [4, 5, 8],
    ),
    "pivot": (
        ("Region,Product,Amount\nNorth,x,1\nNorth,y,2\nNorth,Total,3\nSouth,x,4\nSouth,y,6\n"
        "South,Total,10\n"),
        [4, 7],
    ),
    "average": ("Item,Amount\na,10\nb,21\nTotal,31\nAverage,15.5\n", [4, 5]),
    "several columns": ("Item,Qty,Amount\na,1,10\nb,2,20\nTotal,3,30\n", [4]),
    "one column of several": ("Item,Qty,Amount\na,1,10\nb,2,20\nTotal,,30\n", [4]),
    "a rate beside": ("Item,Amount,Rate %\na,10,1.5\nb,20,2.5\nTotal,30,2.1\n", [4]),
    "a list of prices": ("Item,Price\na,1.25\nb,2.50\nTotal,3.75\n", [4]),
    "a vendor and a total": (
        "Day,Vendor,Amount\n2024-01-01,Shell,10\n2024-01-02,Total,20\n2024-01-03,BP,5\n,Total,35\n",
        [5],
    ),
    "a vendor by its total": ("Vendor,Amount\nShell,10\nTotal,20\nBP,5\nTotal,35\n", [5]),
    "doubles": (
        "Item,Amount\na,0.1000000001\nb,0.2000000002\nc,0.7000000001\nTotal,1.0000000004\n", [5],
    ),
    "a year that is repeated": ("Year,Item,Amount\n2020,a,1\n2020,b,2\n2020,Total,3\n", [4]),
    "a count below texts": ("Item,Amount,Photo\na,1,yes\nb,2,no\nc,4,yes\nTotal,7,3\n", [5]),
    "years": ("Year,Amount\n2020,1\n2021,2\nTotal,3\n", [4]),
    "statistics": (
        ("Item,Amount\na,10\nb,21\nc,4\nMin,4\nMax,21\nAnzahl,3\nMittelwert,11.6667\nSumme,35\n"),
        [5, 6, 7, 8, 9],
    ),
    "a greatest value below other columns": (
        "Item,Day,Amount\na,2024-01-01,10\nb,2024-01-02,21\nMaximum,,21\n", [4],
    ),
    "a count of rows": ("Item,Amount\na,10\nb,21\nc,7\nCount:,3\n", [5]),
    "a count of values": ("Item,Qty,Amount\na,1,10\nb,,20\nc,4,5\nMin,1,5\nCount,2,3\n", [5, 6]),
    "how rows spread": (
        ("Item,Amount\na,10\nb,20\nc,60\nTotal,90\nMedian,20\nStd. Dev.,26.46\nVarianz,700\n"),
        [5, 6, 7, 8],
    ),
    "how all rows spread": (
        "Nom,Montant\na,10\nb,20\nc,60\nÉcart-type,21.6\nMédiane,20\n", [5, 6],
    ),
    "a French page": (
        ("Article;Montant\na;10\nb;20\nÀ reporter;30\nReport;30\nc;5\nTotal;35\n"),
        [4, 5, 7],
    ),
    "statistics of prices": ("Item,Price\na,1.5\nb,2.5\n最小,1.5\n最大,2.5\n", [4, 5]),
}  # fmt: skip
"""Tables, and the rows of the file that are left out."""

WORDS = (
    "Total", "Sum", "Sub-total", "Grand Total", "SUMME", "Gesamtsumme", "Zwischensumme",
    "Total général", "Somme", "Totale", "Totaal", "Suma", "Razem", "Ukupno", "Итого", "合計",
    "小計", "总计", "합계", "Σ", "Total (EUR)", "Totals:", "Food total", "Total Food", "Всего",
    "Összesen", "Yhteensä", "المجموع", "סה״כ", "∑", "Celkem", "食品小計",
    "Підсумок", "Всього", "جمع", "कुल", "Végösszeg", "Samtals", "Вкупно", "Jami", "TTL",
    "Sum of Amount",
)  # fmt: skip

KEPT: dict[str, str] = {
    "a vendor": "Day,Vendor,Amount\n2024-01-01,Shell,10\n2024-01-02,Total,20\n2024-01-03,BP,5\n",
    "ids that count up": "id\n1\n2\n3\n",
    "figures alone": "a,b\n1,5\n2,9\n3,1\n",
    "a grade": "Grade,Count\nGood,5\nAverage,3\nPoor,2\n",
    "no figures": "Item,Note\na,x\nTotal,y\n",
    "a label without figures": "Item,Amount\na,1\nb,2\nTotal,\n",
    "a name and zeros": "Name,n\na,0\nb,0\nTotal_recall,0\nc,0\n",
    "prose": "Text,n\nthe total of it all was low,1\nsummer,2\n",
    "a person called Max": "Name,Amount\nAnna,10\nMax,20\nBen,5\nMin,4\n",
    "a person with a city": "Name,City,Amount\nAnna,Rome,1\nBen,Oslo,2\nMax,Bonn,2\n",
    "statistics as rows": "What,Value\nMin,3\nMax,9\nCount,4\n",
    "statistics of each": "Sensor,What,n\nA,Min,3\nA,Max,9\nB,Min,1\nB,Max,9\n",
    "a count of another thing": "Item,Amount\na,10\nb,21\nCount,40\n",
    "a balance in a column of balances": (
        "Day,Text,Amount,Balance\n2024-01-01,Opening balance,,500\n2024-01-02,a,10,510\n"
    ),
    "a shoe": "Brand,Amount\nNew Balance,5\nPuma,5\nAsics,7\n",
    "quarters": "Quartal,Umsatz\nQ1,10\nQ2,20\nQ3,30\nQ4,60\n",
    "quarters of regions": (
        "Quarter,Region,Amount\nQ1,North,1\nQ1,South,2\nQ2,North,3\nQ2,South,4\n"
    ),
    "months and a quarter of another figure": "Month,n\nJan,1\nFeb,2\nMar,3\nQ2,9\n",
    "many unnamed": "Note,a\n,1\n,2\n,3\nx,4\n",
    "a last row that agrees by chance": "Name,Points\na,5\nb,7\nc,12\nd,24\n",
    "statistics of a list, with a spread": (
        "What,Value\nstd dev,2\nmin,3\n25 %,4\n50 %,5\n75 %,6\nmax,9\n"
    ),
    "a street called Median": "Street,n\nMedian,10\nBroad,20\nHigh,40\nPark,3\n",
    "a report among papers": "Paper,n\nThesis,10\nBook,21\nReport,7\nNote,4\n",
    "a variance of a budget": "Line,n\nBudget,100\nActual,90\nVariance,-10\n",
    "gaps that a word fills and are no sums": (
        "Region,Item,n\nN,a,1\nN,NULL,5\nN,b,2\nS,c,4\nS,NULL,9\nS,d,1\n"
    ),
    "groups of which one differs": ("Item,n\nNorth,30\na,10\nb,20\nSouth,12\nc,5\nd,6\n"),
    "flags of which each is the next one": "Name,active\na,1\nb,1\nc,0\nd,1\ne,1\nf,0\ng,1\nh,1\n",
    "small numbers that come to others by chance": "Name,n\na,3\nb,1\nc,2\nd,5\ne,4\nf,1\n",
    "gaps that are no sums": "Region,Item,n\nN,a,1\nN,,5\nN,b,2\nS,c,4\nS,,9\nS,d,1\n",
}
"""Tables in which every row is one."""

ASKED: dict[str, tuple[str, str, str]] = {
    "another sum": ("Item,Amount\na,10\nb,20\nTotal,31\n", "30 in 2 rows", "61 in 3 rows"),
    "no label": ("Item,Amount\na,10\nb,20\nc,5\n,35\n", "35 in 3 rows", "70 in 4 rows"),
    "columns that differ": (
        "Item,Qty,Amount\na,1,10\nb,2,20\nTotal,4,30\n", "3 in 2 rows", "7 in 3 rows",
    ),
    "an agreeing vendor": (
        "Day,Vendor,Amount\n2024-01-01,Shell,10\n2024-01-02,BP,20\n2024-01-03,Total,30\n",
        "30 in 2 rows", "60 in 3 rows",
    ),
    "a group of which a column differs": (
        "Region,Product,Qty,Amount\nNorth,x,1,1\nNorth,y,2,2\nNorth,Total,9,3\n",
        "3 in 2 rows", "12 in 3 rows",
    ),
    "a last value that is repeated": (
        "Item,Amount,Tax\na,1,2\nb,2,5\nTotal,3,5\n", "3 in 2 rows", "6 in 3 rows",
    ),
    "an opening balance with a date": (
        "Day,Text,Amount\n2024-01-01,Opening balance,500\n2024-01-02,a,10\n2024-01-03,b,20\n",
        "30 in 2 rows", "530 in 3 rows",
    ),
    "quarters and a year": (
        "Monat;Umsatz\nJan;10\nFeb;20\nQ1;30\nApr;5\nMai;7\n2. Quartal;12\nJahr 2024;42\n",
        "42 in 4 rows", "126 in 7 rows",
    ),
    "net and gross": (
        "Rechnung;Betrag\n1;10\n2;20\nNetto;30\nMwSt;6\nBrutto;36\n",
        "36 in 3 rows", "102 in 5 rows",
    ),
    "brought forward": ("Text,Amount\nBrought forward,500\na,10\nb,20\n", "30 in 2 rows",
                        "530 in 3 rows"),
    "a word of another language": (
        "Item,Qty,Amount\na,1,10\nb,2,20\nc,4,50\nJumla kuu,7,80\n",
        "7 in 3 rows", "14 in 4 rows",
    ),
    "many digits": (
        "Item,Amount\na,1204.5\nb,310\nc,95.25\nNdzima,1609.75\n",
        "1 609.75 in 3 rows", "3 219.5 in 4 rows",
    ),
    "sums of a database": (
        "Region,Item,n\nN,x,10\nN,y,20\nN,,30\nS,x,20\nS,y,30\nS,,50\n,,80\n",
        "80 in 4 rows", "240 in 7 rows",
    ),
    "sums of a database that writes NULL": (
        "Region,Item,n\nN,x,10\nN,y,20\nN,NULL,30\nS,x,20\nS,y,30\nS,NULL,50\nNULL,NULL,80\n",
        "80 in 4 rows", "240 in 7 rows",
    ),
    "sums of a database that writes \\N": (
        "Region,Item,n\nN,x,10\nN,y,20\nN,\\N,30\nS,x,20\nS,y,30\nS,\\N,50\n\\N,\\N,80\n",
        "80 in 4 rows", "240 in 7 rows",
    ),
    "groups below their sums": (
        "Shop,n\nNorth,30\na,10\nb,20\nSouth,11\nc,5\nd,6\n", "41 in 4 rows", "82 in 6 rows",
    ),
    "groups below their sums and all of them": (
        "Shop,n,q\nCountry,41,5\nNorth,30,2\na,10,1\nb,20,1\nSouth,11,3\nc,5,1\nd,6,2\n",
        "41 in 4 rows", "123 in 7 rows",
    ),
    "a deviation of other rows": (
        "Item,Amount\na,10\nb,20\nc,60\nStdDev,30.1\n", "90 in 3 rows", "120.1 in 4 rows",
    ),
    "an opening and a closing balance": (
        "Text,Amount\nOpening balance,100\na,10\nb,-20\nClosing balance,90\n",
        "-10 in 2 rows", "180 in 4 rows",
    ),
    "what is carried to a French page and on": (
        "Article;Montant\nReport;1000\na;10\nb;20\nÀ reporter;1030\n",
        "30 in 2 rows", "2 060 in 4 rows",
    ),
    "all of a group": (
        "Region,Item,n\nN,x,10\nN,y,20\nN,All,30\nS,x,20\nS,y,30\nS,All,50\n",
        "80 in 4 rows", "160 in 6 rows",
    ),
    "groups of two without labels": (
        "Item,n\na,10\nb,20\n,30\nc,5\nd,6\n,11\n,41\n", "41 in 4 rows", "123 in 7 rows",
    ),
    "rounded": ("Item,Amount\na,1.004\nb,1.004\nTotal,2.01\n", "2.008 in 2 rows",
                "4.018 in 3 rows"),
    "a person with the most": ("Name,Amount\nAnna,10\nBen,7\nMax,10\n", "17 in 2 rows",
                               "27 in 3 rows"),
    "a product of that name": ("Product,Amount\na,3.99\nPaste Total,3.99\nb,1.00\n",
                               "4.99 in 2 rows", "8.98 in 3 rows"),
}  # fmt: skip
"""Tables, and what the figures come to if rows that may be totals are left out or kept."""


async def _map(workbench: Workbench, ask: Ask, text: str, **arguments: Any) -> dict[str, Any]:
    workbench.add("t.csv", text)
    return dict(await ask("get_map", path="t.csv", **arguments))


def _rows_out(found: dict[str, Any]) -> list[int]:
    return sorted(row for each in found["reading"].get("left_out", ()) for row in each["rows"])


@pytest.mark.full
@pytest.mark.parametrize("name", LEFT_OUT)
async def test_totals_are_left_out(workbench: Workbench, ask: Ask, name: str) -> None:
    """Where label and figures agree the rows are out of the table, and the reading names them."""
    text, rows = LEFT_OUT[name]
    found = await _map(workbench, ask, text)
    assert _rows_out(found) == rows
    assert not found["reading"].get("questions")
    assert found["row_count"] == text.count("\n") - 1 - len(rows)
    assert any("left out" in warning for warning in found["warnings"])


@pytest.mark.full
async def test_totals_that_are_kept(workbench: Workbench, ask: Ask) -> None:
    """Where they are kept, the map names the rows that each sums up, and those that agree not."""
    text = (
        "Item,Kind,Amount,Qty\nMax,,9,\na,x,4,1\nb,y,5,2\nSubtotal,,9,3\nc,x,6,3\nd,x,9,1\n"
        "Subtotal,,15,4\nTotal,,24,7\nGrand total,,25,8\n"
    )
    found = await _map(workbench, ask, text, read_as={"totals": "keep"})

    assert found["row_count"] == 9
    assert [
        (each["row"], each["kind"], each["columns"], each["ranges"]) for each in found["totals"]
    ] == [
        (1, "maximum", ["Amount"], [[2, 3], [5, 6]]),
        (4, "sum", ["Amount", "Qty"], [[2, 3]]),
        (7, "sum", ["Amount", "Qty"], [[5, 6]]),
        (8, "sum", ["Amount", "Qty"], [[2, 3], [5, 6]]),
        (9, "sum", [], []),
    ]


@pytest.mark.full
async def test_a_statistic_that_does_not_agree_is_asked(workbench: Workbench, ask: Ask) -> None:
    """Beside one that does: that one is out, the other one is a question."""
    found = await _map(workbench, ask, "Item,Amount\na,10\nb,7\nMin,6\nMax,10\n")
    assert _rows_out(found) == [5]
    (question,) = found["reading"]["questions"]
    assert [option["meaning"] for option in question["options"]] == [
        "Amount adds up to 17 in 2 rows", "Amount adds up to 23 in 3 rows",
        "Amount adds up to 33 in 4 rows",
    ]  # fmt: skip


@pytest.mark.full
async def test_a_quarter_that_a_sum_leaves_out_is_asked(workbench: Workbench, ask: Ask) -> None:
    """Its figure is not what the rows above come to, but the sum below is without it."""
    text = "Monat;Art;Umsatz\nJan;x;10\nFeb;x;20\nQ1;;25\nMrz;x;5\nSumme;;35\n"
    found = await _map(workbench, ask, text)
    assert _rows_out(found) == [6]
    (question,) = found["reading"]["questions"]
    assert question["text"].startswith("Row 4 (Q1 | 25) may sum others up")


@pytest.mark.full
async def test_the_label_in_many_languages(workbench: Workbench, ask: Ask) -> None:
    """Whatever language a total is named in, signs and capitals aside."""
    for word in WORDS:
        found = await _map(workbench, ask, f"Item;Amount\na;10\nb;20\nc;1\n{word};31\n")
        assert _rows_out(found) == [5], word


@pytest.mark.full
@pytest.mark.parametrize("name", KEPT)
async def test_ordinary_rows_stay(workbench: Workbench, ask: Ask, name: str) -> None:
    """A label that is a name, or figures that add up by chance, raise no question."""
    found = await _map(workbench, ask, KEPT[name])
    assert found["row_count"] == KEPT[name].count("\n") - 1
    assert "questions" not in found["reading"]


@pytest.mark.full
@pytest.mark.parametrize("name", ASKED)
async def test_what_is_not_sure_is_asked(workbench: Workbench, ask: Ask, name: str) -> None:
    """The rows stay, the question says what either answer means, and no figure is worked out."""
    text, left_out, kept = ASKED[name]
    found = await _map(workbench, ask, text)
    (question,) = found["reading"]["questions"]
    assert question["about"] == "totals"
    assert [option["value"] for option in question["options"]] == ["leave_out", "keep"]
    meanings = [option["meaning"] for option in question["options"]]
    assert [meaning.partition(" adds up to ")[2] for meaning in meanings] == [left_out, kept]
    assert found["row_count"] == text.count("\n") - 1

    rows = await ask("query", path="t.csv", query="SELECT * FROM data")
    assert rows["total_row_count"] == found["row_count"]
    for sql in ("SELECT count(*) FROM data", "SUMMARIZE data",
                "SELECT row_number() OVER (), sum(1) OVER () FROM data"):  # fmt: skip
        with pytest.raises(ValidationFailed, match="Figures wait for the answer"):
            await ask("query", path="t.csv", query=sql)
    with pytest.raises(ValidationFailed, match="Figures wait for the answer"):
        await ask("stats", path="t.csv")

    for answer, meaning in (("leave_out", left_out), ("keep", kept)):
        column = meanings[0].partition(" adds up to ")[0]
        told = await ask("query", path="t.csv", read_as={"totals": answer},
                         query=f'SELECT sum("{column}"), count(*) FROM data')  # fmt: skip
        assert f"{figure(told['rows'][0][0])} in {told['rows'][0][1]} rows" == meaning


@pytest.mark.full
async def test_totals_are_kept_where_that_is_said(workbench: Workbench, ask: Ask) -> None:
    """`keep` makes rows of them again, without a word on totals."""
    found = await _map(workbench, ask, LEFT_OUT["grand total"][0], read_as={"totals": "keep"})
    assert (found["row_count"], found["reading"].get("left_out")) == (3, None)


async def test_what_is_left_out_is_out_everywhere(workbench: Workbench, ask: Ask) -> None:
    """Rows by number, groups and whole exports have the same rows; the file keeps all of them."""
    text = "Item,Amount\na,1.50\nb,2.50\nSubtotal,4.00\nc,3.00\nTotal,7.00\n"
    workbench.add("t.csv", text)
    rows = await ask("read_rows", path="t.csv", row_start=3, row_count=5)
    assert (rows["rows"], rows["total_rows"]) == ([["c", 3.0]], 3)
    found = await ask("query", path="t.csv", query="SELECT sum(Amount), count(*) FROM data")
    assert found["rows"] == [[7.0, 3]]
    written = await ask("export", path="t.csv", target_path="u.csv", format="csv")
    assert workbench.content("u.csv").decode() == "Item,Amount\na,1.50\nb,2.50\nc,3.00\n"
    assert any("total of the rows above" in warning for warning in written["warnings"])
    assert workbench.content("t.csv").decode() == text


async def test_a_column_is_typed_without_the_labels(workbench: Workbench, ask: Ask) -> None:
    """A "Total" below years or dates does not make texts of them."""
    found = await _map(workbench, ask, "Day,Year,Amount\n2024-01-01,2024,1\n2024-01-02,2025,2\n"
                                       "Total,Total,3\n")  # fmt: skip
    assert [column["type"] for column in found["columns"]] == ["date", "integer", "integer"]


@pytest.mark.full
async def test_totals_of_a_sheet(workbench: Workbench, ask: Ask) -> None:
    """The rule looks at values, whatever format they come from."""
    columns = [["Item", "string"], ["Amount", "float"]]
    workbench.add("b.book", book(S=(columns, [["a", 0.1], ["b", 0.2], ["Total", 0.1 + 0.2]])))
    found = await ask("get_map", path="b.book", source_sheet="S")
    assert found["row_count"] == 2


@pytest.mark.full
async def test_totals_in_a_long_table(workbench: Workbench, ask: Ask) -> None:
    """Between many rows each subtotal is found, and exactly those rows go."""
    lines, total = ["Group,Item,Amount"], 0
    for group in range(40):
        lines += [f"G{group},i{n},{n}.25" for n in range(100)]
        lines.append(f"Total G{group},,{sum(range(100)) + 25}.00")
        total += sum(range(100)) + 25
    found = await _map(workbench, ask, "\n".join([*lines, f"Grand total,,{total}.00"]) + "\n")
    assert found["row_count"] == 4_000
    assert sum(each["count"] for each in found["reading"]["left_out"]) == 41


@pytest.mark.full
async def test_a_label_in_very_many_rows(workbench: Workbench, ask: Ask) -> None:
    """Too many to be judged one by one they are asked about; a name that begins so is a name."""
    rows = "".join(f"{n},Total,2\n{n},Total care,1\n" for n in range(21_000))
    found = await _map(workbench, ask, f"n,Sex,People\n{rows}")
    (question,) = found["reading"]["questions"]
    assert question["text"].startswith("21,000 rows may sum others up")
    assert [option["meaning"] for option in question["options"]] == [
        "n adds up to 220 489 500 in 21,000 rows", "n adds up to 440 979 000 in 42,000 rows",
    ]  # fmt: skip
    query = "SELECT sum(People), count(*) FROM data"
    told = await ask("query", path="t.csv", query=query, read_as={"totals": "leave_out"})
    assert told["rows"] == [[21_000, 21_000]]
    found = await _map(workbench, ask, f"n,Sex,People\n{rows.replace('Total,', 'Total hip,')}")
    assert (found["row_count"], "questions" in found["reading"]) == (42_000, False)


async def test_blanks_around_texts(workbench: Workbench, ask: Ask) -> None:
    """They are no part of a value, unless it is said; how many rows had them is told."""
    text = 'Item,Amount\n"Food ",1\nFood,2\n"\u00a0Food",3\n"  ",4\n'
    found = await _map(workbench, ask, text)
    (repaired,) = found["reading"]["repaired"]
    assert (repaired["count"], repaired["rows"], repaired["sample"]) == (3, (2, 4, 5), "'Food '")
    query = "SELECT Item, sum(Amount) FROM data GROUP BY Item ORDER BY 2"
    grouped = await ask("query", path="t.csv", query=query)
    assert grouped["rows"] == [[None, 4], ["Food", 6]]
    kept = await ask("query", path="t.csv", query=query, read_as={"blanks": "keep"})
    assert len(kept["rows"]) == 4


async def test_a_question_about_the_mark_counts_no_total(workbench: Workbench, ask: Ask) -> None:
    """What a column adds up to by either mark is without the row that is a total by both."""
    found = await _map(workbench, ask, "Item;Amount\na;1.234\nb;2.500\nSumme;3.734\n")
    (question,) = found["reading"]["questions"]
    assert question["about"] == "decimal"
    meanings = [option["meaning"] for option in question["options"]]
    assert [meaning.partition("adds up to ")[2] for meaning in meanings] == ["3.734", "3 734"]
    assert _rows_out(found) == [4]
    kept = await _map(
        workbench, ask, "Item;Amount\na;1.234\nb;2.500\nSumme;3.734\n", read_as={"totals": "keep"}
    )
    assert kept["row_count"] == 3
    assert "7 468" in kept["reading"]["questions"][0]["options"][1]["meaning"]


@pytest.mark.parametrize(
    ("values", "total", "name"),
    [
        (("500", "1.234", "1.734"), 1734, "comma"),
        (("500", "1,234", "1,734"), 1734, "point"),
        (("500", "1,234", "501,234"), 501.234, "comma"),
    ],
)
async def test_a_total_proves_the_mark(
    workbench: Workbench, ask: Ask, values: tuple[str, str, str], total: float, name: str
) -> None:
    """A total that is what its rows come to by one mark alone decides it, and that is told."""
    found = await _map(workbench, ask, "Item;Amount\na;{}\nb;{}\nSumme;{}\n".format(*values))
    assert not found["reading"].get("questions")
    assert _rows_out(found) == [4]
    reason = f"for a total fits its rows by a decimal {name}"
    assert any(reason in warning for warning in found["warnings"])
    summed = await ask("query", path="t.csv", query="SELECT sum(Amount) FROM data")
    assert float(summed["rows"][0][0]) == total


async def test_a_total_proves_the_mark_of_rows_that_it_is_kept_among(
    workbench: Workbench, ask: Ask
) -> None:
    """What a total proves of the mark holds, too, where it is to stay in the table."""
    text = "Item;Amount\na;500\nb;1.234\nSumme;1.734\n"
    kept = await _map(workbench, ask, text, read_as={"totals": "keep"})
    assert kept["row_count"] == 3
    assert not kept["reading"].get("questions")


async def test_a_total_proves_no_mark_against_what_was_said(workbench: Workbench, ask: Ask) -> None:
    """What was said of the mark goes before a total, which then is asked about."""
    text = "Item;Amount\na;500\nb;1.234\nSumme;1.734\n"
    found = await _map(workbench, ask, text, read_as={"decimal": "."})
    assert [each["about"] for each in found["reading"]["questions"]] == ["totals"]


async def test_a_mark_that_the_total_alone_shows_is_not_told_as_said(
    workbench: Workbench, ask: Ask
) -> None:
    """Where the figure of the total has two marks of groups, nobody is told that he said so."""
    found = await _map(workbench, ask, "Item;Amount\na;600.500\nb;601.000\nSumme;1.201.500\n")
    assert _rows_out(found) == [4]
    assert not any("as was said" in warning for warning in found["warnings"])
    assert any("a total fits its rows" in warning for warning in found["warnings"])


def _random_rows(chance: random.Random) -> list[tuple[str, int]]:
    """Return groups of rows with sums below them, some called so that only figures tell."""
    rows: list[tuple[str, int]] = []
    plain: list[int] = []
    for _ in range(chance.randint(1, 4)):
        group = len(plain)
        for _ in range(chance.randint(1, 3)):
            own = [chance.choice([-5, 0, 1, 2, 3, 10, 25, 40]) for _ in range(chance.randint(1, 4))]
            rows += [(chance.choice("abcdefg"), figure) for figure in own]
            plain += own
            if chance.random() < 0.6:
                rows.append((chance.choice(["Subtotal", "Zwischensumme", "Q1"]), sum(own)))
        if chance.random() < 0.5:
            rows.append(("Total North", sum(plain[group:])))
    top = [("Total", sum(plain))] if chance.random() < 0.2 else []
    bottom = [("Grand total", sum(plain)), ("Max", max(plain))][: chance.randint(0, 2)]
    return [*top, *rows, *bottom]


@pytest.mark.full
async def test_what_a_kept_total_sums_up_comes_to_it(tmp_path: Path) -> None:
    """In tables of all kinds of nesting: a formula over those rows has the figure's value."""
    chance, told = random.Random(5), 0
    columns = [
        SummedColumn("Item", "string", "VARCHAR", "c0"),
        SummedColumn("Kind", "string", "VARCHAR", "c1"),
        SummedColumn("Amount", "integer", "BIGINT", "CAST(c2 AS BIGINT)"),
    ]
    functions: dict[str, Callable[[list[int]], int]]
    functions = {"sum": sum, "minimum": min, "maximum": max}
    with duckdb.connect() as connection:
        for number in range(200):
            rows, raw = _random_rows(chance), tmp_path / f"{number}.parquet"
            lines = ", ".join(
                f"('{label}', {'NULL' if len(label) > 1 else repr('k')}, '{figure}')"
                for label, figure in rows
            )
            connection.execute(f"COPY (SELECT * FROM (VALUES {lines}) t(c0, c1, c2)) TO '{raw}'")
            found = take_out_totals(
                connection, str(raw), f"{raw}.spare", columns, {"totals": "keep"}, {}
            )
            for each in found.kept:
                if each.columns:
                    told += 1
                    summed = [rows[n - 1][1] for low, high in each.ranges
                              for n in range(low, high + 1)]  # fmt: skip
                    assert functions[each.kind](summed) == rows[each.row - 1][1], (rows, each)
    assert told > 500
