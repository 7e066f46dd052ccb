"""API keys: where they come from, and how they are kept out of everything that is shown.

A plugin's key is, in this order: `<NAME>_API_KEY` of the environment; `api_key` in its table of a
settings file that only its owner can read; or the first line that its `api_key_command` prints.
Keys stay in the daemon: workers are started with an empty environment.
"""

import contextlib
import ctypes
import re
import shlex
import subprocess
from collections.abc import Mapping
from typing import Any

from kbd.core.paths import Home
from kbd.core.settings import read_table
from kbd.errors import ProviderNotConfigured, ValidationFailed

__all__ = ["Secrets", "hide_environment"]

COMMAND_S = 30.0
"""Seconds that a command may take to print a key; it may ask the user to unlock something."""

SHORTEST_REDACTED = 6
"""A shorter key is nobody's real key, and blotting it out would blot out ordinary words."""


PR_SET_DUMPABLE = 4


def hide_environment() -> None:
    """Make this process's memory and first environment unreadable for others of its user.

    A worker has an empty environment, but it runs as the same user, and without this it could
    read `/proc/<the daemon>/environ`, where keys may be. Core dumps, too, are off from here on.
    Where the system has no such call, nothing happens.
    """
    with contextlib.suppress(AttributeError, OSError):
        ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)


class Secrets:
    """The keys of the installed plugins. Its repr shows none of them.

    Args:
        home: Where the settings file is.
        environment: Where `<NAME>_API_KEY` is looked up.

    Raises:
        ValidationFailed: The settings file holds a key and others can read it.
    """

    def __init__(self, home: Home, environment: Mapping[str, str]) -> None:
        tables = read_table(home).get("plugins", {})
        self._tables: dict[str, Mapping[str, Any]] = {
            name: own for name, own in tables.items() if isinstance(own, dict)
        }
        self._environment = environment
        self._known: dict[str, str] = {}
        for name in environment:
            if name.endswith("_API_KEY") and environment[name].strip():
                self._known[name] = environment[name].strip()
        for name, own in self._tables.items():
            if isinstance(own.get("api_key"), str):
                self._known[f"plugins.{name}"] = own["api_key"]

    def __repr__(self) -> str:
        return f"<Secrets of {len(self._known)} keys, not shown>"

    def key(self, plugin: str) -> str | None:
        """Return a plugin's key, or None where none is set.

        A command is run at the first call, and waited for: call this in a thread.

        Raises:
            ProviderNotConfigured: The command failed, printed nothing or took too long.
        """
        from_environment = f"{re.sub(r'[^A-Za-z0-9]', '_', plugin).upper()}_API_KEY"
        for name in (from_environment, f"plugins.{plugin}"):
            if name in self._known:
                return self._known[name]
        command = self._tables.get(plugin, {}).get("api_key_command")
        if command is None:
            return None
        key = self._known[f"plugins.{plugin}"] = _printed(plugin, command)
        return key

    def redact(self, text: str) -> str:
        """Return a text with every known key in it replaced by `***`."""
        # The longest first, for one key may begin with another.
        for key in sorted(self._known.values(), key=len, reverse=True):
            if len(key) >= SHORTEST_REDACTED:
                text = text.replace(key, "***")
        return text


def _printed(plugin: str, command: object) -> str:
    setting = f"plugins.{plugin}.api_key_command"
    words: list[str] = []
    if isinstance(command, str):
        words = shlex.split(command)
    elif isinstance(command, list):
        words = [str(part) for part in command]
    if not words:
        msg = f"Setting {setting}: expected a command, as a text or a list of words."
        raise ValidationFailed(msg)
    try:
        # No shell: the words are the user's own, and nothing in them is expanded.
        done = subprocess.run(
            words, capture_output=True, check=False, text=True, timeout=COMMAND_S,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired, UnicodeDecodeError) as fault:
        msg = f"{setting} could not be run: {type(fault).__name__}."
        raise ProviderNotConfigured(msg) from None
    lines = done.stdout.split("\n", 1)
    if done.returncode or not lines[0].strip():
        msg = f"{setting} printed no key (exit status {done.returncode})."
        raise ProviderNotConfigured(msg)
    return lines[0].strip()
