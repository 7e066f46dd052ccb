"""What has to be said about a table is asked; the answer is taken in a request, or after one."""

from pathlib import Path
from typing import Any

import anyio
import pytest

from kbd_offline.answers import NOT_DONE, decode_said, encode_said, said_in
from providers.offline.playing import Outcome, Player

UNSURE = "Item,Amount\nTea,2\nCup,3\nTotal,6\n"
THOUSANDS = "Artikel;Umsatz\nStuhl;1.234\nTisch;2.500\n"
DATES = "Day;Sum\n01/02/2024;5\n03/04/2024;7\n"


def play(root: Path, request: str, text: str, earlier: str = "") -> tuple[Player, Outcome]:
    """Run a request on t.csv and return the player and the outcome."""
    player = Player(root, {"t.csv": text})
    return player, anyio.run(player.run, request, earlier)


@pytest.mark.parametrize(
    ("text", "read_as"),
    [
        ("leave out", {"totals": "leave_out"}), ("leave_out", {"totals": "leave_out"}),
        ("Please leave them out.", {"totals": "leave_out"}), ("keep", {"totals": "keep"}),
        ("Leave out proven totals", {"totals": "leave_out_proven"}),
        ("leave_out_proven", {"totals": "leave_out_proven"}),
        ("totals: leave_out_proven", {"totals": "leave_out_proven"}),
        ("Keep it, thanks", {"totals": "keep"}), ("comma", {"decimal": ","}),
        (",", {"decimal": ","}), (".", {"decimal": "."}), ("decimal point", {"decimal": "."}),
        ("decimal: ,", {"decimal": ","}), ("the comma is the decimal mark", {"decimal": ","}),
        ("dmy", {"date_order": "dmy"}), ("date order: mdy", {"date_order": "mdy"}),
        ("day first", {"date_order": "dmy"}), ("cp1252", {"encoding": "cp1252"}),
        ("encoding: cp850", {"encoding": "cp850"}), ("no header", {"header_row": 0}),
        ("header row: 3", {"header_row": 3}),
        ("decimal comma and day first", {"decimal": ",", "date_order": "dmy"}),
        ("total Umsatz per Artikel, decimal comma", {"decimal": ","}),
        ("sort by Day; leave out the total rows", {"totals": "leave_out"}),
        ("sheet per kind without totals", {}), ("keep only rows where a is 1", {}),
        ('replace "decimal comma" by "x"', {}), ("count total rows", {}),
        ("total Amount by Comma", {}), ("drop duplicates, keep the first", {}),
    ],
)  # fmt: skip
def test_what_a_message_says(text: str, read_as: dict[str, Any]) -> None:
    """Values as they are asked for and words of people; what asks for something else says none."""
    assert said_in(text).read_as == read_as
    assert decode_said("\n".join(["# Plan", *encode_said(read_as)])) == read_as


def test_an_answer_belongs_to_the_request_before_it() -> None:
    """Through several questions; only where the message before it asks, and is ours."""
    earlier = (
        f"[user] old\n\n[assistant] done\n\n[user] total Umsatz\n\n[assistant] {NOT_DONE}\n\nA?"
        f"\n\n[user] decimal comma\n\n[assistant] {NOT_DONE}\n\nB?"
    )
    said = said_in("leave out", earlier)
    assert (said.read_as, said.request) == (
        {"decimal": ",", "totals": "leave_out"},
        "total Umsatz",
    )
    assert (
        said_in("leave out", "[user] total Umsatz\n\n[assistant] It is 3.").request == "leave out"
    )
    other = said_in("sort by Day, decimal comma", earlier)
    assert other.request.split() == ["sort", "by", "Day,"]


@pytest.mark.full
@pytest.mark.parametrize(
    ("text", "request_text", "asked", "answers"),
    [
        (UNSURE, "what is the total Amount?", 'Answer "leave out" or "keep"',
         {"leave out": "Total Amount 5", "keep": "Total Amount 11"}),
        (THOUSANDS, "what is the total Umsatz?", '"decimal comma"',
         {"decimal comma": "Total Umsatz 3,734", ".": "Total Umsatz 3.73"}),
        (DATES, "total Sum per month of Day?", '"date order: dmy"',
         {"dmy": "2024-02: Total Sum 5", "month first": "2024-01: Total Sum 5"}),
    ],
)  # fmt: skip
def test_asked_and_answered(
    tmp_path: Path, text: str, request_text: str, asked: str, answers: dict[str, str]
) -> None:
    """Nothing is told before; then either answer has the figures that the question gave for it."""
    _, first = play(tmp_path / "asked", request_text, text)
    assert first.summary.startswith(NOT_DONE)
    assert asked in first.summary
    earlier = f"[user] {request_text}\n\n[assistant] {first.summary}"
    for place, (answer, figure) in enumerate(answers.items()):
        _, outcome = play(tmp_path / f"a{place}", answer, text, earlier)
        assert figure in outcome.summary, outcome.summary


def test_a_file_has_figures_as_exact_as_its_source(tmp_path: Path) -> None:
    """Binary noise is taken off a sum, and nothing else: neither of small figures nor of others."""
    rows = "a,0.0000012\na,0.000000001\nb,8.81035291436839\nc,0.1\nc,0.2\nd,1234567.89\n"
    player, _ = play(tmp_path, "total Dose by Item into u.csv", f"Item,Dose\n{rows}")
    written = player.workbench.content("u.csv").decode().splitlines()[1:]
    figures = {name: float(value) for name, value in (line.split(",") for line in written)}
    assert figures == {
        "a": pytest.approx(0.000001201, rel=1e-12),
        "b": pytest.approx(8.81035291436839, rel=1e-10),
        "c": 0.3,
        "d": 1234567.89,
    }


OPEN = "Region,Menge,Umsatz\nNord,2,1.234\nNord,7,2.500\nSued,4,1.234\n"
"""One column of numbers, and one that holds numbers once it is known of which kind."""
TWO_DATES = "Paid,Due,Amount\n2024-01-05,01/02/2024,5\n2024-02-05,03/04/2024,7\n"


@pytest.mark.parametrize(
    ("text", "request_text", "told"),
    [
        (OPEN, "one sheet per Region with totals", "Umsatz: is 1.234 1234 or 1.234?"),
        (OPEN, "one sheet per Region with total Umsatz", "Umsatz: is 1.234 1234 or 1.234?"),
        (OPEN, "total by Region", 'the total may be of "Menge", "Umsatz"'),
        (OPEN, "what is the average?", 'the average may be of "Menge", "Umsatz"'),
        (TWO_DATES, "total Amount by month", 'in two ways: by "Paid" or "Due"'),
        (OPEN.replace("Menge", "Mit"), "total Umsatz", "Umsatz: is 1.234 1234 or 1.234?"),
    ],
)
def test_what_is_not_known_yet_is_not_left_out(
    tmp_path: Path, text: str, request_text: str, told: str
) -> None:
    """A column that holds numbers or dates once it is answered is one of "all" before, too."""
    _, outcome = play(tmp_path, request_text, text)
    assert outcome.summary.startswith(NOT_DONE)
    assert told in outcome.summary


@pytest.mark.parametrize(
    ("text", "request_text", "told"),
    [
        (OPEN, "total Menge by Region", "Total Menge by Region, in t-menge-by-region.xlsx"),
        (OPEN, "one sheet per Region", 'Sheet "Nord" in t-by-region.xlsx has 2 rows'),
        (OPEN, "how many rows?", "Count 3"),
        (TWO_DATES, "total Amount by month of Paid", "Total Amount by Month"),
        # Prices do not add up, whichever they are, and that is said.
        (OPEN.replace("Umsatz", "Unit price"), "one sheet per Region with totals",
         "Not summed: Unit price (unit price)"),
        (OPEN, "frobnicate the rows", 'what to make of "frobnicate"'),
    ],
)  # fmt: skip
def test_what_makes_no_difference_is_not_asked(
    tmp_path: Path, text: str, request_text: str, told: str
) -> None:
    """A job that comes out alike with every answer is done without one, or declined for itself."""
    _, outcome = play(tmp_path, request_text, text)
    assert "is 1.234 1234" not in outcome.summary
    assert told in outcome.summary


def test_numbers_that_are_texts_are_not_passed_over(tmp_path: Path) -> None:
    """A text among a column's numbers leaves it out of the totals, and that is said."""
    text = "Region,Menge,Umsatz\nNord,2,5.50\nNord,7,unbekannt\nSued,4,6.10\nSued,9,7.20\n"
    _, outcome = play(tmp_path, "one sheet per Region with totals", text)
    assert "Not summed: Umsatz" in outcome.summary
    assert 'Not summed: Umsatz: 3 of 4 values are numbers, but not "unbekannt"' in outcome.summary


@pytest.mark.full
def test_said_in_the_request(tmp_path: Path) -> None:
    """It counts for every call of the job, and the workbook that is written is read as it is."""
    request = "total Umsatz per Artikel into u.xlsx, decimal comma, header row 1"
    _, outcome = play(tmp_path, request, THOUSANDS)
    assert "u.xlsx has 2 rows; over all of them: Total Umsatz 3,734." in outcome.summary
    # What does not hang on it is done without an answer.
    player, _ = play(tmp_path / "c", "only rows where Artikel is Stuhl, as csv", THOUSANDS)
    assert player.workbench.content(player.made).decode() == "Artikel,Umsatz\nStuhl,1.234\n"


@pytest.mark.full
def test_a_merge_asks_of_each_table(tmp_path: Path) -> None:
    """Which rows count is asked by the table's name; the answer counts for all of them."""
    files: dict[str, str | bytes] = {"a.csv": "Item,Amount\nMug,4\n", "b.csv": UNSURE}
    request = "merge all csv files into all.csv"
    first = anyio.run(Player(tmp_path / "a", files).run, request)
    assert "b.csv: Row 4 (Total | 6) may sum others up" in first.summary
    player = Player(tmp_path / "b", files)
    earlier = f"[user] {request}\n\n[assistant] {first.summary}"
    anyio.run(player.run, "leave out", earlier)
    assert player.workbench.content("all.csv") == b"Item,Amount\nMug,4\nTea,2\nCup,3\n"


@pytest.mark.full
@pytest.mark.parametrize(
    ("request_text", "text", "figure"),
    [
        ("average Discount", "Item,Discount\na,2%\nb,11%\n", "Average Discount 0.065"),
        ("total Amount", "Item,Amount\na,1.234\nb,22.5\n", "Total Amount 23.734"),
        ("average Amount", "Item,Amount\na,0.01\nb,0.0\nc,0.0\n", "Average Amount 0.003333"),
        ("total Dose", "Item,Dose\na,0.0000012\nb,0.0000021\n", "Total Dose 0.000003300"),
        ("maximum Dose", "Item,Dose\na,0.00000012\nb,0.00000021\n", "Maximum Dose 0.0000002100"),
    ],
)
def test_no_figure_is_rounded_to_another(
    tmp_path: Path, request_text: str, text: str, figure: str
) -> None:
    """A figure is told with the decimals that it has: 6.5% is not 7%, and 23.734 not 23.73."""
    _, outcome = play(tmp_path, request_text, text)
    assert figure in outcome.summary, outcome.summary
