"""`kbd restore`: make a home from a backup. Needs no daemon."""

import argparse
import json
from collections.abc import Callable
from pathlib import Path

from kbd.cli.exits import FAILED, OK, Stop
from kbd.cli.link import resolve_home
from kbd.cli.terminal import line, note, say
from kbd.errors import KbdError

__all__ = ["command"]

_WATCHES = """\
Watched folders are paused: if the kbd that the backup is of still works, both would do each job.
`kbd watch list` shows them, `kbd watch resume` has them go on. What was under way when the backup
was made is put aside: `kbd watch failed`."""


def command(parser: argparse.ArgumentParser) -> Callable[[argparse.Namespace], int]:
    """Add the arguments of `kbd restore` and return what runs it."""
    parser.epilog = """\
examples:
  kbd restore ~/backups/2026-11-22 --home ~/kbd-again
  kbd --home ~/kbd-again up

The backup is checked first, byte for byte; what is wrong with it is said, and then nothing is made.
The home must not exist, or be empty. Put your settings.toml into it yourself."""
    parser.add_argument("backup", metavar="BACKUP", help="the folder that `kbd backup` wrote")
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")
    return _restore


def _restore(arguments: argparse.Namespace) -> int:
    from kbd.core.audit.backup import check_backup  # noqa: PLC0415 - 75 ms, of this command alone
    from kbd.core.audit.restore import restore  # noqa: PLC0415 - 2 ms more

    backup, home = (
        Path(arguments.backup).expanduser().absolute(),
        Path(resolve_home(arguments.home)),
    )
    try:
        checked = check_backup(backup)
        for fault in checked.faults:
            note(f"{line(fault.file, 300)}, byte {fault.offset}: {fault.message}")
        if checked.faults:
            raise Stop(f"{backup} is not whole; nothing was restored", FAILED)
        made = restore(backup, home)
    except KbdError as error:
        raise Stop(f"{error.code}: {error.message}", FAILED) from error
    inventory = made.inventory
    if arguments.json:
        logs = [{"workbench_id": log.workbench_id, "seq": log.seq} for log in inventory.logs]
        facts = {"home": str(home), "created_at": inventory.created_at, "logs": logs}
        say(json.dumps({**facts, "watches_paused": made.watches}))
        return OK
    for log in inventory.logs:
        if log.damage:
            note(f"{log.workbench_id} ({line(log.name, 40)}) was damaged when it was copied.")
    say(
        f"{home}: {checked.logs} logs, {checked.events} events, {checked.blobs} file versions, "
        f"as of {inventory.created_at[:16].replace('T', ' ')} UTC"
    )
    if made.watches:
        note(_WATCHES)
    say(f"Start it with: kbd --home {home} up")
    return OK
