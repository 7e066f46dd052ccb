"""Plugin host: finds plugins, loads each on its own, and keeps what they declare.

A plugin that fails, in whatever way, is a status with a reason; the others work. What a hook
returned is checked here, and what is ill-formed becomes the plugin's status. Built-in plugins come
first and then the rest by name, so that a stranger's plugin cannot take the name of a built-in
format, tool or provider; blocking the built-in one frees its names. Built in is what kbd's own
distribution names and lies beside kbd itself: one that only says so is left out.
"""

import inspect
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any, Generic, Literal, TypeVar

import msgspec

from kbd.core.plugins.faults import PluginFaults
from kbd.core.plugins.guards import GuardedEmbedder, GuardedProvider
from kbd.core.plugins.hooks import (
    HOOK_S,
    LOADING_S,
    OURS,
    EntryPoint,
    LoadingTime,
    PluginError,
    PluginLateError,
    call_hook,
    in_order,
    installed_points,
    is_built_in,
    new_registry,
    register,
)
from kbd.core.plugins.running_code import PluginCode, RunningCode
from kbd.core.plugins.schemas import plain_schema
from kbd.core.plugins.wire_methods import WireMethod, tool_method_of, wire_methods_of
from kbd.core.runtime.settings import Settings
from kbd.formats import FormatHandler, Previewable, Printable
from kbd.providers import Embedder, Provider
from kbd.requests import METHODS
from kbd.requests.base import Request
from kbd.tools import CallLimits, FormatCatalog, Tool
from kbd.types import Effect

__all__ = [
    "FormatsByName",
    "Owned",
    "Plugin",
    "PluginStatus",
    "Plugins",
    "check_embedder",
    "check_format",
    "check_provider",
    "check_tool",
]


class FormatsByName(FormatCatalog):
    """Formats by file name, read-only; of two that claim one suffix, the first one has it."""

    def __init__(self, handlers: Iterable[FormatHandler]) -> None:
        given = tuple(handlers)
        self._handlers = tuple(sorted(given, key=lambda handler: handler.name))
        self._by_suffix: dict[str, tuple[FormatHandler, str]] = {}
        for handler in given:
            for suffix, mime in handler.suffixes.items():
                # The first keeps it: built-in plugins are loaded first, so a stranger's takes
                # nothing from them.
                self._by_suffix.setdefault(suffix, (handler, mime))

    def handlers(self) -> Sequence[FormatHandler]:
        """Return all handlers, sorted by name."""
        return self._handlers

    def for_name(self, name: str) -> FormatHandler | None:
        """Return the handler for a file's name, or None; case does not matter."""
        found = self.find(name)
        return found[0] if found else None

    def find(self, name: str) -> tuple[FormatHandler, str] | None:
        """Return the handler for a file's name with the MIME type that it gives, or None."""
        last = name.rsplit("/", 1)[-1].casefold()
        dots = (place for place, letter in enumerate(last) if letter == ".")
        for candidate in (last, *(last[place:] for place in dots)):
            if candidate in self._by_suffix:
                return self._by_suffix[candidate]
        return None

    def suffixes(self) -> tuple[str, ...]:
        """Return every known suffix, sorted."""
        return tuple(sorted(self._by_suffix))


_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
_WIRE_NAME = re.compile(r"[A-Z][A-Za-z0-9]{0,39}")
_FILE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,79}")
_SUFFIX = re.compile(r"\.[a-z0-9]{1,9}")
MAX_TEXTS = 2048
"""What OpenAI takes in one request (2026); more would only make one failure cost more."""
# What model servers accept as the name of a function.
_TOOL_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


def check_format(item: object) -> str:
    """Return a format's name.

    Raises:
        PluginError: It is not a handler, or an attribute is missing or ill-formed.
        TypeError: An operation has no JSON schema.
    """
    if not isinstance(item, FormatHandler):
        raise PluginError(_type_error(item, "FormatHandler"))
    name = _matching(item, "name", _NAME)
    _matching(item, "wire_name", _WIRE_NAME)
    _require(item, "kind", isinstance(item.kind, str) and bool(item.kind))
    suffixes = item.suffixes
    _require(item, "suffixes", isinstance(suffixes, Mapping) and bool(suffixes))
    for suffix, mime in suffixes.items():
        fine = isinstance(suffix, str) and isinstance(mime, str) and suffix == suffix.lower()
        _require(item, "suffixes", fine and bool(suffix))
    _check_preload(item, item.preload)
    _check_prints(item)
    _require(item, "style_file", not item.style_file or bool(_FILE.fullmatch(item.style_file)))
    words = item.style_words
    _require(item, "style_words", isinstance(words, tuple) and all(map(str.strip, words)))
    wire_methods_of(item)
    return name


def check_tool(item: object) -> str:
    """Return a tool's name.

    Raises:
        PluginError: It is not a tool, an attribute is missing or ill-formed, or its arguments have
            no JSON schema.
    """
    if not isinstance(item, Tool):
        raise PluginError(_type_error(item, "Tool"))
    name = _matching(item, "name", _TOOL_NAME)
    _require(item, "description", isinstance(item.description, str) and bool(item.description))
    _require(item, "effect", isinstance(item.effect, Effect))
    _require(item, "limits", isinstance(item.limits, CallLimits))
    record = item.arguments
    _require(item, "arguments", isinstance(record, type) and issubclass(record, msgspec.Struct))
    _require(
        item, "arguments (forbid_unknown_fields)", record.__struct_config__.forbid_unknown_fields
    )
    # A tool without a schema is refused at start, not when a model is first told of it.
    plain_schema(record)
    _check_preload(item, item.preload)
    tool_method_of(item)
    return name


def check_provider(item: object) -> str:
    """Return a provider's name.

    Raises:
        PluginError: It is not a provider, or its name is missing or ill-formed.
    """
    if not isinstance(item, Provider):
        raise PluginError(_type_error(item, "Provider"))
    return _matching(item, "name", _NAME)


def check_embedder(item: object) -> str:
    """Return an embedder's name.

    Raises:
        PluginError: It is not an embedder, or an attribute is missing or ill-formed.
    """
    if not isinstance(item, Embedder):
        raise PluginError(_type_error(item, "Embedder"))
    name = _matching(item, "name", _NAME)
    most = item.most_texts
    _require(item, "most_texts", type(most) is int and 1 <= most <= MAX_TEXTS)
    return name


def _type_error(item: object, due: str) -> str:
    return f"it returned {type(item).__name__} where a {due} is due"


def _check_preload(item: object, preload: Any) -> None:
    fine = isinstance(preload, tuple) and all(isinstance(name, str) for name in preload)
    _require(item, "preload", fine)


def _check_prints(item: FormatHandler) -> None:
    """Check what a format declares of printed documents."""
    if isinstance(item, Previewable):
        suffix = item.print_suffix
        _require(item, "print_suffix", not suffix or bool(_SUFFIX.fullmatch(suffix)))
    if isinstance(item, Printable):
        filters = item.print_filters
        fine = isinstance(filters, Mapping) and all(isinstance(each, str) for each in filters)
        _require(item, "print_filters", fine and all(map(str.isprintable, filters.values())))
        _require(item, "page_count_field", isinstance(item.page_count_field, str))


def _matching(item: object, attribute: str, form: re.Pattern[str]) -> str:
    value = inspect.getattr_static(item, attribute, None)
    if not isinstance(value, str) or not form.fullmatch(value):
        msg = f"{type(item).__name__}.{attribute} is {value!r}, and must match {form.pattern}"
        raise PluginError(msg)
    return value


def _require(item: object, attribute: str, fine: bool) -> None:  # noqa: FBT001 - a condition
    if not fine:
        msg = f"{type(item).__name__}.{attribute} is not as kbd needs it"
        raise PluginError(msg)


T = TypeVar("T")
FoundState = Literal["loaded", "left_out", "blocked"]


class PluginStatus(msgspec.Struct, frozen=True, omit_defaults=True):
    """Status of an installed plugin, for `PluginsList` and `kbd doctor`.

    Args:
        name: Its entry point's name.
        version: The version of the distribution that it came in.
        source: The name of that distribution.
        kind: What it brings: "format", "tool", "provider" or "embedder", several joined by ", ", or
            "".
        status: Loaded, left out because of a fault, or blocked by the settings.
        reason: Why it was left out, or what of a loaded plugin was.
        contributions: Each thing by kind and name ("tool read_file").
    """

    name: str
    version: str
    source: str
    kind: str
    status: FoundState
    reason: str | None = None
    contributions: tuple[str, ...] = ()


class Plugin(msgspec.Struct, frozen=True):
    """A loaded plugin.

    Args:
        name: Its entry point's name.
        package: The package that holds its hooks; its worker runs functions of that package only.
        version: The version of its distribution.
        folder: Where the package lies.
        settings: The table that its hooks were given.
    """

    name: str
    package: str
    version: str
    folder: Path
    settings: Mapping[str, Any]


class Owned(msgspec.Struct, Generic[T], frozen=True):
    """Object of a plugin, with its owner."""

    plugin: Plugin
    item: T


class _PluginEntry:
    """One entry point and what became of it."""

    def __init__(self, point: EntryPoint) -> None:
        self.name = point.name
        self.version = point.version
        self.source = point.source
        self.module: ModuleType | None = None
        self.plugin: Plugin | None = None
        self.blocked = False
        # It is asked no more: each of its hooks, and each thing that it brings, may hang as well.
        self.late = False
        # Those of kbd itself are its own code.
        self.is_ours = is_built_in(point)
        self.faults: list[str] = []
        self.contributions: list[tuple[str, str]] = []

    @property
    def code(self) -> PluginCode:
        """What its code is called."""
        return PluginCode(self.name, self.version)

    def status(self, gone: str | None = None) -> PluginStatus:
        """Return its status for clients; `gone` is why it was left out after it was loaded."""
        state: FoundState = "loaded" if self.contributions else "left_out"
        faults = self.faults
        if gone is not None:
            state, faults = "left_out", [*faults, gone]
        if self.blocked:
            state, faults = "blocked", ["the setting blocked_plugins names it"]
        elif not self.contributions and not faults:
            faults = ["it declares nothing"]
        return PluginStatus(
            name=self.name,
            version=self.version,
            source=self.source,
            kind=", ".join(dict.fromkeys(kind for kind, _ in self.contributions)),
            status=state,
            reason="; ".join(faults) or None,
            contributions=tuple(f"{kind} {name}" for kind, name in self.contributions),
        )


class Plugins:
    """The plugins of one daemon, as they were found at start. `discover` makes it.

    Attributes:
        faults: What plugins did wrong since, and which are left out for it.
        formats: The handlers with their owners, in that order.
        providers: The providers likewise.
        embedders: The embedders likewise.
        tools: The tools likewise.
        methods: The wire methods that the formats contribute, likewise.
    """

    def __init__(
        self,
        running: RunningCode | None = None,
        left_out: Mapping[PluginCode, str] | None = None,
        loading_s: float = LOADING_S,
    ) -> None:
        self._registry = new_registry()
        self._entries: list[_PluginEntry] = []
        self._time = LoadingTime(loading_s)
        self._running = running or RunningCode()
        self._left_out = left_out or {}
        self.faults = PluginFaults(running=self._running)
        self.formats: tuple[Owned[FormatHandler], ...] = ()
        self.providers: tuple[Owned[Provider], ...] = ()
        self.embedders: tuple[Owned[Embedder], ...] = ()
        self.tools: tuple[Owned[Tool], ...] = ()
        self.methods: tuple[Owned[WireMethod], ...] = ()
        self.tool_methods: dict[str, type[Request]] = {}

    @classmethod
    def discover(
        cls,
        settings: Settings,
        *,
        environment: Mapping[str, str] | None = None,
        found: Iterable[EntryPoint] | None = None,
        running: RunningCode | None = None,
        left_out: Mapping[PluginCode, str] | None = None,
        loading_s: float = LOADING_S,
    ) -> "Plugins":
        """Load all plugins and collect their declarations; no plugin's fault is raised.

        Args:
            settings: Names the blocked ones, and has each one's own table.
            environment: Where `<NAME>_BASE_URL` and the like are looked up.
            found: The entry points to load; those that are installed if None.
            running: Where strangers' plugins stand while their code runs.
            left_out: Those of which no code runs, with the reasons.
            loading_s: The time that strangers' plugins have together.
        """
        plugins = cls(running, left_out, loading_s)
        for point in in_order(installed_points() if found is None else found):
            plugins._load(point, settings, environment or {})
        plugins.faults.exempt = {entry.name for entry in plugins._entries if entry.is_ours}
        plugins.faults.versions = {entry.name: entry.version for entry in plugins._entries}
        plugins.formats = plugins._collect("kbd_register_formats", "format", check_format)
        plugins.methods = plugins._collect_methods()
        plugins.providers = plugins._collect("kbd_register_providers", "provider", check_provider)
        owners = {each.item.name: each.plugin for each in plugins.providers}
        plugins.embedders = plugins._collect(
            "kbd_register_embedders", "embedder", check_embedder, owners
        )
        catalog = FormatsByName(each.item for each in plugins.formats)
        plugins.tools = plugins._collect("kbd_register_tools", "tool", check_tool, formats=catalog)
        plugins.tool_methods = plugins._collect_tool_methods()
        return plugins

    @property
    def statuses(self) -> tuple[PluginStatus, ...]:
        """Every entry point that was found, in the order of loading."""
        return tuple(entry.status(self.faults.reason(entry.name)) for entry in self._entries)

    @property
    def has_late(self) -> bool:
        """Whether any plugin took longer than it may while it was loaded."""
        return any(entry.late for entry in self._entries)

    def loaded(self) -> tuple[Plugin, ...]:
        """Return the loaded plugins in the order of loading."""
        return tuple(
            entry.plugin for entry in self._entries if entry.plugin and entry.contributions
        )

    def get(self, name: str) -> Plugin:
        """Return a loaded plugin by its entry point's name.

        Raises:
            KeyError: There is none.
        """
        return {plugin.name: plugin for plugin in self.loaded()}[name]

    def preload(self, name: str) -> tuple[str, ...]:
        """Return the modules that a plugin's worker imports before its first call, and warm-ups."""
        formats = [each.item.preload for each in self.formats if each.plugin.name == name]
        tools = [each.item.preload for each in self.tools if each.plugin.name == name]
        return tuple(dict.fromkeys(module for part in (*formats, *tools) for module in part))

    def _load(self, point: EntryPoint, settings: Settings, environment: Mapping[str, str]) -> None:
        """Import one plugin and register its hooks, or note why not."""
        entry = _PluginEntry(point)
        self._entries.append(entry)
        # Before it is imported: none of a blocked plugin's code runs.
        if point.name in settings.blocked_plugins:
            entry.blocked = True
            return
        if not entry.is_ours and (reason := self._left_out.get(entry.code)):
            entry.faults.append(reason)
            return
        try:
            if point.source == OURS and not entry.is_ours:
                msg = f"it says that it is a part of kbd, but {point.value} does not lie beside kbd"
                raise PluginError(msg)
            if any(other.plugin and other.name == point.name for other in self._entries):
                msg = f"another plugin is called {point.name}"
                raise PluginError(msg)
            module = self._call(entry, LOADING_S, point.load)
            if not isinstance(module, ModuleType):
                msg = f"the entry point names {point.value}, which is not a module"
                raise PluginError(msg)
            register(self._registry, module)
        # A module may call `sys.exit()` while it is imported (facts/runtime.md 6).
        except (Exception, SystemExit) as fault:  # noqa: BLE001 - its fault stays its own
            entry.faults.append(_fault_line(fault))
            return
        entry.module = module
        entry.plugin = Plugin(
            name=point.name,
            package=module.__name__,
            version=entry.version,
            folder=Path(module.__file__ or "").parent,
            settings=settings.of_plugin(point.name, environment),
        )

    def _collect(
        self,
        hook: str,
        kind: str,
        check: Callable[[object], str],
        owners: Mapping[str, Plugin] | None = None,
        **offered: Any,
    ) -> tuple[Owned[Any], ...]:
        """Call one hook of each plugin by itself; keep what is well-formed and new.

        Args:
            hook: Its name.
            kind: What it declares.
            check: Returns the name of a thing, or raises.
            owners: Whose names are whose already: people agree to a name and disable a name, so
                one name is one plugin's affair.
            offered: What the hook is given beside the settings.
        """
        taken: dict[str, Owned[Any]] = {}
        for entry in self._entries:
            if entry.plugin is None:
                continue
            for item in self._declarations(entry, hook, offered):
                if entry.late:
                    break
                try:
                    # Its attributes may be code of the plugin, too.
                    name = self._call(entry, HOOK_S, check, item)
                    if name in taken:
                        owner = taken[name].plugin.name
                        msg = f"{kind} {name} is left out: plugin {owner} brings one, too"
                        raise PluginError(msg)
                    if (held := (owners or {}).get(name, entry.plugin)) is not entry.plugin:
                        msg = f"{kind} {name} is left out: that is a name of plugin {held.name}'s"
                        raise PluginError(msg)
                    kept = item if entry.is_ours else self._guard(entry.plugin, item, name)
                except (Exception, SystemExit) as fault:  # noqa: BLE001 - as above
                    entry.faults.append(_fault_line(fault))
                    continue
                taken[name] = Owned(plugin=entry.plugin, item=kept)
                entry.contributions.append((kind, name))
        return tuple(taken.values())

    def _guard(self, plugin: Plugin, item: T, name: str) -> T | GuardedProvider | GuardedEmbedder:
        """Return what is handed out in the place of something that a stranger's plugin brings."""
        match item:
            case Provider():
                return GuardedProvider(self.faults, plugin.name, item, name)
            case Embedder():
                return GuardedEmbedder(self.faults, plugin.name, item, name)
            case _:
                return item

    def _collect_methods(self) -> tuple[Owned[WireMethod], ...]:
        """Return the wire methods of all formats; of two of one name the second is left out."""
        taken: dict[str, Owned[WireMethod]] = {}
        for owned in self.formats:
            entry = next(each for each in self._entries if each.plugin is owned.plugin)
            if entry.late:
                continue
            faults = entry.faults
            try:
                methods = self._call(entry, HOOK_S, wire_methods_of, owned.item)
            except (Exception, SystemExit) as fault:  # noqa: BLE001 - as above
                faults.append(_fault_line(fault))
                continue
            for method in methods:
                name = method.kind.method
                if why := _name_fault(name, taken):
                    faults.append(why)
                else:
                    taken[name] = Owned(plugin=owned.plugin, item=method)
        return tuple(taken.values())

    def _collect_tool_methods(self) -> dict[str, type[Request]]:
        """Return the methods that tools name, by tool; one whose name is taken is left out."""
        taken: dict[str, Owned[Any]] = {each.item.kind.method: each for each in self.methods}
        found: dict[str, type[Request]] = {}
        for owned in self.tools:
            entry = next(each for each in self._entries if each.plugin is owned.plugin)
            if entry.late:
                continue
            try:
                method = self._call(entry, HOOK_S, tool_method_of, owned.item)
            except (Exception, SystemExit) as fault:  # noqa: BLE001 - as above
                entry.faults.append(_fault_line(fault))
                continue
            if method is None:
                continue
            if why := _name_fault(method.method, taken):
                entry.faults.append(why)
                continue
            taken[method.method] = owned
            found[owned.item.name] = method
        return found

    def _declarations(
        self, entry: _PluginEntry, hook: str, offered: Mapping[str, Any]
    ) -> Sequence[Any]:
        if entry.module is None or entry.plugin is None or entry.late:
            return ()
        try:
            call = partial(call_hook, self._registry, entry.module, hook, entry.plugin.settings)
            return self._call(entry, HOOK_S, partial(call, **offered))
        except (Exception, SystemExit) as fault:  # noqa: BLE001 - as above
            entry.faults.append(f"{hook}: {_fault_line(fault)}")
            return ()

    def _call(
        self, entry: _PluginEntry, limit_s: float, function: Callable[..., T], *args: Any
    ) -> T:
        """Call a plugin's code; that of a stranger within a time."""
        if entry.is_ours:
            return function(*args)
        try:
            with self._running.entered(entry.code):
                return self._time.call(limit_s, function, *args)
        except PluginLateError:
            entry.late = True
            raise


def _name_fault(name: str, taken: Mapping[str, Owned[Any]]) -> str:
    """Return why a method of this name is left out, or ""."""
    # Else a plugin would answer what clients ask of kbd itself.
    if name in METHODS:
        return f"method {name} is left out: it is one of kbd's own"
    if name in taken:
        return f"method {name} is left out: plugin {taken[name].plugin.name} brings one, too"
    return ""


def _fault_line(fault: BaseException) -> str:
    """Render a fault in one line, without the folders of the paths in it."""
    if isinstance(fault, PluginError):
        return fault.message
    text = " ".join(str(fault).split())
    text = re.sub(r"(?:/[^\s/:'\",()]+){2,}", lambda path: path[0].rsplit("/", 1)[1], text)
    return f"{type(fault).__name__}: {text[:300]}" if text else type(fault).__name__
