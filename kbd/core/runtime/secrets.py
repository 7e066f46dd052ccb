"""API keys: their sources, and their redaction from everything that is shown.

A plugin's key is, in this order: `<NAME>_API_KEY` of the environment; `api_key` in its table of a
settings file that only its owner can read; or the first line that its `api_key_command` prints.
Keys stay in the daemon: workers are started with an empty environment.
"""

import base64
import contextlib
import ctypes
import json
import os
import re
import resource
import shlex
import subprocess
import threading
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

from kbd.core.runtime.paths import Home
from kbd.core.runtime.settings import read_table
from kbd.errors import ProviderNotConfigured, ValidationFailed

__all__ = ["REDACTED", "Secrets", "hide_environment", "inherited_environment"]

COMMAND_TIMEOUT_S = 30.0
"""Seconds that a command may take to print a key; it may ask the user to unlock something."""

SHORTEST_SECRET = 8
"""A shorter key is nobody's real key, and blotting it out would blot out ordinary words."""

PLACEHOLDERS = frozenset(
    {
        "lm-studio", "not-needed", "not_needed", "not-used", "not-required", "no-key-needed",
        "no-key-required", "sk-no-key-required", "dummy-key", "placeholder", "anything",
        "localhost", "local-model", "localai", "llama.cpp", "llama-cpp", "text-generation-webui",
    }
)  # fmt: skip
"""What the manuals of servers on one's own machine tell people to set where any key will do; a
person's document may be about them, and no run may write `***` into it."""

REDACTED = "***"
"""What stands in the place of a key."""

PR_SET_DUMPABLE = 4


_INHERITED = ("PATH", "TMPDIR")
"""All that a process of the daemon's sees of its environment: no key, no home, no proxy."""


def inherited_environment() -> dict[str, str]:
    """Return the environment for a process that the daemon starts: what no key can be in."""
    return {name: os.environ[name] for name in _INHERITED if name in os.environ}


def hide_environment() -> None:
    """Make this process's memory and first environment unreadable for others of its user.

    A worker has an empty environment, but it runs as the same user, and without this it could
    read `/proc/<the daemon>/environ`, where keys may be. Core dumps, too, are off from here on.
    Where the system has no such call, nothing happens.
    """
    # For what the daemon starts, too: a limit is inherited, and the flag below is not.
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
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
        # The key of each place it may be in, as it is now; and all that there ever were.
        self._found: dict[str, str] = {}
        self._known: list[str] = []
        self._forms: tuple[str, ...] = ()
        self._asking = threading.Lock()
        for name in environment:
            if name.endswith("_API_KEY"):
                self._find(name, environment[name])
            elif name.endswith("_BASE_URL"):
                self._find(f"the password of {name}", _password(environment[name]))
        for name, own in self._tables.items():
            if isinstance(own.get("api_key"), str):
                self._find(f"plugins.{name}", own["api_key"])
            password = _password(str(own.get("base_url", "")))
            self._find(f"the password of plugins.{name}.base_url", password)

    def __repr__(self) -> str:
        return f"<Secrets of {len(self._known)} keys, not shown>"

    @property
    def forms(self) -> tuple[str, ...]:
        """Encodings in which a known key may appear in a text, the longest first.

        As it is, as it stands in JSON, and within a base64 text, where it may begin at each of
        three places.
        """
        return self._forms

    def key(self, plugin: str) -> str | None:
        """Return a plugin's key, or None where none is set.

        A command is run at the first call, and waited for: call this in a thread.

        Raises:
            ProviderNotConfigured: The command failed, printed nothing or took too long; or what was
                found cannot be a key.
        """
        from_environment = f"{re.sub(r'[^A-Za-z0-9]', '_', plugin).upper()}_API_KEY"
        setting = f"plugins.{plugin}"
        for name in (from_environment, setting):
            if name in self._found:
                return _checked(name, self._found[name])
        command = self._tables.get(plugin, {}).get("api_key_command")
        if command is None:
            return None
        with self._asking:  # Its user is asked once, also by runs that start together.
            if setting not in self._found:
                self._find(setting, _printed(plugin, command))
            return _checked(f"{setting}.api_key_command", self._found[setting])

    def invalidate(self, plugin: str) -> None:
        """Discard the key of a plugin's command, for it was refused; the command runs again.

        What it printed before is still blotted out.
        """
        if "api_key_command" in self._tables.get(plugin, {}):
            with self._asking:
                self._found.pop(f"plugins.{plugin}", None)

    def redact(self, text: str) -> str:
        """Return a text with every known key in it replaced by `***`."""
        for form in self._forms:
            if form in text:
                text = text.replace(form, REDACTED)
        return text

    def _find(self, name: str, key: str) -> None:
        key = key.strip()
        if not key:
            return
        self._found[name] = key
        if key not in self._known:
            self._known.append(key)
            # The longest first, for one key may begin with another.
            found = {form for each in self._known if _is_secret(each) for form in _forms(each)}
            self._forms = tuple(sorted(found, key=len, reverse=True))


def _is_secret(key: str) -> bool:
    return len(key) >= SHORTEST_SECRET and key.lower() not in PLACEHOLDERS


def _password(address: str) -> str:
    """Return what an address names for who comes to it, or ""."""
    try:
        return urlsplit(address).password or ""
    except ValueError:
        return ""


def _forms(key: str) -> Iterator[str]:
    yield key
    yield json.dumps(key)[1:-1]
    data = key.encode()
    for before in range(3):
        # The characters at either end hang on what stands beside the key.
        cut = (0, 2, 3)[before]
        whole = (before + len(data)) * 8 // 6
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            yield encode(b"\0" * before + data).decode()[cut:whole]


def _checked(setting: str, key: str) -> str:
    """Return a key that can stand in a header.

    Raises:
        ProviderNotConfigured: It cannot.
    """
    if key.isascii() and key.isprintable() and " " not in key:
        return key
    msg = f"{setting} is no API key: it holds blanks, or characters that no key has"
    raise ProviderNotConfigured(msg)


def _printed(plugin: str, command: object) -> str:
    setting = f"plugins.{plugin}.api_key_command"
    words: list[str] = []
    if isinstance(command, str):
        words = shlex.split(command)
    elif isinstance(command, list):
        words = [str(part) for part in command]
    if not words:
        msg = f"setting {setting}: expected a command, as a text or a list of words"
        raise ValidationFailed(msg)
    try:
        # No shell: the words are the user's own, and nothing in them is expanded.
        done = subprocess.run(
            words, capture_output=True, check=False, text=True, timeout=COMMAND_TIMEOUT_S,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired, UnicodeDecodeError) as fault:
        # Neither the fault's text nor its chain: both can hold what the command printed.
        msg = f"{setting} could not be run: {type(fault).__name__}"
        raise ProviderNotConfigured(msg) from None
    lines = done.stdout.split("\n", 1)
    if done.returncode or not lines[0].strip():
        msg = f"{setting} printed no key (exit status {done.returncode})"
        raise ProviderNotConfigured(msg)
    return lines[0].strip()
