"""What clients are told of watches: counts, reasons, and what helps with each file that failed."""

import pytest

from kbd.core.domain.watch_state import Ended, Landing, LandingStage, Watch, WatchStatus
from kbd.core.workbench.rows import MAX_LANDINGS, failed_landings, watch_info, watch_row
from kbd.errors import ValidationFailed
from kbd.events.watches import WatchConsent, WatchRule
from kbd.requests.base import UNSET, Unset
from kbd.requests.watches import WatchConsentParam, WatchFailedList, WatchRow
from kbd.types import RunId, Seq, WatchId, WorkbenchId

WATCH = WatchId("0123456789abcdef")
BENCH = WorkbenchId("f" * 16)


def landing(number: int, stage: LandingStage, code: str = "", *, ran: bool = False) -> Landing:
    """A landed file."""
    return Landing(
        landing_id=Seq(number),
        path=f"{number}.txt",
        sha256="",
        size_bytes=1,
        depth=1,
        landed_at_us=0,
        stage=stage,
        code=code,
        message="why",
        workbench_id=BENCH if ran else WorkbenchId(""),
        run_id=RunId(f"{BENCH}-1") if ran else RunId(""),
        retry_at_us=1_000_000 if stage is LandingStage.RETRYING else 0,
    )


def watched(*landings: Landing, **changes: object) -> Watch:
    """A watch with landed files that are not done."""
    rule = WatchRule("in", "/in", "work", deliver_to="/out", consent=WatchConsent("p", "p:m"))
    by_number = {each.landing_id: each for each in landings}
    return Watch(WATCH, rule, 0, landings=by_number, **changes)  # type: ignore[arg-type]


def test_a_row_counts_by_stage() -> None:
    """What is put off waits, too; a trouble with the folder is the reason if there is no other."""
    watch = watched(*(landing(number, stage) for number, stage in enumerate(LandingStage, 1)))
    row = watch_row(watch, "missing", "it is not there")

    assert (row.waiting, row.running, row.failed) == (2, 1, 1)
    assert (row.status, row.reason) == ("active", "it is not there")
    watch.status, watch.code, watch.reason = WatchStatus.SUSPENDED, "BUDGET_CAP_REACHED", "too many"
    row = watch_row(watch, "missing", "it is not there")
    assert (row.status, row.code, row.reason) == ("suspended", "BUDGET_CAP_REACHED", "too many")


def test_a_watch_in_full_has_its_newest_outcomes_first() -> None:
    """Not all that waits is told; the rule is told with its consent."""
    many = [landing(number, LandingStage.WAITING) for number in range(1, MAX_LANDINGS + 2)]
    ends = [Ended((Seq(number),), ("a",), "published", number) for number in (1, 2)]
    info = watch_info(watched(*many, recent=ends), "system", "")

    assert (len(info.landings), info.waiting) == (MAX_LANDINGS, MAX_LANDINGS + 1)
    assert [each.landing_ids for each in info.recent] == [(2,), (1,)]
    assert info.rule.consent == WatchConsentParam(provider_id="p", model_id="p:m")
    assert (info.rule.deliver_to, info.rule.limits.chain_depth) == ("/out", 3)


@pytest.mark.parametrize(
    ("code", "ran", "helps"),
    [
        ("EGRESS_CONSENT_REQUIRED", False, f"kbd watch resume {WATCH} --consent"),
        ("PROVIDER_NOT_CONFIGURED", False, "kbd doctor"),
        ("SANDBOX_VIOLATION", False, "rename the file: under its new name it lands anew"),
        ("FILE_READ_FAILED", False, "see that the file is whole and that kbd may read it"),
        ("DISK_FULL", True, "make room in /out and in the home of kbd"),
        (
            "FILE_WRITE_FAILED",
            True,
            "see that /out is there, can be written, and has no link where a folder is due",
        ),
        ("VALIDATION_FAILED", True, f"kbd log {BENCH}"),
        ("BUDGET_CAP_REACHED", False, f"kbd watch failed {WATCH} --retry 7"),
    ],
)
def test_what_failed_has_what_helps(code: str, ran: bool, helps: str) -> None:
    """The likeliest first; each can be tried again, or dismissed, by its number."""
    parked = landing(7, LandingStage.PARKED, code, ran=ran)
    watch = watched(landing(6, LandingStage.RUNNING), parked)
    (row,) = failed_landings((watch,), seen, WatchFailedList()).failed

    assert (row.landing_id, row.code, row.message, row.watch_name) == (7, code, "why", "in")
    assert row.actions[0] == helps
    assert row.actions[-2:] == (
        f"kbd watch failed {WATCH} --retry 7", f"kbd watch failed {WATCH} --dismiss 7",
    )  # fmt: skip
    assert (f"kbd review {BENCH}" in row.actions) is ran


def test_a_pause_without_a_reason_is_a_persons() -> None:
    """Who paused a watch knows why; what a rule or a limit stopped is worth telling."""
    paused = watched(status=WatchStatus.PAUSED)
    failing = watched(status=WatchStatus.PAUSED, reason="a run failed")
    over = watched(status=WatchStatus.SUSPENDED, reason="too many")
    found = failed_landings((watched(), paused, failing, over), seen, WatchFailedList())

    assert [row.reason for row in found.suspended] == ["a run failed", "too many"]


def test_a_long_list_is_cut_and_counted() -> None:
    """The oldest of all watches are told, by number; the others are on the next page."""
    many = [
        watched(*(landing(n, LandingStage.PARKED) for n in range(at, 2001, 2))) for at in (2, 1)
    ]
    found = failed_landings(tuple(many), seen, WatchFailedList())
    rest = failed_landings(tuple(many), seen, WatchFailedList(cursor=found.next_cursor))

    assert [row.landing_id for row in found.failed] == list(range(1, 1001))
    assert [row.landing_id for row in rest.failed] == list(range(1001, 2001))
    assert (found.total, rest.total, rest.next_cursor) == (2000, 2000, UNSET)


@pytest.mark.parametrize("descending", [False, True])
def test_files_that_stay_failed_are_on_one_page_each(descending: bool) -> None:
    """Others are taken up, dismissed, or fail between two pages: they move nothing."""
    parked = {number: landing(number, LandingStage.PARKED) for number in range(10, 20)}
    watch, met = watched(*parked.values()), list[int]()
    cursor: str | Unset = UNSET
    for gone, come in ((10, 3), (19, 30), (14, 15), (12, 31), (18, 32)):
        asked = WatchFailedList(limit=3, cursor=cursor, descending=descending)
        found = failed_landings((watch,), seen, asked)
        met += (row.landing_id for row in found.failed)
        if isinstance(cursor := found.next_cursor, Unset):
            break
        watch.landings.pop(Seq(gone), None)
        watch.landings[Seq(come)] = landing(come, LandingStage.PARKED)

    assert cursor is UNSET
    assert met == sorted(set(met), reverse=descending)
    assert {11, 13, 15, 16, 17} <= set(met)


@pytest.mark.parametrize(
    ("asked", "numbers"),
    [
        ({"error_code": "DISK_FULL"}, [2]),
        ({"error_code": "NOT_FOUND"}, []),
        ({"query": "WHY"}, [1, 2, 3]),
        ({"query": "why 2.TXT"}, [2]),
        ({"query": "2.txt 3.txt"}, []),
        ({"query": " "}, [1, 2, 3]),
        ({"query": "2.txt", "error_code": "NOT_FOUND"}, []),
        ({"query": "txt", "descending": True}, [3, 2, 1]),
    ],
)
def test_what_failed_is_found_by_code_and_words(
    asked: dict[str, object], numbers: list[int]
) -> None:
    """Each word stands in the path or in the reason, in whatever case; `total` counts what fits."""
    codes = {1: "FILE_READ_FAILED", 2: "DISK_FULL", 3: ""}
    watch = watched(*(landing(n, LandingStage.PARKED, code) for n, code in codes.items()))
    found = failed_landings((watch,), seen, WatchFailedList(**asked))  # type: ignore[arg-type]

    assert [row.landing_id for row in found.failed] == numbers
    assert found.total == len(numbers)


def test_a_cursor_of_what_failed_is_of_its_filters() -> None:
    """With another watch, code, query or order it would lead astray, and is refused."""
    watch = watched(*(landing(number, LandingStage.PARKED) for number in (1, 2, 3)))
    cursor = failed_landings((watch,), seen, WatchFailedList(limit=1)).next_cursor
    others: tuple[dict[str, object], ...] = (
        {"watch_id": WATCH}, {"error_code": "X"}, {"query": "why"}, {"descending": True},
    )  # fmt: skip
    for other in others:
        with pytest.raises(ValidationFailed):
            failed_landings((watch,), seen, WatchFailedList(cursor=cursor, **other))  # type: ignore[arg-type]


def seen(watch: Watch) -> WatchRow:
    """The line of a watch whose folder is there."""
    return watch_row(watch, "system", "")
