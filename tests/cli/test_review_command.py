"""`kbd review`: what a person sees of a draft before it is published."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from kbd.cli.diff_view import render_counts, render_diff, render_value
from kbd.cli.publish import choose_files
from kbd.cli.terminal import cell_width
from kbd.client.blocking import Client
from scripted_daemon import ScriptedDaemon
from scripted_job import ADDED, NO_CHANGES, WORKBENCH

Kbd = Callable[..., int]
Captured = pytest.CaptureFixture[str]


def change(title: str, **more: Any) -> dict[str, Any]:
    """Return a change, of a cell unless it says otherwise."""
    return {"place": {"title": title}, "kind": "changed", "what": "cell", **more}


def diff(*changes: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return a comparison as the daemon answers it."""
    counts = [{"kind": "changed", "what": "cell", "count": len(changes)}]
    found = {"changes": list(changes), "total": len(changes), "counts": counts}
    return {**NO_CHANGES, **found, **more}


def shown(found: dict[str, Any], width: int = 100, *, is_excerpt: bool = False) -> list[str]:
    """Return the lines of a comparison without their styles."""
    lines = render_diff(found, width, is_excerpt=is_excerpt)
    return ["".join(text for _, text in line).rstrip() for line in lines]


def test_a_figure_stands_beside_its_place() -> None:
    """Before and after of a short value on one line, marked as changed."""
    assert shown(diff(change("Sheet1!B7", before=341.6, after=314.6))) == [
        "  ~ Sheet1!B7  341.6 -> 314.6"
    ]


def test_of_a_changed_chart_just_what_changed_is_shown() -> None:
    """What the details name is not told as the whole of both sides; what they do not name is."""
    before = {"name": "Chart 1", "title": None, "legend": "right"}
    chart = change("Data, chart Chart 1", what="chart", before=before)
    titled = {"after": {**before, "title": "Sales"}, "details": {"title": (None, "Sales")}}
    renamed = {"after": {**before, "name": "Chart 2"}, "details": {}}

    assert shown(diff({**chart, **titled})) == ["  ~ Data, chart Chart 1  title: (empty) -> Sales"]
    assert any("Chart 2" in line for line in shown(diff({**chart, **renamed})))


def test_a_changed_word_is_marked_in_its_sentence() -> None:
    """Long equal stretches are cut; both sides are shown, with the words that differ apart."""
    words = [
        ["equal", "x " * 100], ["removed", "341.60"], ["added", "314.60"], ["equal", " y" * 100],
    ]  # fmt: skip
    text = change("Pricing, paragraph 3", what="paragraph", words=words, before="", after="")
    lines = list(render_diff(diff(text), 100))
    assert ("removed word", "341.60") in [part for line in lines for part in line]
    assert ("added word", "314.60") in [part for line in lines for part in line]
    assert all("x " * 50 not in "".join(text for _, text in line) for line in lines)


@pytest.mark.parametrize("width", [40, 60, 80])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    """Whatever the values are: long, wide, of control characters, without blanks."""
    long = "a" * 300
    changes = [
        change(long, before="漢字" * 60, after=long, note=long),
        change("B2", before=None, after="\x1b[31mred\x07 " * 30),
        change("row 5", kind="added", what="row", after=[long, None, 3.5, True]),
        change("P", what="paragraph", words=[["equal", long], ["added", "漢" * 99]]),
        change("C", kind="removed", before={"formula": "=A1*2", "value": 4, "current": True}),
        change("D", details={"bold": [False, True], "font": [long, "Arial"]}, what="format"),
        change("E", kind="moved", what="slide", moved_from={"title": long}),
    ]
    hunk = {
        "before_start": 1, "before_count": 1, "after_start": 1, "after_count": 1,
        "lines": [
            {"kind": "removed", "text": long},
            {"kind": "added", "text": "漢" * 99, "words": [["equal", "漢" * 50], ["added", long]]},
        ],
    }  # fmt: skip
    found = diff(*changes, hunks=[hunk], warnings=[long], reference_warning=long)
    for line in render_diff(found, width):
        text = "".join(part for _, part in line)
        assert cell_width(text) <= width, text


def test_control_sequences_of_a_value_are_not_printed(
    daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured
) -> None:
    """A cell cannot redraw the terminal of who reviews it."""
    daemon.answers["ReviewGetChangeSet"] = {"draft_id": "d", "changes": [ADDED]}
    daemon.answers["ReviewGetDiff"] = diff(change("A1", before="\x1b[2Jold", after="\u202enew"))
    assert kbd("review", "taxes", "--color", "always") == 0
    out = capsys.readouterr().out
    assert "old" in out
    assert "\x1b[2J" not in out
    assert "\u202e" not in out


def test_a_long_run_of_like_changes_is_cut_in_an_excerpt_only() -> None:
    """An added sheet does not push a planted figure from the first screen."""
    rows = [change(f"row {n}", kind="added", what="row", after=[n]) for n in range(50)]
    planted = change("Sheet1!B40000", before=341.6, after=314.6)
    short = shown(diff(*rows, planted), is_excerpt=True)
    assert "    … 42 more rows added" in short
    assert len(short) < 12
    assert "341.6 -> 314.6" in short[-1]
    assert len(shown(diff(*rows, planted))) == 51


def test_lines_of_a_text_are_shown_with_their_numbers() -> None:
    """As `git diff` does; line changes are not told a second time."""
    hunk = {
        "before_start": 9, "before_count": 2, "after_start": 9, "after_count": 2,
        "lines": [
            {"kind": "context", "text": "one"},
            {"kind": "removed", "text": "beta"},
            {"kind": "added", "text": "gamma"},
        ],
    }  # fmt: skip
    line = {"place": {"title": "line 10", "line": 10}, "kind": "changed", "what": "line"}
    assert shown(diff(line, hunks=[hunk])) == [
        "  @@ -9,2 +9,2 @@",
        "   9   one",
        "  10 - beta",
        "  10 + gamma",
    ]


def test_who_made_all_changes_is_named_once_else_with_each() -> None:
    """The run, the item and the tool."""
    one = {"seq": 9, "tool": "xlsx_operations", "run_id": f"{WORKBENCH}-3", "item": 2}
    other = {"seq": 12, "tool": "XlsxApplyOps"}
    same = shown(diff(change("A1", made_by=one), change("A2", made_by=one)))
    assert same == ["  by run 3, item 2, xlsx_operations", "  ~ A1", "  ~ A2"]
    apart = shown(diff(change("A1", made_by=one), change("A2", made_by=other)))
    assert apart == [
        "  ~ A1   by run 3, item 2, xlsx_operations",
        "  ~ A2   by a client, XlsxApplyOps",
    ]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "(empty)"), ("", "(empty)"), (True, "TRUE"), (1.5, "1.5"), (" a", "“ a”"),
        ({"formula": "=A1", "value": 3, "current": True}, "=A1 (3)"),
        ({"formula": "=A1", "value": 3, "current": False}, "=A1 (not calculated)"),
        ({"formula": "=A1", "value": None, "current": True}, "=A1 (empty)"),
        ({"formula": "=A1", "value": None}, "=A1 (not calculated)"),
        ({"date": "2024-01-31"}, "2024-01-31"), ({"error": "#N/A"}, "#N/A"),
        ([1, None, "x"], "1 |  | x"),
        ({"size_bytes": 1024, "sha256": "ab" * 32}, "1.0 KiB, SHA-256 abababababab…"),
    ],
)  # fmt: skip
def test_values_are_written_as_people_write_them(value: Any, text: str) -> None:
    """What is empty is said; a formula shows what it gives, and whether that is current."""
    assert render_value(value) == text


def test_counts_are_in_words() -> None:
    """In the singular or the plural."""
    found = [
        {"kind": "changed", "what": "cell", "count": 1},
        {"kind": "added", "what": "row", "count": 1200},
        {"kind": "changed", "what": "property", "count": 2},
    ]
    expected = "1 cell changed, 1,200 rows added, 2 properties changed"
    assert render_counts({"counts": found}) == expected
    assert render_counts({"counts": []}) == "no change inside"


def test_what_was_there_comes_before_what_is_new(
    daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured
) -> None:
    """Modified files first, the summary short, and how to see all of a long file."""
    modified = {**ADDED, "path": "z.csv", "change_type": "modified", "size_before": 512}
    daemon.answers["ReviewGetChangeSet"] = {
        "draft_id": "d", "changes": [ADDED, modified], "draft_summary": "Done.\n" * 30,
    }  # fmt: skip
    daemon.answers["ReviewGetDiff"] = lambda params, _: diff(
        *[change(f"A{n}", before=1, after=n + 2) for n in range(20)], path=params["path"]
    )
    assert kbd("review", "taxes") == 0
    out = capsys.readouterr().out
    assert out.count("Done.") == 4
    assert out.index("modified z.csv") < out.index("added summary.xlsx")
    assert f"all of it: kbd review {WORKBENCH} summary.xlsx" in out


def test_one_file_is_shown_to_its_end(daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured) -> None:
    """Page after page, narrowed as asked."""
    daemon.answers["ReviewGetChangeSet"] = {"draft_id": "d", "changes": [ADDED]}

    def page(params: dict[str, Any], _: Any) -> dict[str, Any]:
        start = params.get("offset", 0)
        found = diff(*[change(f"A{n}", before=0, after=n) for n in range(start + 1, start + 3)])
        more = {"has_more": True, "next_offset": start + 2} if start < 4 else {}
        return {**found, "total": 6, "path": params["path"], **more}

    daemon.answers["ReviewGetDiff"] = page
    assert kbd("review", "taxes", "summary.xlsx", "--sheet", "Q3", "--key", "Id", "--whole") == 0
    out = capsys.readouterr().out
    assert [f"A{n}  0 -> {n}" in out for n in range(1, 7)] == [True] * 6
    sent = daemon.params_of("ReviewGetDiff")
    assert (sent["sheet"], sent["key"], sent["context_lines"]) == ("Q3", ["Id"], -1)
    assert kbd("review", "taxes", "summary.xlsx", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert len(found["changes"]) == 6
    assert not found["has_more"]


def test_all_of_a_draft_is_one_json_object(
    daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured
) -> None:
    """The change set, with the comparison of each file beside it."""
    daemon.answers["ReviewGetChangeSet"] = {"draft_id": "d", "changes": [ADDED]}
    daemon.answers["ReviewGetDiff"] = diff(change("A1", before=1, after=2))
    assert kbd("review", "taxes", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["changes"] == [ADDED]
    assert found["diffs"]["summary.xlsx"]["changes"][0]["after"] == 2


def test_stat_is_a_line_or_two_a_file(daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured) -> None:
    """The file, and how much changed in it."""
    daemon.answers["ReviewGetChangeSet"] = {"draft_id": "d", "changes": [ADDED]}
    daemon.answers["ReviewGetDiff"] = diff(change("A1", before=1, after=2))
    assert kbd("review", "taxes", "--stat") == 0
    out = capsys.readouterr().out.splitlines()
    assert out == ["added summary.xlsx   4.0 KiB   items 1-2", "  1 cell changed"]


def answering(monkeypatch: pytest.MonkeyPatch, *answers: str) -> list[str]:
    """Have a person at the terminal answer, line by line; return the answers left."""
    left = list(answers)
    monkeypatch.setattr("sys.stdin.readline", lambda: f"{left.pop(0)}\n" if left else "")
    return left


@pytest.mark.parametrize(
    ("answers", "chosen"),
    [
        (("y",), ("a.csv", "b.csv", "new.csv", "old.csv")),
        (("n",), ()), (("",), ()), ((), ()),
        (("huh", "s", "2"), ("b.csv",)),
        (("s", "3"), ("new.csv", "old.csv")),
        (("s", "1-2"), ("a.csv", "b.csv")),
        (("s", "4", "s", "x", "s", "", "n"), ()),
        (("s", "2-1", "y"), ("a.csv", "b.csv", "new.csv", "old.csv")),
    ],
)  # fmt: skip
def test_a_person_chooses_what_is_published(
    daemon: ScriptedDaemon,
    monkeypatch: pytest.MonkeyPatch,
    answers: tuple[str, ...],
    chosen: tuple[str, ...],
) -> None:
    """All, none, or some by number; both names of a renamed file go together."""
    paths = [{**ADDED, "path": name} for name in ("a.csv", "b.csv")]
    renamed = {**ADDED, "path": "new.csv", "previous_path": "old.csv", "change_type": "renamed"}
    daemon.answers["ReviewGetChangeSet"] = {"draft_id": "d", "changes": [*paths, renamed]}
    left = answering(monkeypatch, *answers)
    with Client(str(daemon.path)) as client:
        assert choose_files(client, WORKBENCH) == chosen
    assert left == []


def test_v_shows_the_changes_and_asks_again(
    daemon: ScriptedDaemon, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    """Nobody has to say yes to what they did not see."""
    daemon.answers["ReviewGetChangeSet"] = {"draft_id": "d", "changes": [ADDED]}
    daemon.answers["ReviewGetDiff"] = diff(change("Sheet1!B7", before=341.6, after=314.6))
    answering(monkeypatch, "v", "y")
    with Client(str(daemon.path)) as client:
        assert choose_files(client, WORKBENCH) == ("summary.xlsx",)
    told = capsys.readouterr()
    assert "Sheet1!B7  341.6 -> 314.6" in told.out
    assert told.err.count("Publish these changes?") == 2


ALIKE = [
    ("a b", "a\u00a0b", "a␣b -> a⟨U+00A0⟩b"),
    ("a  b", "a b", "a ␣b -> a b"),
    ("ab", "a\u200bb", "ab -> a⟨U+200B⟩b"),
    ("Total", "T\u043etal", "Total -> T⟨U+043E⟩tal"),
    ("caf\u00e9", "cafe\u0301", "caf⟨U+00E9⟩ -> cafe⟨U+0301⟩"),
    ("abc", "abc\0", "abc -> abc⟨U+0000⟩"),
    ("abc", "\u202eabc", "abc -> ⟨U+202E⟩abc"),
    (5, "5", "5 (number) -> 5 (text)"),
    ("TRUE", True, "TRUE (text) -> TRUE (truth value)"),
    ("", None, "(empty) (text) -> (empty) (none)"),
    ("1.10", "1.1", "1.10 -> 1.1"),
    ("a", "a ", "a -> “a ”"),
]


@pytest.mark.parametrize(("before", "after", "expected"), ALIKE)
def test_values_that_look_alike_are_told_apart(before: Any, after: Any, expected: str) -> None:
    """What nobody sees is written by its number, a type by its name; details likewise."""
    cell = change("A1", before=before, after=after)
    detail = change("A1", details={"was": (before, after)})

    assert expected in shown(diff(cell))[0]
    assert expected in " ".join(shown(diff(detail)))


def test_a_blank_that_changed_is_seen_without_color() -> None:
    """A trailing blank, a no-break space and a tab in words and in hunks."""
    words = [
        ["equal", "end"],
        ["added", " "],
        ["equal", "x"],
        ["removed", " "],
        ["added", "\u00a0"],
    ]
    line = {"kind": "added", "text": "end x", "words": [*words[:3], words[4]]}
    hunk = {"before_start": 1, "before_count": 0, "after_start": 1, "after_count": 1}
    paragraph = change("paragraph 1", what="paragraph", words=words)

    assert shown(diff(paragraph))[1:] == ["      - endx␣", "      + end␣x⟨U+00A0⟩"]
    assert shown(diff(hunks=[{**hunk, "lines": [line]}]))[1] == "  1 + end␣x⟨U+00A0⟩"


@pytest.mark.parametrize("at", [0, 1_000, 9_000])
def test_what_differs_in_a_long_text_is_shown(at: int) -> None:
    """Of a value, a detail and a line of a text, wherever it stands."""
    before, after = ("x" * at + figure + "y" * 9_000 for figure in ("314.60", "341.60"))
    words = [
        ["equal", "x " * at],
        ["removed", "314.60"],
        ["added", "341.60"],
        ["equal", " y" * 9_000],
    ]
    lines = [
        {"kind": kind, "text": "", "words": [each for each in words if each[0] in ("equal", kind)]}
        for kind in ("removed", "added")
    ]
    hunk = {
        "before_start": 1,
        "before_count": 1,
        "after_start": 1,
        "after_count": 1,
        "lines": lines,
    }
    for found in (
        diff(change("A1", before=before, after=after)),
        diff(change("A1", details={"text": (before, after)})),
        diff(hunks=[hunk]),
    ):
        told = "".join(each.strip() for each in shown(found, 60))
        assert "314.60" in told
        assert "341.60" in told


def test_a_long_place_is_named_to_its_end() -> None:
    """Two places that differ at their ends only are not the same to a reader."""
    title = "Terms, " + "a long heading " * 8 + "paragraph 17"
    lines = shown(diff(change(title, before="a", after="b")), 60)

    assert "paragraph 17" in " ".join(lines)
    assert all(cell_width(each) <= 60 for each in lines)
