"""Matrix of hostile inputs that concern paths, the socket and operation (reliability, 5.3 A, B, H).

Each row is asked of a daemon, or answered by a test that is named here because it takes longer.
"""

from collections.abc import Mapping
from types import MappingProxyType

from whole.matrix_homes import HOME_ROWS
from whole.matrix_links import LINK_ROWS
from whole.matrix_operation import OPERATION_ROWS
from whole.matrix_paths import PATH_ROWS
from whole.matrix_rig import MatrixRow
from whole.matrix_socket import SOCKET_ROWS

__all__ = ["ASKED", "NUMBERS", "TESTED"]

NUMBERS: tuple[str, ...] = (
    *(f"A{number}" for number in range(1, 44)),
    *(f"B{number}" for number in range(1, 38)),
    *(f"H{number}" for number in range(1, 14)),
)
"""All rows of the list."""

ASKED: tuple[MatrixRow, ...] = (
    *PATH_ROWS, *LINK_ROWS, *SOCKET_ROWS, *OPERATION_ROWS, *HOME_ROWS
)  # fmt: skip
"""What daemons are asked."""

TESTED: Mapping[str, tuple[str, str, str]] = MappingProxyType(
    {
        "A18": (
            "folders and links swapped meanwhile, 10 s",
            "0 escapes, 0 untyped; 2 s in the second tier",
            "tests/whole/test_link_races.py::test_no_method_and_no_tool_is_led_out",
        ),
        "H10": (
            "stopped for longer than every limit",
            "nothing is ended for it; takes a stop of 13 s",
            "tests/whole/test_stopped_daemon.py::test_a_stop_is_held_against_nobody",
        ),
    }
)
"""By number what takes longer: the input, the answer, and the test that gives it."""
