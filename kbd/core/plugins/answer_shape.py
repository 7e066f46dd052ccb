"""Shape of a worker's answer, judged from its raw bytes before anything of it is built in memory.

A worker that a file has taken over may answer 64 MiB of empty arrays: 3.5 GiB and 13 seconds to
decode, through all of which no other thread runs. The bytes are walked through in Python, which is
slow and lets others run; what plainly has few values is not walked through at all.

A map's key is no array: arrays become tuples, whose hashes anybody can make alike, and 19,000 such
keys took 3 seconds in the same way, for all are compared with all.
"""

__all__ = ["MAX_CONTAINERS", "MAX_VALUES", "answer_fault"]

MAX_CONTAINERS = 250_000
"""The most arrays and maps of an answer: 50 ms to build."""

MAX_VALUES = 4_000_000
"""The most values in all: 60 ms to build, and 32 MB to refer to."""

FEW_CONTAINERS = 1_000
"""As many arrays and maps, were all of them keys alike, are built in 10 ms."""

_CONTAINERS = bytes((*range(0x80, 0xA0), 0xDC, 0xDD, 0xDE, 0xDF))
_NOT_CONTAINERS = bytes(byte for byte in range(256) if byte not in _CONTAINERS)

# By a value's first byte (the specification of MessagePack): bytes that follow it at once, and how
# many of these say how many follow them.
_FIXED = {
    0xCA: 4,
    0xCB: 8,
    0xCC: 1,
    0xCD: 2,
    0xCE: 4,
    0xCF: 8,
    0xD0: 1,
    0xD1: 2,
    0xD2: 4,
    0xD3: 8,
    0xD4: 2,
    0xD5: 3,
    0xD6: 5,
    0xD7: 9,
    0xD8: 17,
    **{byte: byte & 0x1F for byte in range(0xA0, 0xC0)},
}
_SIZED = {0xC4: 1, 0xC5: 2, 0xC6: 4, 0xD9: 1, 0xDA: 2, 0xDB: 4}
_EXTENDED = {0xC7: 1, 0xC8: 2, 0xC9: 4}
_COUNTED = {0xDC: 2, 0xDD: 4, 0xDE: 2, 0xDF: 4}
_SIMPLE, _LENGTHS = 0, 1
_STEPS = tuple(
    (_SIMPLE, 1 + _FIXED.get(byte, _COUNTED.get(byte, 0)))
    if byte not in _SIZED and byte not in _EXTENDED
    else (_LENGTHS, _SIZED.get(byte) or _EXTENDED[byte])
    for byte in range(256)
)
_TYPE_BYTES = tuple(1 if byte in _EXTENDED else 0 for byte in range(256))
_IS_CONTAINER = tuple(byte in _CONTAINERS for byte in range(256))
_IS_MAP = tuple(0x80 <= byte < 0x90 or byte in (0xDE, 0xDF) for byte in range(256))


def answer_fault(
    raw: bytes, *, containers: int = MAX_CONTAINERS, values: int = MAX_VALUES
) -> str | None:
    """Return what is wrong with an answer's shape, or None.

    That it is MessagePack at all is for the decoder to find; no prefix that it would build passes
    the limits unseen.

    Args:
        raw: The answer.
        containers: The most arrays and maps.
        values: The most values of any kind, keys included.
    """
    # A value takes a byte at least; and only such a byte begins an array or a map.
    few = min(containers, FEW_CONTAINERS)
    if len(raw) <= few:
        return None
    if len(raw) <= values and len(raw.translate(None, _NOT_CONTAINERS)) <= few:
        return None
    place, end, seen, found = 0, len(raw), 0, 0
    # Of the array or map that is being read: how many values are still to come, and whether it is
    # a map, in which the first value, the third, and so on are keys.
    left, is_map = 1, False
    around: list[tuple[int, bool]] = []
    while place < end:
        byte = raw[place]
        kind, step = _STEPS[byte]
        seen += 1
        left -= 1
        if kind == _LENGTHS:
            start = place + 1
            size = int.from_bytes(raw[start : start + step])
            place = start + step + size + _TYPE_BYTES[byte]
        elif _IS_CONTAINER[byte]:
            found += 1
            if found > containers:
                return f"more than {containers} arrays and maps"
            if is_map and left % 2:
                return "a key that is no plain value"
            around.append((left, is_map))
            is_map = _IS_MAP[byte]
            left = int.from_bytes(raw[place + 1 : place + step]) if step > 1 else byte & 0x0F
            left *= 2 if is_map else 1
            place += step
        else:
            place += step
        while not left and around:
            left, is_map = around.pop()
        if seen > values:
            return f"more than {values} values"
    return None
