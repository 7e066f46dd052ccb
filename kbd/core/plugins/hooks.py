"""Loading of one plugin: its entry point found, its hooks checked, registered and called.

Entry points are one group, read from the folders of `sys.path`: what `importlib.metadata` tells of
them, at a tenth of its price, 60 ms of a daemon's start. That is imported with parsers of mail and
of archives, and parses the whole description of a distribution each time that its name or version
is asked for. In return, only what lies unpacked in a folder is found: `*.dist-info`, and
`*.egg-info` of older tools.

pluggy's own loader stops at the first bad plugin, and one implementation that raises ends a
common call for all; so each package is checked, registered and called alone. A stranger's code that
only declares (its import, its hooks, what it says of itself) has a time for it: `LoadingTime`.
"""

import ctypes
import difflib
import inspect
import os
import re
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from operator import attrgetter
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

import msgspec
import pluggy

import kbd
from kbd import hookspecs
from kbd.errors import KbdError
from kbd.formats import FormatHandler

__all__ = [
    "GROUP",
    "HOOK_S",
    "LOADING_S",
    "OURS",
    "EntryPoint",
    "LoadingTime",
    "PluginError",
    "PluginLateError",
    "call_hook",
    "call_within",
    "declared_formats",
    "in_order",
    "installed_entry_points",
    "installed_points",
    "is_built_in",
    "new_registry",
    "register",
    "strangers",
]

HOOK_S = 2.0
"""A hook only declares (reliability, F13)."""

LOADING_S = 24.0
"""Imports and hooks of all strangers' plugins together: `kbd up` waits for 30 s. What is large is
to be imported with the first call, but often is not, and the first import after an installation
compiles it."""

GROUP = "kbd"
"""The group of entry points in which plugins are found."""

OURS = "kbd"
"""The distribution of the built-in plugins."""

T = TypeVar("T")


class EntryPoint(msgspec.Struct, frozen=True):
    """An entry point of an installed distribution.

    Args:
        name: Its name in the group.
        value: What it names: a module, or something of a module after a colon.
        version: The version of the distribution that it came in.
        source: The name of that distribution.
        stands_in: The folder of a package that a person has named to stand in for the installed
            one, or "".
    """

    name: str
    value: str
    version: str = "0"
    source: str = ""
    stands_in: str = ""

    def load(self) -> object:
        """Import what it names.

        Raises:
            Exception: Whatever the import raises.
        """
        module, _, part = self.value.partition("[")[0].partition(":")
        loaded = import_module(module.strip())
        return attrgetter(part.strip())(loaded) if part else loaded


def installed_entry_points(
    group: str, folders: Iterable[str], all_of: str = ""
) -> list[EntryPoint]:
    """Return the entry points of a group; of two distributions of one name, the first's.

    Args:
        group: The section of `entry_points.txt`.
        folders: As `sys.path` has them, in its order; what cannot be read holds nothing.
        all_of: The distribution of which every one counts, so that none hides another.
    """
    points: list[EntryPoint] = []
    seen: set[str] = set()
    for folder in folders:
        for place in _distributions(folder or "."):
            name = _plain_name(place.stem.partition("-")[0])
            if name not in seen or name == all_of:
                seen.add(name)
                points += _entry_points_of(place, group)
    return points


def _plain_name(name: str) -> str:
    """Return a distribution's name in the one spelling by which names are compared."""
    return re.sub("[-_.]+", "-", name).lower()


def in_order(points: Iterable[EntryPoint]) -> list[EntryPoint]:
    """Return entry points in the order of loading: built-in ones, each once, then the rest."""
    built_in: dict[tuple[str, str], EntryPoint] = {}
    others: list[EntryPoint] = []
    for point in points:
        if is_built_in(point):
            built_in.setdefault((point.name, point.value), point)
        else:
            others.append(point)

    def order(point: EntryPoint) -> tuple[str, str]:
        return (point.name, point.source)

    return [*sorted(built_in.values(), key=order), *sorted(others, key=order)]


def installed_points() -> list[EntryPoint]:
    """Return the entry points of all installed plugins."""
    return installed_entry_points(GROUP, sys.path, OURS)


def strangers(points: Iterable[EntryPoint]) -> list[EntryPoint]:
    """Return the entry points that are not kbd's own, in the order of loading.

    Without those that have the name of one of kbd's own: they are not loaded.
    """
    ordered = in_order(points)
    ours = {point.name for point in ordered if is_built_in(point)}
    return [point for point in ordered if point.name not in ours]


def is_built_in(point: EntryPoint) -> bool:
    """Return whether an entry point is kbd's own, by where its package lies; nothing is imported.

    A name alone is no proof: whoever comes first in `sys.path` could bear it. What stands in for
    one of kbd's own is taken for that.
    """
    if point.source != OURS:
        return False
    try:
        spec = find_spec(re.split(r"[.:\[]", point.value)[0].strip())
    except (ImportError, ValueError, AttributeError):
        return False
    beside = os.path.dirname(os.path.dirname(os.path.abspath(kbd.__file__)))
    folders = [folder + os.sep for folder in (beside, point.stands_in) if folder]
    places = (spec.origin, *(spec.submodule_search_locations or ())) if spec else ()
    return any(place and os.path.abspath(place).startswith(tuple(folders)) for place in places)


def _distributions(folder: str) -> list[Path]:
    try:
        names = os.listdir(folder)
    except OSError:  # no folder: not there, a zip archive, or not ours to read
        return []
    return [
        Path(folder, name) for name in sorted(names) if name.endswith((".dist-info", ".egg-info"))
    ]


def _entry_points_of(place: Path, group: str) -> Iterator[EntryPoint]:
    """Read a distribution's entry points; its name and version only if it has any."""
    section = ""
    found: list[tuple[str, str]] = []
    for line in _lines(place / "entry_points.txt"):
        if line.startswith("["):
            section = line.strip("[] ")
        elif section == group and line and not line.startswith(("#", ";")):
            name, _, value = line.partition("=")
            found.append((name.strip(), value.strip()))
    if found:
        headers = _headers(place)
        # Its folder's name is what an installer goes by; what it says of itself may be another's.
        lies_as = place.stem.partition("-")[0]
        told = headers.get("name", lies_as)
        source = told if _plain_name(told) == _plain_name(lies_as) else lies_as
        version = headers.get("version", "0")
        for name, value in found:
            yield EntryPoint(name, value, version, source)


def _headers(place: Path) -> dict[str, str]:
    """Return the headers of a distribution's description, by their names in small letters."""
    lines = _lines(place / "METADATA") or _lines(place / "PKG-INFO")
    end = lines.index("") if "" in lines else len(lines)
    split = (line.partition(":") for line in lines[:end])
    # From the last to the first, so that the first of a name holds.
    return {name.lower(): value.strip() for name, _, value in reversed([*split])}


def _lines(file: Path) -> list[str]:
    """Return a file's lines without the space around them; none if it cannot be read."""
    try:
        return [line.strip() for line in file.read_text("utf-8", "replace").splitlines()]
    except OSError:
        return []


class PluginError(KbdError):
    """Error of a plugin, in words; it becomes the reason in the plugin's status."""


class PluginLateError(PluginError):
    """Error of a plugin that took longer than it may."""


class LoadingTime:
    """The time that strangers' plugins have together while they are loaded.

    Each call of their code gets half of what is left at most, so that some is left for those that
    come after one that hangs, and all together end in time however many of them hang.

    Args:
        total_s: Seconds for all of them.
    """

    def __init__(self, total_s: float) -> None:
        self._left_s = total_s

    def call(self, limit_s: float, function: Callable[..., T], *arguments: Any) -> T:
        """Call a function of a plugin within its share, and within a limit of its own.

        Raises:
            PluginLateError: It is late.
            PluginError: It raised what is for kbd to raise.
            Exception: What it raised, SystemExit included.
        """
        began_s = time.monotonic()
        try:
            return call_within(min(limit_s, self._left_s / 2), function, *arguments)
        finally:
            self._left_s = max(0.0, self._left_s - (time.monotonic() - began_s))


def new_registry() -> pluggy.PluginManager:
    """Return a registry that knows the hooks of kbd and no plugin."""
    registry = pluggy.PluginManager("kbd")
    registry.add_hookspecs(hookspecs)
    return registry


def register(registry: pluggy.PluginManager, module: ModuleType) -> None:
    """Register a plugin's package after checking its hooks.

    Raises:
        PluginError: A hook does not exist, is asynchronous, is a wrapper, or has an argument that
            its specification has not.
    """
    for name in dir(module):
        options = registry.parse_hookimpl_opts(module, name)
        if options is not None:
            _check(options.get("specname") or name, vars(module)[name])
            # A wrapper could change what other plugins declare.
            if options["wrapper"] or options["hookwrapper"]:
                msg = f"hook {name} is a wrapper; hooks only declare"
                raise PluginError(msg)
    try:
        registry.register(module, module.__name__)
    except pluggy.PluginValidationError as fault:
        # pluggy has it half registered by then.
        registry.unregister(name=module.__name__)
        raise PluginError(" ".join(str(fault).split("\n")[1:3])) from None


def call_hook(
    registry: pluggy.PluginManager,
    module: ModuleType,
    hook: str,
    settings: Mapping[str, Any],
    **offered: Any,
) -> Sequence[Any]:
    """Call one package's implementation of a hook, if it has one, and return what it declares.

    Raises:
        PluginError: What came back is not a list or a tuple.
        Exception: Whatever the implementation raises.
    """
    available = {"settings": dict(settings), **offered}
    for caller in registry.get_hookcallers(module) or ():
        if caller.name != hook:
            continue
        for implementation in caller.get_hookimpls():
            if implementation.plugin is module:
                names = implementation.argnames
                answer = implementation.function(*(available[name] for name in names))
                if not isinstance(answer, list | tuple):
                    msg = f"it returned {type(answer).__name__} where a list is due"
                    raise PluginError(msg)
                return answer
    return ()


def declared_formats(module: ModuleType, settings: Mapping[str, Any]) -> Sequence[FormatHandler]:
    """Return the handlers that a package declares; what a worker of that package calls.

    Raises:
        Exception: Whatever is wrong with the plugin; the daemon would not have loaded it.
    """
    registry = new_registry()
    register(registry, module)
    return call_hook(registry, module, "kbd_register_formats", settings)


def _check(hook: str, function: object) -> None:
    if hook not in hookspecs.__all__:
        near = difflib.get_close_matches(hook, hookspecs.__all__, 1)
        hint = f"; did you mean {near[0]}?" if near else ""
        msg = f"there is no hook {hook}{hint}"
        raise PluginError(msg)
    if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
        msg = f"hook {hook} is asynchronous; hooks only declare"
        raise PluginError(msg)


def call_within(limit_s: float, function: Callable[..., T], *arguments: Any) -> T:
    """Call a function of a plugin in a thread of its own, and wait for it so long at most.

    A thread cannot be ended from outside; one that is late is asked to end, which it does unless it
    waits in C or will not. Nobody waits for it any more.

    Raises:
        PluginLateError: It is late.
        PluginError: It raised what is for kbd to raise (KeyboardInterrupt).
        Exception: What it raised, SystemExit included.
    """
    made: list[T] = []
    raised: list[BaseException] = []

    def work() -> None:
        try:
            made.append(function(*arguments))
        except BaseException as fault:  # noqa: BLE001 - raised again where it was called from
            raised.append(fault)

    thread = threading.Thread(target=work, name="plugin", daemon=True)
    thread.start()
    thread.join(limit_s)
    if made:
        return made[0]
    if not raised:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(
            ctypes.c_ulong(thread.ident or 0), ctypes.py_object(SystemExit)
        )
        msg = f"it took more than {limit_s:.2g} s"
        raise PluginLateError(msg)
    if isinstance(raised[0], Exception | SystemExit):
        raise raised[0]
    raise PluginError(type(raised[0]).__name__)
