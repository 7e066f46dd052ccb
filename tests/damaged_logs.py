"""Bytes of a log that are changed on disk, between two daemons."""

from pathlib import Path

from kbd.events import codec
from kbd.events.frame import BODY_AT, list_frames

__all__ = ["contents", "flip", "frame_of", "last_segment"]

HEADER = 64
"""Bytes before the first frame of a segment."""


def last_segment(log_dir: Path) -> Path:
    """Return the segment that is appended to."""
    return max(log_dir.glob("*.kbl"))


def frame_of(path: Path, kind: str, nth: int = 0) -> tuple[int, int]:
    """Return where the nth frame with an event of a type begins in a segment, and its number."""
    data = path.read_bytes()
    frames = [
        (HEADER + at, first)
        for first, at, stop in list_frames(data[HEADER:], len(data) - HEADER)
        for record in codec.decode(data[HEADER + at + BODY_AT : HEADER + stop])
        if type(record.data).__name__ == kind
    ]
    return frames[nth]


def flip(path: Path, offset: int) -> None:
    """Flip one bit of a file."""
    path.chmod(0o600)
    with path.open("r+b") as file:
        file.seek(offset)
        byte = file.read(1)[0]
        file.seek(offset)
        file.write(bytes([byte ^ 4]))


def contents(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Return every file below a folder: when it was written, and its bytes."""
    return {
        str(path.relative_to(folder)): (path.stat().st_mtime_ns, path.read_bytes())
        for path in folder.rglob("*")
        if path.is_file()
    }
