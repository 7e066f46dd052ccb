"""Hook specifications for plugins, in the order in which the hooks are called.

A plugin is a package with an entry point in the group `kbd`:

    [project.entry-points.kbd]
    toml = "kbd_toml"

and, in that package, functions marked with `kbd.hookimpl`:

    from kbd import hookimpl

    @hookimpl
    def kbd_register_formats(settings):
        return [TomlHandler()]

Hooks only declare, once, when the daemon (or a worker of the plugin) starts. Behavior lives on the
objects they return. Each implementation is called on its own: one that raises, returns something
else or is asynchronous is left out with its reason (`kbd doctor`), and the others work. A hook may
leave out arguments that it does not need.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import pluggy

from kbd.formats import FormatHandler
from kbd.providers import Embedder, Provider
from kbd.tools import FormatCatalog, Tool

__all__ = [
    "kbd_register_embedders",
    "kbd_register_formats",
    "kbd_register_providers",
    "kbd_register_tools",
]

hookspec = pluggy.HookspecMarker("kbd")


@hookspec
def kbd_register_formats(settings: Mapping[str, Any]) -> Sequence[FormatHandler]:
    """Return the formats that this plugin handles.

    Called first, at start, and once in each worker process of the plugin.

    Args:
        settings: The plugin's own table of the settings file, `[plugins.<entry point name>]`.
    """


@hookspec
def kbd_register_providers(settings: Mapping[str, Any]) -> Sequence[Provider]:
    """Return the providers of models that this plugin brings.

    Called after the formats.

    Args:
        settings: The plugin's own table, with what the environment sets for it merged in
            (`base_url`, `model`, and `has_key`, never the key).
    """


@hookspec
def kbd_register_embedders(settings: Mapping[str, Any]) -> Sequence[Embedder]:
    """Return the embedders that this plugin brings, for search by meaning.

    Called after the providers. One may have the name of a provider of the same plugin: then both
    share its key and its address.

    Args:
        settings: As for `kbd_register_providers`.
    """


@hookspec
def kbd_register_tools(settings: Mapping[str, Any], formats: FormatCatalog) -> Sequence[Tool]:
    """Return the tools that this plugin brings.

    Called last, so that tools can be built from the formats there are.

    Args:
        settings: The plugin's own table.
        formats: The formats of all plugins, read-only.
    """
