"""`kbd repair`: mend damaged logs and file versions of a home that no daemon has."""

import argparse
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from kbd.cli.exits import ANOTHER_DAEMON, CONFIRMATION_NEEDED, FAILED, OK, USAGE, Stop
from kbd.cli.names import several_match
from kbd.cli.terminal import ask, counted, is_interactive, line, note, say
from kbd.errors import KbdError, ValidationFailed

if TYPE_CHECKING:
    from kbd.core.audit.home_repair import LogRepair
    from kbd.core.domain.daemon_state import ArchivedCopy
    from kbd.core.runtime.paths import Home

__all__ = ["command"]

MAX_TOLD = 1000
"""So many lost events are told one by one; the damaged segments are kept with all of them."""

_CUT_DAEMON = """\
Consent is asked for again, every watch is paused until its rule is confirmed, and workbenches that
the rest does not name are listed again: what was set or removed since may be lost."""

_CUT_WORKBENCH = """\
Consents and confirmations of this workbench do not hold any more, and extracts that were under way
are given up: what was said of them since may be lost."""


class _Target(NamedTuple):
    """A log that is to be mended, with its name for people and its archive, if it is packed."""

    log_id: str
    name: str
    archive: "ArchivedCopy | None" = None


def command(parser: argparse.ArgumentParser) -> Callable[[argparse.Namespace], int]:
    """Add the arguments of `kbd repair` and return what runs it."""
    parser.epilog = """\
examples:
  kbd repair                               what is damaged, and what a repair would lose
  kbd repair --from ~/backups/2026-11-22   take back what a backup can prove to be the same
  kbd repair taxes --cut                   give up what is behind the damage
  kbd repair daemon --rebuild              of the first events of the workbenches

No daemon may run: `kbd stop` first. `kbd verify` says what is damaged, and writes nothing.
Where nothing of a log can be read, a backup of it is taken with --cut, on your word.
File versions are mended by any bytes that have their hash: published files, other workbenches, a
backup. A log is mended by a backup of the same history, as its chain of hashes proves, and then
nothing is lost. An archive is mended by the same file of a backup, or is unpacked as the backup has
the workbench, if its log ends with the event that was recorded. A cut loses what is behind the
damage: each event is told, as far as it can be read, and you are asked, or give --yes. Damaged
segments are kept beside the log, under `<segment>.damaged-<n>`, and archives likewise. Exits with 0
if all is whole, with 1 if something is damaged still."""
    parser.add_argument("target", nargs="?", metavar="WB", help="its id or name, or `daemon`")
    parser.add_argument("--from", dest="backup", metavar="BACKUP", help="a folder of `kbd backup`")
    parser.add_argument(
        "--cut", action="store_true", help="cut logs where they can be read no more"
    )
    parser.add_argument("--rebuild", action="store_true", help="make a lost log of the daemon anew")
    parser.add_argument("--yes", action="store_true", help="do not ask before something is lost")
    return _repair


def _repair(arguments: argparse.Namespace) -> int:
    from kbd.core.runtime.home_lock import HomeLockedError, lock_home  # noqa: PLC0415 - 60 ms
    from kbd.core.runtime.paths import Home  # noqa: PLC0415 - loaded with it

    if arguments.cut and arguments.rebuild:
        raise Stop("--cut keeps what can be read, --rebuild nothing: choose one", USAGE)
    if arguments.rebuild and arguments.target != "daemon":
        raise Stop("--rebuild is of the daemon's log: kbd repair daemon --rebuild", USAGE)
    try:
        home = Home.find(os.environ, socket=arguments.socket, home=arguments.home)
        if not home.daemon_log.is_dir() and not _holds_workbenches(home):
            raise Stop(f"there is no home of kbd in {home.folder}", FAILED)
        with lock_home(home):
            # The daemon's log first: it says which workbenches there are.
            done = [_repair_one(arguments, home, target) for target in _targets(arguments, home)]
    except HomeLockedError as error:
        raise Stop(f"{error}: `kbd stop` first", ANOTHER_DAEMON) from error
    except KbdError as error:
        raise Stop(f"{error.code}: {error.message}", FAILED) from error
    except OSError as error:
        raise Stop(f"the home cannot be repaired: {error.strerror or error}", FAILED) from error
    return OK if all(done) else FAILED


def _targets(arguments: argparse.Namespace, home: "Home") -> Iterator[_Target]:
    """Yield the logs that are meant, one after the other: the first may be mended meanwhile."""
    from kbd.core.audit.archive_repair import settle_archives  # noqa: PLC0415 - with the next
    from kbd.core.audit.home_logs import list_logs  # noqa: PLC0415 - 200 ms, without a daemon alone

    home.daemon_log.mkdir(mode=0o700, parents=True, exist_ok=True)
    named, own = arguments.target, _Target("daemon", "the daemon's own")
    if named is None:
        yield own
    settle_archives(home)
    logs = list_logs(home)
    meant = logs.workbenches if named is None else logs.named(named)
    if named == "daemon" and not meant:
        yield own
    elif named is not None and len(meant) != 1:
        ids = [each.log_id for each in meant]
        text = several_match(named, ids) if ids else f"there is no workbench {named}"
        raise Stop(text, FAILED)
    for each in meant:
        if each.is_there or each.archive is not None:
            yield _Target(each.log_id, each.name or "name unknown", each.archive)


def _holds_workbenches(home: "Home") -> bool:
    from kbd.core.store.archive_shelf import archived_ids  # noqa: PLC0415 - loaded with the home's

    return bool(home.workbench_ids() or archived_ids(home))


def _repair_one(arguments: argparse.Namespace, home: "Home", target: _Target) -> bool:
    """Mend a log, then the file versions that it names; return whether all is whole."""
    from kbd.core.audit.home_repair import LogRepair  # noqa: PLC0415 - with `list_logs`

    title = f"{target.log_id} ({line(target.name, 40)})"
    backup = _backup(arguments)
    if target.archive is not None:
        with _own_errors(title):
            return _repair_archive(home, target, target.archive, title, backup)
    with _own_errors(title), LogRepair(home, target.log_id) as repair:
        if repair.damage is not None and not _repair_log(arguments, repair, title, backup):
            return False
        if target.log_id == "daemon" and not repair.is_changed and repair.is_empty:
            if _holds_workbenches(home) and not arguments.rebuild:
                say(f"{title} is empty, and workbenches are there: --rebuild lists them again")
                return False
            if arguments.rebuild:
                _rebuild(arguments, repair, title)
    if target.log_id == "daemon":
        say(f"{title} whole")
        return True
    with _own_errors(title):
        return _repair_blobs(home, target, title, backup)


def _backup(arguments: argparse.Namespace) -> Path | None:
    if arguments.backup is None:
        return None
    backup = Path(arguments.backup).expanduser().absolute()
    if not (backup / "backup.json").is_file():
        raise Stop(f"{backup} is no backup", USAGE)
    return backup


@contextmanager
def _own_errors(title: str) -> Iterator[None]:
    """Say of which log an error is."""
    try:
        yield
    except KbdError as error:
        raise Stop(f"{title}: {error.code}: {error.message}", FAILED) from error


def _repair_archive(
    home: "Home", target: _Target, copy: "ArchivedCopy", title: str, backup: Path | None
) -> bool:
    """Mend the archive of a workbench; return whether that is whole."""
    from kbd.core.audit.archive_repair import ArchiveRepair  # noqa: PLC0415 - loaded already

    done = ArchiveRepair(home, target.log_id, copy).repair(backup)
    if not done.damage:
        say(f"{title} whole")
        return True
    say(f"{title} DAMAGED: {done.damage}")
    for reason in done.reasons:
        say(f"  {line(reason, 300)}")
    if not done.mended:
        helps = "" if backup is not None else "; --from BACKUP may bring it back"
        say(f"  nothing was changed{helps}")
        return False
    kept = f"; the damaged file is kept as {done.kept_as}" if done.kept_as else ""
    say(f"{title} mended {done.mended}: nothing is lost, {counted(copy.seq, 'event')}{kept}")
    return True


def _repair_log(
    arguments: argparse.Namespace, repair: "LogRepair", title: str, backup: Path | None
) -> bool:
    """Mend a damaged log; return whether it is whole."""
    damage = repair.damage
    assert damage is not None, "the caller has looked"
    say(f"{title} DAMAGED: {damage.message}")
    before = repair.seq
    if backup is not None and (
        _take_backup(repair, backup)
        or (arguments.cut and not before and _vouch(arguments, repair, title, backup))
    ):
        say(f"  with the backup {counted(repair.seq, 'event')} can be read, not {before}")
        if repair.damage is None:
            repair.commit()
            say(f"{title} mended: nothing is lost, {repair.seq} events; {_kept(repair)}")
            return True
    if not (arguments.cut or arguments.rebuild):
        _tell_lost(repair)
        helps = "--cut" if repair.seq or title[:6] != "daemon" else "--rebuild"
        say(f"  nothing was changed; --from BACKUP may bring it back, {helps} gives it up")
        return False
    if arguments.rebuild:
        _rebuild(arguments, repair, title)
        return True
    _tell_lost(repair)
    _confirm(arguments, title)
    repair.cut()
    repair.commit()
    say(f"{title} mended: {counted(repair.seq, 'event')}; {_kept(repair)}")
    return True


def _rebuild(arguments: argparse.Namespace, repair: "LogRepair", title: str) -> None:
    """Make the daemon's log anew, once a person agreed."""
    _tell_lost(repair, is_anew=True)
    _confirm(arguments, title)
    repair.rebuild()
    repair.commit()
    say(f"{title} made anew: {counted(repair.seq, 'event')}; {_kept(repair)}")


def _take_backup(repair: "LogRepair", backup: Path) -> bool:
    """Take what a backup has of the same history; say why nothing can be taken of another one."""
    try:
        return repair.take_backup(backup)
    except ValidationFailed as error:
        say(f"  {error.message}")
        return False


def _vouch(arguments: argparse.Namespace, repair: "LogRepair", title: str, backup: Path) -> bool:
    """Take a backup for the log's own history on a person's word, where nothing can be read."""
    say("  nothing of the log can be read that would show it: only you can say that it is of it")
    _confirm(arguments, title)
    return repair.take_backup(backup, is_vouched=True)


def _kept(repair: "LogRepair") -> str:
    names = repair.kept()
    return f"the damaged bytes are kept as {', '.join(names)}" if names else "no bytes were cut"


def _tell_lost(repair: "LogRepair", *, is_anew: bool = False) -> None:
    """Tell event by event what a cut loses."""
    expected = 1 if is_anew else repair.seq + 1
    told = 0
    for seq, title in repair.lost(from_start=is_anew):
        if seq > expected:
            say(f"  lost: {_numbers(expected, seq - 1)}, which cannot be read")
        expected = seq + 1
        told += 1
        if told <= MAX_TOLD:
            say(f"  lost: event {seq}, {line(title, 200)}")
    if told > MAX_TOLD:
        say(f"  lost: {told - MAX_TOLD} more events, up to {expected - 1}")
    if repair.anchored >= expected:
        say(f"  lost: {_numbers(expected, repair.anchored)}, which cannot be read")


def _numbers(first: int, last: int) -> str:
    return f"event {first}" if first == last else f"events {first} to {last}"


def _confirm(arguments: argparse.Namespace, title: str) -> None:
    """Ask a person whether what was told may be lost.

    Raises:
        Stop: Nobody agreed; nothing was changed.
    """
    note(_CUT_DAEMON if title.startswith("daemon ") else _CUT_WORKBENCH)
    if arguments.yes:
        return
    if not is_interactive():
        raise Stop(
            "nobody is here to be asked: nothing was changed; --yes agrees", CONFIRMATION_NEEDED
        )
    if not ask(f"Give up what is lost of {title}?"):
        raise Stop("nothing was changed", CONFIRMATION_NEEDED)


def _repair_blobs(home: "Home", target: _Target, title: str, backup: Path | None) -> bool:
    """Mend the file versions that a log names; return whether all are whole."""
    from kbd.core.audit.home_repair import repair_blobs  # noqa: PLC0415 - loaded already

    done = repair_blobs(home, target.log_id, backup)
    for blob, path in done.mended:
        say(f"  file version {blob[:16]} mended by {line(str(path), 300)}")
    for blob in done.lost:
        say(f"  file version {blob[:16]} is lost: no bytes of this hash were found")
    if done.lost:
        say(f"{title} DAMAGED: {counted(len(done.lost), 'file version')} lost")
        return False
    say(f"{title} whole")
    return True
