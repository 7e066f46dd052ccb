"""Wire methods that formats' capabilities and tools contribute, as records of requests.

    GetInfo       every format                 ExtractText   Readable, and each of its `wire_reads`
    GetMap        Mappable                     ApplyOps      Editable
    preview       Previewable, Printable       GetStyles, CopyAssets   Styled
    comparison    Comparable                   grid                    Gridded
    GetTables, GetWords, ReadLayout            LaidOut

A method's name is the format's `wire_name` and one of these, its `wire_info` in place of GetInfo;
that of a preview is `ReviewGet<wire_name>Preview<unit>`, that of a comparison
`ReviewGet<compare_method>`, that of a grid `ReviewGet<grid_method>`. A tool names its own.
"""

import inspect
import re
from collections.abc import Iterator
from typing import Annotated, Any

import msgspec

from kbd.core.plugins.hooks import PluginError
from kbd.core.plugins.schemas import plain_schema
from kbd.formats import (
    Comparable,
    CompareOptions,
    Composed,
    Editable,
    FormatHandler,
    Gridded,
    LaidOut,
    Mappable,
    Previewable,
    Printable,
    Readable,
    Region,
    Styled,
)
from kbd.requests.base import UNSET, Request, Unset
from kbd.requests.formats import (
    MAX_OPERATIONS,
    ApplyOps,
    CopyAssets,
    ExtractText,
    GetGrid,
    GetInfo,
    GetMap,
    GetPreview,
    GetStyles,
    GetTables,
    GetWords,
    ReadLayout,
    ReadObjects,
    ReadRegion,
)
from kbd.requests.reviews import GetDiff, ReviewGetDiff
from kbd.requests.tools import CallReadingTool, CallWritingTool
from kbd.tools import Tool
from kbd.types import Effect

__all__ = ["WireMethod", "tool_method_of", "wire_methods_of"]

_NAME = re.compile(r"[A-Z][A-Za-z0-9]{0,39}")

_PREVIEWED: dict[str, tuple[str, Any, int]] = {
    "Page": ("page", Annotated[int, msgspec.Meta(ge=1, le=2**31 - 1)], 1),
    "Slide": ("slide_index", Annotated[int, msgspec.Meta(ge=0, le=2**31 - 1)], 0),
    "": ("frame_index", Annotated[int, msgspec.Meta(ge=0, le=2**31 - 1)], 0),
}
"""By what a preview shows: the parameter that says which one, and its first value."""


class WireMethod(msgspec.Struct, frozen=True):
    """A method that a format contributes.

    Args:
        kind: Its request, under its own name.
        base: Which of `kbd.requests.formats` that is.
        handler: The format.
    """

    kind: type[Request]
    base: type[Request]
    handler: FormatHandler


def tool_method_of(tool: Tool) -> type[Request] | None:
    """Return the request of the method that a tool names, or None; its parameters are arguments.

    Raises:
        PluginError: Its name or arguments are not as they must be.
    """
    name = tool.wire_method
    if not name:
        return None
    base = CallWritingTool if tool.effect is Effect.WRITE else CallReadingTool
    own = msgspec.structs.fields(tool.arguments)
    taken = {field.encode_name for field in msgspec.structs.fields(base)}
    named = {field.encode_name for field in own}
    if not _NAME.fullmatch(name) or taken & named:
        msg = f"{type(tool).__name__}.wire_method or its arguments are not as kbd needs them"
        raise PluginError(msg)
    made = msgspec.defstruct(
        name,
        [_parameter(field) for field in own],
        bases=(base,),
        module=__name__,
        namespace={"__doc__": f"{inspect.cleandoc(base.__doc__ or '')}\n\nIt is `{tool.name}`."},
        frozen=True,
        kw_only=True,
        forbid_unknown_fields=True,
    )
    assert issubclass(made, Request)
    return made


def _parameter(field: msgspec.structs.FieldInfo) -> Any:
    if field.required:
        return field.encode_name, field.type
    if field.default_factory is not msgspec.NODEFAULT:
        return field.encode_name, field.type, msgspec.field(default_factory=field.default_factory)
    return field.encode_name, field.type, field.default


def wire_methods_of(handler: FormatHandler) -> tuple[WireMethod, ...]:
    """Return the methods that a format has: those of its capabilities that it declares.

    Raises:
        PluginError: It declares one that no capability of it gives, or a name or a reading's
            coordinates that are not as they must be.
    """
    given = {kind.__name__: (kind, base) for kind, base in _capability_methods(handler)}
    prefix = handler.wire_name
    wanted = handler.wire_methods
    if wanted is not None:
        reads = handler.wire_reads if isinstance(handler, Readable) else {}
        strange = [name for name in wanted if prefix + name not in given]
        if strange:
            who = type(handler).__name__
            msg = f"{who}.wire_methods names {', '.join(strange)}, which no capability gives"
            raise PluginError(msg)
        names = {prefix + name for name in (*wanted, *reads)}
        # A review is the daemon's own subject: its methods are not the format's to leave out.
        reviews = (GetPreview, GetDiff, GetGrid)
        given = {
            name: found for name, found in given.items() if name in names or found[1] in reviews
        }
    return tuple(WireMethod(kind, base, handler) for kind, base in given.values())


def _capability_methods(handler: FormatHandler) -> Iterator[tuple[type[Request], type[Request]]]:
    """Yield each method that the capabilities give, with its base."""
    if not _NAME.fullmatch(handler.wire_info):
        msg = f"{type(handler).__name__}.wire_info is not as kbd needs it"
        raise PluginError(msg)
    yield _record(handler, handler.wire_info, GetInfo, []), GetInfo
    if isinstance(handler, Mappable):
        yield _derived(handler, GetMap), GetMap
    if isinstance(handler, Readable):
        regions = [(each, _optional(each), UNSET) for each in handler.coordinates]
        yield _record(handler, "ExtractText", ExtractText, regions), ExtractText
        base = ReadObjects if isinstance(handler, Composed) else ReadRegion
        yield from ((kind, base) for kind in _reads(handler, base))
        if isinstance(handler, LaidOut):
            for base in (GetTables, GetWords, ReadLayout):
                yield _record(handler, base.__name__, base, regions), base
    if isinstance(handler, Previewable | Printable):
        unit = handler.preview_unit
        name = f"ReviewGet{handler.wire_name}Preview{unit}"
        kind = _record(handler, name, GetPreview, [_PREVIEWED[unit]], prefix="")
        yield kind, GetPreview
    if isinstance(handler, Gridded) and handler.grid_method:
        if not _NAME.fullmatch(handler.grid_method):
            msg = f"{type(handler).__name__}.grid_method is not as kbd needs it"
            raise PluginError(msg)
        yield _record(handler, handler.grid_method, GetGrid, [], prefix="ReviewGet"), GetGrid
    if isinstance(handler, Comparable) and handler.compare_method:
        yield _comparison(handler), GetDiff
    if isinstance(handler, Editable):
        yield _derived(handler, ApplyOps, ops=_operations(handler)), ApplyOps
    if isinstance(handler, Styled):
        yield _derived(handler, GetStyles), GetStyles
        yield _derived(handler, CopyAssets), CopyAssets


def _comparison(handler: Comparable) -> type[Request]:
    """Return the method that compares files of a format, with the options that it takes.

    Raises:
        PluginError: A name or an option is not as it must be.
    """
    assert isinstance(handler, FormatHandler)
    strange = set(handler.compare_options) - set(CompareOptions.__struct_fields__)
    if not _NAME.fullmatch(handler.compare_method) or strange:
        msg = f"{type(handler).__name__}.compare_method or its options are not as kbd needs them"
        raise PluginError(msg)
    types = {field.name: field.type for field in msgspec.structs.fields(ReviewGetDiff)}
    fields = [(name, types[name], UNSET) for name in handler.compare_options]
    return _record(handler, handler.compare_method, GetDiff, fields, prefix="ReviewGet")


def _reads(handler: Readable, base: type[Request]) -> Iterator[type[Request]]:
    """Yield the methods that read a region, each with the coordinates that it takes.

    Raises:
        PluginError: A name or a coordinate is not as it must be.
    """
    assert isinstance(handler, FormatHandler)
    for name, coordinates in handler.wire_reads.items():
        strange = [each for each in coordinates if each not in handler.coordinates]
        if not _NAME.fullmatch(name) or strange:
            msg = f"{type(handler).__name__}.wire_reads is not as kbd needs it"
            raise PluginError(msg)
        fields = [(each, _optional(each), UNSET) for each in coordinates]
        yield _record(handler, name, base, fields)


def _optional(coordinate: str) -> Any:
    """Return the type of a coordinate that may be left out."""
    types = {field.name: field.type for field in msgspec.structs.fields(Region)}
    return types[coordinate] | Unset


def _derived(handler: FormatHandler, base: type[Request], **required: Any) -> type[Request]:
    return _record(handler, base.__name__, base, list(required.items()))


def _record(
    handler: FormatHandler,
    name: str,
    base: type[Request],
    fields: list[Any],
    *,
    prefix: str | None = None,
) -> type[Request]:
    """Return a request's record under the format's name, or another prefix."""
    about = inspect.cleandoc(base.__doc__ or "")
    summary, rest = about.partition("\n")[::2]
    made = msgspec.defstruct(
        (handler.wire_name if prefix is None else prefix) + name,
        fields,
        bases=(base,),
        module=__name__,
        namespace={"__doc__": f"{summary[:-1]} ({handler.name} files).\n{rest}".rstrip()},
        frozen=True,
        kw_only=True,
        # A misspelt coordinate is refused by its name, not passed over.
        forbid_unknown_fields=True,
    )
    assert issubclass(made, Request)
    return made


def _operations(handler: Editable) -> Any:
    """Return the type of `ops`: plain objects with the schemas of the handler's records.

    Those records judge them later, in better words.
    """
    schema = {"anyOf": [plain_schema(record) for record in handler.operations]}
    operation = Annotated[dict[str, Any], msgspec.Meta(extra_json_schema=schema)]
    return Annotated[tuple[operation, ...], msgspec.Meta(max_length=MAX_OPERATIONS)]
