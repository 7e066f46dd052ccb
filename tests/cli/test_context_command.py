"""`kbd context`: what every run of a workbench is told."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kbd.cli.exits import OK, USAGE
from scripted_daemon import ScriptedDaemon

Kbd = Callable[..., int]

WEIGHT = {"estimated_tokens": 60_000, "warning": True, "model_id": "a:b", "share": 0.46875}


def row(category: str, status: str = "set", **more: Any) -> dict[str, Any]:
    """A category as the daemon tells it."""
    return {"category": category, "status": status, "characters": 0, **more}


@pytest.fixture(autouse=True)
def answers(daemon: ScriptedDaemon) -> None:
    """Let the daemon hold one item."""
    filled = row("situation", characters=5, source_name="a.docx", updated_at="2026-11-22T10:00:00Z")
    daemon.answers |= {
        "ContextList": {"items": [row("company-context", "empty"), filled], "weight": WEIGHT},
        "ContextGet": {"item": filled, "text": "au\x1b[2Jdit"},
        "ContextSet": {"item": filled, "weight": {**WEIGHT, "warning": False}},
        "ContextDelete": {"item": row("situation", "empty"), "deleted": True},
    }


def test_it_lists_what_is_set_and_what_it_weighs(
    kbd: Kbd, capsys: pytest.CaptureFixture[str]
) -> None:
    """A row a category, and a warning where it is much."""
    assert kbd("context", "taxes") == OK

    shown = capsys.readouterr()
    assert "company-context" in shown.out
    assert "5 characters" in shown.out
    assert "about 60,000 tokens in each request, 46.9% of the window of a:b" in shown.out
    assert "That is much" in shown.err


def test_it_sets_a_text_or_a_file(kbd: Kbd, daemon: ScriptedDaemon, short_dir: Path) -> None:
    """A path is the daemon's to read, so it is made absolute."""
    assert kbd("context", "taxes", "set", "situation", "the audit") == OK
    given = daemon.params_of("ContextSet")
    assert (given["category"], given["text"]) == ("situation", "the audit")

    assert kbd("context", "taxes", "set", "document-style", "--file", "house.docx") == OK
    given = daemon.params_of("ContextSet")
    assert given["source_path"] == str(Path("house.docx").absolute())
    assert "text" not in given


def test_it_shows_a_text_and_nothing_that_draws(
    kbd: Kbd, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whatever a file held, a terminal is not told it."""
    assert kbd("context", "taxes", "show", "situation") == OK
    assert "\x1b" not in capsys.readouterr().out
    assert kbd("context", "taxes", "show", "situation", "--json") == OK
    assert json.loads(capsys.readouterr().out)["text"].startswith("au")


def test_it_deletes(kbd: Kbd, daemon: ScriptedDaemon) -> None:
    """One category."""
    assert kbd("context", "taxes", "delete", "situation") == OK
    assert daemon.params_of("ContextDelete")["category"] == "situation"


@pytest.mark.parametrize(
    "arguments",
    [("set",), ("set", "situation"), ("show",), ("set", "situation", "x", "--file", "y")],
)
def test_what_is_missing_is_said(kbd: Kbd, daemon: ScriptedDaemon, arguments: tuple[str]) -> None:
    """Before anything is asked of the daemon."""
    assert kbd("context", "taxes", *arguments) == USAGE
    assert daemon.methods() == []
