"""The wire methods that a format's capabilities contribute, as records of requests.

    GetInfo       every format                 ExtractText   Readable, and each of its `wire_reads`
    GetMap        Mappable                     ApplyOps      Editable
                                               GetStyles, CopyAssets   Styled

A method's name is the format's `wire_name` and one of these.
"""

import inspect
import re
from collections.abc import Iterator
from typing import Annotated, Any

import msgspec

from kbd.core.plugins.hooks import PluginError
from kbd.core.plugins.schemas import plain_schema
from kbd.formats import Editable, FormatHandler, Mappable, Readable, Region, Styled
from kbd.requests import formats as wire
from kbd.requests.base import UNSET, Request, Unset

__all__ = ["WireMethod", "wire_methods_of"]

_NAME = re.compile(r"[A-Z][A-Za-z0-9]{0,39}")


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


def wire_methods_of(handler: FormatHandler) -> tuple[WireMethod, ...]:
    """Return the methods that a format has: those of its capabilities that it declares.

    Raises:
        PluginError: It declares one that no capability of it gives, or a reading whose name or
            coordinates are not as they must be.
    """
    given = {kind.__name__: (kind, base) for kind, base in _given(handler)}
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
        given = {name: found for name, found in given.items() if name in names}
    return tuple(WireMethod(kind, base, handler) for kind, base in given.values())


def _given(handler: FormatHandler) -> Iterator[tuple[type[Request], type[Request]]]:
    """Yield each method that the capabilities give, with its base."""
    yield _derived(handler, wire.GetInfo), wire.GetInfo
    if isinstance(handler, Mappable):
        yield _derived(handler, wire.GetMap), wire.GetMap
    if isinstance(handler, Readable):
        yield _derived(handler, wire.ExtractText), wire.ExtractText
        yield from ((kind, wire.ReadRegion) for kind in _reads(handler))
    if isinstance(handler, Editable):
        yield _derived(handler, wire.ApplyOps, ops=_operations(handler)), wire.ApplyOps
    if isinstance(handler, Styled):
        yield _derived(handler, wire.GetStyles), wire.GetStyles
        yield _derived(handler, wire.CopyAssets), wire.CopyAssets


def _reads(handler: Readable) -> Iterator[type[Request]]:
    """Yield the methods that read a region, each with the coordinates that it takes.

    Raises:
        PluginError: A name or a coordinate is not as it must be.
    """
    assert isinstance(handler, FormatHandler)
    types = {field.name: field.type for field in msgspec.structs.fields(Region)}
    for name, coordinates in handler.wire_reads.items():
        strange = [each for each in coordinates if each not in handler.coordinates]
        if not _NAME.fullmatch(name) or strange:
            msg = f"{type(handler).__name__}.wire_reads is not as kbd needs it"
            raise PluginError(msg)
        fields = [(each, types[each] | Unset, UNSET) for each in coordinates]
        yield _record(handler, name, wire.ReadRegion, fields)


def _derived(handler: FormatHandler, base: type[Request], **required: Any) -> type[Request]:
    return _record(handler, base.__name__, base, list(required.items()))


def _record(
    handler: FormatHandler, name: str, base: type[Request], fields: list[Any]
) -> type[Request]:
    """Return a request's record under the format's name."""
    about = inspect.cleandoc(base.__doc__ or "")
    summary, rest = about.partition("\n")[::2]
    made = msgspec.defstruct(
        handler.wire_name + name,
        fields,
        bases=(base,),
        module=__name__,
        namespace={"__doc__": f"{summary[:-1]} ({handler.name} files).\n{rest}".rstrip()},
        frozen=True,
        kw_only=True,
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
    return Annotated[tuple[operation, ...], msgspec.Meta(max_length=wire.MOST_OPERATIONS)]
