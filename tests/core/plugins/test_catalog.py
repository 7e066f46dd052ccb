"""The catalog: formats by name, tools by phase, plain schemas."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal

import msgspec
import pytest

from kbd.core.plugins.catalog import Catalog, content_hash
from kbd.core.plugins.host import FormatsByName, Owned, Plugin, Plugins
from kbd.core.plugins.schemas import plain_schema
from kbd.errors import NotFound, StyleSkillLoadFailed
from kbd.formats import FormatHandler
from kbd.tools import Tool, ToolContext, ToolResult
from kbd.types import Effect, Phase


class Put(msgspec.Struct, frozen=True, tag="put", tag_field="op", forbid_unknown_fields=True):
    """Put a value."""

    value: int | str


class Wipe(msgspec.Struct, frozen=True, tag="wipe", tag_field="op", forbid_unknown_fields=True):
    """Wipe all."""


class Arguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What tools here take."""

    path: str
    operations: list[Put | Wipe]
    mode: Literal["a", "b"] = "a"


class Rune(FormatHandler):
    """A format with two suffixes and a whole name."""

    name = "rune"
    wire_name = "Rune"
    kind = "text"
    suffixes: ClassVar = {".rune": "text/x-rune", ".rune.gz": "application/gzip", "runes": "t/r"}


class Gzip(FormatHandler):
    """A format that also wants a suffix which is taken."""

    name = "gzip"
    wire_name = "Gzip"
    kind = "archive"
    suffixes: ClassVar = {".gz": "application/gzip", ".rune": "x/y"}


def tool(called: str, does: Effect) -> Tool:
    """Make a tool of a name and an effect."""

    class Made(Tool):
        name = called
        description = "Do it."
        arguments = Arguments
        effect = does

        async def run(self, context: ToolContext, arguments: Any) -> ToolResult:
            return ToolResult(None)

    return Made()


@pytest.fixture
def catalog() -> Catalog:
    """A catalog of two formats and five tools."""
    plugins = Plugins()
    owner = Plugin("runes", "kbd_runes", "1.2", Path(), {})
    handlers: Sequence[FormatHandler] = (Rune(), Gzip())
    plugins.formats = tuple(Owned(owner, handler) for handler in handlers)
    plugins.tools = tuple(
        Owned(owner, tool(name, effect))
        for name, effect in [
            ("write", Effect.WRITE),
            ("read_file", Effect.READ),
            ("recall_tool_result", Effect.RECALL),
            ("look", Effect.READ),
            ("remember", Effect.RECALL),
        ]
    )
    return Catalog(plugins)


@pytest.mark.parametrize(
    ("name", "format_name"),
    [
        ("a.rune", "rune"),
        ("A.RUNE", "rune"),
        ("deep/in/a.b.rune", "rune"),
        ("a.rune.gz", "rune"),
        ("a.tar.gz", "gzip"),
        ("Runes", "rune"),
        ("x/runes", "rune"),
        ("my-runes", None),
        ("rune", None),
        ("a.rune/b", None),
        ("a.rune.", None),
        ("", None),
    ],
)
def test_a_format_is_found_by_name(catalog: Catalog, name: str, format_name: str | None) -> None:
    """By the whole name, then the longest suffix, whatever the case."""
    handler = catalog.for_name(name)

    assert (handler.name if handler else None) == format_name


def test_the_first_format_keeps_a_suffix() -> None:
    """The order is that of loading, so that a stranger takes nothing from a built-in one."""
    found = FormatsByName([Gzip(), Rune()]).find("a.rune")

    assert found is not None
    assert (found[0].name, found[1]) == ("gzip", "x/y")


def test_a_files_kind(catalog: Catalog) -> None:
    """As its format says; a file that none handles is opaque, with the reason."""
    known, unknown = catalog.kind_of("a.rune"), catalog.kind_of("a.png")

    assert (known.kind, known.mime_type, known.is_opaque) == ("text", "text/x-rune", False)
    assert (unknown.kind, unknown.mime_type, unknown.is_opaque) == ("binary", "image/png", True)
    assert unknown.reason == "no installed format reads this type of file"
    assert catalog.kind_of("a.nonsense").mime_type == "application/octet-stream"


@pytest.mark.parametrize(
    ("phase", "names"),
    [
        (Phase.RESEARCH, ["look", "read_file", "recall_tool_result", "remember"]),
        (Phase.PLAN, ["read_file", "recall_tool_result"]),
        (Phase.IMPLEMENT, ["look", "read_file", "recall_tool_result", "remember", "write"]),
        (Phase.SUMMARY, []),
    ],
)
def test_the_tools_of_a_phase(catalog: Catalog, phase: Phase, names: list[str]) -> None:
    """Research looks, plan has exactly two, implement has all, summary none."""
    assert [entry.tool.name for entry in catalog.tools_for(phase)] == names


def test_a_thing_that_is_not_there(catalog: Catalog) -> None:
    """It is refused with what there is."""
    assert catalog.tool("look").plugin.version == "1.2"
    assert catalog.format("gzip").item.kind == "archive"
    with pytest.raises(NotFound, match="no tool 'fly'; there are: look, read_file"):
        catalog.tool("fly")
    with pytest.raises(NotFound, match="no provider 'x'; there are: none"):
        catalog.provider("x")


def test_a_schema_has_no_references() -> None:
    """Everything is in its place; nothing but the union's discriminator is left out."""
    schema = plain_schema(Arguments)

    assert schema["type"] == "object"
    assert schema["required"] == ["path", "operations"]
    assert schema["additionalProperties"] is False
    put, wipe = schema["properties"]["operations"]["items"]["anyOf"]
    assert put["properties"] == {
        "op": {"enum": ["put"]},
        "value": {"anyOf": [{"type": "integer"}, {"type": "string"}]},
    }
    assert wipe["description"] == "Wipe all."
    assert schema["properties"]["mode"] == {"enum": ["a", "b"], "default": "a"}
    text = msgspec.json.encode(schema).decode()
    assert "$" not in text
    assert "discriminator" not in text


def test_the_hash_of_a_plugin(tmp_path: Path) -> None:
    """It changes with any source file or name, and with nothing that Python leaves behind."""
    folder = tmp_path / "kbd_hashed"
    folder.mkdir()
    (folder / "__init__.py").write_text("import kbd")
    plugin = Plugin("hashed", "kbd_hashed", "1", folder, {})
    before = content_hash(plugin)
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__" / "x.pyc").write_text("x")
    same = content_hash(plugin)
    (folder / "prompt.md").write_text("Hello.")

    assert before == same
    assert content_hash(plugin) != before


class Looked(Rune):
    """A format that says how its files should look."""

    style_file = "style.md"


@pytest.mark.anyio
@pytest.mark.parametrize("content", [None, b"\xff\xfe", b" \n", b"x" * 17_000])
async def test_guidance_on_style_is_read_or_refused(tmp_path: Path, content: bytes | None) -> None:
    """A file that is missing or no such text is an error; the next call tries again."""
    plugins, handler = Plugins(), Looked()
    owner = Plugin("runes", "kbd_runes", "1.2", tmp_path, {})
    plugins.formats = (Owned(owner, handler),)
    catalog, file = Catalog(plugins), tmp_path / "style.md"
    if content is not None:
        file.write_bytes(content)

    with pytest.raises(StyleSkillLoadFailed) as refused:
        await catalog.style_guidance(handler)
    assert str(tmp_path) not in refused.value.message

    file.write_text("Ranks in columns.")
    assert await catalog.style_guidance(handler) == "Ranks in columns."
    file.unlink()
    assert await catalog.style_guidance(handler) == "Ranks in columns."
