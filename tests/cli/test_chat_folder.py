"""A folder in conversation with the real daemon: what comes in, what is kept apart, what goes out.

The daemon and its offline planner are shared by the module: each test has a folder of its own.
"""

import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from chatted import typed
from kbd.cli import main
from kbd.cli.chat.folder import workbench_name
from real_daemon import RealDaemon

Captured = pytest.CaptureFixture[str]
Chat = Callable[..., tuple[int, str, str]]

RECEIPTS = "date,category,amount\n2025-01-03,Food,30.00\n2025-01-04,Rail,12.50\n"


@pytest.fixture(scope="module")
def real() -> Iterator[RealDaemon]:
    """A daemon without a model."""
    home = Path(tempfile.mkdtemp(prefix="kbd-"))
    running = RealDaemon(home)
    running.start()
    yield running
    running.stop()
    shutil.rmtree(home, ignore_errors=True)


@pytest.fixture
def chat(real: RealDaemon, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> Chat:
    """Type lines into a conversation; return the code and what both streams got."""

    def run(folder: Path, *lines: str) -> tuple[int, str, str]:
        typed(monkeypatch, *lines)
        code = main(["--home", str(real.home), "chat", str(folder), "--yes"])
        told = capsys.readouterr()
        return code, told.out, told.err

    return run


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a table, a text and something else."""
    (tmp_path / "receipts.csv").write_text(RECEIPTS)
    (tmp_path / "notes.md").write_text("The meeting is in Lyon.\n")
    (tmp_path / "disk.img").write_bytes(b"\0" * 64)
    return tmp_path


def _contents(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_a_folder_keeps_its_workbench(chat: Chat, folder: Path, real: RealDaemon) -> None:
    """Its files are copied once; what is new or changed comes in later, here and on /reload."""
    before = _contents(folder)
    code, _, told = chat(folder, "/files")
    assert code == 0
    assert "2 files added" in told
    assert "left out: disk.img (no installed format reads this type of file)" in told
    assert _contents(folder) == before
    code, out, told = chat(folder, "/files")
    assert "added" not in told
    assert "disk.img" not in out

    (folder / "receipts.csv").write_text(RECEIPTS + "2025-02-01,Food,1.00\n")
    (folder / "more.md").write_text("more")
    (folder / "notes.md").rename(folder.parent / f"{folder.name}-notes.md")
    code, out, told = chat(folder, "What is the total amount per category?")
    assert "1 file added and 1 file brought up to date" in told
    assert "notes.md is not in the folder any more, but still in the workbench." in told
    assert "31.00" in out
    found = real.ask("WorkbenchList")["workbenches"]
    assert [row["files"] for row in found if row["name"] == workbench_name(folder)] == [3]


def test_what_kbd_made_is_handed_out_and_not_taken_in_again(chat: Chat, folder: Path) -> None:
    """Results go to the folder that is named, beside the originals; they come back as they are."""
    (folder / "receipts.csv").write_text(RECEIPTS + "2025-01-04,Rail,12.50\n")
    before = _contents(folder)
    code, out, _ = chat(folder, "remove duplicates from receipts.csv in place", "/review")
    assert code == 0
    assert "- row 3  2025-01-04 | Rail | 12.50\n" in out
    # What the draft changes is as it was here; what it does not change has to wait for it.
    (folder / "notes.md").write_text("The meeting is in Paris.\n")
    before["notes.md"] = (folder / "notes.md").read_bytes()
    code, out, told = chat(folder, f"/publish {folder}")
    assert "left out: notes.md (it changed; /publish or /discard the draft, then /reload)" in told
    assert "receipts.csv (" not in told
    assert f"-> {folder}/receipts(1).csv" in out
    after = _contents(folder)
    assert after.pop("receipts(1).csv").decode().count("Rail") == 1
    assert after == before

    # The original changes, too: what was published is not overwritten.
    (folder / "receipts.csv").write_text("date,category,amount\n")
    handed = folder.parent / f"{folder.name}-out"
    code, _, told = chat(folder, f"/publish {handed}")
    assert "1 file brought up to date" in told
    assert "receipts(1).csv (it is receipts.csv of the workbench)" in told
    assert "receipts.csv (it changed here, and what you published stays there)" in told
    assert (handed / "receipts.csv").read_text().count("Rail") == 1


@pytest.mark.full
def test_a_new_conversation_has_the_same_files(chat: Chat, folder: Path, real: RealDaemon) -> None:
    """It is the one that is found next time; nothing in it counts as new or changed."""
    question = "What is the total amount per category?"
    code, out, told = chat(folder, question, "/clear", "/history", question, "/undo 5", "/cost")
    assert code == 1
    assert "A new conversation, with the same files." in out
    assert "nothing is undone: 1 question so far" in told
    found = [
        row
        for row in real.ask("WorkbenchList")["workbenches"]
        if row["name"] == workbench_name(folder)
    ]
    assert len(found) == 2
    code, out, told = chat(folder, "/history")
    assert "added" not in told
    assert "up to date" not in told
    assert "forked from" in out


@pytest.mark.full
def test_more_files_than_a_workbench_holds_are_told(
    chat: Chat, tmp_path: Path, real: RealDaemon
) -> None:
    """The first ones come in, nearest first; files of one name come in once."""
    for number in range(203):
        (tmp_path / f"{number:03}.md").touch()
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep/000.MD").touch()
    code, _, told = chat(tmp_path, "/quit")
    assert code == 0
    assert "200 files added" in told
    assert "deep/000.MD (000.md is there already: names must differ)" in told
    assert "202.md (a workbench holds 200 files)" in told


def test_tools_are_listed_as_the_registry_tells_them(real: RealDaemon) -> None:
    """Each with its arguments: types, which are required, the defaults of the others."""
    tools = {row["name"]: row for row in real.ask("ToolsList")["tools"]}
    query = tools["table_query"]
    assert query["args"]["path"] == {"type": "str", "required": True}
    assert query["args"]["window_rows"] == {"type": "int", "default": 100}
    assert query["phases"] == ["research", "implement"]
    assert tools["read_file"]["args"]["section"]["type"] == "str | int"
    assert tools["table_update_from_export"]["args"]["mode"]["type"] == "str"
    assert all(row["description"] and row["plugin"] for row in tools.values())
