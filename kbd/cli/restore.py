"""`kbd restore`: make a home from a backup. Needs no daemon."""

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kbd.cli.exits import FAILED, OK, Stop
from kbd.cli.link import resolve_home
from kbd.cli.rule_confirmation import render_acts
from kbd.cli.terminal import counted, line, note, say
from kbd.errors import KbdError

if TYPE_CHECKING:
    from kbd.core.audit.restore import NewHome
    from kbd.events.watches import WatchRule

__all__ = ["command"]

_WATCHES = """\
Watched folders are paused, and nothing of their rules is in force: if the kbd that the backup is of
still works, both would do each job, and a backup that is not yours may name any command. `kbd watch
resume` has one go on, after you confirmed what its rule does by itself. What was under way when the
backup was made is put aside: `kbd watch failed`."""

_CONSENT = "Consent is asked for again: what people had agreed to in the backup"


def command(parser: argparse.ArgumentParser) -> Callable[[argparse.Namespace], int]:
    """Add the arguments of `kbd restore` and return what runs it."""
    parser.epilog = """\
examples:
  kbd restore ~/backups/2026-11-22 --home ~/kbd-again
  kbd --home ~/kbd-again up

The backup is checked first, byte for byte; what is wrong with it is said, and then nothing is made.
The home must not exist, or be empty. Put your settings.toml into it yourself. No consent, no
consent mode and no command, publishing or delivery of a watch is in force before you say so again.
A home that is merely copied is taken for your own: restore what you were given from a backup."""
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
        say(json.dumps({"home": str(home), **_facts(made)}))
        return OK
    damaged = [(log.workbench_id, log.name) for log in inventory.logs if log.damage]
    damaged += [(each.workbench_id, each.name) for each in inventory.archives if each.damage]
    for log_id, name in damaged:
        note(f"{log_id} ({line(name, 40)}) was damaged when it was copied.")
    say(
        f"{home}: {checked.logs} logs, {checked.events} events, {checked.blobs} file versions, "
        f"as of {inventory.created_at[:16].replace('T', ' ')} UTC"
    )
    if made.rules:
        note("\n".join(text for rule in made.rules for text in render_acts(_row(rule))))
        note(_WATCHES)
    if made.consents or made.consent_mode != "ask":
        mode = f", the mode {line(made.consent_mode, 40)}" if made.consent_mode != "ask" else ""
        note(f"{_CONSENT} ({counted(made.consents, 'consent')}{mode}) does not hold here.")
    say(f"Start it with: kbd --home {home} up")
    return OK


def _facts(made: "NewHome") -> dict[str, Any]:
    """Return what was restored, for programs."""
    logs = [{"workbench_id": log.workbench_id, "seq": log.seq} for log in made.inventory.logs]
    packed = [
        {"workbench_id": each.workbench_id, "seq": each.seq} for each in made.inventory.archives
    ]
    return {
        "created_at": made.inventory.created_at,
        "logs": logs,
        "archives": packed,
        "watches_paused": len(made.rules),
        "watches": [_row(rule) for rule in made.rules],
        "dropped": {"consents": made.consents, "consent_mode": made.consent_mode},
    }


def _row(rule: "WatchRule") -> dict[str, Any]:
    """Return what a rule does, as a row of `WatchList` names it."""
    row = {"name": rule.name, "folder": rule.folder, "publish": rule.publish}
    results = {"deliver_to": rule.deliver_to} if rule.deliver_to is not None else {}
    return {**row, **results, "on_outcome": list(rule.on_outcome)}
