"""Check of a case file, for `kbd verify`: runs the same modules that lie in the file itself."""

from pathlib import Path
from typing import Literal

import msgspec

from kbd.core.audit.verify.case import Fault, check
from kbd.errors import FileReadFailed, NotFound
from kbd.requests.daemon import LogFault

__all__ = ["CheckResult", "check_case"]


class CheckResult(msgspec.Struct, frozen=True):
    """Result of a check: whether a case file or a backup is whole.

    Args:
        kind: Which it is.
        logs: How many logs it holds.
        events: How many events they hold together.
        blobs: How many file versions were compared with their hash.
        head: The chain value at the end of a case's log (64 hex digits); empty for a backup.
        faults: What is wrong; none if it is whole. The file is named as in the copy, and for a
            case the offset is a place in the case file.
    """

    kind: Literal["case", "backup"]
    logs: int
    events: int
    blobs: int
    head: str
    faults: tuple[LogFault, ...]


def check_case(path: Path) -> CheckResult:
    """Read a whole case file and compare every byte with what it must be. Blocking.

    Raises:
        NotFound: There is no such file.
        FileReadFailed: It cannot be read.
    """
    if path.exists() and not path.is_file():  # A pipe would have it wait for ever.
        msg = f"{path} is no file"
        raise FileReadFailed(msg)
    try:
        with path.open("rb") as file:
            found = check(file)
    except FileNotFoundError:
        msg = f"there is no file {path}"
        raise NotFound(msg) from None
    except OSError as error:
        msg = f"{path} cannot be read: {error.strerror}"
        raise FileReadFailed(msg) from None
    history = found.history
    return CheckResult(
        kind="case",
        logs=1,
        events=history.seq if history else 0,
        blobs=found.blobs,
        head=history.head if history else "",
        faults=tuple(_log_fault(fault) for fault in found.faults),
    )


def _log_fault(fault: Fault) -> LogFault:
    last = fault.offset + fault.size - 1
    span = f" (bytes {fault.offset} to {last} of the case file)" if fault.size > 1 else ""
    return LogFault(
        kind=fault.kind,
        file=fault.name,
        offset=fault.offset,
        message=fault.reason + span,
        seq=fault.seq,
    )
