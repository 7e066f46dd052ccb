"""Comparison of texts: lines with their words, moves, hunks; and whatever no line shows."""

import random
from collections.abc import Sequence
from pathlib import Path

import pytest

from kbd.errors import FileReadFailed, ValidationFailed
from kbd.formats import Change, CompareOptions, Comparison, Place, Source, comparison
from kbd.plaintext import differences, stretches, versions
from kbd_text.comparison import changes, hunks, lines
from kbd_text.handler import TextFormat

FORMAT = TextFormat()


class Texts:
    """Two versions of a text in a folder."""

    def __init__(self, folder: Path) -> None:
        self.paths = folder / "before", folder / "after"

    def write(self, before: bytes | str, after: bytes | str) -> tuple[Source, Source]:
        """Write both."""
        for path, data in zip(self.paths, (before, after), strict=True):
            path.write_bytes(data.encode() if isinstance(data, str) else data)
        return Source(self.paths[0], "a.txt"), Source(self.paths[1], "a.txt")

    def compare(
        self, before: bytes | str, after: bytes | str, context: int | None = None
    ) -> Comparison:
        """Write and compare both."""
        return FORMAT.compare(*self.write(before, after), CompareOptions(context_lines=context))


@pytest.fixture
def texts(tmp_path: Path) -> Texts:
    """A folder for two versions."""
    return Texts(tmp_path)


@pytest.fixture
def small_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows and blocks that small texts do not fit into."""
    monkeypatch.setattr(differences, "FIRST_ITEMS", 16)
    monkeypatch.setattr(differences, "MAX_ITEMS", 64)
    monkeypatch.setattr(differences, "SYNC_ITEMS", 4)
    monkeypatch.setattr(differences, "SAMPLED", 4)
    monkeypatch.setattr(differences, "BLOCK_BYTES", 256)
    monkeypatch.setattr(lines, "BATCH_CHARS", 200)


def brief(change: Change) -> tuple[object, ...]:
    return (change.kind, change.what, change.place.title, change.before, change.after)


def briefs(found: Comparison) -> list[tuple[object, ...]]:
    assert found.total == len(found.changes) == sum(each.count for each in found.counts)
    return [brief(each) for each in found.changes]


def text(given: Sequence[str]) -> str:
    return "".join(line + "\n" for line in given)


WORDS = ["report", "total", "of", "the", "year", "é", "12.5", "sales", "", "}", "net"]


def some_lines(count: int, chance: random.Random) -> list[str]:
    return [
        " ".join(chance.choice(WORDS) for _ in range(chance.randrange(5))) for _ in range(count)
    ]


def edited(given: list[str], chance: random.Random, edits: int) -> list[str]:
    """The lines after some edits of every kind."""
    after = [*given]
    for number in range(edits):
        place = chance.randrange(len(after))
        match chance.randrange(4):
            case 0:
                after[place] += f" more {number}"
            case 1:
                after.insert(place, f"new line {number}")
            case 2 if len(after) > 1:
                del after[place]
            case _:
                run = after[place : place + 3]
                del after[place : place + 3]
                target = chance.randrange(len(after) + 1)
                after[target:target] = run
    return after


def applied_hunks(before: list[str], found: Comparison) -> list[str]:
    """Make the lines after of those before by the hunks, as `patch` does."""
    after: list[str] = []
    done = 0
    for hunk in found.hunks or ():
        start = hunk.before_start - (hunk.before_count > 0)
        after += before[done:start]
        assert len(after) == hunk.after_start - (hunk.after_count > 0)
        old = [line.text for line in hunk.lines if line.kind != "added"]
        new = [line.text for line in hunk.lines if line.kind != "removed"]
        assert old == before[start : start + hunk.before_count]
        assert len(new) == hunk.after_count
        after += new
        done = start + hunk.before_count
    return after + before[done:]


def applied_changes(before: list[str], found: Comparison, count: int) -> list[str]:
    """Make the same by the changes alone."""
    after: list[str | None] = [None] * count
    gone = set()
    changed = {}
    for change in found.changes:
        number = change.place.line
        assert number is not None
        match change.kind:
            case "removed":
                gone.add(number)
                assert before[number - 1] == change.before
            case "added":
                after[number - 1] = change.after
            case "changed":
                changed[number] = change
            case "moved":
                assert change.moved_from is not None
                assert change.moved_from.line is not None
                for step, line in enumerate(change.after.split("\n")):
                    gone.add(change.moved_from.line + step)
                    after[number - 1 + step] = line
    rest = iter(line for number, line in enumerate(before, 1) if number not in gone)
    made = [next(rest) if line is None else line for line in after]

    assert next(rest, None) is None
    for number, change in changed.items():
        assert made[number - 1] == change.before
        words = change.words
        assert "".join(word for kind, word in words if kind != "removed") == change.after
        assert "".join(word for kind, word in words if kind != "added") == change.before
        made[number - 1] = change.after
    return made


@pytest.mark.sampled(15)
@pytest.mark.parametrize("context", [None, 0, 1, 7, -1])
@pytest.mark.parametrize("seed", range(12))
def test_changes_and_hunks_make_the_text_after(
    texts: Texts, seed: int, context: int | None
) -> None:
    """Both tell all that was edited: each alone makes the one version of the other."""
    chance = random.Random(seed)
    before = some_lines(chance.randrange(1, 120), chance)
    after = edited(before, chance, chance.randrange(12))
    found = texts.compare(text(before), text(after), context)

    assert applied_changes(before, found, len(after)) == after
    assert applied_hunks(before, found) == after
    assert (found.total == 0) == (before == after)


@pytest.mark.sampled(9)
@pytest.mark.usefixtures("small_windows")
@pytest.mark.parametrize("context", [0, 3, 6])
@pytest.mark.parametrize("seed", range(12))
def test_small_windows_and_skips_tell_the_same(texts: Texts, seed: int, context: int) -> None:
    """A large text, of which equal blocks are skipped, is compared as a small one is."""
    chance = random.Random(seed)
    before = [f"{n % 300} {line}" for n, line in enumerate(some_lines(600, chance))]
    after = edited(before, chance, 6)
    if seed % 3 == 0:
        after[200:200] = [f"block {n}" for n in range(150)]
    if seed % 4 == 1:
        del after[100:300]
    found = texts.compare(text(before), text(after), context)

    assert applied_changes(before, found, len(after)) == after
    assert applied_hunks(before, found) == after
    assert all(len(hunk.lines) < 400 for hunk in found.hunks or ())
    for hunk in found.hunks or ():
        kinds = [line.kind for line in hunk.lines]
        first = next(number for number, kind in enumerate(kinds) if kind != "context")
        assert first == context or hunk.before_start == 1, "context is missing"


def test_a_changed_line_has_its_words(texts: Texts) -> None:
    """In the change and in both lines of the hunk."""
    found = texts.compare("a\nthe total is 314.60\nb\n", "a\nthe total is 341.60\nb\n")
    words = (("equal", "the total is "), ("removed", "314.60"), ("added", "341.60"))

    assert briefs(found) == [
        ("changed", "line", "line 2", "the total is 314.60", "the total is 341.60")
    ]
    assert found.changes[0].words == words
    assert found.hunks is not None
    shown = [(line.kind, line.text, line.words) for line in found.hunks[0].lines]
    assert shown == [
        ("context", "a", ()),
        ("removed", "the total is 314.60", words[:2]),
        ("added", "the total is 341.60", (words[0], words[2])),
        ("context", "b", ()),
    ]


def test_similar_lines_pair(texts: Texts) -> None:
    """Of a stretch that was replaced each line is the one that it is like."""
    before = "x\nalpha beta gamma\none two three\ny\n"
    after = "x\nsomething else\nalpha beta delta\none two four\ny\n"

    assert [brief(each)[:3] for each in texts.compare(before, after).changes] == [
        ("added", "line", "line 2"),
        ("changed", "line", "line 3"),
        ("changed", "line", "line 4"),
    ]


def test_a_block_that_stands_elsewhere_has_moved(texts: Texts) -> None:
    """As one change with both places; empty lines within and beside it go along."""
    parts = [["# A", "alpha", ""], ["# B", "beta", "", "more of it", ""], ["# C", "gamma", ""]]
    one = [*parts[0], *parts[1], *parts[2], "the", "end", "of", "it"]
    other = [*parts[0], *parts[2], "the", "end", "of", "it", *parts[1]]
    found = texts.compare(text(one), text(other))

    assert [brief(each)[:3] for each in found.changes] == [("moved", "line", "lines 11-15")]
    assert found.changes[0].moved_from == Place("lines 4-8", line=4)
    assert found.changes[0].after == "\n".join(parts[1])


def test_a_bracket_does_not_move(texts: Texts) -> None:
    """A line without letters that went here and came there is another one."""
    found = texts.compare("}\na\nb\nc\nd\n", "a\nb\nc\nd\n}\n")

    assert [each.kind for each in found.changes] == ["removed", "added"]


PLAIN = "Zoé\nb\n"


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        (PLAIN.encode("cp1252"), [("changed", "encoding", "encoding", "utf-8", "cp1252")]),
        (PLAIN.encode("utf-16"), [("changed", "encoding", "encoding", "utf-8", "utf-16")]),
        (PLAIN.encode("utf-8-sig"), [("added", "byte order mark", "byte order mark", None, None)]),
        (PLAIN.replace("\n", "\r\n"), [("changed", "line ending", "line ending", "LF", "CRLF")]),
        (PLAIN.replace("\n", "\r"), [("changed", "line ending", "line ending", "LF", "CR")]),
        (
            PLAIN.replace("\n", "\r\n", 1),
            [("changed", "line ending", "line ending", "LF", "LF (1), CRLF (1)")],
        ),
        (PLAIN[:-1], [("removed", "final newline", "final newline", None, None)]),
    ],
)
def test_what_no_line_shows_is_a_change(
    texts: Texts, after: str | bytes, expected: list[tuple[object, ...]]
) -> None:
    """The encoding, its mark, the line ends: the lines are equal, and there are no hunks."""
    found = texts.compare(PLAIN, after)

    assert briefs(found) == expected
    assert found.hunks == ()


def test_swapped_line_ends_are_a_change(texts: Texts) -> None:
    """The same line ends in other places differ, too."""
    found = texts.compare("a\r\nb\n", "a\nb\r\n")

    assert [each.what for each in found.changes] == ["line ending"]
    assert found.changes[0].note == "2 lines with the same text, from line 1 on"


def test_bytes_that_no_reader_sees_are_a_change(texts: Texts) -> None:
    """Bytes that are no text in an encoding read the same and are told as bytes."""
    lines = "".join(f"こんにちは、田中さん {n}\n" for n in range(5_000)).encode("euc_jp")
    found = texts.compare(lines + b"a\xff\n", lines + b"a\xfe\n")

    assert [brief(each)[:3] for each in found.changes] == [("changed", "bytes", "bytes")]


@pytest.mark.parametrize("name", ["a.json", "a.html", "a.md", "a.py"])
def test_every_text_is_compared_by_lines(texts: Texts, name: str) -> None:
    """Whatever it means to a program."""
    one, other = texts.write('{"a": 1}\n', '{"a": 2}\n')
    pair = Source(one.path, name), Source(other.path, name)

    assert FORMAT.compare(*pair, CompareOptions()).changes[0].words == (
        ("equal", '{"a": '), ("removed", "1"), ("added", "2"), ("equal", "}"),
    )  # fmt: skip


def test_the_whole_file_on_request(texts: Texts) -> None:
    """All lines are in one hunk; without a difference there is none."""
    before = [str(n) for n in range(100)]
    after = [*before[:50], "new", *before[50:]]
    found = texts.compare(text(before), text(after), -1)

    assert found.hunks is not None
    assert [len(hunk.lines) for hunk in found.hunks] == [101]
    assert texts.compare(text(before), text(before), -1).hunks == ()


@pytest.mark.parametrize("number", [-2, changes.MAX_CONTEXT_LINES + 1])
def test_other_numbers_of_lines_are_refused(texts: Texts, number: int) -> None:
    """With those that there are."""
    with pytest.raises(ValidationFailed, match="context_lines is from 0"):
        texts.compare("a", "b", number)


def test_long_files_are_not_shown_whole(texts: Texts, monkeypatch: pytest.MonkeyPatch) -> None:
    """They have the usual hunks, and a warning."""
    monkeypatch.setattr(changes, "MAX_WHOLE_BYTES", 100)
    before = [str(n) for n in range(100)]
    found = texts.compare(text(before), text([*before, "x"]), -1)

    assert found.hunks is not None
    assert len(found.hunks[0].lines) == changes.CONTEXT_LINES + 1
    assert any("too long to be shown whole" in warning for warning in found.warnings)


def test_hunks_are_bounded(texts: Texts, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines past the bound are left out of the hunks, and a warning says so; changes go on."""
    monkeypatch.setattr(hunks, "MAX_HUNK_LINES", 10)
    found = texts.compare(text(["a"] * 3), text([f"line {n}" for n in range(100)]))

    assert found.hunks is not None
    assert sum(len(hunk.lines) for hunk in found.hunks) == 10
    assert found.total >= 100
    assert any("hunks are too long" in warning for warning in found.warnings)


def test_a_long_line_shows_what_differs(texts: Texts) -> None:
    """Not its beginning, which is the same."""
    line = "x" * 30_000 + " 12.5 " + "y" * 30_000
    change = texts.compare(line, line.replace("12.5", "13.5")).changes[0]

    assert "12.5" in change.before
    assert "13.5" in change.after
    assert len(change.before) < 1000
    assert change.is_cut
    assert change.note == "the line is long: it differs from character 30,003 on"


def test_a_very_long_line_is_never_in_memory_whole(
    texts: Texts, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Behind its beginning it is compared by a sum, and a difference there is a change."""
    for module in (lines, changes):
        monkeypatch.setattr(module, "MAX_LINE_CHARS", 50)
    monkeypatch.setattr(versions, "BLOCK_BYTES", 50)
    line = "x" * 200
    found = texts.compare(f"a\n{line}1\nb\n", f"a\n{line}2\nb\n")

    assert [brief(each)[:3] for each in found.changes] == [("changed", "line", "line 2")]
    assert "151 characters more" in found.changes[0].before
    assert briefs(texts.compare(f"a\n{line}1\nb\n", f"{line}1\nb\n")) == [
        ("removed", "line", "line 1", "a", None)
    ]


@pytest.mark.usefixtures("small_windows")
def test_more_than_is_held_is_counted(texts: Texts, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where everything differs all lines are counted, the first ones told, and it says so."""
    monkeypatch.setattr(stretches, "MAX_HELD", 100)
    before, after = [f"a{n}" for n in range(500)], [f"b{n}" for n in range(400)]
    found = texts.compare(text(before), text(after))
    counts = {each.kind: each.count for each in found.counts}

    assert counts["removed"] + counts.get("changed", 0) == 500
    assert counts["added"] + counts.get("changed", 0) == 400
    assert any("only counted" in warning for warning in found.warnings)


def test_what_takes_too_long_is_left_out(texts: Texts, monkeypatch: pytest.MonkeyPatch) -> None:
    """After the time for it the comparison ends, with what it has and a warning."""
    monkeypatch.setattr(stretches, "MAX_SECONDS", -1)
    found = texts.compare("a\nb\n", "a\nc\n")

    assert any("the rest would take too long" in warning for warning in found.warnings)


def test_a_new_text_and_one_that_is_gone(texts: Texts) -> None:
    """Its lines were added, or removed, block by block, and stand in one hunk."""
    source, _ = texts.write(text([str(n) for n in range(450)]), "")
    new = FORMAT.compare(None, source, CompareOptions())
    gone = FORMAT.compare(source, None, CompareOptions())

    assert [brief(each)[:3] for each in new.changes] == [
        ("added", "text", "lines 1-200"),
        ("added", "text", "lines 201-400"),
        ("added", "text", "lines 401-450"),
    ]
    assert "".join(each.after for each in new.changes) == source.path.read_text()
    assert [(each.kind, each.before) for each in gone.changes] == [
        ("removed", each.after) for each in new.changes
    ]
    assert new.hunks is not None
    assert gone.hunks is not None
    sizes = [(h.before_start, h.before_count, h.after_start, h.after_count) for h in new.hunks]
    assert sizes == [(0, 0, 1, 450)]
    assert {line.kind for line in gone.hunks[0].lines} == {"removed"}


def test_an_empty_text(texts: Texts) -> None:
    """From nothing, and to nothing, each line is a change; nothing is equal to nothing."""
    assert briefs(texts.compare("", "a\n")) == [("added", "line", "line 1", None, "a")]
    assert briefs(texts.compare("a\n", "")) == [("removed", "line", "line 1", "a", None)]
    assert texts.compare("", "").total == 0


@pytest.mark.parametrize("seed", range(10))
def test_lines_are_followed_there_and_back(texts: Texts, seed: int) -> None:
    """A line that is in both versions is found from either, and is known to be the same."""
    chance = random.Random(seed)
    before = [f"item {n} {line}" for n, line in enumerate(some_lines(60, chance))]
    after = edited(before, chance, 10)
    pair = texts.write(text(before), text(after))
    places = tuple(Place(f"line {n}", line=n) for n in range(1, len(before) + 1))
    traces = FORMAT.trace(*pair, places, forward=True)
    there = tuple(trace.place or Place("none") for trace in traces)
    back = FORMAT.trace(*pair, there, forward=False)
    for number, (line, trace) in enumerate(zip(before, traces, strict=True)):
        if line in after:
            assert trace.place == Place(f"line {after.index(line) + 1}", line=after.index(line) + 1)
            assert not trace.is_changed
        if trace.place is not None:
            assert (after[(trace.place.line or 0) - 1] != line) == trace.is_changed
            assert back[number].place == places[number]
            assert back[number].is_changed == trace.is_changed


def test_runs_of_lines_are_followed(texts: Texts) -> None:
    """A run by its first line and its length; it differs where a line in it does."""
    before = [f"line {n} of it" for n in range(1, 21)]
    after = ["new", *before[:10], before[10] + " more", *before[11:15], *before[16:]]
    pair = texts.write(text(before), text(after))
    places = tuple(
        FORMAT.locate(pair[0], written) for written in ("lines 2-5", "lines 10-12", "lines 15-17")
    )
    found = FORMAT.trace(*pair, (*places, Place("encoding", part="encoding")), forward=True)

    assert [(each.place and each.place.title, each.is_changed) for each in found] == [
        ("lines 3-6", False),
        ("lines 11-13", True),
        ("lines 16-17", True),
        ("encoding", False),
    ]
    assert FORMAT.trace(*pair, (Place("line 16", line=16),), forward=True)[0].place is None


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("line 2", Place("line 2", line=2)),
        ("2", Place("line 2", line=2)),
        ("L2", Place("line 2", line=2)),
        ("Line 2", Place("line 2", line=2)),
        (" lines 2 - 3 ", Place("lines 2-3", line=2)),
        ("2..3", Place("lines 2-3", line=2)),
        ("L2-L3", Place("lines 2-3", line=2)),
        ("Encoding", Place("encoding", part="encoding")),
    ],
)
def test_places_are_understood_as_people_write_them(
    texts: Texts, written: str, expected: Place
) -> None:
    """A line or several, and what no line shows."""
    source, _ = texts.write("a\nb\nc\n", "")

    assert FORMAT.locate(source, written) == expected


@pytest.mark.parametrize("written", ["line 4", "0", "lines 3-2", "page 1", "", "A1"])
def test_other_places_are_refused(texts: Texts, written: str) -> None:
    """With how places are written, or how many lines there are."""
    source, _ = texts.write("a\nb\nc\n", "")
    with pytest.raises(ValidationFailed, match="line"):
        FORMAT.locate(source, written)


@pytest.mark.parametrize("seed", range(6))
def test_titles_locate_what_they_are_of(texts: Texts, seed: int) -> None:
    """Every title of a change is understood, and means the change's own place."""
    chance = random.Random(seed)
    before = some_lines(50, chance)
    found = texts.compare(text(before), text(edited(before, chance, 12))[:-1])
    for change in found.changes:
        path = texts.paths[change.kind != "removed" or change.place.line is None]

        assert FORMAT.locate(Source(path, "a.txt"), change.place.title) == change.place


def test_values_are_bounded(texts: Texts, monkeypatch: pytest.MonkeyPatch) -> None:
    """Past the bound changes are counted."""
    monkeypatch.setattr(comparison, "MAX_CHANGES", 5)
    found = texts.compare("", text([str(n) for n in range(30)]))

    assert (len(found.changes), found.total) == (5, 30)


def test_binary_and_missing_files_are_refused(texts: Texts) -> None:
    """As an error of kbd, on either side."""
    good, bad = texts.write("a\n", b"PK\0\0\1")
    missing = Source(texts.paths[0].with_name("none"), "a.txt")
    for pair in ((good, bad), (bad, good), (good, missing), (missing, good), (bad, bad)):
        with pytest.raises(FileReadFailed):
            FORMAT.compare(*pair, CompareOptions())
        with pytest.raises(FileReadFailed):
            FORMAT.trace(*pair, (), forward=True)
    with pytest.raises(FileReadFailed):
        FORMAT.locate(bad, "line 1")


@pytest.mark.corpora
def test_real_files_equal_themselves_and_differ_where_planted(corpora: Path, texts: Texts) -> None:
    """Files of the corpus as text: equal to themselves; with a line more, one line is added."""
    chance = random.Random(3)
    for path in sorted((corpora / "csv").glob("*"))[::25]:
        data = path.read_bytes()
        if b"\0" in data or not data.isascii() or b"\r" in data.replace(b"\r\n", b""):
            continue
        given = data.splitlines(keepends=True)
        end = b"\r\n" if b"\r\n" in data else b"\n"
        place = chance.randrange(len(given)) if given else 0
        planted = b"".join([*given[:place], b"a planted line" + end, *given[place:]])

        assert texts.compare(data, data).total == 0
        found = texts.compare(data, planted)
        inserted = [each for each in found.changes if each.kind == "added" and each.what == "line"]
        assert [each.after for each in inserted] == ["a planted line"], path.name
        assert len(found.changes) == 1 or not given, path.name


def test_line_ends_of_changed_lines_are_told(texts: Texts) -> None:
    """A line that ends otherwise and says something else, too, has both changes."""
    before = b"a\r\none 314.60\ntwo\r\nthree\n"
    found = texts.compare(before, before.replace(b"314.60\n", b"341.60\r\n"))

    assert [each.place.title for each in found.changes] == ["line ending", "line 2"]
    assert found.changes[0].note == "1 line of both versions, from line 2 on"


def test_line_ends_of_moved_lines_are_told(texts: Texts) -> None:
    """A line that moved and ends otherwise has both changes."""
    found = texts.compare(b"moved line\nb\r\nc\r\nd\n", b"b\r\nc\r\nd\nmoved line\r\n")

    assert [each.place.title for each in found.changes] == ["line ending", "line 4"]


def test_the_order_of_bytes_is_told_beside_other_changes(texts: Texts) -> None:
    """Texts in UTF-16 of either order read the same, but are not the same file."""
    before = b"\xff\xfe" + "one\ntwo\n".encode("utf-16-le")
    after = b"\xfe\xff" + "one\n2\n".encode("utf-16-be")
    found = texts.compare(before, after)

    assert [(each.place.title, each.before, each.after) for each in found.changes] == [
        ("encoding", "utf-16, little-endian", "utf-16, big-endian"),
        ("line 2", "two", "2"),
    ]


def test_bytes_that_are_no_text_are_warned_of(texts: Texts) -> None:
    """What is read as the same sign whatever it is cannot be compared, and that is said."""
    lines = "".join(f"こんにちは、田中さん {n}\n" for n in range(5_000)).encode("euc_jp")
    found = texts.compare(lines + b"a\xff\nb\n", lines + b"a\xfe\nc\n")

    assert [each.place.title for each in found.changes] == ["line 5002"]
    assert any("read as U+FFFD" in each for each in found.warnings)


def test_a_very_long_line_differs_in_its_hunk(texts: Texts) -> None:
    """The hunk of a long line has what differs, not the same beginning twice."""
    before = ("x " * 20_000 + "314.60 " + "y " * 20_000 + "\n").encode()
    found = texts.compare(before, before.replace(b"314.60", b"341.60"))

    assert found.hunks is not None
    old, new = found.hunks[0].lines
    assert "314.60" in old.text
    assert "341.60" in new.text
    assert ("added", "341.60") in new.words
