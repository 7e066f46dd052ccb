"""The name of a colour profile, read from its bytes: nothing of it is applied (ICC.1:2010)."""

__all__ = ["profile_name"]

MOST_CHARACTERS = 100
_MOST_TAGS = 100
_TABLE = 128


def profile_name(profile: object) -> str:
    """Return what a profile calls itself, or "" where it does not say so in a known way."""
    if not isinstance(profile, bytes):
        return ""
    count = int.from_bytes(profile[_TABLE : _TABLE + 4])
    for number in range(min(count, _MOST_TAGS)):
        start = _TABLE + 4 + 12 * number
        entry = profile[start : start + 12]
        if entry[:4] == b"desc":
            offset, size = int.from_bytes(entry[4:8]), int.from_bytes(entry[8:12])
            return _text(profile[offset : offset + min(size, 2000)])
    return ""


def _text(tag: bytes) -> str:
    if tag[:4] == b"desc":
        size = int.from_bytes(tag[8:12])
        words = tag[12 : 12 + size].decode("ascii", "ignore")
    elif tag[:4] == b"mluc":
        size, offset = int.from_bytes(tag[20:24]), int.from_bytes(tag[24:28])
        words = tag[offset : offset + size].decode("utf-16-be", "ignore")
    else:
        return ""
    return "".join(filter(str.isprintable, words.strip("\0 ")))[:MOST_CHARACTERS]
