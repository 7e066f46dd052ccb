"""`kbd replay RUN --html FILE`: what is read for the page, and that no file is harmed."""

import base64
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from kbd.cli.exits import FAILED, USAGE, RequestRefused, Stop
from kbd.cli.replay import write_page
from kbd.client.blocking import Client
from kbd.core.audit.page.document import page_of
from kbd.types import BlobHash
from paged_runs import BIG, CONTENTS, MISSING, run_info, varied_run
from scripted_daemon import AnswerError, Notify, ScriptedDaemon

Captured = pytest.CaptureFixture[str]

RUN = run_info()
STEPS = varied_run()
A_PAGE = 10
"""Steps an answer."""


@pytest.fixture
def client(daemon: ScriptedDaemon) -> Iterator[Client]:
    """A connection to a daemon that tells the varied run, some steps at a time."""

    def steps(params: dict[str, Any], _notify: Notify) -> Any:
        told = STEPS[params["after"] :][:A_PAGE]
        answer = {"run": RUN, "request": "Tidy the books", "steps": told, "total": len(STEPS)}
        return msgspec.to_builtins(answer)

    def blob(params: dict[str, Any], _notify: Notify) -> Any:
        if params["hash"] == MISSING:
            raise AnswerError("NOT_FOUND", "there is no such blob")
        data = CONTENTS[params["hash"]].encode()
        part = base64.b64encode(data[: params["limit"]]).decode()
        return {"base64": part, "size_bytes": len(data), "has_more": len(data) > params["limit"]}

    daemon.answers |= {"ReplaySteps": steps, "BlobRead": blob}
    with Client(str(daemon.path)) as client:
        yield client


def test_the_page_holds_all_steps_and_blobs(
    client: Client, daemon: ScriptedDaemon, tmp_path: Path, capsys: Captured
) -> None:
    """Every page of steps and every blob is read; one that cannot be read is told and left out."""
    path = tmp_path / "page.html"
    write_page(client, RUN.run_id, str(path), str(tmp_path / "home"))

    assert path.read_text("utf-8") == page_of(RUN, "Tidy the books", STEPS, CONTENTS)
    told = capsys.readouterr()
    assert told.out == f"{path} ({path.stat().st_size / 1024:.1f} KiB)\n"
    assert MISSING in told.err
    read = [params["hash"] for method, params in daemon.asked if method == "BlobRead"]
    assert {*CONTENTS, MISSING} == set(read)
    assert len(read) == len(set(read))
    assert os.listdir(tmp_path) == ["page.html"]


def test_no_more_is_read_than_fits(
    client: Client, daemon: ScriptedDaemon, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once the page is full no further blob is asked for."""
    monkeypatch.setattr("kbd.core.audit.page.run_index.CONTENTS_LIMIT_CHARACTERS", 10)
    write_page(client, RUN.run_id, str(tmp_path / "page.html"), str(tmp_path / "home"))

    assert len([method for method, _ in daemon.asked if method == "BlobRead"]) == 1
    assert BlobHash(BIG) in (tmp_path / "page.html").read_text("utf-8")


@pytest.mark.parametrize("name", ["page.html", "folder", "dangling"])
def test_nothing_is_overwritten(
    client: Client, daemon: ScriptedDaemon, tmp_path: Path, name: str
) -> None:
    """A name that is taken, be it by a link to nothing, is refused before anything is read."""
    (tmp_path / "page.html").write_text("mine")
    (tmp_path / "folder").mkdir()
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    asked = len(daemon.asked)

    with pytest.raises(Stop, match="exists; nothing is overwritten") as refused:
        write_page(client, RUN.run_id, str(tmp_path / name), str(tmp_path / "home"))
    assert refused.value.code == USAGE
    assert (tmp_path / "page.html").read_text() == "mine"
    assert sorted(os.listdir(tmp_path)) == ["dangling", "folder", "page.html"]
    assert len(daemon.asked) == asked


def test_a_name_that_is_taken_meanwhile_stays_whose_it_is(
    client: Client, daemon: ScriptedDaemon, tmp_path: Path
) -> None:
    """A file that somebody makes while the steps are read is not touched, and no part is left."""
    path = tmp_path / "page.html"
    steps = daemon.answers["ReplaySteps"]

    def slowly(params: dict[str, Any], notify: Notify) -> Any:
        path.write_text("mine")
        return steps(params, notify)

    daemon.answers["ReplaySteps"] = slowly
    with pytest.raises(Stop, match="exists; nothing is overwritten"):
        write_page(client, RUN.run_id, str(path), str(tmp_path / "home"))
    assert path.read_text() == "mine"
    assert os.listdir(tmp_path) == ["page.html"]


def test_a_folder_that_is_not_there_is_told_at_once(client: Client, tmp_path: Path) -> None:
    """The person hears what is wrong with the name they gave."""
    with pytest.raises(Stop, match="is not a folder that can be written to") as refused:
        write_page(client, RUN.run_id, str(tmp_path / "no" / "page.html"), str(tmp_path / "home"))
    assert refused.value.code == USAGE


def test_a_run_that_is_not_there_leaves_no_file(
    client: Client, daemon: ScriptedDaemon, tmp_path: Path
) -> None:
    """The daemon's refusal is passed on, and nothing is written."""

    def none(_params: dict[str, Any], _notify: Notify) -> Any:
        raise AnswerError("NOT_FOUND", "there is no such run")

    daemon.answers["ReplaySteps"] = none
    with pytest.raises(RequestRefused, match="no such run"):
        write_page(client, RUN.run_id, str(tmp_path / "page.html"), str(tmp_path / "home"))
    assert os.listdir(tmp_path) == []


def test_a_full_disk_leaves_nothing(
    client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the page cannot be written whole there is none, and the reason is told."""

    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(Stop, match="No space left on device") as failed:
        write_page(client, RUN.run_id, str(tmp_path / "page.html"), str(tmp_path / "home"))
    assert failed.value.code == FAILED
    assert os.listdir(tmp_path) == []
