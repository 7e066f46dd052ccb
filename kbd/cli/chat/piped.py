"""Messages and commands from a pipe, a line each, done in turn."""

from collections.abc import Iterable, Iterator

from kbd.cli.chat.session import Session
from kbd.cli.chat.slash import act
from kbd.cli.exits import CANCELLED, OK

__all__ = ["joined", "talk"]


def talk(session: Session, lines: Iterable[str]) -> int:
    """Do each line in turn, and return the code of the first that failed.

    What fails does not keep the lines after it from being done; Ctrl-C does.
    """
    first = OK
    for text in joined(lines):
        code = act(session, text)
        first = first or code
        if session.is_over or code == CANCELLED:
            break
    return first


def joined(lines: Iterable[str]) -> Iterator[str]:
    """Yield what belongs together: a line that ends in a backslash goes on in the next one."""
    whole = ""
    for each in lines:
        text = each.rstrip("\r\n")
        if text.endswith("\\"):
            whole += f"{text[:-1]}\n"
            continue
        whole += text
        if whole.strip():
            yield whole
        whole = ""
    if whole.strip():
        yield whole
