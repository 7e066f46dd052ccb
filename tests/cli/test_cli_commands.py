"""The commands that ask one thing and print it."""

import io
import json
import threading
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from kbd.cli.patience import told_if_slow
from scripted_daemon import Notify, ScriptedDaemon
from scripted_job import ADDED, WORKBENCH, workbench

Kbd = Callable[..., int]
Captured = pytest.CaptureFixture[str]


def test_status_tells_what_runs(daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured) -> None:
    """Version, home, process, uptime, workbenches, active runs, what takes how much disk."""
    daemon.answers["RunList"] = {"runs": [{"run_id": "a-1", "status": "running"}]}

    assert kbd("status") == 0
    assert capsys.readouterr().out.splitlines() == [
        "kbd 0.1.0 is running",
        "  home         /home/kbd",
        "  process      4711, up 1 h 2 min, on asyncio",
        "  workbenches  1, 1 with a draft",
        "  runs         a-1",
        "  disk         3.0 KiB, of it 1.0 KiB the daemon's log",
        "",
        "workbench                 events  files  disk",
        "0123456789abcdef (taxes)  7       1      2.0 KiB",
    ]
    assert daemon.params_of("RunList") == {"running": True}


def test_status_warns_before_anything_goes_or_is_refused(
    daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured
) -> None:
    """Of the quota, and of archives that are about to be removed; doctor says it, too."""
    told = ["the home takes 9 of its quota of 10: new runs and files are refused", "3 archives go"]
    info = daemon.answers["EngineGetInfo"]
    daemon.answers["EngineGetInfo"] = {**info, "storage_notices": told}
    assert kbd("status") == 0
    assert capsys.readouterr().out.splitlines()[2:4] == [" " * 15 + each for each in told]


def test_status_lists_what_takes_most(daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured) -> None:
    """The largest 20, and what the rest takes together; --json has all, the largest first."""
    sizes = [1024 * (7 * n % 30) for n in range(30)]
    rows = [workbench(id=f"{n:016}", disk_bytes=size) for n, size in enumerate(sizes)]
    found = {"workbenches": rows, "daemon_disk_bytes": 0, "landed_disk_bytes": 512}
    daemon.answers["WorkbenchList"] = found

    assert kbd("status") == 0
    shown = capsys.readouterr().out.splitlines()
    assert (
        "  disk         435.5 KiB, of it 0 bytes the daemon's log, 512 bytes landed files" in shown
    )
    assert shown[-21].endswith("29.0 KiB")
    assert shown[-1] == "and 10 more, 45.0 KiB together"
    assert kbd("status", "--json") == 0
    disk = json.loads(capsys.readouterr().out)["disk"]
    assert [row["disk_bytes"] for row in disk["workbenches"]] == sorted(sizes, reverse=True)
    assert disk["total_bytes"] == sum(sizes) + 512


def test_status_is_json_also_when_nothing_runs(short_dir: Path, kbd: Kbd, capsys: Captured) -> None:
    """A script gets an object in both cases."""
    assert kbd("status", "--json") == 69
    assert json.loads(capsys.readouterr().out) == {"running": False, "home": str(short_dir)}


@pytest.mark.parametrize("named", [WORKBENCH, "taxes", WORKBENCH[:3]])
def test_a_workbench_has_three_names(daemon: ScriptedDaemon, kbd: Kbd, named: str) -> None:
    """Its id, its name, the beginning of its id."""
    assert kbd("review", named) == 0
    assert daemon.params_of("ReviewGetChangeSet") == {"workbench_id": WORKBENCH}


def test_a_name_must_be_clear(daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured) -> None:
    """Of two with the same name neither is taken; both ids are told."""
    other = workbench(id="f" * 16)
    daemon.answers["WorkbenchList"] = {"workbenches": [workbench(), other]}

    assert kbd("review", "taxes") == 1
    assert f"{WORKBENCH}, {'f' * 16}" in capsys.readouterr().err
    assert kbd("review", "nobody") == 1
    assert "no workbench nobody" in capsys.readouterr().err


def test_a_change_set_is_shown_file_by_file(
    daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured
) -> None:
    """Kind of change, name, sizes, items; how much changed, and warnings below."""
    changed = {**ADDED, "change_type": "modified", "size_before": 512, "warnings": ["fetches"]}
    deleted = {**ADDED, "change_type": "deleted", "path": "old\x1b[8m.csv", "size_before": 10}
    deleted["items"] = [5, 1, 2, 3]
    changes = {"draft_id": "d", "changes": [changed, deleted], "draft_summary": "Done."}
    daemon.answers["ReviewGetChangeSet"] = changes

    assert kbd("review", "taxes") == 0
    assert capsys.readouterr().out.splitlines() == [
        "Done.",
        "",
        "modified summary.xlsx   512 bytes -> 4.0 KiB   items 1-2",
        "  no change inside",
        "  ! fetches",
        "",
        "deleted old.csv   was 10 bytes   items 1-3, 5",
        "  no change inside",
    ]


def test_a_draft_without_a_summary_begins_with_its_first_file(
    daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured
) -> None:
    """What clients drafted has none; no blank lines stand for it."""
    daemon.answers["ReviewGetChangeSet"] = {"draft_id": "d", "changes": [ADDED, ADDED]}

    assert kbd("review", "taxes") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("added summary.xlsx")
    assert lines.count("") == 1


def test_publish_names_what_it_did(daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured) -> None:
    """The paths and the answer to a conflict go to the daemon; kept copies are told."""
    kept = [{"path": "a.csv", "published_as": "a(1).csv"}]
    daemon.answers["DraftPublish"] = {**daemon.answers["DraftPublish"], "kept_both": kept}

    assert kbd("publish", "taxes", "a.csv", "--keep-both") == 0
    assert daemon.params_of("DraftPublish") == {
        "workbench_id": WORKBENCH,
        "paths": ["a.csv"],
        "on_conflict": "keep_both",
    }
    assert "a.csv had changed; yours is a(1).csv" in capsys.readouterr().err


def test_what_destroys_needs_a_yes(daemon: ScriptedDaemon, kbd: Kbd) -> None:
    """Discarding and deleting end with 3 where nobody can be asked, and go on with --yes."""
    assert kbd("discard", "taxes") == 3
    assert kbd("wb", "delete", "taxes") == 3
    assert not {"DraftDiscard", "WorkbenchDelete"} & set(daemon.methods())
    assert kbd("discard", "taxes", "--yes") == 0
    assert kbd("wb", "delete", "taxes", "--yes") == 0
    assert {"DraftDiscard", "WorkbenchDelete"} <= set(daemon.methods())


def test_wb_makes_lists_and_fills(
    daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured, tmp_path: Path
) -> None:
    """`new` prints the id alone; `list` is a table; `extract` prints where files went."""
    assert kbd("wb", "new", "taxes", "a.csv") == 0
    assert capsys.readouterr().out == f"{WORKBENCH}\n"
    assert kbd("wb", "list") == 0
    assert f"{WORKBENCH}  taxes  1      idle    2.0 KiB" in capsys.readouterr().out
    assert kbd("wb", "add", "taxes", "b.csv") == 0
    assert kbd("wb", "extract", "taxes", "--out", str(tmp_path)) == 0
    assert capsys.readouterr().out.endswith(f"{tmp_path}/a.csv\n")


def test_wb_archives_and_unpacks(daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured) -> None:
    """What it took and takes now is said."""
    daemon.answers["WorkbenchArchive"] = {
        "size_bytes": 512, "sha256": "f" * 64, "archived_at": "2026-12-01T00:00:00Z"
    }  # fmt: skip
    daemon.answers["WorkbenchUnarchive"] = {"unarchived": True}

    assert kbd("wb", "archive", "taxes") == 0
    assert capsys.readouterr().out == "Archived taxes: 2.0 KiB are 512 bytes now.\n"
    assert kbd("wb", "unarchive", "taxes") == 0
    assert capsys.readouterr().out == "Unpacked taxes.\n"
    assert daemon.params_of("WorkbenchUnarchive") == {"workbench_id": WORKBENCH}


def test_wb_remove_says_where(daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured) -> None:
    """With a draft open a removal waits for the publish, and that is said."""
    daemon.answers["WorkbenchFilesRemove"] = {"removed": ["a.csv"], "in_draft": True}

    assert kbd("wb", "rm", "taxes", "a.csv") == 0
    assert "in the draft" in capsys.readouterr().out
    assert kbd("wb", "rm", "taxes") == 2


def test_wb_show_tells_files_and_runs(daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured) -> None:
    """Model, draft, files with the reason of those that cannot be read, runs."""
    opened = {**workbench(), "default_model_id": "offline:planner"}
    row = {"path": "a.bin", "size": 1, "file_kind": "binary", "reason": "not a known format"}
    run = {"run_id": "a-1", "status": "failed", "started_at": "2026"}
    daemon.answers.update(
        WorkbenchOpen={"workbench": opened},
        WorkbenchFilesList={"files": [row]},
        RunList={"runs": [run]},
    )

    assert kbd("wb", "show", "taxes") == 0
    told = capsys.readouterr().out
    for part in ("offline:planner", "not a known format", "a-1  failed"):
        assert part in told


class _Terminal(io.StringIO):
    """A terminal; it hears the first word."""

    def __init__(self) -> None:
        super().__init__()
        self.heard = threading.Event()

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        written = super().write(text)
        self.heard.set()
        return written


@pytest.mark.parametrize("is_plain", [False, True])
def test_wb_show_tells_what_a_long_look_waits_for(
    daemon: ScriptedDaemon, kbd: Kbd, monkeypatch: pytest.MonkeyPatch, *, is_plain: bool
) -> None:
    """On a terminal, once, and before the answer; where nobody draws, nothing is told."""
    told = _Terminal()
    monkeypatch.setattr("sys.stderr", told)
    monkeypatch.setenv("TERM", "dumb" if is_plain else "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setattr("kbd.cli.patience.PATIENCE_S", 0.01)

    def look(_: dict[str, Any], __: Notify) -> dict[str, Any]:
        # Until the word is told, so that no clock decides.
        assert is_plain or told.heard.wait(30)
        return {"files": []}

    daemon.answers.update(
        WorkbenchOpen={"workbench": {**workbench(), "default_model_id": "offline:planner"}},
        WorkbenchFilesList=look,
        RunList={"runs": []},
    )
    assert kbd("wb", "show", "taxes") == 0
    assert told.getvalue().count("Looking into the files") == (0 if is_plain else 1)


def test_a_short_wait_is_not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is told of what takes no time, though it is a terminal."""
    told = _Terminal()
    monkeypatch.setattr("sys.stderr", told)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    with told_if_slow("waiting"):
        pass
    assert told.getvalue() == ""


def test_wb_show_tells_what_files_carry(daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured) -> None:
    """The first pieces of it, on one line and without control characters; or that nobody looked."""
    row = {"size": 1, "file_kind": "document", "is_opaque": False}
    carried = ["macros: vba.bin", "external image: http://e.example/\x1b[31m", "c: 3", "d", "e"]
    files = [
        {**row, "path": "a.docx", "active_content": carried},
        {**row, "path": "b.docx", "active_content": []},
        {**row, "path": "c.docx"},
    ]
    daemon.answers.update(
        WorkbenchOpen={"workbench": {**workbench(), "default_model_id": "offline:planner"}},
        WorkbenchFilesList={"files": files},
        RunList={"runs": []},
    )

    assert kbd("wb", "show", "taxes") == 0
    told = capsys.readouterr().out
    assert "carries macros: vba.bin; external image: http://e.example/" in told
    assert "c: 3; and 2 more" in told
    assert "\x1b[31m" not in told
    assert [line.split()[0] for line in told.splitlines() if "not looked into" in line] == [
        "c.docx"
    ]


def test_plugins_tells_reasons(daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured) -> None:
    """A plugin that is left out stands there with its reason."""
    plugin = {
        "name": "toml",
        "version": "2",
        "source": "kbd-toml",
        "kind": "formats",
        "status": "left_out",
        "reason": "ImportError",
    }
    daemon.answers["PluginsList"] = {"plugins": [plugin]}

    assert kbd("plugins") == 0
    assert "toml    2        formats  left_out  ImportError" in capsys.readouterr().out


def test_rpc_calls_anything(daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured) -> None:
    """The result is JSON on stdout; what is not an object is refused before it is sent."""
    assert kbd("rpc", "WorkbenchCreate", '{"name": "x"}') == 0
    assert json.loads(capsys.readouterr().out) == {"workbench_id": WORKBENCH}
    assert daemon.params_of("WorkbenchCreate") == {"name": "x"}
    assert kbd("rpc", "WorkbenchCreate", "[1]") == 2
    assert kbd("rpc", "WorkbenchCreate", "{") == 2
    assert kbd("rpc", "NoSuchMethod") == 1
    assert "-32601: no method NoSuchMethod" in capsys.readouterr().err


def test_doctor_asks_the_daemon(
    daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured, short_dir: Path
) -> None:
    """What the daemon knows is judged; a plugin that is left out is wrong, with its reason."""
    short_dir.chmod(0o700)
    plugin = {"name": "toml", "version": "2", "status": "left_out", "reason": "broken"}
    provider = {
        "provider_id": "openai", "enabled": True, "configured": False, "leaves_machine": True,
    }  # fmt: skip
    off = {**provider, "provider_id": "other", "enabled": False}
    layers = [
        {"name": "landlock", "holds": False, "reason": "no Landlock"},
        {"name": "seccomp", "holds": True, "reason": "a filter"},
    ]
    sandbox = {"level": "partial", "reason": "no Landlock", "layers": layers}
    local = {"provider_id": "local", "leaves_machine": False, "reason": "it has no model.onnx"}
    daemon.answers.update(
        PluginsList={"plugins": [plugin]},
        ProvidersGetStatus={
            "providers": [{**provider, "reason": "set OPENAI_API_KEY"}, off],
            "embedders": [local],
        },
        UserGetConsentMode={"mode": "allow_all"},
        ToolWorkerGetStatus={
            "available": True,
            "workers": 2,
            "sandbox": sandbox,
            "renderer": {"program": "/opt/soffice"},
            "set_aside": [{"path": "a.pdf", "reason": "a.pdf is set aside: it crashed"}],
        },
    )

    assert kbd("doctor") == 1
    told = capsys.readouterr().out
    assert "WRONG plugin    toml 2 left out: broken" in told
    assert "-     search    local: it has no model.onnx" in told
    assert "-     provider  openai is not set up" in told
    assert "-     provider  other is disabled" in told
    assert "-     consent   files of every workbench may leave unasked" in told
    assert "ok    workers   files can be opened" in told
    assert "-     sandbox   landlock is missing: no Landlock" in told
    assert "ok    sandbox   seccomp holds: a filter" in told
    assert "ok    previews  documents are printed by /opt/soffice" in told
    assert "-     set aside a.pdf is set aside: it crashed" in told
    assert "ok    home" in told


def test_doctor_names_what_previews_need(
    kbd: Kbd, capsys: Captured, short_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a daemon: the program that would be run, or what is wrong with the settings."""
    short_dir.chmod(0o700)
    program = short_dir / "office"
    program.write_text("")
    program.chmod(0o700)
    monkeypatch.setenv("KBD_PREVIEW_RENDERER", str(program))
    kbd("doctor")
    assert f"ok    previews  documents are printed by {program}" in capsys.readouterr().out
    monkeypatch.setenv("KBD_PREVIEW_WALL_S", "soon")
    assert kbd("doctor") == 1
    assert "WRONG settings  setting preview.wall_s" in capsys.readouterr().out


def test_doctor_names_extras(
    kbd: Kbd, capsys: Captured, short_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each extra is told with its packages, or with the command that brings them."""
    short_dir.chmod(0o700)
    monkeypatch.setenv("KBD_PREVIEW_RENDERER", "none")
    wanted = ["msgspec>=0.20", "nowhere-to-be-found>=2; extra == 'rare'",
              'msgspec>=0.20; extra == "usual"', "ruff; extra == 'dev'"]  # fmt: skip
    monkeypatch.setattr("kbd.cli.doctor.requires", lambda _: wanted)
    kbd("doctor")
    told = capsys.readouterr().out
    without = 'rare: without nowhere-to-be-found: pip install "kbd[rare]"'
    assert f"-     extra     {without}" in told
    assert f"-     extra     usual: msgspec {version('msgspec')}" in told
    assert "ruff" not in told


def test_doctor_works_alone(
    kbd: Kbd, capsys: Captured, short_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a daemon it checks what it can; a key is never printed; an open home is wrong."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    monkeypatch.setenv("KBD_PREVIEW_RENDERER", "none")
    short_dir.chmod(0o755)

    assert kbd("doctor") == 1
    told = capsys.readouterr().out
    assert "WRONG home" in told
    assert "-     daemon    not running" in told
    assert "OPENAI_API_KEY is set" in told
    assert "-     previews  the setting preview_renderer is none" in told
    assert "sk-secret" not in told


def test_stop_without_a_daemon_is_done(kbd: Kbd, capsys: Captured) -> None:
    """Stopping what does not run is no error."""
    assert kbd("stop") == 0
    assert "not running" in capsys.readouterr().out


def test_stop_waits_for_the_process(daemon: ScriptedDaemon, kbd: Kbd) -> None:
    """The command ends when the process is gone."""
    # A pid that cannot be: the largest that Linux gives out is 2**22.
    daemon.answers["EngineGetInfo"] = {**daemon.answers["EngineGetInfo"], "pid": 2**22 + 1}
    daemon.answers["DaemonShutdown"] = {"stopping": True}

    assert kbd("stop") == 0
    assert daemon.methods()[-1] == "DaemonShutdown"


DISCARDED = {
    "draft_id": "d1f2", "ended_seq": 48, "reason": "discard", "is_complete": False,
    "discarded_at": "2026-11-22T16:53:00Z", "created_at": "2026-11-22T16:50:00Z",
    "files": [
        {"path": "a.csv", "change_type": "modified", "size_bytes": 2048, "is_available": True},
        {"path": "b\x1b[31m.csv", "change_type": "added", "size_bytes": 10, "is_available": False},
        {"path": "old.csv", "change_type": "deleted", "size_bytes": 0, "is_available": True},
    ],
}  # fmt: skip
EARLIER = {**DISCARDED, "draft_id": "e5", "ended_seq": 30, "reason": "undo"}


def test_a_discarded_draft_is_listed_and_comes_back(
    daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured, tmp_path: Path
) -> None:
    """By id, its beginning or its event; some files of it; or as files in a folder."""
    daemon.answers["DraftListDiscarded"] = {"drafts": [DISCARDED, EARLIER], "total": 2}
    done = {
        "draft_id": "d1f2", "ended_seq": 48, "recovered": ["a.csv"],
        "already_published": ["old.csv"], "changed_since": ["a.csv"],
    }  # fmt: skip
    daemon.answers["WorkbenchRecover"] = done
    assert kbd("wb", "recover", "taxes", "--list") == 0
    listed = capsys.readouterr().out.splitlines()
    assert listed[1].split()[:2] == ["d1f2", "48"]
    assert "discarded 2026-11-22 16:53" in listed[1]
    assert "~a.csv (2.0 KiB), +b.csv (10 bytes) LOST, -old.csv" in listed[1]
    assert "undone 2026-11-22" in listed[2]

    assert kbd("wb", "recover", "taxes") == 0
    newest = {"workbench_id": WORKBENCH, "draft_id": "d1f2", "ended_seq": 48}
    assert daemon.params_of("WorkbenchRecover") == newest
    assert capsys.readouterr().out.splitlines()[:3] == [
        "Draft d1f2 is the draft again:",
        "  ~a.csv   changed in published/ since the draft began",
        "  -old.csv   left out: just this is published",
    ]
    earlier = {"workbench_id": WORKBENCH, "draft_id": "e5", "ended_seq": 30}
    for named in ("e", "30"):
        assert kbd("wb", "recover", "taxes", named, "a.csv") == 0
        assert daemon.params_of("WorkbenchRecover") == {**earlier, "paths": ["a.csv"]}
    assert kbd("wb", "recover", "taxes", "a.csv") == 0
    assert daemon.params_of("WorkbenchRecover") == {**newest, "paths": ["a.csv"]}

    results = [
        {"workbench_path": "a.csv", "status": "extracted", "final_path": f"{tmp_path}/a.csv"},
        {"workbench_path": "b.csv", "status": "failed", "reason": "its bytes are missing"},
    ]
    daemon.answers["WorkbenchRecover"] = {**done, "extract_results": results}
    capsys.readouterr()
    assert kbd("wb", "recover", "taxes", "--to", str(tmp_path)) == 1
    told = capsys.readouterr()
    assert told.out == f"{tmp_path}/a.csv\n"
    assert "b.csv was not written: its bytes are missing" in told.err

    daemon.answers["DraftListDiscarded"] = {"drafts": [], "total": 0}
    assert kbd("wb", "recover", "taxes") == 1
    assert kbd("discard", "taxes", "--yes") == 0
    assert f"kbd wb recover {WORKBENCH}" in capsys.readouterr().err


def test_a_rebase_says_what_it_did(daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured) -> None:
    """File by file, and that the draft is a new one to look at."""
    daemon.answers["DraftRebase"] = {
        "draft_id": "d2", "conflicts": [], "unchanged": ["c.csv"],
        "rebased": [
            {"path": "a.csv", "calls": 2, "in_draft": True},
            {"path": "b.csv", "calls": 0, "in_draft": False},
        ],
    }  # fmt: skip
    assert kbd("rebase", "taxes", "a.csv", "b.csv", "c.csv") == 0
    assert daemon.params_of("DraftRebase") == {
        "workbench_id": WORKBENCH, "paths": ["a.csv", "b.csv", "c.csv"],
    }  # fmt: skip
    assert capsys.readouterr().out.splitlines() == [
        "rebased a.csv: 2 edits applied to what is published",
        "b.csv is published as the draft has it: it is no part of the draft any more",
        "unchanged in published/: c.csv",
        "The draft is a new one: `kbd review taxes` shows what it changes now.",
    ]


def test_a_rebase_names_each_conflict_and_fails(
    daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured
) -> None:
    """With the three values and who made the draft's; what can be done follows."""
    conflict = {
        "path": "a.csv", "place": {"title": "row 7, amount", "row": 7, "column": "amount"},
        "reason": "the draft and somebody else both changed the cell", "before": 1, "ours": 2,
        "theirs": None, "seq": 31, "tool": "table_export", "run_id": f"{WORKBENCH}-4", "item": 2,
    }  # fmt: skip
    whole = {"path": "b.csv", "place": {"title": "b.csv"}, "reason": "somebody else removed it"}
    daemon.answers["DraftRebase"] = {
        "draft_id": "d1", "conflicts": [conflict, whole], "unchanged": [], "rebased": [],
    }  # fmt: skip
    assert kbd("rebase", "taxes") == 1
    told = capsys.readouterr()
    assert told.out.splitlines() == [
        "a.csv",
        "  row 7, amount: the draft and somebody else both changed the cell",
        "      was        1",
        "      draft      2  (run 4, item 2, table_export, event 31)",
        "      published  (nothing)",
        "b.csv",
        "  somebody else removed it",
    ]
    assert "Nothing was rebased for 2 conflicts" in told.err
    assert kbd("rebase", "taxes", "--json") == 1
    assert json.loads(capsys.readouterr().out)["conflicts"] == [conflict, whole]
