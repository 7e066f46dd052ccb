"""Calls with hostile paths: of each parameter of each method and tool that takes a text.

Nothing is listed by hand: methods and their parameters are those of `rpc.discover`, tools and their
arguments those of the catalog. What else a call needs is made up from its schema.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

__all__ = [
    "ABSOLUTE",
    "PATHS",
    "PathCall",
    "is_path",
    "method_calls",
    "name_calls",
    "named_calls",
    "tool_calls",
]

Schema = dict[str, Any]

PATHS: Mapping[str, str] = {
    "NUL": "{}a\0b.txt",
    "a loop of links": "{}loop/x.txt",
    "5,000 bytes": "{}" + "x" * 5000,
    "a part of 256 bytes": "{}" + "x" * 256,
    "1,000 levels": "{}" + "d/" * 1000 + "x",
    "upwards": "{}../../../../../../../../x",
    "a lone surrogate": "{}a\ud800.txt",
    "of the kernel": "/proc/self/root/tmp/x",
}
"""Hostile paths; `{}` stands for the folder that a path begins with, if it is an absolute one."""

ILLEGAL_NAMES = (
    "../x", "a/../../x", "/etc/passwd", "~/x", "//host/share/x", "C:\\x", "..\\..\\x", "a\0.xlsx",
    "x" * 256, "x" * 4000, "d/" * 1000 + "x", "/proc/self/root/etc/passwd", "/proc/self/fd/3",
    "/dev/stdin", "a\u202eb.txt", "a\u200bb.txt", "a\nb.txt", "\x1b[31mred.txt", "CON.xlsx",
    "x.xlsx.", "x.xlsx::$DATA", "meta/x", "draft/../meta/x", "../draft-evil/x",
)  # fmt: skip
"""Names that no tool takes (reliability, A1 to A14, A24 to A26, A29 to A32, A34 to A37)."""

_ALWAYS = frozenset({"NUL", "5,000 bytes"})
"""Texts that parameters get which are no paths, too."""

ABSOLUTE = frozenset(
    {
        "source_path", "source_paths", "destination_dir", "deliver_to", "folder", "target",
        "index_dir", "with_plugin",
    }
)  # fmt: skip
"""Parameters that name places of the machine; other paths are names in a workbench."""

NAMES = frozenset({"path", "paths", "workbench_paths", "target_path", "copy_from"})

_LIKE_A_PATH = re.compile(r"path|dir$|folder|^target|deliver|copy_from|plugin$|root$")

NO_PATHS = frozenset({"root"})
"""Parameters that are called like a path and are none: which version, draft or published."""


class PathCall(NamedTuple):
    """One call with a hostile text.

    Args:
        name: The method or tool.
        parameter: Where the text stands.
        kind: Which text it is.
        arguments: All arguments.
    """

    name: str
    parameter: str
    kind: str
    arguments: dict[str, Any]


def is_path(parameter: str) -> bool:
    """Return whether a parameter is a path; one that is called like one must be known here."""
    known = parameter in ABSOLUTE | NAMES
    assert known or parameter in NO_PATHS or not _LIKE_A_PATH.search(parameter), parameter
    return known


def method_calls(document: Schema, usual: Mapping[str, Any], folder: str) -> Iterator[PathCall]:
    """Yield a call of each method with each hostile text in each parameter that takes a text.

    Args:
        document: The answer of `rpc.discover`.
        usual: What parameters are given that are not the hostile one, by name.
        folder: A folder of the user's, with a loop of links in it.
    """
    root = document
    for method in document["methods"]:
        schemas = {each["name"]: each["schema"] for each in method["params"]}
        required = {each["name"] for each in method["params"] if each["required"]}
        yield from _calls(method["name"], schemas, required, root, usual, folder)


def named_calls(
    document: Schema, usual: Callable[[str], Mapping[str, Any]]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield a plain call of each method that takes a name in a workbench.

    Args:
        document: The answer of `rpc.discover`.
        usual: Tells what a method's parameters are given, by name.
    """
    for method in document["methods"]:
        known = usual(method["name"])
        schemas = {each["name"]: each["schema"] for each in method["params"]}
        required = {each["name"] for each in method["params"] if each["required"]}
        named = NAMES & schemas.keys() & (required | known.keys())
        if named:
            yield (
                method["name"],
                {
                    each: known.get(each, _plain(schemas[each], document))
                    for each in required | named
                    if each in known or each in required
                },
            )


def tool_calls(
    tools: Mapping[str, Schema], usual: Mapping[str, Any], folder: str
) -> Iterator[PathCall]:
    """Yield the same for tools, whose schemas stand by their names."""
    for name, schema in tools.items():
        required = set(schema.get("required", ()))
        yield from _calls(name, schema["properties"], required, schema, usual, folder)


def name_calls(tools: Mapping[str, Schema], usual: Mapping[str, Any]) -> Iterator[PathCall]:
    """Yield a call of each tool with each illegal name in each parameter that is one."""
    for name, schema in tools.items():
        required = set(schema.get("required", ()))
        for parameter, own in schema["properties"].items():
            if is_path(parameter) and _text_shape(own, schema) == "string":
                plain = {each: _plain(schema["properties"][each], schema) for each in required}
                base = {each: usual.get(each, value) for each, value in plain.items()}
                for illegal in ILLEGAL_NAMES:
                    yield PathCall(name, parameter, illegal, {**base, parameter: illegal})


def _calls(
    name: str,
    schemas: Mapping[str, Schema],
    required: set[str],
    root: Schema,
    usual: Mapping[str, Any],
    folder: str,
) -> Iterator[PathCall]:
    for parameter, schema in schemas.items():
        shape = _text_shape(schema, root)
        if shape is None or parameter == "api_version":
            continue
        base = {
            each: usual.get(each, _plain(schemas[each], root)) for each in required - {parameter}
        }
        for kind, text in PATHS.items():
            # `..` is a part of many an absolute path; a name knows nothing of links on the disk.
            left_out = "upwards" if parameter in ABSOLUTE else "a loop of links"
            if kind == left_out or not (is_path(parameter) or kind in _ALWAYS):
                continue
            start = f"{folder}/" if parameter in ABSOLUTE else ""
            hostile = text.replace("{}", start)
            yield PathCall(
                name,
                parameter,
                kind,
                {**base, parameter: [hostile] if shape == "array" else hostile},
            )


def _text_shape(schema: Schema, root: Schema) -> str | None:
    """Return whether a schema takes a text, an array of texts, or none."""
    schema = _resolved(schema, root)
    if "enum" in schema or "const" in schema:
        return None
    for several in ("anyOf", "oneOf"):
        for each in schema.get(several, ()):
            if (shape := _text_shape(each, root)) is not None:
                return shape
    if schema.get("type") == "array":
        inner = _text_shape(schema.get("items", {}), root)
        return "array" if inner == "string" else None
    return "string" if schema.get("type") == "string" else None


def _plain(schema: Schema, root: Schema) -> Any:
    """Make a value that fits a schema."""
    schema = _resolved(schema, root)
    for several in ("anyOf", "oneOf"):
        if several in schema:
            return _plain(schema[several][0], root)
    if "default" in schema:
        return schema["default"]
    if "enum" in schema:
        return schema["enum"][0]
    match schema.get("type"):
        case "integer" | "number":
            return max(schema.get("minimum", 1), 1)
        case "boolean":
            return False
        case "array":
            return [_plain(schema.get("items", {}), root)]
        case "object":
            inner = schema.get("properties", {})
            return {name: _plain(inner[name], root) for name in schema.get("required", ())}
        case _:
            return "x" * max(schema.get("minLength", 1), 1)


def _resolved(schema: Schema, root: Schema) -> Schema:
    """Follow a reference within a document."""
    while "$ref" in schema:
        found: Any = root
        for part in schema["$ref"].removeprefix("#/").split("/"):
            found = found[part]
        schema = found
    return schema
