"""Questions about tables through the real daemon: asked before figures are told, and answered."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from backends import mostly
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
    assert "3,734" in meanings[","]
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


def test_what_lands_without_an_answer_is_parked(shop: Watched, tmp_path: Path) -> None:
    """With the question as its reason; a rule that says it beforehand has it worked on."""
    silent = shop.inbox("silent", COPY)
    silent.drop("a.csv", THOUSANDS)
    silent.settled(1)
    (parked,) = silent.failed().values()
    assert parked["code"] == "VALIDATION_FAILED"
    assert "1.234 can be 1234 or 1.234" in parked["message"]
    assert silent.delivered() == {}

    told = shop.inbox("told", COPY, read_as={"decimal": ","})
    told.drop("a.csv", THOUSANDS)
    told.settled(1)
    assert told.failed() == {}
    assert len(told.delivered()) == 1
    assert told.shown()["rule"]["read_as"] == {"decimal": ","}
