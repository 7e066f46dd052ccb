"""Rows of the matrix of hostile inputs that concern paths, the socket and operation.

Each row is answered by a fixture of `test_matrix`, or by a test that is named here because it takes
more than a call: a race, a swap, a kill, another process.
"""

from collections.abc import Mapping
from types import MappingProxyType

__all__ = ["CALLED_ROWS", "ROWS", "TESTED_ROWS"]

ROWS: tuple[str, ...] = (
    *(f"A{number}" for number in range(1, 44)),
    *(f"B{number}" for number in range(1, 38)),
    *(f"H{number}" for number in range(1, 14)),
)
"""All rows (reliability, 5.3)."""


TESTED_ROWS: Mapping[str, tuple[str, str, str]] = MappingProxyType(
    {
        "A18": (
            "folders and links swapped during opens",
            "0 escapes",
            "tests/whole/test_link_races.py::test_nothing_that_opens_a_path_is_led_out",
        ),
        "A39": (
            "the folder itself replaced by a link",
            "the held folder stays the root",
            "tests/core/workbench/test_sandbox.py::test_a_root_that_is_replaced_stays_the_root",
        ),
        "B23": (
            "a connection that is reset in the middle of an answer",
            "cleaned up",
            "tests/core/server/test_hostile_clients.py::test_clients_that_break_off_leave_no_descriptor",
        ),
        "B24": (
            "1,000 idle connections, and more than may be",
            "the last is refused with a message",
            "tests/core/server/test_hostile_clients.py::test_a_crowd_is_served_up_to_the_limit_and_told_beyond",
        ),
        "B25": (
            "a subscriber that never reads",
            "dropped, with the cursor to resume at",
            "tests/core/server/test_subscriptions.py::test_fifty_clients_one_of_them_stalled",
        ),
        "B31": (
            "another user connects",
            "refused",
            "tests/core/server/test_sockets.py::test_the_socket_is_for_its_owner_only",
        ),
        "B32": (
            "another user by a group's right",
            "refused",
            "tests/core/server/test_sockets.py::test_a_folder_that_others_may_enter_is_refused",
        ),
        "B35": (
            "what lies at the socket's path is stale, or no socket",
            "replaced, or refused",
            "tests/core/server/test_sockets.py::test_what_is_no_socket_is_never_replaced",
        ),
        "H1": (
            "a canary key in the environment and the settings",
            "0 hits in logs, events, blobs, processes",
            "tests/whole/test_canary_processes.py::test_no_key_is_anywhere_but_in_the_daemon",
        ),
        "H2": (
            "a fault whose text has the key",
            "redacted",
            "tests/whole/test_canary_keys.py::test_what_a_server_says_of_a_key_is_told_without_it",
        ),
        "H3": (
            "core files, crash output",
            "none, and no key",
            "tests/whole/test_canary_processes.py::test_no_key_is_in_what_is_said_at_the_end",
        ),
        "H4": (
            "line breaks, escapes and U+2028 in what is logged",
            "one escaped entry",
            "tests/core/runtime/test_diagnostics.py::test_an_entry_stays_one_line",
        ),
        "H5": (
            "a flood of entries",
            "limited, and counted",
            "tests/core/runtime/test_diagnostics.py::test_a_flood_of_entries_is_limited_and_counted",
        ),
        "H6": (
            "a worker that leaves a process of its own",
            "killed with the call",
            "tests/core/plugins/test_faults.py::test_a_stopped_zygote_is_killed_with_all_below_it",
        ),
        "H7": (
            "a worker that answers garbage, or much",
            "no answer; typed",
            "tests/core/plugins/test_answer_shape.py::test_a_hostile_answer_is_no_answer",
        ),
        "H8": (
            "a worker that is killed or aborts",
            "typed; the daemon lives",
            "tests/core/plugins/test_faults.py::test_a_call_that_goes_wrong_is_a_typed_error",
        ),
        "H9": (
            "no space, a quota, a file system that turns read-only, in a run",
            "typed; what was acknowledged is there",
            "tests/whole/test_failing_disks.py::test_a_disk_that_fails_in_a_run",
        ),
        "H10": (
            "stopped for longer than every limit; a clock that jumps",
            "nothing is ended for it",
            "tests/whole/test_stopped_daemon.py::test_a_stop_is_held_against_nobody",
        ),
        "H11": (
            "a log of a newer kbd",
            "refused, naming what is missing",
            "tests/events/test_codec.py::test_what_must_be_understood_stops_a_reader_that_does_not_know_it",
        ),
        "H12": (
            "a home copied, and a backup restored beside its origin",
            "a lock and an epoch of its own; told by device and inode",
            "tests/whole/test_copied_homes.py::test_a_copy_beside_the_first_is_told",
        ),
        "H13": (
            "plugins that fail at import, or bear another's name",
            "left out, with event and line in doctor",
            "tests/whole/test_foreign_plugins.py::test_each_is_left_out_and_told_and_none_harms",
        ),
    }
)
"""By row: the input, the answer, and the test (or the file of tests) that gives it."""

CALLED_ROWS: tuple[str, ...] = tuple(row for row in ROWS if row not in TESTED_ROWS)
"""Rows that `test_matrix` asks a daemon about."""
