"""New files of commands: whole or not at all, over nothing, and through no link."""

import os
from pathlib import Path

import pytest

from kbd.cli.exits import FAILED, USAGE, Stop
from kbd.cli.new_file import write_new_file


def test_a_new_file_is_whole_and_alone(tmp_path: Path) -> None:
    """It is there with its bytes, behind a link that was named, too; nothing else is."""
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    write_new_file(str(tmp_path / "link" / "page.html"), b"page", str(tmp_path / "home"))
    assert [path.name for path in (tmp_path / "real").iterdir()] == ["page.html"]
    assert (tmp_path / "real" / "page.html").read_bytes() == b"page"


@pytest.mark.parametrize("kind", ["file", "link", "dangling link", "folder"])
def test_nothing_is_overwritten(tmp_path: Path, kind: str) -> None:
    """Whatever has the name stays, and so does what a link leads to."""
    (tmp_path / "mine.txt").write_text("mine")
    target = tmp_path / "page.html"
    match kind:
        case "file":
            target.write_text("mine")
        case "folder":
            target.mkdir()
        case _:
            target.symlink_to("mine.txt" if kind == "link" else "nowhere")
    before = sorted(path.name for path in tmp_path.iterdir())
    with pytest.raises(Stop, match="nothing is overwritten") as refused:
        write_new_file(str(target), b"page", str(tmp_path / "home"))
    assert refused.value.code == USAGE
    assert sorted(path.name for path in tmp_path.iterdir()) == before
    assert (tmp_path / "mine.txt").read_text() == "mine"


def test_what_lies_under_the_partials_name_is_not_written_through(tmp_path: Path) -> None:
    """A link that waits there leads to somebody's file, which stays as it is."""
    (tmp_path / "mine.txt").write_text("mine")
    partial = tmp_path / f"page.html.{os.getpid()}.part"
    partial.symlink_to("mine.txt")
    with pytest.raises(Stop):
        write_new_file(str(tmp_path / "page.html"), b"page", str(tmp_path / "home"))
    assert (tmp_path / "mine.txt").read_text() == "mine"
    assert partial.is_symlink()
    with pytest.raises(Stop) as failed:
        write_new_file(str(tmp_path / "no" / "page.html"), b"page", str(tmp_path / "home"))
    assert failed.value.code == FAILED


@pytest.mark.parametrize("named", ["home", "home/daemon", "link", "link/daemon"])
def test_nothing_is_made_in_the_home_of_kbd(tmp_path: Path, named: str) -> None:
    """Neither by its name nor through a link: settings would be in force from the next start."""
    home = tmp_path / "home"
    (home / "daemon").mkdir(parents=True)
    (tmp_path / "link").symlink_to("home")
    with pytest.raises(Stop, match="lies in the home of kbd") as refused:
        write_new_file(str(tmp_path / named / "settings.toml"), b"page", str(home))
    assert refused.value.code == USAGE
    assert [path.name for path in home.rglob("*")] == ["daemon"]
