"""`/search`: the pieces of the documents that are nearest to some words, without a model."""

from kbd.cli.chat.session import Session
from kbd.cli.chat.waiting import READING, busy
from kbd.cli.exits import OK, USAGE, Stop
from kbd.cli.layout import wrapped
from kbd.cli.terminal import columns, line, note, say

__all__ = ["search"]

WIDEST = 100

SNIPPET_COLUMNS = 240


def search(session: Session, argument: str) -> int:
    """Show where in the documents something is said.

    Raises:
        Stop: Nothing was asked for.
    """
    if not argument:
        raise Stop("What for? /search WORDS", USAGE)
    session.consent_to_search()
    with busy(READING):
        found = session.ask("WorkspaceSearch", query=argument, slow=True)
    for number, each in enumerate(found["documents"], 1):
        where = f", {line(each['place'], 80)}" if each["place"] else ""
        say(f"{number}. {each['score']:.2f}  {line(each['filename'], 60)}{where}")
        width = min(columns(WIDEST), WIDEST)
        for row in wrapped(f"   {line(each['snippet'], SNIPPET_COLUMNS)}", width):
            say(row)
    if not found["documents"]:
        say("Nothing was found.")
    for warning in found["warnings"]:
        note(f"  ! {line(warning)}")
    note(f"Ranked by {line(found['ranker'])}.")
    return OK
