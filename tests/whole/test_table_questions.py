"""Questions about tables through the real daemon: asked before figures are told, and answered."""

from collections.abc import Iterator
from pathlib import Path

import openpyxl
import pytest

from backends import mostly
from kbd.cli.exits import Stop
from kbd.cli.readings import settle_readings
from whole.matrix_rig import kbd
from whole.watched import Watched, shop_at

THOUSANDS = "Artikel;Umsatz\nStuhl;1.234\nTisch;2.500\n"
"""3,734 with points between thousands, or 3.734 with points before decimals: nothing tells."""

COPY = "total Umsatz per Artikel"


@pytest.fixture(scope="module", params=mostly("trio"))
def shop(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Watched]:
    """One daemon for all tests."""
    with shop_at(tmp_path_factory.mktemp("k"), str(request.param)) as made:
        yield made


def _bench(shop: Watched, name: str) -> str:
    (shop.folder / f"{name}.csv").write_text(THOUSANDS)
    made = shop.daemon.ask("WorkbenchCreate", name=name)["workbench_id"]
    paths = [str(shop.folder / f"{name}.csv")]
    shop.daemon.ask("WorkbenchFilesAdd", workbench_id=made, source_paths=paths)
    return str(made)


def test_what_has_to_be_said_is_asked_and_then_counts(shop: Watched) -> None:
    """The question has both sums; what is said is recorded, and no tool has to be told it again."""
    wb = _bench(shop, "asked")
    (asked,) = shop.daemon.ask("WorkbenchGetQuestions", workbench_id=wb)["questions"]
    assert (asked["path"], asked["about"], asked["columns"]) == ("asked.csv", "decimal", ["Umsatz"])
    meanings = {option["value"]: option["meaning"] for option in asked["options"]}
    assert "3 734" in meanings[","]
    assert "3.734" in meanings["."]

    named = {"workbench_id": wb, "path": "asked.csv"}
    shop.daemon.ask("WorkbenchFilesSetReading", **named, read_as={"decimal": ","})
    assert shop.daemon.ask("WorkbenchGetQuestions", workbench_id=wb)["questions"] == []
    (umsatz,) = shop.daemon.ask("TabularGetStats", **named, columns=["Umsatz"])["columns"]
    assert umsatz["sum"] == 3734
    (row,) = shop.daemon.ask("WorkbenchFilesList", workbench_id=wb)["files"]
    assert row["read_as"] == {"decimal": ","}
    assert shop.types(wb)[-1] == "ReadingChosen"
    # Said again it is no news; taken back, it is asked again.
    shop.daemon.ask("WorkbenchFilesSetReading", **named, read_as={"decimal": ","})
    assert shop.types(wb).count("ReadingChosen") == 1
    shop.daemon.ask("WorkbenchFilesSetReading", **named, read_as={})
    assert len(shop.daemon.ask("WorkbenchGetQuestions", workbench_id=wb)["questions"]) == 1


def test_an_answer_says_how_the_table_was_read(shop: Watched) -> None:
    """Whatever the model writes: in the run's answer, and in its research."""
    wb = _bench(shop, "told")
    said = {"workbench_id": wb, "path": "told.csv", "read_as": {"decimal": ","}}
    shop.daemon.ask("WorkbenchFilesSetReading", **said)
    run = shop.daemon.run_prompt(wb, "sum Umsatz")
    assert run["status"] == "finished", run
    messages = shop.daemon.ask("WorkshopGetConversation", workbench_id=wb)["messages"]
    answer = [each for each in messages if each["type"] == "assistant_message"][-1]["text"]
    assert "3,734" in answer
    assert "told.csv: its numbers have a comma before decimals and a point between" in answer


UNSURE = "Item,Amount\nTea,2\nCup,3\nTotal,6\n"
"""A last row that is called a total, and is not what the rows above it come to."""


@pytest.mark.full
def test_an_answer_in_the_conversation_is_taken(shop: Watched) -> None:
    """The offline provider asks with both figures; the next message answers, and the job is done.

    Through as many questions as there are. A run that asked is declined: it has done nothing yet.
    """
    made = shop.daemon.ask("WorkbenchCreate", name="talked")["workbench_id"]
    (shop.folder / "talked.csv").write_text(UNSURE)
    answer, paths = "", [str(shop.folder / "talked.csv")]
    shop.daemon.ask("WorkbenchFilesAdd", workbench_id=made, source_paths=paths)
    for text, status, figure in (
        ("what is the total Amount?", "declined", "leave_out: Amount adds up to 5 in 2 rows"),
        ("leave out", "finished", "Total Amount 5"),
    ):
        assert shop.daemon.run_prompt(made, text)["status"] == status
        messages = shop.daemon.ask("WorkshopGetConversation", workbench_id=made)["messages"]
        answer = [each for each in messages if each["type"] == "assistant_message"][-1]["text"]
        assert figure in answer, answer
    assert "1 row left out (row 4: Total | 6): total, as was said" in answer


@pytest.mark.full
def test_a_sum_of_prices_is_named(shop: Watched) -> None:
    """In the answer, whoever summed them; a sum of amounts is not."""
    made = shop.daemon.ask("WorkbenchCreate", name="priced")["workbench_id"]
    (shop.folder / "priced.csv").write_text("Item,Unit price,Amount\nTea,2.5,5\nCup,3,12\n")
    paths = [str(shop.folder / "priced.csv")]
    shop.daemon.ask("WorkbenchFilesAdd", workbench_id=made, source_paths=paths)
    fact = "priced.csv: Unit price was summed; it is a price for one piece (by its name)"
    for text, figure, is_named in (
        ("total unit price into sums.xlsx per Item", "5.50", True),
        ("what is the total?", "Total Amount 17", False),
    ):
        assert shop.daemon.run_prompt(made, text)["status"] == "finished"
        messages = shop.daemon.ask("WorkshopGetConversation", workbench_id=made)["messages"]
        answer = [each for each in messages if each["type"] == "assistant_message"][-1]["text"]
        assert figure in answer, answer
        assert (fact in answer) == is_named, answer


@pytest.mark.full
def test_flags_answer_for_a_workbook(shop: Watched, tmp_path: Path) -> None:
    """`--totals` counts where a sheet asks, and the figure is the one that the question gave."""
    book = openpyxl.Workbook()
    for row in (["Item", "Amount"], ["Tea", 2], ["Cup", 3], ["Total", 6]):
        book.worksheets[0].append(row)
    book.save(tmp_path / "book.xlsx")
    made = shop.daemon.ask("WorkbenchCreate", name="flagged")["workbench_id"]
    paths = [str(tmp_path / "book.xlsx")]
    shop.daemon.ask("WorkbenchFilesAdd", workbench_id=made, source_paths=paths)
    with shop.daemon.client() as client, pytest.raises(Stop, match="--totals leave_out or"):
        settle_readings(client, made, {})
    with shop.daemon.client() as client:
        settle_readings(client, made, {"totals": "leave_out"})
    assert shop.daemon.run_prompt(made, "what is the total Amount?")["status"] == "finished"
    messages = shop.daemon.ask("WorkshopGetConversation", workbench_id=made)["messages"]
    assert "Total Amount 5" in messages[-1]["text"]


@pytest.mark.full
def test_what_lands_without_an_answer_is_parked(shop: Watched, tmp_path: Path) -> None:
    """With the question as its reason; a rule that says it beforehand has it worked on."""
    silent = shop.inbox("silent", COPY)
    silent.drop("a.csv", THOUSANDS)
    silent.settled(1)
    (parked,) = silent.failed().values()
    assert parked["code"] == "VALIDATION_FAILED"
    told = parked["message"]
    assert told.startswith("a.csv: Umsatz: is 1.234 1234 or 1.234? Say --decimal . (")
    assert "--decimal , (decimal comma: Umsatz adds up to 3 734) with: kbd watch failed" in told
    assert f"{silent.watch_id} --retry {parked['landing_id']} --decimal" in told
    assert silent.delivered() == {}

    words = ("watch", "failed", silent.watch_id, "--retry", "all", "--decimal")
    done = kbd(shop.daemon.home, *words, ",")
    assert (done.returncode, done.stderr) == (0, "")
    silent.settled(1)
    assert silent.failed() == {}
    assert len(silent.delivered()) == 1

    told = shop.inbox("told", COPY, read_as={"decimal": ","})
    told.drop("a.csv", THOUSANDS)
    told.settled(1)
    assert told.failed() == {}
    assert len(told.delivered()) == 1
    assert told.shown()["rule"]["read_as"] == {"decimal": ","}


@pytest.mark.full
def test_what_lands_beside_a_table_asks_nothing(shop: Watched) -> None:
    """Of files that landed together those are asked about that the watch's job reads."""
    both = shop.inbox("both", "total Menge per Stadt into m.csv", mode="batch")
    both.drop("de.csv", THOUSANDS)
    both.drop("orte.csv", "Stadt;Menge\nBonn;2\nKiel;5\n")
    both.settled(2)
    assert both.failed() == {}
    assert len(both.delivered()) == 1


@pytest.mark.full
def test_only_what_a_job_reads_is_asked_about(shop: Watched, tmp_path: Path) -> None:
    """Of the sheets of a workbook that which the job names, or whose columns it names."""
    book = openpyxl.Workbook()
    book.worksheets[0].title = "Sales"
    for row in (["Item", "Amount"], ["Tea", 2], ["Cup", 3], ["Total", 6]):
        book.worksheets[0].append(row)
    staff = book.create_sheet("Staff")
    for row in (["Name", "Salary"], ["Ann", 20], ["Bob", 35]):
        staff.append(row)
    book.save(tmp_path / "two.xlsx")
    made = shop.daemon.ask("WorkbenchCreate", name="sheets")["workbench_id"]
    paths = [str(tmp_path / "two.xlsx")]
    shop.daemon.ask("WorkbenchFilesAdd", workbench_id=made, source_paths=paths)
    for job, asked in (
        ("", 1), ("total Amount", 1), ("how many rows?", 1), ("total Salary by Name", 0),
        ("how many rows of sheet Staff?", 0), ("what is in it?", 0), ("convert it to csv", 0),
    ):  # fmt: skip
        found = shop.daemon.ask("WorkbenchGetQuestions", workbench_id=made, job=job)["questions"]
        assert len(found) == asked, job


def test_a_review_says_what_an_export_lost_and_replaced(shop: Watched) -> None:
    """Of a text table and a Parquet file as of a workbook: beside the file, for who publishes."""
    made = shop.daemon.ask("WorkbenchCreate", name="lossy")["workbench_id"]
    source, old = shop.folder / "lossy.csv", shop.folder / "out.csv"
    source.write_text("Item,Amount\nTea,2\nCup,3\nTotal,5\n")
    old.write_text("x\n1\n")
    paths = [str(source), str(old)]
    shop.daemon.ask("WorkbenchFilesAdd", workbench_id=made, source_paths=paths)
    query = "SELECT Item, Amount / 0 AS share FROM data ORDER BY Item"
    for target, kind in (("out.csv", "csv"), ("n.parquet", "parquet"), ("n.xlsx", "xlsx")):
        shop.daemon.ask(
            "TabularExport", workbench_id=made, path="lossy.csv", target_path=target, format=kind,
            query=query,
        )  # fmt: skip
    changes = shop.daemon.ask("ReviewGetChangeSet", workbench_id=made)["changes"]
    for change in changes:
        text = "\n".join(change["warnings"])
        assert "2 figure(s) are NaN or infinite: they are empty here" in text, change["path"]
        assert "1 row left out (row 4: Total | 5)" in text, change["path"]
        assert ("out.csv exists: it was written anew" in text) == (change["path"] == "out.csv")


def test_a_wide_table_is_described_and_asked(shop: Watched) -> None:
    """A worker has few open files; a table has any columns, and a statement reads it anywhere."""
    made = shop.daemon.ask("WorkbenchCreate", name="wide")["workbench_id"]
    names = [f"c{number}" for number in range(300)]
    lines = [",".join(names), *(",".join(f"{row}.{at}" for at in range(300)) for row in "123")]
    (shop.folder / "wide.csv").write_text("\n".join(lines) + "\n")
    paths = [str(shop.folder / "wide.csv")]
    shop.daemon.ask("WorkbenchFilesAdd", workbench_id=made, source_paths=paths)
    found = shop.daemon.ask("TabularDescribe", workbench_id=made, path="wide.csv")
    assert [column["name"] for column in found["columns"]] == names
    assert {column["distinct_estimate"] for column in found["columns"]} == {3}
    parts = (
        f"SELECT c{at} AS c, sum(c1) FROM wide WHERE c2 > {at}.5 GROUP BY 1" for at in range(60)
    )
    query = " UNION ALL ".join(parts)
    rows = shop.daemon.ask("TabularQuery", workbench_id=made, path="wide.csv", query=query)
    assert rows["total_row_count"] == 3 + 2 + 1


@pytest.mark.full
def test_tables_that_were_only_looked_at_are_not_told(shop: Watched) -> None:
    """How the table was read that the figure is of, and not the others it was chosen among."""
    made = shop.daemon.ask("WorkbenchCreate", name="chosen")["workbench_id"]
    (shop.folder / "used.csv").write_text("Kunde;Umsatz\nA;1.234,50\nB;2,50\n")
    (shop.folder / "beside.csv").write_text("Artikel;Preis\nA;1.234,50\nB;2,50\n")
    paths = [str(shop.folder / "used.csv"), str(shop.folder / "beside.csv")]
    shop.daemon.ask("WorkbenchFilesAdd", workbench_id=made, source_paths=paths)
    for text, told, untold in (
        ("total Umsatz", ["used.csv: its numbers have a comma"], ["beside.csv: its numbers"]),
        ("what is in it?", ["used.csv: its numbers", "beside.csv: its numbers"], []),
    ):
        assert shop.daemon.run_prompt(made, text)["status"] == "finished"
        messages = shop.daemon.ask("WorkshopGetConversation", workbench_id=made)["messages"]
        answer = [each for each in messages if each["type"] == "assistant_message"][-1]["text"]
        assert all(each in answer for each in told), answer
        assert not any(each in answer for each in untold), answer
