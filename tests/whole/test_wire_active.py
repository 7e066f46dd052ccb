"""Active content over the socket: told, shown and asked about, as far as no person added it."""

from collections.abc import Iterator
from typing import Any

import openpyxl
import pytest

from backends import mostly
from pdf_forge import one_page, shown, stream
from wired import Wired, wired

ASKED = "these files got external references or other active content"


@pytest.fixture(scope="module", params=mostly("asyncio"))
def wire(request: pytest.FixtureRequest) -> Iterator[Wired]:
    """One daemon a backend for all tests here."""
    with wired(
        str(request.param), more={"KBD_LIMITS_FILES": "60", "KBD_LIMITS_FILE_BYTES": "100000"}
    ) as running:
        yield running


class _Drafted:
    """A workbench whose tools a client calls.

    Args:
        wire: The daemon.
        files: What a person added, by name.
    """

    def __init__(self, wire: Wired, **files: str) -> None:
        self._wire = wire
        named = {name.replace("__", "."): text for name, text in files.items()}
        self.id = wire.daemon.workbench(*(wire.file(name, text) for name, text in named.items()))

    def write(self, name: str, text: str) -> list[str]:
        """Write a text, and return what the tool warns of."""
        return list(self.call("write_text_file", path=name, content=text).get("warnings", ()))

    def call(self, name: str, **arguments: Any) -> Any:
        """Call a tool."""
        return self.ask("ToolsCall", name=name, arguments=arguments)

    def ask(self, method: str, **params: Any) -> Any:
        """Ask something of the workbench."""
        return self._wire.ask(method, workbench_id=self.id, **params)

    def warned(self) -> dict[str, list[str]]:
        """Return what the review warns of, by file."""
        rows = self.ask("ReviewGetChangeSet")["changes"]
        return {row["path"]: row["warnings"] for row in rows if row.get("warnings")}

    def refusal(self) -> str:
        """Return why a publish is refused."""
        return self._wire.refused("DraftPublish", workbench_id=self.id).message


RUNNABLE = {
    "a.sh": "script or program", "b.py": "script or program", "c.bat": "script or program",
    "d.ps1": "script or program", "e.vbs": "script or program", "f.js": "script or program",
    "g.mjs": "script or program", "h.cmd": "script or program", "i.reg": "script or program",
    "Makefile": "settings", "package.json": "settings", "pyproject.toml": "settings",
    "j.service": "settings", "sub/k.mk": "settings", "R.app/Contents/Info.plist": "bundle",
    "yarn.lock": "settings",
}  # fmt: skip

TEXTS = {
    "l.txt": ("#!/bin/sh\nid\n", "interpreter"),
    "m.html": ("<p>x</p><script>go()</script>", "script: <script>go()"),
    "n.html": ("<img src=x onerror=go()>", "event handler"),
    "o.html": ("<a href='java&#115;cript:go()'>x</a>", "script address"),
    "p.html": ("<meta http-equiv=refresh content='0;url=x'>", "refresh"),
    "q.html": ("<iframe src=x.html></iframe>", "frame"),
    "r.html": ("<img src='https://e.example/a.png'>", "remote content: https://e.example/a.png"),
    "t.xml": ("<?xml-stylesheet href='a.xsl'?><a/>", "raw page"),
    "u.md": ("![x](https://e.example/a?b)", "remote content: https://e.example/a?b"),
    "v.md": ("[x](https://e.example/a?b=c)", "link with a query: https://e.example/a?b=c"),
    "w.md": ("<script>go()</script>", "script: <script>go()"),
    "x.css": ("a {background: url(https://e.example/a)}", "remote content"),
    "y.csv": ("a,b\n1,=WEBSERVICE(A1)\n", "line 2: formula: =WEBSERVICE(A1)"),
    "z.tsv": ("a\tb\n1\t@SUM(A1)\n", "line 2: formula: @SUM(A1)"),
    "za.psv": ("a|b\n1|=cmd|'/c calc'!A1\n", "line 2: formula: =cmd|'/c calc'!A1"),
    "zb.txt": ("a\tb\n1\t=HYPERLINK(A1)\n", "line 2: formula: =HYPERLINK(A1)"),
    "zd.ics": ("BEGIN:VCALENDAR\nATTACH:https://e.example/a\n", "alarm or attachment: ATTACH"),
    "ze.vcf": ("BEGIN:VCARD\nPHOTO:https://e.example/a\n", "alarm or attachment: PHOTO"),
    "zf.xml": ("<?mso-application progid='Excel.Sheet'?><Workbook/>", "office document"),
    "zc.csv": ("a;b\n1;\"-2+cmd|'/c calc'!A1\"\n", "line 2: formula: -2+cmd|"),
}

HARMLESS = {
    "a.csv": "a,b\n-5,+3.2\n-,-1.234\n+49 170 123,- see page 3\n", "b.md": "# T\n[x](https://e.example/a)",
    "c.html": "<p class='only = 3'><a href='https://e.example/a'>x</a><img src='a.png'></p>",
    "d.txt": "=====\n- see (x)\n@me\n", "e.xml": "<svg xmlns='http://www.w3.org/2000/svg'/>",
    "f.json": '{"a": "<b>"}', "g.md": "a b", "makefile.txt": "all:",
}  # fmt: skip


def test_what_runs_by_its_name_is_asked_about(wire: Wired) -> None:
    """Scripts and settings are named by the tool and the review, and published only if accepted."""
    draft = _Drafted(wire)
    told = {name: draft.write(name, "x = 1\n") for name in RUNNABLE}
    assert draft.warned() == told
    for name, kind in RUNNABLE.items():
        assert len(told[name]) == 1
        assert kind in told[name][0]
    message = draft.refusal()
    assert message.startswith(ASKED)
    assert all(f"{name}: {told[name][0]}" in message for name in RUNNABLE)
    published = draft.ask("DraftPublish", accept_external=True)["published"]
    assert sorted(published) == sorted(RUNNABLE)


def test_what_runs_or_fetches_by_its_content_is_asked_about(wire: Wired) -> None:
    """Scripts, frames, remote content, links with a query, formulas: named, shown, asked about."""
    draft = _Drafted(wire)
    told = {name: draft.write(name, content) for name, (content, _) in TEXTS.items()}
    assert draft.warned() == told
    for name, (_, expected) in TEXTS.items():
        assert any(expected in text for text in told[name]), (name, told[name])
    message = draft.refusal()
    assert message.startswith(ASKED)
    assert all(name in message for name in TEXTS)


def test_plain_files_are_published_unasked(wire: Wired) -> None:
    """Numbers with a sign, plain links, namespaces and prose are no active content."""
    draft = _Drafted(wire)
    assert {name: draft.write(name, text) for name, text in HARMLESS.items()} == {
        name: [] for name in HARMLESS
    }
    assert sorted(draft.ask("DraftPublish")["published"]) == sorted(HARMLESS)


def test_what_a_person_added_is_no_news(wire: Wired) -> None:
    """An edit beside it, or a new file that holds the same, is not asked about; more of it is."""
    page, table = "<p>{}</p><script>go()</script>", "a,b\n{},=SUM(A1)\n"
    draft = _Drafted(wire, p__html=page.format("old"), t__csv=table.format(1), s__sh="id\n")
    assert draft.write("p.html", page.format("new")) == []
    assert draft.write("q.html", page.format("other")) == []
    assert draft.write("t.csv", table.format(2)) == []
    assert draft.ask("DraftPublish")["published"] == ["p.html", "q.html", "t.csv"]
    assert draft.write("p.html", page.format("new").replace("go", "send")) != []
    # Of a script nobody can say which part of it runs.
    assert draft.write("s.sh", "id; id\n") != []
    assert list(draft.warned()) == ["p.html", "s.sh"]


def test_what_was_taken_out_again_asks_nobody(wire: Wired) -> None:
    """The review tells what the file has, not what it had."""
    draft = _Drafted(wire)
    assert draft.write("p.html", "<script>go()</script>") != []
    assert draft.write("p.html", "<p>x</p>") == []
    assert draft.warned() == {}
    assert draft.ask("DraftPublish")["published"] == ["p.html"]


def test_an_export_neutralizes_formulas_and_says_so(wire: Wired) -> None:
    """Text of a table that a program would evaluate gets an apostrophe; numbers do not."""
    rows = "name,sum\n=cmd|'/c calc'!A1,-5\n@SUM(A1),+5\n\"＝1+1\",-1.50\n- see page 3,7\n-,0\n"
    draft = _Drafted(wire, t__csv=rows)
    for name in ("o.csv", "o.tsv", "o.psv"):
        made = draft.call("table_export", path="t.csv", target_path=name, format="csv")
        assert [text for text in made["warnings"] if text.startswith("3 text(s)")]
        mark = {"o.csv": ",", "o.tsv": "\t", "o.psv": "|"}[name]
        lines = draft.call("read_file", path=name)["text"].splitlines()
        read = [line.rpartition(mark)[2] for line in lines[1:]]
        assert read == ["-5", "+5", "-1.50", "7", "0"]
        assert [line.lstrip('"')[:2] for line in lines[1:]] == ["'=", "'@", "'＝", "- ", f"-{mark}"]
    query = "SELECT '=1+1' AS \"=2+2\", -5 AS n"
    made = draft.call("table_export", path="t.csv", target_path="q.csv", format="csv", query=query)
    assert draft.call("read_file", path="q.csv")["text"] == "'=2+2,n\n'=1+1,-5\n"
    update = {"path": "t.csv", "target_path": "q.csv", "sheet": "S", "mode": "append_rows"}
    made = draft.call("table_update_from_export", **update, query=query)
    assert [text for text in made["warnings"] if text.startswith("1 text(s)")]
    assert draft.call("read_file", path="q.csv")["text"].endswith("'=1+1,-5\n'=1+1,-5\n")
    # What the review tells of it is a note: nothing waits for a person.
    assert draft.ask("DraftPublish")["published"] == ["o.csv", "o.psv", "o.tsv", "q.csv"]


def test_a_map_names_what_a_file_carries(wire: Wired) -> None:
    """Who reads a file that a person added is told what is in it that runs."""
    drawn = "<svg xmlns='http://www.w3.org/2000/svg' onload='go()'></svg>"
    page, table = "<script>go()</script>", "a,b\n1,=HYPERLINK(A1)\n"
    draft = _Drafted(wire, p__html=page, t__csv=table, d__svg=drawn)
    (handler,) = draft.call("get_file_map", path="d.svg")["active_content"]
    assert handler.startswith("event handler: ")
    found = draft.call("get_file_map", path="p.html")["active_content"]
    assert found == ["script: <script>go()</script"]
    assert draft.call("get_file_map", path="t.csv")["active_content"] == [
        "line 2: formula: =HYPERLINK(A1)"
    ]


def test_the_list_of_files_names_what_they_carry(wire: Wired) -> None:
    """What their maps found; nothing is said without being asked, or of a file that is damaged."""
    launch = b"<</S/Launch/F(cmd.exe)>>"
    pdf = one_page(stream(shown("hello")), launch, catalogue=b"/OpenAction 6 0 R")
    draft = _Drafted(wire, p__html="<script>go()</script>", q__html="<p>x</p>")
    for name, data in (("a.pdf", pdf), ("b.xlsx", b"PK\3\4"), ("c.bin", b"\0\1")):
        path = wire.file(name)
        path.write_bytes(data)
        wire.add(draft.id, path)

    def listed(**how: Any) -> dict[str, Any]:
        rows = draft.ask("WorkbenchFilesList", **how)["files"]
        return {row["path"]: row.get("active_content") for row in rows}

    draft.call("get_file_map", path="p.html")
    nothing = dict.fromkeys(("a.pdf", "b.xlsx", "c.bin", "p.html", "q.html"))
    assert listed() == nothing, "whatever is in the cache"
    found = {
        "a.pdf": ["action: starting a program, when it is opened", "what an action names: cmd.exe"],
        "b.xlsx": None, "c.bin": None, "p.html": ["script: <script>go()</script"], "q.html": [],
    }  # fmt: skip
    assert listed(look_into=True) == found
    assert listed() == nothing
    draft.write("q.html", "<script>other()</script>")
    assert listed(look_into=True)["q.html"] == ["script: <script>other()</script"]


def test_a_clients_edit_is_looked_at_too(wire: Wired) -> None:
    """Whichever method writes a file that programs obey: it is asked about."""
    book = wire.file(".a.xlsx")
    openpyxl.Workbook().save(book)
    draft = _Drafted(wire)
    wire.add(draft.id, book)
    ops = [{"op": "ensure_sheet", "sheet": "S"}]
    (warning,) = draft.ask("XlsxApplyOps", path=".a.xlsx", ops=ops)["warnings"]
    assert warning.startswith("settings")
    assert draft.warned() == {".a.xlsx": [warning]}
    assert draft.refusal().startswith(ASKED)


SCRIPT = "script: <script>go()</script"


def test_a_rebase_leaves_nothing_unasked(wire: Wired) -> None:
    """What the draft brought is asked about on the new base, too; what somebody added is not."""
    page = "".join(f"<p>{number}</p>\n" for number in range(9))
    draft = _Drafted(wire, p__html=page, q__html=page, r__html=page, s__sh="a\nb\nc\nd\n")
    for name in ("p.html", "r.html"):
        draft.write(name, page.replace("<p>1</p>", "<script>go()</script>"))
    draft.write("q.html", page.replace("<p>1</p>", "<p>one</p>"))
    draft.write("s.sh", "a\nB\nc\nd\n")
    before = draft.warned()
    assert sorted(before) == ["p.html", "r.html", "s.sh"]
    published = wire.published(draft.id)
    for name in ("p.html", "q.html"):
        theirs = page.replace("<p>8</p>", "<script>send()</script>")
        (published / name).write_text(theirs)
    (published / "s.sh").write_text("a\nb\nc\nD\n")
    done = draft.ask("DraftRebase")
    assert (done["conflicts"], done["unchanged"]) == ([], ["r.html"])
    assert [each["path"] for each in done["rebased"]] == ["p.html", "q.html", "s.sh"]
    assert draft.warned() == before
    message = draft.refusal()
    assert message.startswith(ASKED)
    assert f"p.html: {SCRIPT}" in message
    assert "send()" not in message
    draft.ask("DraftPublish", accept_external=True)
    assert "send()" in (published / "p.html").read_text()


@pytest.mark.full
def test_a_rebase_of_a_workbook_leaves_nothing_unasked(wire: Wired) -> None:
    """A formula that fetches is asked about on the new base, too: the call is made again there."""
    path = wire.file("a.xlsx")
    book = openpyxl.Workbook()
    book["Sheet"].append(["a", 1])
    book.save(path)
    draft = _Drafted(wire)
    wire.add(draft.id, path)
    cells = [{"cell": "B9", "value": '=WEBSERVICE("http://e.example/")'}]
    op = {"op": "set_cells", "sheet": "Sheet", "cells": cells}
    draft.ask("XlsxApplyOps", path="a.xlsx", ops=[op])
    before = draft.warned()
    assert list(before) == ["a.xlsx"]
    published = wire.published(draft.id) / "a.xlsx"
    book = openpyxl.load_workbook(published)
    book["Sheet"]["A5"] = "theirs"
    book.save(published)
    assert draft.ask("DraftRebase")["conflicts"] == []
    assert draft.warned() == before
    assert draft.refusal().startswith(ASKED)
