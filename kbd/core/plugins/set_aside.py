"""Files set aside: contents that killed their workers are not given to the same plugin again.

What a call's process dies of is most often the file that it reads, and whoever is told of it, a
model above all, tries again. After `MOST_DEATHS` deaths the call is answered without a process.
This is memory of one daemon: a restart forgets it, and so a new version of the plugin starts anew.
"""

import os
import signal
from collections.abc import Iterable
from typing import Literal

import msgspec

from kbd.core.plugins.worker_messages import Answer, Exceeded
from kbd.errors import FileReadFailed

__all__ = ["MOST_DEATHS", "ContentRead", "Death", "SetAside", "SetAsideFiles", "death_of"]

MOST_DEATHS = 3
"""After so many deaths by one content no process is started for it any more."""

_MAX_REMEMBERED = 10_000
"""Contents with deaths, a few hundred bytes each; the one that died least recently is forgotten."""

_EXCEEDED_BYTES = 256
"""More than an answer takes that only names the limit that was passed."""

_FROM_OUTSIDE = frozenset(
    {signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGALRM}
)
"""Signals by which somebody else ends a process, such as a machine that shuts down."""

Death = Literal["crash", "limit"]
"""How a file ended its call: the process broke, or used up its memory or processor time."""


def death_of(answer: bytes | None, status: int | None) -> Death | None:
    """Return how a call's content ended its process; None if it did not, or it is not known.

    Args:
        answer: The answer's bytes, or None if none came.
        status: The status of `waitpid`; None if the zygote died, too, negative if nothing was
            started.
    """
    if answer is not None:
        return "limit" if _is_out_of_memory(answer) else None
    if status is None or status < 0:
        return None
    code = os.waitstatus_to_exitcode(status)
    if code >= 0:
        # A call answers before it exits; one that only exits was ended by the code it ran.
        return "crash" if code else None
    if -code in _FROM_OUTSIDE:
        return None
    # SIGKILL is the kernel's, where the memory of the machine is at its end.
    return "limit" if -code in (signal.SIGXCPU, signal.SIGKILL) else "crash"


def _is_out_of_memory(answer: bytes) -> bool:
    if len(answer) > _EXCEEDED_BYTES:
        return False
    try:
        return bool(msgspec.msgpack.decode(answer, type=Answer) == Exceeded("memory"))
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        return False


class ContentRead(msgspec.Struct, frozen=True):
    """A call that reads stored contents.

    Args:
        plugin: The plugin's name and version.
        function: What is called.
        blobs: The hashes of the contents; without any its deaths are nobody's.
        name: The file's name, for messages.
    """

    plugin: str
    function: str
    blobs: frozenset[str]
    name: str


class SetAside(msgspec.Struct, frozen=True):
    """A file that is set aside.

    Args:
        path: Its name when it was read last.
        plugin: The plugin's name and version.
        deaths: How many processes it took.
        reason: The same as a sentence.
    """

    path: str
    plugin: str
    deaths: int
    reason: str


class _Deaths(msgspec.Struct):
    """Deaths by one content."""

    name: str
    count: int = 0


_Key = tuple[str, str, frozenset[str]]


class SetAsideFiles:
    """The contents that killed workers, and how often.

    A crash counts for the content, whatever was called; a limit that was passed counts for the
    function: of a file too large for one of them another one may still show a part.
    """

    def __init__(self) -> None:
        self._deaths: dict[_Key, _Deaths] = {}

    def check(self, read: ContentRead) -> None:
        """Check that none of a call's contents is set aside.

        Raises:
            FileReadFailed: One is.
        """
        for key in _keys(read) if read.blobs else ():
            deaths = self._deaths.get(key)
            if deaths is not None and deaths.count >= MOST_DEATHS:
                raise FileReadFailed(
                    _reason(read.name or "the file", key, deaths.count),
                    actions=("go on with the other files", "replace the file by a sound copy"),
                    detail={"set_aside": True, "path": read.name, "deaths": deaths.count},
                )

    def note(self, read: ContentRead, death: Death) -> bool:
        """Note a death; return whether the content is set aside from now on."""
        if not read.blobs:
            return False
        function = read.function if death == "limit" else ""
        key = (read.plugin, function, read.blobs)
        deaths = self._deaths.pop(key, None) or _Deaths(read.name)
        deaths.name, deaths.count = read.name, deaths.count + 1
        # Put back last: the dict is in the order of the latest deaths.
        self._deaths[key] = deaths
        if len(self._deaths) > _MAX_REMEMBERED:
            del self._deaths[next(iter(self._deaths))]
        return deaths.count == MOST_DEATHS

    def files(self) -> tuple[SetAside, ...]:
        """Return what is set aside, the latest last."""
        return tuple(
            SetAside(deaths.name, key[0], deaths.count, _reason(deaths.name, key, deaths.count))
            for key, deaths in self._deaths.items()
            if deaths.count >= MOST_DEATHS
        )

    def reason(self, name: str, blob: str) -> str | None:
        """Return why a content is set aside by itself, or None if it is not."""
        for key, deaths in self._deaths.items():
            if deaths.count >= MOST_DEATHS and key[2] == {blob}:
                return _reason(name, key, deaths.count)
        return None


def _keys(read: ContentRead) -> Iterable[_Key]:
    """Yield under what a call's deaths may be noted: together, and of each content alone."""
    alone = {frozenset({blob}) for blob in read.blobs}
    for blobs in {read.blobs, *alone}:
        for function in ("", read.function):
            yield (read.plugin, function, blobs)


def _reason(name: str, key: _Key, count: int) -> str:
    plugin, function, _ = key
    what = f"{function.rpartition(':')[2].removesuffix('_file')}" if function else "workers"
    how = "exceeded its memory or processor time" if function else "crashed"
    return (
        f"{name} is set aside until kbd is restarted: {what} of plugin {plugin.partition(' ')[0]} "
        f"{how} on it {count} times"
    )
