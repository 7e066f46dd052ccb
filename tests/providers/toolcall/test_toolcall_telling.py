"""Tools are told in few words, and nothing that a call needs is left out."""

from typing import Any

from kbd.core.plugins.catalog import Catalog
from kbd.core.plugins.hooks import EntryPoint
from kbd.core.plugins.host import Plugins
from kbd.core.runtime.settings import Settings
from kbd.providers import ToolSchema
from kbd_toolcall import kbd_register_providers
from kbd_toolcall.protocol import SchemaText, tools_text

POINT: dict[str, Any] = {
    "type": "object",
    "properties": {
        "x": {"type": "number", "description": "From the left, in points."},
        "y": {"type": "number", "description": "From the top, in points, or null for the line."},
        "label": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
    },
    "required": ["x", "y"],
}
LINE: dict[str, Any] = {
    "type": "object",
    "properties": {
        "op": {"const": "line"},
        "style": {"enum": ["thin", "thick"], "default": "thin"},
        "points": {"type": "array", "items": POINT},
        "end": {"anyOf": [POINT, {"type": "null"}], "description": "Where it ends."},
        "more": {"type": "object"},
        "any": {},
        "either": {"type": ["string", "integer"]},
    },
    "required": ["op", "points", "end"],
}


def test_a_schema_in_few_words() -> None:
    """Names, types, choices, defaults, what may be left out; a shared object is told once."""
    shapes = SchemaText([LINE])
    assert shapes.of(LINE) == (
        '{op: "line", style?: "thin"|"thick" = "thin", points: [SHAPE1], '
        "end: SHAPE1|null (Where it ends), more?: object, any?: any, either?: string|integer}"
    )
    point = (
        "{x: number (From the left, in points), "
        "y: number (From the top, in points, or null for the line), label?: string}"
    )
    assert dict(shapes.named()) == {"SHAPE1": point}
    brief = SchemaText([LINE], is_brief=True)
    assert dict(brief.named()) == {"SHAPE1": "{x: number, y: number, label?: string}"}
    assert "(Where it ends)" in brief.of(LINE)


def test_a_schema_without_end_is_told_to_its_bound() -> None:
    """What is nested deeper than anybody writes is left out."""
    deep: dict[str, Any] = {"type": "string"}
    for _ in range(100):
        deep = {"type": "object", "properties": {"a": deep}}
    assert SchemaText([deep]).of(deep).count("a?: ") < 20


def test_brief_tells_the_first_two_sentences() -> None:
    """And half of the bytes is room for files, in a small window."""
    tool = ToolSchema("t", "First. Second one.\nThird, and " + "long " * 2000, LINE)
    assert tools_text([tool], is_brief=True).endswith("\nFirst. Second one.")
    assert len(tools_text([tool])) < 5_000
    (whole,), (brief,) = (kbd_register_providers(given) for given in ({}, {"brief": True}))
    assert (brief.told_bytes([tool]) or 0) < (whole.told_bytes([tool]) or 0) / 5


def test_the_tools_of_the_daemon_in_less_than_half_of_their_schemas() -> None:
    """Measured on tools that edit: every argument's name is told."""
    found = [EntryPoint("edits", "kbd_edits"), EntryPoint("tables", "kbd_tables")]
    tools = [e.schema for e in Catalog(Plugins.discover(Settings(), found=found)).tools()]
    schemas = sum(len(str(tool.parameters)) for tool in tools)
    told = tools_text(tools)
    assert len(tools) > 5
    assert len(told) - sum(len(tool.description) for tool in tools) < schemas / 2
    for tool in tools:
        _, _, arguments = told.partition(f"### {tool.name} {{")
        line = arguments.partition("\n")[0]
        assert all(
            f"{name}:" in line or f"{name}?:" in line for name in tool.parameters["properties"]
        )
