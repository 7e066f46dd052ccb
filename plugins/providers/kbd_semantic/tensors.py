"""The tensors of a safetensors file, mapped: what is not looked at is never read.

The format: eight bytes, little-endian, say how long the header is; the header is JSON, for each
tensor its type, its shape and where its bytes begin and end after the header.
(https://github.com/huggingface/safetensors)
"""

import math
import os
from pathlib import Path
from typing import Annotated, Any

import msgspec
import numpy as np

from kbd.errors import FileReadFailed

__all__ = ["Floats", "read_tensors"]

Floats = np.ndarray[Any, np.dtype[np.float32]]
"""An array of float32."""

_MOST_HEADER_BYTES = 100_000_000
"""The longest header that the format allows."""

_STORED: dict[str, np.dtype[Any]] = {
    "F32": np.dtype("<f4"),
    "F16": np.dtype("<f2"),
    "BF16": np.dtype("<u2"),
}
"""The types of a model's own numbers; tensors of others (counts of positions) are left out."""

_Count = Annotated[int, msgspec.Meta(ge=0)]


class _Entry(msgspec.Struct, frozen=True):
    dtype: str
    shape: tuple[_Count, ...]
    data_offsets: tuple[_Count, _Count]


def read_tensors(file: Path) -> dict[str, Floats]:
    """Return the tensors of floating-point numbers by name, as float32.

    Those that are kept as float32 are mapped and stay in the file; others are converted.

    Raises:
        FileReadFailed: The file is not there, cut short, or not of this format.
    """
    try:
        with file.open("rb") as stream:
            size = os.fstat(stream.fileno()).st_size
            length = int.from_bytes(stream.read(8), "little")
            if size < 8 or length > min(size - 8, _MOST_HEADER_BYTES):
                raise FileReadFailed(f"{file.name} is damaged: its header is cut short.")
            header: dict[str, Any] = msgspec.json.decode(stream.read(length), type=dict[str, Any])
        header.pop("__metadata__", None)
        entries = msgspec.convert(header, dict[str, _Entry])
        mapped = np.memmap(file, np.uint8, "r", offset=8 + length) if size > 8 + length else None
    except (OSError, ValueError, msgspec.DecodeError) as fault:
        told = fault.strerror if isinstance(fault, OSError) else "it is not a safetensors file"
        raise FileReadFailed(f"{file.name} cannot be read: {told}.") from None
    return {
        name: _tensor(file.name, name, entry, mapped)
        for name, entry in entries.items()
        if entry.dtype in _STORED and mapped is not None
    }


def _tensor(file: str, name: str, entry: _Entry, mapped: np.ndarray[Any, Any]) -> Floats:
    stored, (begin, end) = _STORED[entry.dtype], entry.data_offsets
    if end > mapped.size or end - begin != math.prod(entry.shape) * stored.itemsize:
        raise FileReadFailed(f"{file} is damaged: the numbers of {name} are not all there.")
    numbers = mapped[begin:end].view(stored).reshape(entry.shape)
    if entry.dtype == "BF16":  # the upper half of a float32
        widened = numbers.astype(np.uint32)
        widened <<= 16
        numbers = widened.view(np.float32)
    floats: Floats = numbers.astype(np.float32, copy=False)
    return floats
