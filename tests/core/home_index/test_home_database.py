"""Database of the index: pages, filters, orders, cursors that hold, files that cannot be used."""

import os
import random
import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbd.core.domain.daemon_state import KnownWorkbench
from kbd.core.home_index import database
from kbd.core.home_index.database import HomeIndex, IndexWrite
from kbd.core.home_index.queries import run_query, workbench_query
from kbd.core.home_index.rows import (
    IndexedApproval,
    IndexedRun,
    IndexedWorkbench,
    unread_workbench,
)
from kbd.core.workbench.rows import FolderSizes
from kbd.errors import ValidationFailed
from kbd.requests.workbenches import WorkbenchList
from kbd.requests.workshop import RunList
from kbd.types import FileName, Seq, WatchId, WorkbenchId

STATUSES = ("idle", "running", "waiting", "draft", "damaged")


def made(number: int, name: str = "", **fields: Any) -> IndexedWorkbench:
    """Make the row of a workbench; its JSON is its number."""
    workbench_id = WorkbenchId(f"{number:016x}")
    given_ = {"created_at_us": number, "updated_at_us": -number, "sizes": FolderSizes(), **fields}
    return IndexedWorkbench(
        workbench_id=workbench_id,
        name=name or f"w{number}",
        status=given_.pop("status", "idle"),
        has_draft=given_.pop("has_draft", False),
        approvals=given_.pop("approvals", ()),
        seq=Seq(number),
        text=given_.pop("text", name.casefold()),
        row=given_.pop("row", str(number).encode()),
        **given_,
    )


def a_run(number: int, **fields: Any) -> IndexedRun:
    """Make the row of a run; its JSON is its number."""
    given_ = {"started_at_us": number, "status": "finished", "cost": 0.0, "text": "", **fields}
    return IndexedRun(number=number, model_id="m", row=str(number).encode(), **given_)


@pytest.fixture
def index(tmp_path: Path) -> HomeIndex:
    """An empty index."""
    return HomeIndex.open(tmp_path / "index")


def numbers(index: HomeIndex, request: WorkbenchList | RunList) -> list[int]:
    """Return the numbers of the rows of all pages of a list, in order."""
    found: list[int] = []
    while True:
        query = (
            workbench_query(request) if isinstance(request, WorkbenchList) else run_query(request)
        )
        page = index.page(query)
        found += [int(row) for _, row in page.rows]
        if isinstance(page.next_cursor, msgspec.UnsetType):
            return found
        request = msgspec.structs.replace(request, cursor=page.next_cursor)


rows_drawn = st.lists(
    st.tuples(
        st.sampled_from(["", "a", "B", "b c", "Ä", "ä x"]),
        st.integers(0, 3),
        st.integers(-2, 2),
        st.sampled_from(STATUSES),
    ),
    max_size=12,
)

ORDERS: dict[str, Callable[[IndexedWorkbench], tuple[Any, ...]]] = {
    "created": lambda row: (row.created_at_us, row.workbench_id),
    "updated": lambda row: (row.updated_at_us, row.workbench_id),
    "name": lambda row: (row.name.casefold(), row.workbench_id),
    "size": lambda row: (row.sizes.total, row.workbench_id),
}


@given(
    drawn=rows_drawn,
    order=st.sampled_from(list(ORDERS)),
    descending=st.booleans(),
    limit=st.integers(1, 5),
    wanted=st.sets(st.sampled_from(STATUSES)),
    query=st.sampled_from(["", "b", "B C", "ä", "%"]),
)
def test_pages_are_the_list_in_its_order(
    drawn: list[tuple[str, int, int, str]],
    order: Any,
    descending: bool,
    limit: int,
    wanted: set[Any],
    query: str,
) -> None:
    """Of any rows, in any order, by any filter: page after page, each that matches once."""
    index = HomeIndex.open(Path("/nowhere/there/is"))
    rows = [
        made(at, name or "w", created_at_us=second, sizes=FolderSizes(size), status=status)
        for at, (name, second, size, status) in enumerate(drawn, 1)
    ]
    index.put(rows)
    request = WorkbenchList(
        order=order, descending=descending, limit=limit, status=tuple(sorted(wanted)), query=query
    )
    match = [
        row
        for row in sorted(rows, key=ORDERS[order], reverse=descending)
        if (not wanted or row.status in wanted)
        and all(word in row.name.casefold() for word in query.casefold().split())
    ]
    assert numbers(index, request) == [int(row.row) for row in match]
    assert index.page(workbench_query(request)).total == len(match)
    whole = msgspec.structs.replace(request, limit=msgspec.UNSET)
    assert numbers(index, whole) == [int(row.row) for row in match]


@given(st.data())
def test_a_cursor_holds_while_rows_come_and_go(data: st.DataObject) -> None:
    """What is there from the first page to the last is met once, and nothing twice."""
    index = HomeIndex.open(Path("/nowhere/there/is"))
    there = set(range(10, 60, 10))
    index.put([made(number) for number in there])
    stays = set(there)
    request = WorkbenchList(limit=data.draw(st.integers(1, 3)), descending=data.draw(st.booleans()))
    met: list[int] = []
    fresh = iter(range(1, 1000))
    while True:
        page = index.page(workbench_query(request))
        met += [int(row) for _, row in page.rows]
        if isinstance(page.next_cursor, msgspec.UnsetType):
            break
        request = msgspec.structs.replace(request, cursor=page.next_cursor)
        gone = data.draw(st.sets(st.sampled_from(sorted(stays)), max_size=2)) if stays else set()
        stays -= gone
        index.relist([], [WorkbenchId(f"{number:016x}") for number in gone])
        if data.draw(st.booleans()):
            index.put([made(next(fresh), created_at_us=data.draw(st.integers(0, 70)))])
    assert len(met) == len(set(met))
    assert stays <= set(met)


def test_runs_are_sorted_filtered_and_paged(index: HomeIndex) -> None:
    """By start or cost, over all workbenches or one, by status and words."""
    index.put(
        [
            made(1, runs=(a_run(1, started_at_us=5, cost=0.5), a_run(2, started_at_us=1))),
            made(
                2,
                runs=(
                    a_run(3, started_at_us=3, status="failed", text="no space left"),
                    a_run(4, started_at_us=5, status="running", cost=0.25),
                ),
            ),
        ]
    )
    assert numbers(index, RunList(limit=1)) == [2, 3, 1, 4]
    assert numbers(index, RunList(limit=3, descending=True)) == [4, 1, 3, 2]
    assert numbers(index, RunList(limit=1, order="cost", descending=True)) == [1, 4, 3, 2]
    assert numbers(index, RunList(workbench_id=WorkbenchId(f"{2:016x}"))) == [3, 4]
    assert numbers(index, RunList(running=True)) == [4]
    assert numbers(index, RunList(status=("failed", "running"), limit=1)) == [3, 4]
    assert numbers(index, RunList(query="LEFT space")) == [3]


def test_rows_of_runs_are_replaced_whole_or_one_by_one(index: HomeIndex) -> None:
    """Those that changed replace their own rows; all of a workbench replace all of it."""
    index.put([made(1, runs=(a_run(1), a_run(2)))])
    index.put([made(1, runs=(a_run(2, started_at_us=9), a_run(3)), is_whole=False)])
    assert numbers(index, RunList()) == [1, 3, 2]
    index.put([made(1, runs=(a_run(2),))])
    assert numbers(index, RunList()) == [2]
    index.relist([], [WorkbenchId(f"{1:016x}")])
    assert numbers(index, RunList()) == []


def test_a_name_means_what_people_mean(index: HomeIndex) -> None:
    """A whole id goes before a name, a name before the beginning of an id."""
    id_of_1 = f"{1:016x}"
    index.put([made(1, "taxes"), made(2, id_of_1), made(3, "0000"), made(4, "taxes")])
    assert numbers(index, WorkbenchList(named=id_of_1)) == [1]
    assert numbers(index, WorkbenchList(named="taxes")) == [1, 4]
    assert numbers(index, WorkbenchList(named="0000")) == [3]
    assert numbers(index, WorkbenchList(named="000")) == [1, 2, 3, 4]
    assert numbers(index, WorkbenchList(named="tax")) == []
    assert numbers(index, WorkbenchList(named="%")) == []


def test_files_and_watches_find_their_workbenches(index: HomeIndex) -> None:
    """By a file's whole name, and by the watch that made it, whichever was told first."""
    watch_id = WatchId("f" * 16)
    index.assign({WorkbenchId(f"{2:016x}"): watch_id})
    index.put([made(1, files=(FileName("a.csv"),)), made(2, files=(FileName("b.csv"),))])
    assert numbers(index, WorkbenchList(file="a.csv")) == [1]
    assert numbers(index, WorkbenchList(file="a")) == []
    assert numbers(index, WorkbenchList(watch_id=watch_id)) == [2]
    index.put([made(1, files=())])
    assert numbers(index, WorkbenchList(file="a.csv")) == []


def test_totals_are_of_all(index: HomeIndex) -> None:
    """Drafts, damage, what is not read, and sizes, whatever a page has."""
    known = [KnownWorkbench(WorkbenchId(f"{number:016x}"), "w", number) for number in (1, 2, 3)]
    index.reconcile(known)
    index.put([made(1, has_draft=True, sizes=FolderSizes(5))])
    index.put([made(2, status="damaged", sizes=FolderSizes(7), row=b'{"is_read_only":true}')])
    assert index.totals() == database.IndexTotals(1, 1, 1, 12)
    assert database.unreadable_workbenches(index) == (known[1].workbench_id, known[2].workbench_id)
    # Of a damaged file version the log has all the same what waits.
    index.put([made(2, status="damaged", sizes=FolderSizes(7), row=b'{"is_read_only":false}')])
    assert index.totals().damaged == 1
    assert database.unreadable_workbenches(index) == (known[2].workbench_id,)


def test_decisions_that_wait_are_listed_oldest_first(index: HomeIndex) -> None:
    """Of all workbenches, until their rows say otherwise."""
    asked = [IndexedApproval(second, str(second).encode()) for second in (3, 1, 2)]
    index.put([made(1, approvals=(asked[0], asked[1])), made(2, approvals=(asked[2],))])
    assert index.approvals() == (b"1", b"2", b"3")
    index.put([made(1)])
    assert index.approvals() == (b"2",)


def test_reconciling_adds_and_removes_and_keeps(index: HomeIndex) -> None:
    """A row for each workbench there is; those that are right stay as they are."""
    index.put([made(1), made(2)])
    index.reconcile([KnownWorkbench(WorkbenchId(f"{number:016x}"), "w", 9) for number in (2, 3)])
    assert index.ends() == {WorkbenchId(f"{2:016x}"): 2}
    assert set(index.marks()) == {f"{2:016x}", f"{3:016x}"}


@pytest.mark.parametrize(
    "cursor", ["", "x", "AAAA", "gqVub25l", "\u00e4\u00f6", "=" * 40, "k83NFKSh"]
)
def test_a_cursor_that_is_none_is_refused(cursor: str) -> None:
    """With its code, whatever it holds; so is one of another list."""
    with pytest.raises(ValidationFailed, match="the cursor is not of this list"):
        workbench_query(WorkbenchList(cursor=cursor))


def test_a_cursor_of_another_order_is_refused(index: HomeIndex) -> None:
    """There the same place means something else."""
    index.put([made(1), made(2)])
    page = index.page(workbench_query(WorkbenchList(limit=1)))
    for other in (
        WorkbenchList(cursor=page.next_cursor, order="name"),
        WorkbenchList(cursor=page.next_cursor, descending=True),
        WorkbenchList(cursor=page.next_cursor, query="w"),
        RunList(cursor=page.next_cursor),
    ):
        with pytest.raises(ValidationFailed):
            run_query(other) if isinstance(other, RunList) else workbench_query(other)


def _ruin(path: Path) -> None:
    path.write_bytes(os.urandom(8192))


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:5000])


def _another(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE meta SET edition = 'another'")
    connection.close()


def _unborn(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("DELETE FROM meta")
    connection.close()


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize("harm", [_ruin, _cut, _another, _unborn, _folder])
def test_a_file_that_cannot_be_used_is_replaced(
    harm: Callable[[Path], None], tmp_path: Path
) -> None:
    """Damaged, cut, of another kbd, half made, or no file at all: the index is empty and works."""
    path = tmp_path / "index"
    first = HomeIndex.open(path)
    first.put([made(1)])
    first.close()
    harm(path)
    index = HomeIndex.open(path)
    index.put([made(2)])
    assert numbers(index, WorkbenchList()) == [2]


def test_damage_within_is_found(tmp_path: Path) -> None:
    """The check reads the file whole, also while it is in use."""
    index = HomeIndex.open(tmp_path / "index")
    index.put([made(number, "x" * 500) for number in range(1, 200)])
    assert index.is_sound()
    index.close()
    data = bytearray((tmp_path / "index").read_bytes())
    data[8192:12288] = bytes(4096)
    (tmp_path / "index").write_bytes(data)
    assert not HomeIndex.open(tmp_path / "index").is_sound()


@pytest.mark.sampled(5)
@pytest.mark.parametrize("seed", range(20))
def test_a_byte_that_changes_is_found(seed: int, tmp_path: Path) -> None:
    """Wherever it lies in a row: what would be told is another figure, or another order."""
    draw = random.Random(seed)
    index = HomeIndex.open(tmp_path / "index")
    index.put([made(n, "x" * 200, runs=(a_run(1, text="y" * 200),)) for n in range(1, 120)])
    assert index.is_sound()
    index.close()
    whole = (tmp_path / "index").read_bytes()
    texts = [at for found in re.finditer(b"x{20,}|y{20,}", whole) for at in range(*found.span())]
    for _ in range(10):
        place = draw.choice(texts)
        data = bytearray(whole)
        data[place] ^= 1 << draw.randrange(8)
        (tmp_path / "index").write_bytes(data)
        changed = HomeIndex.open(tmp_path / "index")
        assert not changed.is_sound()
        # No list has such a row, though the check comes later: the index is made anew for it.
        for order in ("created", "name"):
            with suppress(sqlite3.DatabaseError):
                assert numbers(changed, WorkbenchList(order=order)) == list(range(1, 120))
        with suppress(sqlite3.DatabaseError):
            assert numbers(changed, RunList()) == [1] * 119
        changed.close()


def test_what_cannot_be_opened_says_why(index: HomeIndex) -> None:
    """In its row, which stays sound, until its log is written again."""
    known = KnownWorkbench(WorkbenchId(f"{1:016x}"), "w", 1)
    index.reconcile([known])
    index.fail(known.workbench_id, "its folder is a link")
    index.fail(WorkbenchId("f" * 16), "nobody knows it")
    ((status, row),) = index.page(workbench_query(WorkbenchList())).rows
    assert status == "damaged"
    assert b"its folder is a link" in row
    assert index.is_sound()
    index.put([unread_workbench(known)])
    assert index.totals().damaged == 0


def test_rows_are_written_together(index: HomeIndex, tmp_path: Path) -> None:
    """A reader beside the writer sees all of a batch or nothing of it."""

    def rows() -> Iterator[IndexedWorkbench]:
        yield made(1)
        with sqlite3.connect(tmp_path / "index") as beside:
            assert beside.execute("SELECT COUNT(*) FROM workbenches").fetchone() == (0,)
        beside.close()
        raise OSError("the batch fails")

    with pytest.raises(OSError, match="the batch fails"):
        index.put(rows())
    assert numbers(index, WorkbenchList()) == []


def _pages_written(index: HomeIndex, folder: Path, *writes: IndexWrite) -> int:
    """Write into an index; return how many of its pages that put into SQLite's log."""
    log = folder / "index-wal"
    before = log.stat().st_size
    index.write(writes)
    # sqlite.org/fileformat2.html, 4.1: a page with a header of 24 bytes.
    return (log.stat().st_size - before) // (4096 + 24)


def test_a_landed_file_changes_few_pages(index: HomeIndex, tmp_path: Path) -> None:
    """All rows of a new workbench are a transaction; one that only grew touches a few of them."""
    run = a_run(1, text="sort by Day")
    row = made(1, "inbox: a.csv", sizes=FolderSizes(4096), files=(FileName("a.csv"),), runs=(run,))
    known = KnownWorkbench(row.workbench_id, row.name, 1)
    watches = {row.workbench_id: WatchId("w")}

    landed = _pages_written(
        index, tmp_path,
        lambda index: index.relist((known,), ()),
        lambda index: index.assign(watches),
        lambda index: index.put((row,)),
    )  # fmt: skip
    grown = msgspec.structs.replace(row, sizes=FolderSizes(8192), runs=(), is_whole=False)
    closed = _pages_written(
        index, tmp_path,
        lambda index: index.put((grown,)),
        lambda index: index.mark(row.workbench_id, b"mark"),
    )  # fmt: skip

    assert landed <= 18
    assert closed <= 4
    assert index.totals().disk_bytes == 8192
    assert index.marks() == {row.workbench_id: b"mark"}
    assert numbers(index, RunList()) == [1]
    assert index.is_sound()


def test_the_names_of_files_follow(index: HomeIndex) -> None:
    """A row that is put again has the names that it has now, and its checksum."""
    for files in (("a.csv", "b.csv"), ("a.csv",), (), ("c.csv",), ("c.csv",)):
        index.put([made(1, files=tuple(map(FileName, files)))])
        for name in ("a.csv", "b.csv", "c.csv"):
            found = numbers(index, WorkbenchList(file=name))
            assert found == ([1] if name in files else [])
    assert index.is_sound()
