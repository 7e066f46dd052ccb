"""Comparisons in pieces: all of them come through, and others get a turn in between."""

import anyio
import anyio.lowlevel
import msgspec
import pytest

from kbd.core.plugins.packed_comparison import PIECE_BYTES, PackedComparison, pack, unpack
from kbd.formats import Change, ChangeList, Comparison, Hunk, HunkLine, Place

pytestmark = pytest.mark.anyio


def comparison(count: int, *, length: int = 300, hunks: bool = False) -> Comparison:
    """Return a comparison of so many changes, each with a text of a length."""
    found = ChangeList()
    for number in range(count):
        place = Place(title=f"line {number}", line=number)
        found.add(Change(place=place, kind="changed", what="line", before=1.5, after="x" * length))
    found.warn("what to know")
    lines = (HunkLine(kind="added", text="y" * length),)
    made = tuple(Hunk(number, 0, number, 1, lines) for number in range(count)) if hunks else None
    return found.comparison(made)


@pytest.mark.parametrize("count", [0, 1, 500, 3000])
async def test_a_comparison_comes_out_as_it_went_in(count: int) -> None:
    """Also when it was kept as plain values in between."""
    found = comparison(count, hunks=count != 1)
    plain = msgspec.to_builtins(pack(found), builtin_types=(bytes,))
    kept = msgspec.msgpack.decode(msgspec.msgpack.encode(plain))
    assert await unpack(msgspec.convert(kept, PackedComparison)) == found


async def test_pieces_are_small_and_one_large_change_is_a_piece() -> None:
    """None is larger than it may be, but for what cannot be divided."""
    pieces = pack(comparison(2000)).changes
    assert len(pieces) > 5
    assert all(len(piece) <= PIECE_BYTES + 16 for piece in pieces)
    large = pack(comparison(3, length=20_000)).changes
    assert len(large) == 1
    wide = Change(place=Place(title="row 1"), kind="added", what="row", after=["z" * 9000] * 20)
    assert len(pack(Comparison((wide, wide), 2, ())).changes) == 2


async def test_others_get_a_turn_while_a_comparison_is_unpacked() -> None:
    """Nearly once for each piece: which of two tasks begins is the loop's own choice."""
    packed = pack(comparison(5000))
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            turns += 1
            await anyio.lowlevel.checkpoint()

    async with anyio.create_task_group() as group:
        group.start_soon(count)
        await unpack(packed)
        group.cancel_scope.cancel()
    assert turns >= len(packed.changes) // 2


async def test_a_damaged_piece_is_an_error_of_msgspec() -> None:
    """So that whoever kept it makes it anew."""
    packed = msgspec.structs.replace(pack(comparison(3)), changes=(b"\xc1",))
    with pytest.raises(msgspec.MsgspecError):
        await unpack(packed)
