"""Just enough of Protocol Buffers to write a graph in ONNX: numbers, texts and records in records.

The package that writes ONNX is 40 MB with what it needs; what of it is needed here is this page.
The numbers of fields are those of onnx.proto (https://github.com/onnx/onnx), which never change.
"""

import struct
from collections.abc import Iterable, Mapping

__all__ = ["FLOAT32", "INT64", "Attribute", "graph", "model", "node", "outside", "value"]

FLOAT32, INT64 = 1, 7
"""Types of the elements of tensors."""

Attribute = int | float | tuple[int, ...]
"""What an attribute of a node can be here."""

_VARINT, _BYTES, _FIXED32 = 0, 2, 5
_A_FLOAT, _AN_INT, _INTS = 1, 2, 7
_EXTERNAL = 1
_IR_VERSION = 9
"""The edition of the format: the last one that every runner of the last two years reads."""


def node(
    operation: str,
    inputs: Iterable[str],
    outputs: Iterable[str],
    attributes: Mapping[str, Attribute] | None = None,
    *,
    domain: str = "",
) -> bytes:
    """Return a node of a graph: one operation on named tensors."""
    return b"".join(
        (
            *(_text(1, name) for name in inputs),
            *(_text(2, name) for name in outputs),
            _text(4, operation),
            *(_record(5, _attribute(*pair)) for pair in (attributes or {}).items()),
            _text(7, domain),
        )
    )


def outside(name: str, shape: Iterable[int]) -> bytes:
    """Return a constant tensor of float32 whose numbers are handed over beside the graph."""
    place = _text(1, "location") + _text(2, "beside")
    dimensions = b"".join(_number(1, size) for size in shape)
    return (
        dimensions
        + _number(2, FLOAT32)
        + _text(8, name)
        + _record(13, place)
        + _number(14, _EXTERNAL)
    )


def value(name: str, kind: int, shape: Iterable[int | str]) -> bytes:
    """Return what goes into a graph or comes out of it; a dimension of any size has a name."""
    sizes = (_text(2, size) if isinstance(size, str) else _number(1, size) for size in shape)
    tensor = _number(1, kind) + _record(2, b"".join(_record(1, size) for size in sizes))
    return _text(1, name) + _record(2, _record(1, tensor))


def graph(
    nodes: Iterable[bytes],
    constants: Iterable[bytes],
    inputs: Iterable[bytes],
    outputs: Iterable[bytes],
) -> bytes:
    """Return a graph of nodes in the order in which they can be computed."""
    return b"".join(
        (
            *(_record(1, one) for one in nodes),
            _text(2, "encoder"),
            *(_record(5, one) for one in constants),
            *(_record(11, one) for one in inputs),
            *(_record(12, one) for one in outputs),
        )
    )


def model(of: bytes, operations: Mapping[str, int]) -> bytes:
    """Return the whole file of a graph.

    Args:
        of: The graph.
        operations: The sets of operations it is written in, by domain, with their editions.
    """
    sets = (_text(1, domain) + _number(2, edition) for domain, edition in operations.items())
    return _number(1, _IR_VERSION) + _record(7, of) + b"".join(_record(8, one) for one in sets)


def _attribute(name: str, given: Attribute) -> bytes:
    match given:
        case int():
            return _text(1, name) + _number(3, given) + _number(20, _AN_INT)
        case float():
            plain = _varint(2 << 3 | _FIXED32) + struct.pack("<f", given)
            return _text(1, name) + plain + _number(20, _A_FLOAT)
        case tuple():
            many = b"".join(_number(8, each) for each in given)
            return _text(1, name) + many + _number(20, _INTS)


def _text(field: int, text: str) -> bytes:
    return _record(field, text.encode())


def _record(field: int, body: bytes) -> bytes:
    return _varint(field << 3 | _BYTES) + _varint(len(body)) + body


def _number(field: int, number: int) -> bytes:
    # A negative number is written as what it is in 64 bits.
    return _varint(field << 3 | _VARINT) + _varint(number & (1 << 64) - 1)


def _varint(number: int) -> bytes:
    written = bytearray()
    while number > 0x7F:
        written.append(number & 0x7F | 0x80)
        number >>= 7
    written.append(number)
    return bytes(written)
