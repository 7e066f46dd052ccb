"""What two texts have in common at their beginning, found without looking at each character."""

import pytest

from kbd.lookalikes import common_prefix_length
from kbd.plaintext.encodings import BLOCK_BYTES

LONG = "x" * (3 * BLOCK_BYTES + 7)


@pytest.mark.parametrize(
    ("one", "other", "length"),
    [
        ("", "", 0), ("abc", "abd", 2), ("abc", "abc", 3), ("ab", "abc", 2), ("x", "y", 0),
        (LONG, LONG + "y", len(LONG)), (LONG + "a", LONG + "b", len(LONG)),
        (LONG, LONG[: BLOCK_BYTES + 1] + "y" + LONG, BLOCK_BYTES + 1),
    ],
)  # fmt: skip
def test_what_two_texts_share_is_found(one: str, other: str, length: int) -> None:
    """However long it is; of bytes likewise."""
    assert common_prefix_length(one, other) == length
    assert common_prefix_length(one.encode(), other.encode()) == length
