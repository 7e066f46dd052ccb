"""When a file is whole."""

from kbd.core.watch.scanner import SettlingFiles
from kbd.core.watch.tree import FolderEntry


def _found(path: str, signature: str = "1") -> FolderEntry:
    return FolderEntry(path, 1, signature, "file", path)


def test_a_file_is_due_when_it_stayed_the_same() -> None:
    """Every change begins the quiet time anew; being seen unchanged does not."""
    settling = SettlingFiles(2.0)
    settling.update(_found("a"), 10.0)
    settling.update(_found("a"), 11.0)
    assert settling.next_s == settling.last_s == 12.0
    settling.update(_found("a", "2"), 11.5)
    assert settling.due(13.4, 9) == []
    assert settling.due(13.5, 9) == [_found("a", "2")]
    assert len(settling) == 1


def test_what_is_due_stays_until_something_became_of_it() -> None:
    """A file is returned again until it is forgotten, put off, or seen changed."""
    settling = SettlingFiles(1.0)
    for path in "abcd":
        settling.update(_found(path), 0.0)
    assert [found.path for found in settling.due(1.0, 3)] == ["a", "b", "c"]
    settling.forget("a")
    settling.postpone("b", 5.0)
    settling.update(_found("c", "2"), 1.0)
    assert [found.path for found in settling.due(1.0, 3)] == ["d"]
    assert settling.next_s == 1.0
    settling.forget("d")
    assert settling.next_s == 2.0
    settling.clear()
    assert len(settling) == 0
    assert settling.last_s is None


def test_nobody_waits_for_a_file_that_is_put_off() -> None:
    """A file that is held open does not keep a batch from being whole, until it changes again."""
    settling = SettlingFiles(1.0)
    settling.update(_found("a"), 0.0)
    assert settling.postpone("a", 2.0) == 1
    assert settling.postpone("a", 3.0) == 2
    settling.update(_found("a"), 2.5)
    assert (settling.last_s, settling.next_s) == (None, 3.0)
    settling.update(_found("a", "2"), 4.0)
    assert settling.last_s == 5.0
    assert settling.postpone("a", 6.0) == 1
    assert settling.postpone("gone", 6.0) == 0
