"""What a model writes becomes a record, or is refused so that one more turn mends it."""

from typing import Annotated, Any, Literal

import msgspec
import pytest
from msgspec import Meta

from kbd.arguments import record_of
from kbd.errors import ValidationFailed


class Cell(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A cell whose value may be null, which empties it."""

    cell: str
    value: str | int | msgspec.UnsetType | None = msgspec.UNSET
    style: Literal["plain", "bold"] = "plain"


class Fill(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="op", tag="fill"):
    """An operation with cells in it."""

    cells: tuple[Cell, ...]
    times: Annotated[int, Meta(ge=1, le=9)] = 1


class Wipe(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="op", tag="wipe"):
    """Another operation."""

    area: Annotated[str, Meta(min_length=2)] = "A1"


class Wanted(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a tool takes."""

    path: str
    operations: tuple[Fill | Wipe, ...] = ()
    look: dict[str, Any] = {}
    rows: tuple[tuple[str | int | Cell | None, ...], ...] = ()
    sheet: str | None = "first"
    whole: bool = False


def test_a_null_counts_as_absent_where_it_means_nothing() -> None:
    """At any depth, and only where the field can be left out and does not take null."""
    cells = [{"cell": "A1", "value": None, "style": None}]
    made = record_of(
        {
            "path": "a",
            "operations": [{"op": "fill", "cells": cells, "times": None}],
            "look": {"bold": None},
            "rows": [[None, {"cell": "B2", "style": None}, 3]],
            "sheet": None,
            "whole": None,
        },
        Wanted,
    )

    assert made == Wanted(
        path="a",
        operations=(Fill((Cell("A1", None),)),),
        look={"bold": None},
        rows=((None, Cell("B2"), 3),),
        sheet=None,
    )


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ([], "expected `object`, got `array`"),
        ({"path": None}, "path: expected `str`, got `null`"),
        ({"path": True}, "path: expected `str`, got `bool`"),
        ({"pth": "a"}, "unknown field `pth`; did you mean `path`?; object missing required field"),
        ({"path": "a", "zzz": 1}, "unknown field `zzz`; there are: path, operations, look, rows"),
        (
            {"path": "a", "operations": [{"op": "fil"}]},
            "operations[0].op: invalid value 'fil'; ",
        ),
        ({"path": "a", "operations": [{}]}, "operations[0]: object missing required field `op`"),
        (
            {"path": "a", "operations": [{"op": "wipe"}, {"op": "fill", "cells": [{"cell": 1}]}]},
            "operations[1].cells[0].cell: expected `str`, got `int`",
        ),
        (
            {"path": "a", "operations": [{"op": "fill", "cells": [], "times": 10}]},
            "operations[0].times: expected `int` <= 9, got 10",
        ),
        (
            {"path": "a", "operations": [{"op": "wipe", "area": "A"}]},
            "operations[0].area: expected `str` of length >= 2, got 1",
        ),
        (
            {"path": "a", "rows": [["x", {"cell": "A1", "style": "blod"}]]},
            "rows[0][1].style: invalid enum value 'blod'; did you mean `bold`?",
        ),
        (
            {"path": "a", "rows": [[1.5]]},
            "rows[0][0]: expected `str | int | object | null`, got `float`",
        ),
    ],
)
def test_a_fault_tells_where_and_what_was_expected(given: Any, told: str) -> None:
    """The path, what was expected, and the nearest name there is."""
    with pytest.raises(ValidationFailed) as caught:
        record_of(given, Wanted)

    assert told in caught.value.message


def test_all_faults_are_told_at_once_but_no_endless_list() -> None:
    """Five faults with their paths under the name that was given, and how many more there are."""
    rows = [[True] for _ in range(8)]
    with pytest.raises(ValidationFailed) as caught:
        record_of({"path": 1, "rows": rows}, Wanted, "arguments", " (tool)")

    told = caught.value.message
    assert told.startswith("arguments.path (tool): expected `str`, got `int`; arguments.rows[0][0]")
    assert told.count("expected") == 5
    assert told.endswith("and 4 more")


def test_what_the_walk_does_not_know_is_told_in_msgspecs_words() -> None:
    """A fault of a type that only msgspec understands has its path, too."""

    class Dated(msgspec.Struct):
        pair: tuple[int, str]

    with pytest.raises(ValidationFailed, match=r"pair\[1\]: expected `str`, got `int`"):
        record_of({"pair": [1, 2]}, Dated)


def test_a_fault_far_back_in_a_large_value_is_told_all_the_same() -> None:
    """Not every value is looked at in search of more faults; the first one is never missed."""
    rows: list[Any] = [["x"] * 100 for _ in range(500)]
    rows[-1][-1] = 1.5
    with pytest.raises(ValidationFailed, match=r"^rows\[499\]\[99\]: expected"):
        record_of({"path": "a", "rows": rows}, Wanted)


def test_what_is_said_again_of_a_value_is_short() -> None:
    """A field's name or a value of a megabyte is not told back whole; nor a thousand fields."""
    long = "x" * 1_000_000
    given = {"path": "a", long: 1, "rows": [[{"cell": "A1", "style": long}]]}
    with pytest.raises(ValidationFailed) as caught:
        record_of(given | {"operations": [{"op": long}]}, Wanted)

    assert caught.value.message.count("x" * 70) == 3
    assert len(caught.value.message) < 1_000
    with pytest.raises(ValidationFailed, match=r"and many more$"):
        record_of({f"f{number}": 1 for number in range(5_000)}, Wanted)
    with pytest.raises(ValidationFailed, match="times: expected `int` <= 9, got 1000"):
        record_of({"op": "fill", "cells": [], "times": 10**400}, Fill)
