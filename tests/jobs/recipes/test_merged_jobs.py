"""Jobs that read what another one wrote, made one with it: the same files come of it."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from jobs.recipes.recipe_rig import workbench
from kbd.errors import ValidationFailed
from kbd.jobs.documents import job_of
from kbd.jobs.recipes.merged_jobs import merge_jobs

pytestmark = pytest.mark.anyio

ROWS = "Region,Status,Amount\nNorth,paid,2.25\nSouth,open,1.25\nNorth,paid,3.75\nWest,paid,4.75\n"
REGIONS = "Region,Lead\nNorth,Ann\nWest,Bo\n"
SUM = {"name": "Sum", "function": "sum", "column": "Amount"}
PAID = {"do": "filter", "where": "Status = 'paid'"}
BY_REGION = {"do": "group", "by": ["Region"], "figures": [SUM]}

Plain = dict[str, Any]


def table(name: str, file: str, **fields: Any) -> Plain:
    """An input that is a table."""
    return {"name": name, "file": file, **fields}


def write(file: str, **fields: Any) -> Plain:
    """A step that writes a table."""
    return {"do": "write", "file": file, **fields}


def job(inputs: list[Plain], *steps: Plain, **fields: Any) -> Plain:
    """A job as a document."""
    return {"inputs": inputs, "steps": list(steps), **fields}


FIRST = job([table("orders", "orders.csv")], PAID, write("{orders}-paid.csv"))

PAIRS = {
    "a table without a label": (
        FIRST, job([table("paid", "orders-paid.csv")], BY_REGION, write("{paid}-sums.xlsx")),
    ),
    "one label in both": (
        job([table("orders", "orders.csv")], {**PAID, "make": "paid"}, write("orders-paid.csv")),
        job([table("paid", "orders-paid.csv")], BY_REGION, write("sums.xlsx", sheet="Sums")),
    ),
    "a label that the first job has for another table": (
        job(
            [table("orders", "orders.csv")], {**PAID, "make": "paid"}, write("orders-paid.csv"),
            {**BY_REGION, "make": "sums"}, write("first.xlsx", sheet="Sums"),
        ),
        job(
            [table("sums", "orders-paid.csv"), table("orders", "regions.csv")],
            {"do": "join", "other": "orders", "on": {"Region": "Region"}},
            write("joined.csv"),
        ),
    ),
    "a file that both read": (
        FIRST,
        job(
            [table("all", "orders.csv"), table("some", "orders-paid.csv")],
            write("copy.csv", of="all"),
            {"do": "group", "by": ["Status"], "figures": [SUM], "of": "all"},
            write("all.xlsx", sheet="All"),
            {**BY_REGION, "of": "some", "make": "sums"},
            write("all.xlsx", sheet="Paid"),
            checks=[{"check": "unique", "table": "sums", "columns": ["Region"]}],
        ),
    ),
    "a sheet of several": (
        job(
            [table("orders", "orders.csv")],
            write("both.xlsx", sheet="All", of="orders"),
            PAID, write("both.xlsx", sheet="Paid", form={"totals": {"Amount": "sum"}}),
        ),
        job(
            [table("regions", "regions.csv"), table("paid", "both.xlsx", sheet="Paid")],
            {"do": "report", "text": "{Lead}"},
            {"do": "filter", "where": "Amount > 2.5", "of": "paid", "make": "big"},
            {"do": "union", "tables": ["paid", "big"]},
            write("twice.csv"),
        ),
    ),
}  # fmt: skip


async def written(root: Path, *jobs: Plain) -> dict[str, bytes]:
    """Carry out jobs on the same files, and return what they wrote."""
    bench = workbench(root)
    given = {"orders.csv": ROWS.encode(), "regions.csv": REGIONS.encode()}
    for name, data in given.items():
        bench.add(name, data)
    for each in jobs:
        await bench.call(bench.tools["run_job"], job=each)
    return {name: bench.content(name) for name in bench.files.names() if name not in given}


@pytest.mark.parametrize(("first", "second"), PAIRS.values(), ids=PAIRS)
async def test_one_job_writes_what_two_wrote(tmp_path: Path, first: Plain, second: Plain) -> None:
    """To the byte, and it reads nothing that it makes."""
    files = await written(tmp_path / "one", first)
    merged = merge_jobs(job_of(first), job_of(second), files)

    assert not {each.file for each in merged.inputs} & set(files)
    wanted = await written(tmp_path / "both", first, second)
    assert len(wanted) > len(files)
    assert await written(tmp_path / "merged", msgspec.to_builtins(merged)) == wanted


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (
            job([table("orders", "orders.csv")], write("ledger.csv", mode="append")),
            job([table("ledger", "ledger.csv")], PAID, write("paid.csv")),
        ),
        (
            job(
                [table("orders", "orders.csv")],
                {"do": "split", "by": "Region", "file": "{value}.csv", "into": "files"},
            ),
            job([table("north", "North.csv")], PAID, write("paid.csv")),
        ),
        (
            FIRST,
            job(
                [table("orders", "orders.csv"), table("page", "orders-paid.csv", kind="file")],
                {"do": "fill", "template": "page", "file": "filled.txt"},
            ),
        ),
    ],
)
def test_what_is_no_table_made_anew_is_refused(first: Plain, second: Plain) -> None:
    """Added rows, parts and whole files are not what the table behind them is."""
    made = ["ledger.csv", "North.csv", "orders-paid.csv"]
    with pytest.raises(ValidationFailed, match="is made by a job before it"):
        merge_jobs(job_of(first), job_of(second), made)


def test_a_job_without_tables_is_refused() -> None:
    """What it reads by itself, nothing, would be a table of the other one."""
    second = job(
        [table("page", "page.docx", kind="file")],
        {"do": "fill", "template": "page", "file": "filled.docx"},
    )
    with pytest.raises(ValidationFailed, match="reads no table"):
        merge_jobs(job_of(FIRST), job_of(second), ())
