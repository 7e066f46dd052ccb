"""Vectors: a table that adds, drops and compares as a plain list of them would."""

import math
import subprocess
import sys
from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbd.core.search.vector_index import VectorTable, pack_vectors

SIZE = 3


def data(*vectors: tuple[float, ...]) -> bytes:
    """Return vectors as embedders give them."""
    return array("f", [number for vector in vectors for number in vector]).tobytes()


def turned(angle: float) -> tuple[float, float, float]:
    """Return a unit vector at an angle to the first axis."""
    return (math.cos(angle), math.sin(angle), 0.0)


def test_the_nearest_come_first_and_others_are_told() -> None:
    """Similarities are cosines; the mean and the deviation are of all."""
    table = VectorTable(SIZE)
    table.put([7, 8, 9], pack_vectors(data(turned(1.0), turned(0.1), turned(2.0))))
    compared = table.compare(data(turned(0.0)), 2, [9, 99])
    assert [key for key, _ in compared.nearest] == [8, 7]
    assert compared.nearest[0][1] == pytest.approx(math.cos(0.1), abs=1e-3)
    assert compared.others == {9: pytest.approx(math.cos(2.0), abs=1e-3)}
    assert compared.mean == pytest.approx(sum(map(math.cos, (1.0, 0.1, 2.0))) / 3, abs=1e-3)
    assert compared.deviation > 0.1
    assert compared.count == len(table) == 3


def test_those_that_are_equally_near_come_by_key() -> None:
    """Which of many equal ones are named is no accident of where they lie."""
    table = VectorTable(SIZE)
    table.put(range(50, 0, -1), pack_vectors(data(*[turned(0.5)] * 50)))
    assert [key for key, _ in table.compare(data(turned(0.0)), 4).nearest] == [1, 2, 3, 4]


def test_an_empty_table_compares_with_nothing() -> None:
    """There is nothing near, and no mean."""
    compared = VectorTable(SIZE).compare(data(turned(0.0)), 5, [1])
    assert (compared.nearest, compared.others, compared.count) == ((), {}, 0)


def test_vectors_of_another_size_are_refused() -> None:
    """Neither put nor compared, so two embedders are never mixed."""
    table = VectorTable(SIZE)
    with pytest.raises(ValueError, match="reshape"):
        table.put([1], pack_vectors(data((1.0, 0.0))))
    table.put([1], pack_vectors(data(turned(0.0))))
    with pytest.raises(ValueError, match="matmul"):
        table.compare(data((1.0, 0.0)), 1)


STEPS = st.lists(
    st.tuples(st.booleans(), st.lists(st.integers(0, 12), min_size=1, max_size=6, unique=True)),
    max_size=12,
)


@given(steps=STEPS)
def test_the_table_holds_what_a_dictionary_would(steps: list[tuple[bool, list[int]]]) -> None:
    """However vectors come, change and go, each key has the last one that was put."""
    table, plain, angle = VectorTable(SIZE), dict[int, float](), 0.0
    for is_put, keys in steps:
        if is_put:
            angles = [angle + 0.05 * at for at in range(len(keys))]
            table.put(keys, pack_vectors(data(*map(turned, angles))))
            plain |= dict(zip(keys, angles, strict=True))
            angle += 0.3
        else:
            table.drop(keys)
            for key in keys:
                plain.pop(key, None)
    assert len(table) == len(plain)
    assert {key for key in range(13) if key in table} == plain.keys()
    others = table.compare(data(turned(0.0)), 1, plain).others
    assert others == {key: pytest.approx(math.cos(plain[key]), abs=2e-3) for key in plain}


def test_numpy_waits_for_the_first_table() -> None:
    """Importing the module costs a daemon without an embedder nothing."""
    program = "import sys, kbd.core.search.vector_index; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
