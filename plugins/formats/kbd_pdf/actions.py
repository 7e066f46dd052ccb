"""What a file would do in a program that lets it: told by kind and place, never done."""

from collections import Counter
from typing import Any
from urllib.parse import urlsplit

import msgspec
from pypdf.generic import ArrayObject, DictionaryObject

__all__ = ["Actions", "actions_of"]

MOST_STEPS = 20
"""Actions that one leads to and that are looked at."""

MOST_NAMED = 5
"""Places or files that a warning names."""

_DEEDS = {
    "/JavaScript": "JavaScript",
    "/Launch": "starting a program",
    "/SubmitForm": "sending what is in its form",
    "/ImportData": "reading another file into its form",
    "/GoToR": "opening another file",
    "/GoToE": "opening an attached file",
    "/Rendition": "playing media",
    "/Movie": "playing media",
    "/Sound": "playing media",
    "/RichMediaExecute": "playing media",
}


class Actions(msgspec.Struct):
    """What was found.

    Args:
        deeds: How often what would be done where.
        targets: Files and addresses that deeds name.
        links: How many links lead to each host on the web.
    """

    deeds: Counter[tuple[str, str]] = msgspec.field(default_factory=Counter)
    targets: dict[str, None] = msgspec.field(default_factory=dict)
    links: Counter[str] = msgspec.field(default_factory=Counter)

    def warnings(self) -> list[str]:
        """Return what a reader should know, the dangerous first."""
        found = [
            f"The file asks for {deed} {where}{f' ({count} times)' if count > 1 else ''}; that is "
            "never done here."
            for (deed, where), count in sorted(self.deeds.items())
        ]
        if self.targets:
            named = ", ".join(list(self.targets)[:MOST_NAMED])
            found.append(f"Its actions name: {named}.")
        if self.links:
            hosts = ", ".join(host for host, _ in self.links.most_common(MOST_NAMED))
            more = ", …" if len(self.links) > MOST_NAMED else ""
            found.append(f"Links lead out of the file, {self.links.total()} in all: {hosts}{more}.")
        return found


def actions_of(found: Actions, value: Any, where: str) -> None:
    """Add what an action does, and those that follow it; a place in the file is none."""
    waiting, left = [value], MOST_STEPS
    while waiting and left:
        given = waiting.pop()
        action = None if given is None else given.get_object()
        if isinstance(action, ArrayObject):
            # A list may be a place on a page, too; its parts are then no actions.
            waiting.extend(list(action)[:MOST_STEPS])
        if not isinstance(action, DictionaryObject):
            continue
        left -= 1
        kind = str(action.get("/S", ""))
        if kind == "/URI":
            found.links[_host(str(action.get("/URI", "")))] += 1
        elif kind in _DEEDS:
            found.deeds[_DEEDS[kind], where] += 1
            _note_target(found, action.get("/F"))
        waiting.append(action.get("/Next"))


def _note_target(found: Actions, value: Any) -> None:
    target = None if value is None else value.get_object()
    if isinstance(target, DictionaryObject):
        target = target.get("/UF") or target.get("/F")
    if target is not None and len(found.targets) < MOST_NAMED:
        found.targets[str(target)[:200]] = None


def _host(address: str) -> str:
    """Return the host of an address, or its scheme where there is none ("mailto")."""
    try:
        parts = urlsplit(address[:2000])
        return (parts.hostname or parts.scheme or "an address")[:100]
    except ValueError:
        return "an address"
