"""Jobs and recipes from end to end: carried out, learned, done again, declined, parked, verified.

Figures are Python's own sums over the same rows.
"""

import io
from collections import defaultdict
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from backends import halved, mostly
from kbd.jobs.recipes.documents import decode_recipe
from model_server import call, calls, phase_of, text, turn_of
from whole.watched import Watched, eventually
from wired import MODEL, Wired, wired

pytestmark = halved

JOB = """
title = "Revenue by region, without what was cancelled"

[[inputs]]
name = "sales"
file = "sales*.csv"
columns = { Region = "text", Amount = "number", Status = "text" }

[[steps]]
do = "filter"
where = "not same(Status, 'cancelled')"

[[steps]]
do = "group"
by = ["Region"]
figures = [{ name = "Revenue", function = "sum", column = "Amount" }]

[[steps]]
do = "write"
file = "{sales}-revenue.xlsx"
form = { totals = { Revenue = "sum" } }
"""

Row = tuple[str, str, str]

MAY: list[Row] = [
    (region, status, f"{10 * number + cents}.{cents:02}")
    for number, region in enumerate(("North", "South", "East"), 1)
    for cents, status in ((5, "paid"), (50, "open"), (75, "cancelled"))
]
JUNE: list[Row] = [
    ("West", "paid", "1000.10"), ("South", "paid", "-3.30"), ("West", "cancelled", "9.99"),
    ("South", "paid", "3.35"), ("Center", "open", "0.01"),
]  # fmt: skip


def table(rows: list[Row]) -> str:
    """Rows as a text table."""
    return "Region,Status,Amount\n" + "".join(f"{','.join(row)}\n" for row in rows)


def sums(rows: list[Row]) -> dict[str, Decimal]:
    """Revenue by region."""
    found: dict[str, Decimal] = defaultdict(Decimal)
    for region, status, amount in rows:
        if status != "cancelled":
            found[region] += Decimal(amount)
    return dict(found)


@pytest.fixture(scope="module", params=mostly("asyncio"))
def wire(request: pytest.FixtureRequest) -> Iterator[Wired]:
    """One daemon a backend for all tests here."""
    with wired(str(request.param)) as running:
        yield running


def run(wire: Wired, workbench_id: str, **message: str) -> dict[str, Any]:
    """Send a message, run it to its end, and return the run."""
    sent = wire.ask("WorkshopSendUserMessage", workbench_id=workbench_id, **message)
    assert ("understood" in sent) == ("text" not in message)
    run_id = wire.ask("WorkshopRunAgent", workbench_id=workbench_id)["run_id"]
    found: dict[str, Any] = wire.daemon.wait_for_run(run_id)
    return found


def revenue(wire: Wired, workbench_id: str, name: str) -> dict[str, Decimal]:
    """Publish a draft and return what a workbook of it holds, the total proven."""
    wire.ask("DraftPublish", workbench_id=workbench_id)
    path = wire.daemon.home / "workbenches" / workbench_id / "published" / name
    return figures(path.read_bytes())


def figures(data: bytes) -> dict[str, Decimal]:
    """Return the figures of a workbook by their labels."""
    sheet = openpyxl.load_workbook(io.BytesIO(data), data_only=True).worksheets[0]
    _, *rows = sheet.iter_rows(values_only=True)
    return {str(row[0]): Decimal(str(row[1])).quantize(Decimal("0.01")) for row in rows}


def learned(wire: Wired, name: str) -> dict[str, Any]:
    """Learn a recipe from the job on the rows of May."""
    workbench_id = wire.workbench(sales_may__csv=table(MAY))
    done = run(wire, workbench_id, job=JOB)
    assert done["status"] == "finished", done
    kept: dict[str, Any] = wire.ask("RecipeSave", run_id=done["run_id"], name=name)
    return kept


def saved(wire: Wired, name: str) -> dict[str, Any]:
    """Save a recipe like the one that a daemon learned first."""
    if not any(each["name"] == "base" for each in wire.ask("RecipeList")["recipes"]):
        learned(wire, "base")
    document = wire.ask("RecipeGet", name="base")["document"]
    kept: dict[str, Any] = wire.ask("RecipeSave", document=document, name=name)
    return kept


def proven(wire: Wired, run_id: str) -> None:
    """Do all calls of a run again: they come out as recorded."""
    proof = wire.ask("ReplayRun", run_id=run_id)
    assert (proof["divergences"], proof["skipped"]) == ([], [])
    assert proof["calls"] == proof["equal"] > 0


def test_a_job_of_ones_own_is_carried_out(wire: Wired) -> None:
    """Without a model, in the phases of any run, with its hash in each event of the run."""
    workbench_id = wire.workbench(sales_may__csv=table(MAY))
    wire.script.forget()
    done = run(wire, workbench_id, job=JOB)

    assert (done["status"], done["usage"], done["cost"]) == ("finished", {}, 0)
    assert done["model_id"].startswith("job:")
    assert wire.script.requests == []
    events = wire.daemon.events(workbench_id)
    of_run = {event.get("document") for event in events if event.get("run_id") == done["run_id"]}
    (document,) = of_run
    assert str(document).startswith(done["model_id"].removeprefix("job:"))
    assert {event.get("document") for event in events if "run_id" not in event} == {None}
    found = revenue(wire, workbench_id, "sales_may-revenue.xlsx")
    assert found.pop("Total") == sum(sums(MAY).values())
    assert found == sums(MAY)
    proven(wire, done["run_id"])


def test_the_workbench_keeps_its_model(wire: Wired) -> None:
    """A job has a model of its own; what is asked next goes to the workbench's."""
    workbench_id = wire.workbench(sales_may__csv=table(MAY))
    wire.ask("WorkshopSetActiveModel", workbench_id=workbench_id, model_id="offline:planner")
    run(wire, workbench_id, job=JOB)
    answered = run(wire, workbench_id, text="what is in it?")

    assert answered["model_id"] == "offline:planner"


def test_a_faulty_document_is_told_by_its_place(wire: Wired) -> None:
    """Near names help; nothing is recorded, and just one thing is asked at a time."""
    workbench_id = wire.workbench(sales__csv=table(MAY))
    named = {"workbench_id": workbench_id}

    wrong = wire.refused("WorkshopSendUserMessage", **named, job=JOB.replace("column =", "colum ="))
    assert "steps[1].figures[0]" in wrong.message
    assert "did you mean `column`?" in wrong.message
    both = wire.refused("WorkshopSendUserMessage", **named, text="sum", job=JOB)
    assert "just one of" in both.message
    assert (
        "no recipe nobody"
        in wire.refused("WorkshopSendUserMessage", **named, recipe="nobody").message
    )
    assert "just one of" in wire.refused("WorkshopSendUserMessage", **named).message
    assert wire.daemon.events(workbench_id)[-1]["type"] == "FileAdded"


def test_a_recipe_is_learned_and_done_again(wire: Wired) -> None:
    """Other regions, amounts and rows give their own sums, and the run outlives the recipe."""
    kept = learned(wire, "learned")
    assert {each["origin"] for each in kept["constants"]} == {"request"}
    assert len(kept["changes"]) >= 2
    assert "New Region 1" in [row[0] for row in kept["trial"]["rows"]]
    workbench_id = wire.workbench(june__csv=table(JUNE))
    done = run(wire, workbench_id, recipe="learned")

    assert done["status"] == "finished", done
    assert done["model_id"] == f"recipe:learned@{kept['recipe']['sha256'][:12]}"
    found = revenue(wire, workbench_id, "june-revenue.xlsx")
    assert found.pop("Total") == sum(sums(JUNE).values())
    assert found == sums(JUNE)
    wire.ask("RecipeRemove", name="learned")
    assert "no recipe learned" in wire.refused("RecipeGet", name="learned").message
    proven(wire, done["run_id"])


def test_trials_leave_no_trace(wire: Wired) -> None:
    """The workbench's log, draft and files are as they were, and nothing is staged any more."""
    workbench_id = wire.workbench(sales_may__csv=table(MAY))
    done = run(wire, workbench_id, job=JOB)
    before = (len(wire.daemon.events(workbench_id)), wire.changes(workbench_id))
    folder = wire.daemon.home / "workbenches" / workbench_id
    blobs = sorted(path.name for path in (folder / "blobs").rglob("*"))
    tried = wire.ask("RecipeSave", run_id=done["run_id"], name="tried", dry_run=True)

    assert len(tried["changes"]) >= 2
    assert (len(wire.daemon.events(workbench_id)), wire.changes(workbench_id)) == before
    assert sorted(path.name for path in (folder / "blobs").rglob("*")) == blobs
    assert list((folder / "stage").iterdir()) == []
    assert "no recipe tried" in wire.refused("RecipeGet", name="tried").message


@pytest.mark.full
def test_what_is_not_explained_is_named(wire: Wired) -> None:
    """A value of the file that the request does not name is refused, until a person agrees."""
    workbench_id = wire.workbench(sales__csv=table(MAY))
    done = run(wire, workbench_id, job=JOB.replace("without what was cancelled", "net"))
    params = {"run_id": done["run_id"], "name": "agreed"}

    refused = wire.refused("RecipeSave", **params)
    (why,) = (
        refused.data["detail"]["refusals"] if "detail" in refused.data else refused.data["refusals"]
    )
    assert (why["place"], why["value"]) == ("jobs[0].steps[0].where", "'cancelled'")
    assert why["may_agree"]
    kept = wire.ask("RecipeSave", **params, agree=["'cancelled'"], assumptions=["in euros"])
    assert [each["origin"] for each in kept["constants"]] == ["agreed"]
    assert kept["assumptions"] == ["in euros"]
    wire.ask("RecipeRemove", name="agreed")


SORTED = {
    "inputs": [{"name": "sales", "file": "sales.csv"}],
    "steps": [
        {"do": "sort", "by": [{"column": "Region"}]}, {"do": "write", "file": "sorted.xlsx"},
    ],
}  # fmt: skip


def test_a_run_without_jobs_or_with_more_is_no_recipe(wire: Wired) -> None:
    """What a model wrote by other tools is not repeated, and is named."""
    workbench_id = wire.workbench(sales__csv=table(MAY))
    wire.ask("WorkshopSetActiveModel", workbench_id=workbench_id, model_id="offline:planner")
    looked = run(wire, workbench_id, text="what is in it?")

    def play(body: dict[str, Any]) -> Any:
        match phase_of(body):
            case "plan":
                return text(wire.script.plan)
            case "implement" if turn_of(body) == 0:
                written = {"path": "more.txt", "content": "more"}
                return calls(
                    call("run_job", {"job": SORTED}, "j1"), call("write_text_file", written, "j2")
                )
            case _:
                return text("Done.")

    wire.script.instead = play
    wire.ask("WorkshopSetActiveModel", workbench_id=workbench_id, model_id=MODEL)
    try:
        wrote = run(wire, workbench_id, text="sort by Region")
    finally:
        wire.script.forget()

    for done, words in ((looked, "no job"), (wrote, "more than its jobs: write_text_file")):
        assert done["status"] == "finished", done
        assert words in wire.refused("RecipeSave", run_id=done["run_id"], name="none").message


def test_a_models_jobs_are_learned(wire: Wired) -> None:
    """A job that a model wrote, asked for in words, is a recipe by these words."""
    job = {
        "inputs": [{"name": "sales", "file": "sales.csv"}],
        "steps": [
            {"do": "filter", "where": "Status = 'paid'"},
            {"do": "group", "by": ["Region"],
             "figures": [{"name": "Sum", "function": "sum", "column": "Amount"}]},
            {"do": "write", "file": "sales-by-region.xlsx"},
        ],
    }  # fmt: skip

    def play(body: dict[str, Any]) -> Any:
        match phase_of(body):
            case "plan":
                return text(wire.script.plan)
            case "implement" if turn_of(body) == 0:
                return calls(call("run_job", {"job": job}, "j1"))
            case _:
                return text("Done.")

    workbench_id = wire.workbench(sales__csv=table(MAY))
    wire.script.instead = play
    wire.ask("WorkshopSetActiveModel", workbench_id=workbench_id, model_id=MODEL)
    try:
        done = run(wire, workbench_id, text="sum of paid Amount by Region")
    finally:
        wire.script.forget()
    assert done["status"] == "finished", done
    wire.ask("RecipeSave", run_id=done["run_id"], name="of-model")
    found = wire.ask("RecipeGet", name="of-model")
    recipe = decode_recipe(found["document"])

    assert recipe.jobs[0].inputs[0].file == "*.csv"
    assert found["request"] == "sum of paid Amount by Region"
    assert found["sql"]
    other = wire.workbench(other__csv=table(JUNE))
    again = run(wire, other, recipe="of-model")
    assert again["status"] == "finished", again
    assert figures_of(wire, other) == {"West": Decimal("1000.10"), "South": Decimal("0.05")}
    wire.ask("RecipeRemove", name="of-model")


def figures_of(wire: Wired, workbench_id: str) -> dict[str, Decimal]:
    """Return the figures of the one file that a draft adds."""
    (name,) = wire.changes(workbench_id)
    return revenue(wire, workbench_id, name)


@pytest.mark.parametrize(
    ("name", "content", "guard"),
    [
        ("renamed.csv", table(JUNE).replace("Region", "Area", 1), 'no column "Region"'),
        ("empty.csv", "Region,Status,Amount\n", ""),
        pytest.param(
            "texts.csv",
            "Region,Status,Amount\nWest,paid,much\nEast,paid,more\n",
            "Amount",
            marks=pytest.mark.full,
        ),
        ("other.csv", "Name,Value\na,1\n", 'no column "Status"'),
    ],
)
def test_a_guard_declines_the_run(wire: Wired, name: str, content: str, guard: str) -> None:
    """The guard and its reason are told, nothing is written, and the test says the same."""
    if not any(each["name"] == "guarded" for each in wire.ask("RecipeList")["recipes"]):
        saved(wire, "guarded")
    workbench_id = wire.workbench(**{name.replace(".", "__"): content})
    tried = wire.ask("RecipeTest", name="guarded", workbench_id=workbench_id)
    done = run(wire, workbench_id, recipe="guarded")

    assert not tried["holds"]
    assert done["status"] == "declined", done
    assert guard in done["reason"]
    assert tried["jobs"][0]["failed"]
    assert wire.changes(workbench_id) == {}
    types = {event["type"] for event in wire.daemon.events(workbench_id)}
    assert not types & {"FileChanged", "DraftOpened"}


@pytest.mark.full
def test_a_document_is_taken_in_only_if_it_explains_itself(wire: Wired) -> None:
    """A shared one is that recipe; one with another literal is refused by its place."""
    kept = saved(wire, "shared")
    document = wire.ask("RecipeGet", name="shared")["document"]
    again = wire.ask("RecipeSave", document=document, name="copied")
    wrong = document.replace("not same(Status, 'cancelled')", "Amount > 17")

    assert decode_recipe(document).name == "shared"
    assert again["recipe"]["name"] == "copied"
    assert again["recipe"]["words"] == kept["recipe"]["words"]
    refused = wire.refused("RecipeSave", document=wrong, replace=True)
    assert "jobs[0].steps[0].where: no constant says why 17 is there" in refused.message
    other = document.replace('"Revenue by region', '"Other revenue by region')
    assert "already" in wire.refused("RecipeSave", document=other).message
    wire.ask("RecipeSave", document=other, replace=True)
    assert wire.ask("RecipeGet", name="shared")["request"].startswith("Other")


@pytest.mark.full
def test_jobs_are_all_done_or_none(wire: Wired) -> None:
    """Where the second job fails on what the first one wrote, that is taken back."""
    saved(wire, "single")
    document = wire.ask("RecipeGet", name="single")["document"]
    # The first job writes a text table, which the pattern of the second one then finds, too.
    first, jobs = document.partition("[[jobs]]")[0], document.partition("[[jobs]]")[2]
    text_table = jobs.replace("{sales}-revenue.xlsx", "{sales}-revenue.csv").replace(
        '[jobs.steps.form.totals]\nRevenue = "sum"\n', ""
    )
    loose = (
        jobs.replace('Region = "text"\n', "")
        .replace('Status = "text"\n', "")
        .replace('Amount = "number"\n', "")
    )
    both = f"{first.replace('single', 'both')}[[jobs]]{text_table}\n[[jobs]]{loose}"
    wire.ask("RecipeSave", document=both)
    workbench_id = wire.workbench(june__csv=table(JUNE))
    done = run(wire, workbench_id, recipe="both")

    assert done["status"] == "declined", done
    assert "job 2" in done["reason"]
    assert wire.changes(workbench_id) == {}


@pytest.mark.full
def test_a_watched_folder_works_by_a_recipe(wire: Wired) -> None:
    """What fits is published without a model; what does not is parked with the guard."""
    saved(wire, "watched")
    shop = Watched(wire.daemon, wire.folder)
    inbox = shop.inbox("by-recipe", "", recipe="watched")
    inbox.drop("june.csv", table(JUNE))
    inbox.drop("wrong.csv", "Name,Value\na,1\n")
    inbox.settled(2)

    delivered = inbox.delivered()
    assert list(delivered) == ["june-revenue.xlsx"]
    found = figures(delivered["june-revenue.xlsx"])
    assert {key: value for key, value in found.items() if key != "Total"} == sums(JUNE)
    parked = inbox.failed()["wrong.csv"]
    assert "a guard of the recipe watched stopped it" in parked["message"]
    assert 'no column "Region"' in parked["message"]
    assert "works by the recipe watched" in wire.refused("RecipeRemove", name="watched").message
    wire.ask("WatchRemove", watch_id=inbox.watch_id)
    wire.ask("RecipeRemove", name="watched")


@pytest.mark.full
def test_a_watched_folder_may_ask_the_model_then(wire: Wired) -> None:
    """Where a guard fails the rule's prompt is asked; the recipe wrote nothing before."""
    saved(wire, "falling")
    shop = Watched(wire.daemon, wire.folder)
    inbox = shop.inbox(
        "by-model", "total Value by Name", recipe="falling", otherwise="model",
        model_id="offline:planner",
    )  # fmt: skip
    inbox.drop("wrong.csv", "Name,Value\na,1\nb,2\na,5\n")
    watch = inbox.settled(1)

    assert watch["recent"][0]["outcome"] == "published", watch["recent"]
    (name,) = inbox.delivered()
    assert figures(inbox.delivered()[name]) == {"a": 6, "b": 2, "Total": 8}
    runs = wire.ask("RunList", workbench_id=watch["recent"][0]["workbench_id"])["runs"]
    told = {each["model_id"].partition(":")[0]: each["status"] for each in runs}
    assert told == {"recipe": "declined", "offline": "finished"}
    wire.ask("WatchRemove", watch_id=inbox.watch_id)


def test_a_rule_needs_what_its_recipe_leaves_open(wire: Wired, tmp_path: Path) -> None:
    """No recipe of the name, no prompt for the model, or no recipe at all is refused."""
    folder = str(tmp_path)
    for rule, words in (
        ({"recipe": "nobody"}, "no recipe nobody"),
        ({"recipe": "nobody", "otherwise": "model"}, "prompt"),
        ({"otherwise": "model", "prompt": "sum"}, "otherwise"),
        ({}, "prompt"),
    ):
        assert words in wire.refused("WatchAdd", folder=folder, **rule).message


def test_a_recipe_of_a_paused_watch_is_not_removed(wire: Wired) -> None:
    """A rule that stands still works by it, too; without the watch it goes."""
    saved(wire, "gone")
    shop = Watched(wire.daemon, wire.folder)
    inbox = shop.inbox("of-gone", "", recipe="gone")
    wire.ask("WatchPause", watch_id=inbox.watch_id)
    assert eventually("paused", lambda: inbox.shown()["status"] == "paused")
    refused = wire.refused("RecipeRemove", name="gone")
    assert "of-gone" in refused.message
    wire.ask("WatchRemove", watch_id=inbox.watch_id)
    wire.ask("RecipeRemove", name="gone")


PAID = {
    "inputs": [{"name": "sales", "file": "sales.csv"}],
    "steps": [
        {"do": "filter", "where": "Status = 'paid'"}, {"do": "write", "file": "{sales}-paid.xlsx"},
    ],
}  # fmt: skip
SUMS = {
    "inputs": [{"name": "paid", "file": "*-paid.xlsx"}],
    "steps": [
        {"do": "group", "by": ["Region"],
         "figures": [{"name": "Sum", "function": "sum", "column": "Amount"}]},
        {"do": "write", "file": "{paid}-by-region.csv"},
    ],
}  # fmt: skip


@pytest.mark.full
def test_jobs_that_read_what_others_wrote_are_learned(wire: Wired) -> None:
    """The recipe passes the table on, writes both files again, and its checks come before both.

    Amounts that a workbook holds are 10.5 where those of the table are 10.50, and no others.
    """

    def play(body: dict[str, Any]) -> Any:
        match phase_of(body):
            case "plan":
                return text(wire.script.plan)
            case "implement" if turn_of(body) == 0:
                return calls(call("run_job", {"job": PAID}, "j1"))
            case "implement" if turn_of(body) == 1:
                return calls(call("run_job", {"job": SUMS}, "j2"))
            case _:
                return text("Done.")

    workbench_id = wire.workbench(sales__csv=table(MAY))
    wire.script.instead = play
    wire.ask("WorkshopSetActiveModel", workbench_id=workbench_id, model_id=MODEL)
    try:
        done = run(wire, workbench_id, text="paid sales, and sum of their Amount by Region")
    finally:
        wire.script.forget()
    assert done["status"] == "finished", done
    wire.ask("RecipeSave", run_id=done["run_id"], name="passed-on")
    (job,) = decode_recipe(wire.ask("RecipeGet", name="passed-on")["document"]).jobs
    assert [each.file for each in job.inputs] == ["*.csv"]

    other = wire.workbench(june__csv=table(JUNE))
    again = run(wire, other, recipe="passed-on")
    assert again["status"] == "finished", again
    assert sorted(wire.changes(other)) == ["june-paid-by-region.csv", "june-paid.xlsx"]
    wire.ask("DraftPublish", workbench_id=other)
    published = wire.daemon.home / "workbenches" / other / "published"
    assert (published / "june-paid-by-region.csv").read_text() == (
        "Region,Sum\nSouth,0.05\nWest,1000.10\n"
    )
    proven(wire, again["run_id"])

    poor = wire.workbench(july__csv=table(JUNE).replace("Region", "Area", 1))
    declined = run(wire, poor, recipe="passed-on")
    assert declined["status"] == "declined", declined
    assert not wire.changes(poor)
    wire.ask("RecipeRemove", name="passed-on")
