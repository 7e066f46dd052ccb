"""The prompt of `kbd chat`: what keys do, what is completed, what is kept."""

import argparse
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document
from prompt_toolkit.history import InMemoryHistory
from prompt_toolkit.input import PipeInput, create_pipe_input
from prompt_toolkit.output import DummyOutput

from chatted import answers
from kbd.cli.chat.prompt import (
    HISTORY_NAME,
    InputCompleter,
    Prompt,
    history_at,
    render_status,
    run_prompt,
)
from kbd.cli.chat.session import ChatSession
from kbd.client.blocking import Client
from scripted_daemon import ScriptedDaemon
from scripted_job import WORKBENCH


@pytest.fixture
def session(daemon: ScriptedDaemon, short_dir: Path) -> Iterator[ChatSession]:
    """A conversation with the scripted daemon."""
    daemon.answers |= answers()
    arguments = argparse.Namespace(home=str(short_dir), socket=None, verbose=False, yes=False)
    made = ChatSession(arguments, Client(str(daemon.path)))
    made.workbench_id, made.name = WORKBENCH, "taxes"
    yield made
    made.drop()


@pytest.fixture
def keys() -> Iterator[PipeInput]:
    """A keyboard."""
    with create_pipe_input() as made:
        yield made


def asked(session: ChatSession, keys: PipeInput, pressed: str, *before: str) -> str:
    """What the prompt returns when these keys are pressed after these lines."""
    keys.send_text(pressed)
    return Prompt(session, InMemoryHistory(list(before)), keys, DummyOutput()).ask()


@pytest.mark.parametrize(
    ("pressed", "typed"),
    [
        ("one\r", "one"),
        ("one\x1b\rtwo\r", "one\ntwo"),  # Alt-Enter
        ("one\\\rtwo\r", "one\ntwo"),
        ("wrong\x03one\r", "one"),  # Ctrl-C clears the line
        ("\x1b[200~one\ntwo\x1b[201~\r", "one\ntwo"),  # a paste
        ("\x1b[A\r", "last"),
        ("\x1b[A\x1b[A\r", "first one"),
        ("\x12fir\r\r", "first one"),  # Ctrl-R
        ("\x12fir\x03one\r", "one"),
    ],
)
def test_keys_do_what_they_do_elsewhere(
    pressed: str, typed: str, session: ChatSession, keys: PipeInput
) -> None:
    """New lines, clearing, history, search in it."""
    assert asked(session, keys, pressed, "first one", "last") == typed


def test_ctrl_d_leaves_and_keeps_what_was_done(
    daemon: ScriptedDaemon, session: ChatSession, keys: PipeInput
) -> None:
    """In an empty line; what failed before does not end the conversation."""
    keys.send_text("/nope\r/verbose\r\x04")
    prompt = Prompt(session, InMemoryHistory(), keys, DummyOutput())
    assert run_prompt(session, prompt) == 0
    assert session.is_verbose
    assert render_status(session) == "openai:x · 1 file · verbose"
    daemon.hang_up = {"WorkshopGetState"}
    assert "does not answer" in render_status(session)


def _completed(words: InputCompleter, text: str) -> Sequence[tuple[str, int]]:
    found = words.get_completions(Document(text, len(text)), CompleteEvent())
    return [(each.text, each.start_position) for each in found]


def test_commands_files_models_and_folders_are_completed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file's name may begin some words back; names that could not be shown are not offered."""
    (tmp_path / "out").mkdir()
    (tmp_path / "other.txt").touch()
    monkeypatch.chdir(tmp_path)
    names = ["Annual report.docx", "a.csv", "bad\x1b.csv"]
    words = InputCompleter(lambda: names, lambda: ["openai:x", "offline:planner"])
    assert _completed(words, "/un") == [("/undo", -3)]
    assert _completed(words, "/model op") == [("openai:x", -2)]
    assert _completed(words, "/publish o") == [("ut", 0)]
    assert _completed(words, "see annual rep") == [("Annual report.docx", -10)]
    assert _completed(words, "/review a") == [("Annual report.docx", -1), ("a.csv", -1)]
    assert _completed(words, "bad") == []
    assert _completed(words, "see ") == []


def test_what_is_typed_is_kept_for_its_owner_alone(short_dir: Path) -> None:
    """In a file of the home that nobody else may read, and never through a link."""
    history_at(str(short_dir)).append_string("a question\nof two lines")
    path = short_dir / HISTORY_NAME
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    kept = list(history_at(str(short_dir)).load_history_strings())
    assert kept == ["a question\nof two lines"]
    path.unlink()
    path.symlink_to(short_dir / "elsewhere")
    history_at(str(short_dir)).append_string("a question")
    assert not (short_dir / "elsewhere").exists()
