"""Catalog of the formats, tools, providers and embedders of plugins, by name, with owners."""

import hashlib
import mimetypes
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from anyio import to_thread

from kbd.core.plugins.host import FormatsByName, Owned, Plugin, Plugins
from kbd.core.plugins.schemas import plain_schema, strict_schema
from kbd.core.plugins.wire_methods import WireMethod
from kbd.errors import NotFound, StyleSkillLoadFailed
from kbd.formats import Editable, FormatHandler, Previewable
from kbd.providers import Embedder, Provider, ToolSchema
from kbd.requests.base import Request
from kbd.tools import FormatCatalog, Tool
from kbd.types import Effect, Phase

__all__ = ["Catalog", "FileKind", "ToolEntry", "content_hash"]

T = TypeVar("T")

PLAN_TOOLS = ("read_file", "recall_tool_result")
"""The tools of the plan phase (contract, section 4): exactly these."""


STYLE_BYTES = 16 * 1024
"""The longest guidance on style of one format."""


class FileKind(msgspec.Struct, frozen=True, omit_defaults=True):
    """Kind of a file, by its name.

    Args:
        kind: The word that manifests show; "binary" where no format handles it.
        mime_type: Its MIME type, as its format says or as commonly guessed.
        is_opaque: Whether no installed format can look into it.
        reason: Why it is opaque.
    """

    kind: str
    mime_type: str
    is_opaque: bool = False
    reason: str | None = None


class _StrictToolSchema(ToolSchema, frozen=True, dict=True):
    """The schema of a tool whose strict form is made when it is first read, and kept.

    To make those of all tools is dearer than all else a catalog does, and only a provider that
    holds a model to schemas reads them. As a record it compares without that form, which follows
    from `parameters`.
    """

    @cached_property  # type: ignore[misc]  # a field of the record, made when it is read
    def strict(self) -> Mapping[str, Any] | None:
        """The strict form of `parameters`; None where there is none."""
        return strict_schema(self.parameters)


class ToolEntry(msgspec.Struct, frozen=True):
    """Entry of a tool: the tool, its owner, its schemas for models, its method if it has one."""

    tool: Tool
    plugin: Plugin
    schema: ToolSchema
    method: type[Request] | None = None


class Catalog(FormatCatalog):
    """The formats, tools, providers and embedders of all plugins.

    Args:
        plugins: They.

    Attributes:
        faults: What plugins do wrong, and which are left out for it.
    """

    def __init__(self, plugins: Plugins) -> None:
        self.faults = plugins.faults
        self._formats = FormatsByName(each.item for each in plugins.formats)
        self._format_owners = {each.item.name: each for each in plugins.formats}
        self._providers = {each.item.name: each for each in plugins.providers}
        self._embedders = {each.item.name: each for each in plugins.embedders}
        self._methods = plugins.methods
        self._tools = {
            each.item.name: ToolEntry(
                each.item, each.plugin, _schema(each.item), plugins.tool_methods.get(each.item.name)
            )
            for each in sorted(plugins.tools, key=lambda each: each.item.name)
        }
        self._hashes: dict[str, str] = {}
        self._styles: dict[str, str] = {}
        # An instance of its own, with the built-in table: the same on every machine.
        self._mime_types = mimetypes.MimeTypes()

    def handlers(self) -> Sequence[FormatHandler]:
        """Return all formats, sorted by name."""
        return self._formats.handlers()

    def for_name(self, name: str) -> FormatHandler | None:
        """Return the format for a file's name by its suffix, or None for an opaque file."""
        return self._formats.for_name(name)

    def format(self, name: str) -> Owned[FormatHandler]:
        """Return a format by its own name, with its owner.

        Raises:
            NotFound: There is none.
        """
        return _find(self._format_owners, name, "format")

    def print_format(self) -> Owned[FormatHandler] | None:
        """Return the format that documents are printed in, with its owner; None if there is none.

        Of several it is the one that was loaded first.
        """
        for owned in self._format_owners.values():
            if isinstance(owned.item, Previewable) and owned.item.print_suffix:
                return owned
        return None

    def methods(self) -> tuple[Owned[WireMethod], ...]:
        """Return the wire methods that formats contribute, in the order of loading."""
        return self._methods

    def kind_of(self, name: str) -> FileKind:
        """Return what a file is, by its name."""
        found = self._formats.find(name)
        if found is not None:
            return FileKind(kind=found[0].kind, mime_type=found[1])
        mime, _ = self._mime_types.guess_type(name.rsplit("/", 1)[-1])
        return FileKind(
            kind="binary",
            mime_type=mime or "application/octet-stream",
            is_opaque=True,
            reason="no installed format reads this type of file",
        )

    def editable_suffixes(self) -> tuple[str, ...]:
        """Return the suffixes of editable formats, sorted."""
        editable = (handler for handler in self.handlers() if isinstance(handler, Editable))
        return tuple(sorted({suffix for handler in editable for suffix in handler.suffixes}))

    def readable_suffixes(self) -> tuple[str, ...]:
        """Return how the names end of files that some format handles, sorted."""
        return self._formats.suffixes()

    def readable_kinds(self) -> tuple[str, ...]:
        """Return the kinds of files that some format handles, sorted."""
        return tuple(sorted({handler.kind for handler in self.handlers()}))

    def tool(self, name: str) -> ToolEntry:
        """Return a tool by name.

        Raises:
            NotFound: There is none.
        """
        return _find(self._tools, name, "tool")

    def tools(self) -> tuple[ToolEntry, ...]:
        """Return all tools, sorted by name, but those of plugins that were left out."""
        gone = self.faults.reason
        return tuple(each for each in self._tools.values() if gone(each.plugin.name) is None)

    def check_left_out(self, tool: str) -> None:
        """Raise PluginGone if a tool is there no more because its plugin was left out."""
        if tool in self._tools:
            self.faults.check(self._tools[tool].plugin.name)

    def tools_for(self, phase: Phase) -> tuple[ToolEntry, ...]:
        """Return the tools that may be called in a phase (contract, section 4)."""
        match phase:
            case Phase.RESEARCH:
                return tuple(e for e in self.tools() if e.tool.effect is not Effect.WRITE)
            case Phase.PLAN:
                return tuple(e for e in self.tools() if e.tool.name in PLAN_TOOLS)
            case Phase.IMPLEMENT:
                return self.tools()
            case Phase.SUMMARY:
                return ()

    async def hash_of(self, plugin: Plugin) -> str:
        """Return `content_hash` of a loaded plugin, as it was when this was first asked."""
        known = self._hashes.get(plugin.name)
        if known is None:
            known = self._hashes[plugin.name] = await to_thread.run_sync(content_hash, plugin)
        return known

    async def style_guidance(self, handler: FormatHandler) -> str:
        """Return a format's style guidance for models, read once.

        Raises:
            StyleSkillLoadFailed: It cannot be read; the next call tries again.
        """
        known = self._styles.get(handler.name)
        if known is None:
            folder = self.format(handler.name).plugin.folder
            known = await to_thread.run_sync(_read_style_guidance, handler, folder)
            self._styles[handler.name] = known
        return known

    def provider(self, name: str) -> Owned[Provider]:
        """Return a provider by name, with its owner.

        Raises:
            NotFound: There is none.
        """
        return _find(self._providers, name, "provider")

    def wrapped_model(self, model_id: str) -> str:
        """Return the wrapped model, if its provider wraps another, else the model itself."""
        name, _, wrapped = model_id.partition(":")
        owned = self._providers.get(name)
        return wrapped if owned is not None and owned.item.wraps else model_id

    def providers(self) -> tuple[Owned[Provider], ...]:
        """Return all providers, sorted by name."""
        return tuple(self._providers[name] for name in sorted(self._providers))

    def embedder(self, name: str) -> Owned[Embedder]:
        """Return an embedder by name, with its owner.

        Raises:
            NotFound: There is none.
        """
        return _find(self._embedders, name, "embedder")

    def embedders(self) -> tuple[Owned[Embedder], ...]:
        """Return all embedders, in the order of loading: built-in plugins come first."""
        return tuple(self._embedders.values())


def content_hash(plugin: Plugin) -> str:
    """Return the SHA-256 of a plugin's source files with their names, for the log.

    It reads them all: call it in a thread.
    """
    digest = hashlib.sha256()
    for path in sorted(plugin.folder.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            name = path.relative_to(plugin.folder).as_posix()
            body = path.read_bytes()
            # With their lengths, so that no end of a name can count as the beginning of a text.
            digest.update(f"{len(name)}:{name}:{len(body)}:".encode())
            digest.update(body)
    return digest.hexdigest()


def _read_style_guidance(handler: FormatHandler, folder: Path) -> str:
    try:
        with (folder / handler.style_file).open("rb") as file:
            # One byte more tells that a file is too long, however long it is.
            text = file.read(STYLE_BYTES + 1).decode()
    except (OSError, UnicodeDecodeError) as fault:
        why = fault.strerror if isinstance(fault, OSError) else "it is not UTF-8"
    else:
        if text.strip() and len(text) <= STYLE_BYTES:
            return text
        why = f"it is longer than {STYLE_BYTES:,} bytes" if text.strip() else "it is blank"
    msg = f"the style guidance for {handler.name} cannot be used and was left out: {why}"
    raise StyleSkillLoadFailed(msg)


def _schema(tool: Tool) -> ToolSchema:
    return _StrictToolSchema(tool.name, tool.description, plain_schema(tool.arguments))


def _find(things: Mapping[str, T], name: str, kind: str) -> T:
    if name not in things:
        msg = f"there is no {kind} {name!r}; there are: {', '.join(sorted(things)) or 'none'}"
        raise NotFound(msg)
    return things[name]
