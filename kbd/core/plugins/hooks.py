"""Hooks of one plugin's package: checked, registered and called by themselves.

pluggy's own loader stops at the first bad plugin, and one implementation that raises ends a
common call for all; so each package is checked, registered and called alone.
"""

import difflib
import inspect
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any

import pluggy

from kbd import hookspecs
from kbd.errors import KbdError
from kbd.formats import FormatHandler

__all__ = ["PluginError", "call_hook", "declared_formats", "new_registry", "register"]


class PluginError(KbdError):
    """What is wrong with a plugin, in words; it ends in the plugin's status."""


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
