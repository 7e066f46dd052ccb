"""What is checked on a message's raw bytes, before anything of it is built in memory.

A megabyte of `[],` costs nothing to send and hundreds of megabytes to parse; both checks here run
at the speed of a byte search.
"""

__all__ = ["NESTING", "PARTS", "shape_fault"]

NESTING = 64
"""The deepest nesting of arrays and objects, by default."""

PARTS = 100_000
"""The most arrays and objects in a message (reliability.md 4), those inside of text not counted."""

_ONE_KIND = bytes.maketrans(b"{}", b"[]")
_NOT_BRACKETS_OR_QUOTES = bytes(byte for byte in range(256) if byte not in b'[]{}"')


def shape_fault(raw: bytes, *, nesting: int = NESTING, parts: int = PARTS) -> str | None:
    """Return what is wrong with a message's shape, or None.

    Args:
        raw: The message.
        nesting: The deepest nesting that is allowed.
        parts: The most arrays and objects that are allowed.
    """
    if not raw.isascii():
        try:
            raw.decode()
        except UnicodeDecodeError as error:
            return f"not valid UTF-8 at byte {error.start}"
    # What has that few brackets cannot be too deep: nearly every message stops here.
    if raw.count(b"[") + raw.count(b"{") <= nesting:
        return None
    brackets = _brackets_outside_text(raw, parts)
    if brackets is None or brackets.count(b"[") > parts:
        return f"more than {parts} arrays and objects"
    for _ in range(nesting):
        # Each round takes the innermost pairs away, so as many rounds as levels leave nothing.
        brackets = brackets.replace(b"[]", b"")
    return f"nested deeper than {nesting}, or brackets that do not match" if brackets else None


def _brackets_outside_text(raw: bytes, parts: int) -> bytes | None:
    """Return the brackets that are structure, all as `[` and `]`; None if far too many."""
    if b"\\" in raw:
        raw = raw.replace(b"\\\\", b"").replace(b'\\"', b"")
    bare = raw.translate(_ONE_KIND, _NOT_BRACKETS_OR_QUOTES).replace(b'""', b"")
    # A quote that is left stands beside a bracket: text holding brackets, or a neighbour of one.
    if bare.count(b'"') > 4 * parts:
        return None
    return b"".join(bare.split(b'"')[::2])
