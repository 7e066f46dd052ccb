"""Adoption of what somebody put into published/ beside kbd: its bytes become a blob.

The file is opened below its folder as every file of a workbench is: links, devices and what has
another name elsewhere are refused. Blocking.
"""

import hashlib
import os
from pathlib import Path

from kbd.core.workbench.sandbox import ConfinedRoot
from kbd.errors import NotFound, ValidationFailed
from kbd.events.blobs import BlobStore
from kbd.events.drafts import FileAdopted
from kbd.types import BlobHash, FileName

__all__ = ["adopt_published", "published_hash"]

_COPY_BYTES = 1 << 20


def published_hash(published: Path, name: FileName) -> BlobHash | None:
    """Return the hash of what a file of published/ holds now, or None for no file.

    Raises:
        SandboxViolation: What is there is a link or not a regular file.
    """
    root = ConfinedRoot(published)
    try:
        with root.open(name) as held:
            digest = hashlib.sha256()
            while chunk := os.read(held, _COPY_BYTES):
                digest.update(chunk)
            return BlobHash(digest.hexdigest())
    except NotFound:
        return None
    finally:
        root.close()


def adopt_published(published: Path, blobs: BlobStore, name: FileName, limit: int) -> FileAdopted:
    """Copy a file of published/ in as a blob, durable on return.

    Args:
        published: The folder.
        blobs: Where it goes.
        name: The file.
        limit: The most bytes that a file may have.

    Raises:
        SandboxViolation: What is there is a link or not a regular file.
        ValidationFailed: It is too large.
        DiskFull: No space is left.
    """
    root = ConfinedRoot(published)
    try:
        with root.open(name) as held:
            if os.fstat(held).st_size > limit:
                msg = f"{name!r} in published/ is larger than {limit:,} bytes"
                raise ValidationFailed(msg)
            blob, size_bytes = blobs.put_open(held, name, limit)
    except NotFound:
        return FileAdopted(name, None)
    finally:
        root.close()
    return FileAdopted(name, blob, size_bytes)
