"""Whether what a hook returned is well-formed: it becomes the plugin's status if it is not."""

import inspect
import re
from collections.abc import Mapping
from typing import Any

import msgspec

from kbd.core.plugins.contributions import wire_methods_of
from kbd.core.plugins.hooks import PluginError
from kbd.core.plugins.schemas import plain_schema
from kbd.formats import FormatHandler
from kbd.providers import Embedder, Provider
from kbd.tools import CallLimits, Tool
from kbd.types import Effect

__all__ = ["check_embedder", "check_format", "check_provider", "check_tool"]

_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
_WIRE_NAME = re.compile(r"[A-Z][A-Za-z0-9]{0,39}")
_FILE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,79}")
MOST_TEXTS = 2048
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
        raise PluginError(_stranger(item, "FormatHandler"))
    name = _matching(item, "name", _NAME)
    _matching(item, "wire_name", _WIRE_NAME)
    _require(item, "kind", isinstance(item.kind, str) and bool(item.kind))
    suffixes = item.suffixes
    _require(item, "suffixes", isinstance(suffixes, Mapping) and bool(suffixes))
    for suffix, mime in suffixes.items():
        fine = isinstance(suffix, str) and isinstance(mime, str) and suffix == suffix.lower()
        _require(item, "suffixes", fine and bool(suffix))
    _check_preload(item, item.preload)
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
        raise PluginError(_stranger(item, "Tool"))
    name = _matching(item, "name", _TOOL_NAME)
    _require(item, "description", isinstance(item.description, str) and bool(item.description))
    _require(item, "effect", isinstance(item.effect, Effect))
    _require(item, "limits", isinstance(item.limits, CallLimits))
    record = item.arguments
    _require(item, "arguments", isinstance(record, type) and issubclass(record, msgspec.Struct))
    _require(
        item, "arguments (forbid_unknown_fields)", record.__struct_config__.forbid_unknown_fields
    )
    plain_schema(record)
    _check_preload(item, item.preload)
    return name


def check_provider(item: object) -> str:
    """Return a provider's name.

    Raises:
        PluginError: It is not a provider, or its name is missing or ill-formed.
    """
    if not isinstance(item, Provider):
        raise PluginError(_stranger(item, "Provider"))
    return _matching(item, "name", _NAME)


def check_embedder(item: object) -> str:
    """Return an embedder's name.

    Raises:
        PluginError: It is not an embedder, or an attribute is missing or ill-formed.
    """
    if not isinstance(item, Embedder):
        raise PluginError(_stranger(item, "Embedder"))
    name = _matching(item, "name", _NAME)
    most = item.most_texts
    _require(item, "most_texts", type(most) is int and 1 <= most <= MOST_TEXTS)
    return name


def _stranger(item: object, due: str) -> str:
    return f"it returned {type(item).__name__} where a {due} is due"


def _check_preload(item: object, preload: Any) -> None:
    fine = isinstance(preload, tuple) and all(isinstance(name, str) for name in preload)
    _require(item, "preload", fine)


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
