"""Names in a watched folder: what is temporary, what a rule's patterns take."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbd.core.watch.tree import NamePatterns, is_temporary

TEMPORARY = (
    "~$Budget.xlsx", ".~lock.Budget.ods#", ".hidden", "report.docx~", "a.TMP", "~WRL0001.tmp",
    "a.part", "a.partial", "a.crdownload", "a.filepart", ".a.csv.swp", "a.swx", "4913",
    "#notes.txt#", ".#notes.txt", "Thumbs.db", "DESKTOP.INI", ".DS_Store", ".kbd-stage", ".nfs0001",
    ".goutputstream-X1", "Plan.docx.sb-1a2b3c4d-xYz123", "movie.part-17", "a.!sync",
    "~syncthing~a.csv",
)  # fmt: skip

LASTING = (
    "Budget.xlsx", "a#b.csv", "#1.csv", "part.csv", "2024.part.csv", "tmp", "temp.csv", "~home.csv",
    "49130", "x.parts", "swp", "a.tmp.csv", "thumbs.db.csv", "Bericht.sb-x.csv",
)  # fmt: skip


@pytest.mark.parametrize("name", TEMPORARY)
def test_locks_and_half_files_are_temporary(name: str) -> None:
    """What programs leave for a while is told by its name."""
    assert is_temporary(name)


@pytest.mark.parametrize("name", LASTING)
def test_names_of_people_are_not(name: str) -> None:
    """A name that only looks alike is a file like any other."""
    assert not is_temporary(name)


@pytest.mark.parametrize(
    ("patterns", "path", "taken"),
    [
        ("*", "a/b.csv", True),
        ("*.csv", "a/B.CSV", True),
        ("*.CSV", "b.csv.bak", False),
        ("in/*.csv", "in/a.csv", True),
        ("in/*.csv", "in/sub/a.csv", False),
        ("in/**/*.csv", "in/a.csv", True),
        ("in/**/*.csv", "in/x/y/a.csv", True),
        ("in/**/*.csv", "out/in/a.csv", False),
        ("**/x/*", "a/x/b/x/c", True),
        ("/a.csv", "a.csv", True),
        ("/a.csv", "b/a.csv", False),
        ("drafts/", "drafts/x/a.csv", True),
        ("drafts/", "drafts.csv", False),
        ("?[0-9].csv", "a7.csv", True),
        ("Plan [final].csv", "x/plan [FINAL].csv", True),
        ("* !*.bak", "a.bak", False),
        ("* !*.bak", "a.csv", True),
        ("* !old/** old/keep.csv", "old/keep.csv", True),
        ("* !old/** old/keep.csv", "old/b.csv", False),
        ("!*.bak !*.old", "a.csv", True),
        ("!*.bak !*.old", "a.old", False),
        ("*.csv !*.csv", "a.csv", False),
        ("R\u00e9sum\u00e9*", "re\u0301sume\u0301.csv", True),
        ("STRASSE", "stra\u00dfe", True),
    ],
)
def test_patterns_mean_what_the_rule_says(patterns: str, path: str, taken: bool) -> None:
    """The last pattern that is met decides; a slash makes it one for the path; case is nothing."""
    given = (patterns,) if "[final]" in patterns else tuple(patterns.split())
    assert NamePatterns(given).takes(path) is taken


def test_hostile_patterns_take_no_time() -> None:
    """Neither stars in a name nor stars for folders are tried in all combinations.

    With backtracking each of these would not end within the age of the world.
    """
    assert not NamePatterns(("*a" * 120 + "b",)).takes("a" * 250)
    assert not NamePatterns(("*" * 250 + "b",)).takes("a" * 250)
    assert not NamePatterns(("**/a/" * 50 + "b",)).takes("a/" * 200 + "c")
    assert not NamePatterns(("/".join(["*a*a*a*b"] * 16),)).takes("/".join(["a" * 200] * 16))


PARTS = st.text(alphabet="ab*?[]!-^\\.", min_size=1, max_size=8)


def _spelled_out(pattern: str) -> re.Pattern[str]:
    """The same as an expression that backtracks: slow, and plain to read."""
    text = ""
    for part in pattern.split("/"):
        if part == "**":
            text += "(?:[^/]+/)*"
        else:
            text += "".join({"*": "[^/]*", "?": "[^/]"}.get(c, re.escape(c)) for c in part) + "/"
    return re.compile(text)


@given(
    pattern=st.lists(st.sampled_from(["a", "*", "**", "a*", "?b"]), min_size=2, max_size=5),
    path=st.lists(st.sampled_from(["a", "b", "ab", "bb"]), min_size=1, max_size=6),
)
def test_paths_are_met_as_by_backtracking(pattern: list[str], path: list[str]) -> None:
    """Looking at each part once finds what trying all ways finds."""
    glob, whole = "/".join(pattern), "/".join(path)
    wanted = _spelled_out(glob).fullmatch(whole + "/") is not None
    assert NamePatterns((glob,)).takes(whole) is wanted


@given(pattern=PARTS, path=PARTS)
def test_any_text_is_a_pattern(pattern: str, path: str) -> None:
    """No pattern that a client can send fails; one without magic is met by itself."""
    takes = NamePatterns((pattern,)).takes(path)
    assert takes in (True, False)
    plain = pattern.replace("!", "x").replace("*", "x")
    assert NamePatterns((plain,)).takes(plain)
