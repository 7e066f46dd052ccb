"""Readable copies of lines: continued, rotated, written anew with what is newest."""

import json
from pathlib import Path

from kbd.core.store.line_copy import LineCopy


def lines(first: int, last: int) -> list[bytes]:
    """Lines of events, of 25 bytes each with their ends."""
    return [json.dumps({"seq": seq, "x": "."}).ljust(24).encode() for seq in range(first, last + 1)]


def seqs(path: Path) -> list[int]:
    """The events of a file's lines."""
    return [json.loads(line)["seq"] for line in path.read_bytes().splitlines()]


def test_it_stays_bounded_however_much_is_added(tmp_path: Path) -> None:
    """The newest lines are in it, those before in the older one, and no line twice."""
    copy, older = LineCopy(tmp_path / "c.jsonl", 200), tmp_path / "c.1.jsonl"
    copy.replace(lines(1, 3)[::-1])
    both: list[int] = []
    for seq in range(4, 100):
        assert copy.last_event() == seq - 1
        assert copy.append(lines(seq, seq))
        both = (seqs(older) if older.exists() else []) + seqs(copy.path)
        assert both == list(range(both[0], seq + 1))
        assert len(both) <= 16
    assert len(both) >= 8


def test_written_anew_it_has_the_newest_alone(tmp_path: Path) -> None:
    """At most half of what it may have, so that it is not full at once; the older one goes."""
    copy = LineCopy(tmp_path / "c.jsonl", 200)
    copy.replace(iter(lines(1, 50)[::-1]))
    assert seqs(copy.path) == list(range(47, 51))
    for seq in range(51, 70):
        copy.append(lines(seq, seq))
    copy.replace(lines(1, 2)[::-1])
    assert seqs(copy.path) == [1, 2]
    assert not (tmp_path / "c.1.jsonl").exists()
    copy.replace([b"x" * 5000])
    assert copy.path.stat().st_size == 5001
    copy.replace([])
    assert copy.path.read_bytes() == b""


def test_what_is_not_its_own_is_not_gone_on_with(tmp_path: Path) -> None:
    """No copy, a torn line, somebody's file: the event of the last line is not known."""
    copy = LineCopy(tmp_path / "c.jsonl", 200)
    assert copy.last_event() is None
    assert not copy.append(lines(1, 1))
    for found in (b"", b"no JSON\n", b'{"seq": 1}\n{"se', b"[]\n", b'{"seq": "x"}\n'):
        copy.path.write_bytes(found)
        assert copy.last_event() is None
