"""What is told of a plugin's fault is told in the same words when the call is made again."""

import pytest

from kbd.core.plugins.call_outcomes import strip_paths, strip_volatile


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (
            "[Errno 2] No such file: '/home/a/stage/call-0123456789abcdef0123456789abcdef.xlsx'",
            "[Errno 2] No such file: 'call-….xlsx'",
        ),
        ("<_io.BytesIO object at 0x7f3a5c0b9d60> is shut", "<_io.BytesIO object at …> is shut"),
        ("cannot open /tmp/tmpab12_c9z", "cannot open …"),
        ("0x1 in row 12, tmp.csv, column deadbeef", "0x1 in row 12, tmp.csv, column deadbeef"),
    ],
)
def test_a_message_names_nothing_of_the_moment(said: str, told: str) -> None:
    """No address, no staged or temporary name is left in it; the rest is."""
    assert strip_volatile(strip_paths(said)) == told
