"""The bytes that an event names: which, how many, what is in them, and getting them out."""

import base64
import codecs
import os
import re
from collections.abc import Iterator
from hashlib import sha256
from typing import Any, NamedTuple

from kbd.cli.exits import FAILED, USAGE, Refused, Stop
from kbd.cli.link import call
from kbd.client.blocking import Client

__all__ = ["Named", "Version", "chosen", "named", "save", "version_of"]

FIELDS = frozenset(
    {"after", "arguments_blob", "base", "before", "blob", "new", "old", "opening", "origin"}
)
"""The fields of events that hold the hash of kept bytes; a test compares this with the events."""

PART_BYTES = 1024 * 1024
"""What is read at once; of a longer version no more is looked at unless all is asked for."""

_HASH_DIGITS = 64

_NO_TEXT = re.compile("[\x00-\x08\x0b\x0e-\x1f]")
"""Characters that texts do not have."""


class Named(NamedTuple):
    """Bytes that an event names: by their hash, in a field, maybe as those of a file."""

    hash: str
    field: str
    file: str


class Version(NamedTuple):
    """What is known of kept bytes.

    Attributes:
        size_bytes: How many there are.
        text: What they say, or the beginning of it; None if they are no text.
        is_whole: Whether that is all.
        fault: Why they cannot be had, or should not be believed.
    """

    size_bytes: int = 0
    text: str | None = None
    is_whole: bool = False
    fault: str = ""


def named(data: Any, field: str = "", file: str = "") -> Iterator[Named]:
    """Yield the bytes that an event's data name, each hash as often as it is named."""
    match data:
        case dict():
            own = data.get("name")
            for name, value in data.items():
                yield from named(value, name, own if isinstance(own, str) else file)
        case list():
            for value in data:
                yield from named(value, field, file)
        case str() if field in FIELDS and len(data) == _HASH_DIGITS:
            yield Named(data, field, file)


def chosen(blobs: list[Named], begin: str) -> str:
    """Return the hash that begins like this.

    Raises:
        Stop: None, or several.
    """
    hashes = sorted({blob.hash for blob in blobs if begin and blob.hash.startswith(begin.lower())})
    if len(hashes) == 1:
        return hashes[0]
    if hashes:
        raise Stop(f"Several versions begin with {begin}; say more of the hash.", USAGE)
    raise Stop(f"The event names no file version {begin}.", FAILED)


def version_of(client: Client, workbench_id: str, blob: str, *, whole: bool) -> Version:
    """Return what kept bytes are.

    Args:
        client: The daemon.
        workbench_id: Where they are kept.
        blob: Their hash.
        whole: Whether all of a long text is wanted.
    """
    decoder, digest = codecs.getincrementaldecoder("utf-8")(), sha256()
    text, size_bytes = "", 0
    try:
        for part, size_bytes, has_more in _parts(client, workbench_id, blob):
            digest.update(part)
            piece = decoder.decode(part, final=not has_more)
            text += piece
            if _NO_TEXT.search(piece):
                return Version(size_bytes)
            if has_more and not whole:
                return Version(size_bytes, text)
    except UnicodeDecodeError:
        return Version(size_bytes)
    except Refused as refused:
        if refused.error_code != "NOT_FOUND":
            raise
        return Version(fault="not kept")
    fault = "" if digest.hexdigest() == blob else "damaged"
    return Version(size_bytes, text, is_whole=True, fault=fault)


def save(client: Client, workbench_id: str, blob: str, target: str) -> int:
    """Write kept bytes to a new file and return how many they are.

    Raises:
        Stop: There is such a file, it cannot be written, or the bytes are not those of the hash.
    """
    digest, written = sha256(), 0
    try:
        with open(target, "xb") as file:
            try:
                for part, _, _ in _parts(client, workbench_id, blob):
                    written += file.write(part)
                    digest.update(part)
                if digest.hexdigest() != blob:
                    raise Stop(f"The kept bytes are not those of {blob}; see `kbd verify`.", FAILED)
            except BaseException:
                os.unlink(target)
                raise
    except OSError as error:
        raise Stop(f"{target} cannot be written: {error.strerror or error}.", FAILED) from error
    return written


def _parts(client: Client, workbench_id: str, blob: str) -> Iterator[tuple[bytes, int, bool]]:
    """Yield kept bytes part by part, with the size of the whole and whether more follow."""
    offset, has_more = 0, True
    while has_more:
        params = {
            "workbench_id": workbench_id, "hash": blob, "offset": offset, "limit": PART_BYTES,
        }  # fmt: skip
        found = call(client, "BlobRead", params, slow=True)
        part = base64.b64decode(found["base64"])
        offset, has_more = offset + len(part), bool(found["has_more"])
        yield part, int(found["size_bytes"]), has_more
