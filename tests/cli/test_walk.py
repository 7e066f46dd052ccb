"""Walking through a run: what each key shows."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from kbd.cli.exits import Stop
from kbd.cli.run_steps import StepReader
from kbd.cli.terminal import cell_width
from kbd.cli.walk import Walk
from kbd.client.blocking import Client
from scripted_daemon import AnswerError, ScriptedDaemon
from scripted_job import RUN
from walked import answers, told_steps

TOTAL = len(told_steps())


class Walked:
    """A walk with its daemon, seen on a screen of so many columns and rows."""

    def __init__(self, walk: Walk, daemon: ScriptedDaemon) -> None:
        self.walk, self.daemon = walk, daemon
        self.width, self.height = 90, 30

    def press(self, *keys: str) -> str:
        """Press keys, the frame seen after each, and return the last frame."""
        text = self.see()
        for key in keys:
            self.walk.press(key)
            text = self.see()
        return text

    def type(self, text: str) -> str:
        """Type a line."""
        return self.press(*text, "enter")

    def see(self) -> str:
        """Return the frame, which fills the screen and no more, and has nothing hostile in it."""
        rows = self.walk.frame(self.width, self.height)
        assert len(rows) == self.height
        assert all(cell_width(row.text) <= self.width for row in rows)
        assert all(row.text.isprintable() for row in rows)
        return "\n".join(row.text for row in rows)

    @property
    def here(self) -> int:
        """The step that is chosen."""
        (row,) = [row for row in self.walk.frame(90, 30) if row.style == "chosen"]
        return int(row.text[1:5])


@pytest.fixture
def walked(daemon: ScriptedDaemon, short_dir: Path) -> Iterator[Walked]:
    """A walk from its first step."""
    daemon.answers.update(answers())
    with Client(str(short_dir / "kbd.sock")) as client:
        yield Walked(Walk(StepReader(client, RUN)), daemon)


def test_a_walk_goes_forward_and_back(walked: Walked) -> None:
    """A step at a time, to the ends, by kind; reading on goes through texts, then on."""
    places = []
    for keys in (("down",), ("j", "right", " "), ("k",), ("G",), ("down",), ("g",), ("up",)):
        walked.press(*keys)
        places.append(walked.here)

    assert places == [2, 5, 4, TOTAL, TOTAL, 1, 1]
    assert "first step" in walked.press("k")
    assert "of kind model" in walked.press("end", "n")
    models = [step.index for step in told_steps() if step.kind == "model"]
    walked.press("N")
    assert walked.here == models[-2]
    walked.press("N", "n")
    assert walked.here == models[-2]
    walked.press("g", *[" "] * 100)
    assert walked.here == TOTAL
    walked.press(*["b"] * 100)
    assert walked.here == 1
    walked.press("q")
    assert walked.walk.is_over


def test_what_belongs_to_a_step_is_a_key_away(walked: Walked) -> None:
    """Plan, files, conversation, whole result, receipt, changes; the same key goes back."""
    walked.press(*["n"] * 2)
    tools = [step.index for step in told_steps() if step.kind == "tool"]
    walked.press("g", *["down"] * (tools[0] - 1))

    assert "the whole result has" in walked.see()
    assert "[>] 1. Entity: One — tidy the needle" in walked.press("p")
    assert "published  a.txt" in walked.press("f")
    saw = walked.press("m", *["pgdn"] * 9)
    assert "<item>write</item>" in walked.press("<")
    assert "── read_file returned" in saw
    assert '- [0, "row 0"]' in walked.press("r")
    assert '- [399, "row 399"]' in walked.press(">")
    assert "a receipt evil" in walked.press("t")
    assert "changed no file" in walked.press("d")
    assert "previous step" in walked.press("?")
    assert "the whole result has" in walked.press("esc")
    walked.press(*["down"] * (tools[1] - tools[0]))
    assert walked.here == tools[1]
    changed = walked.press("d")
    assert "-two" in changed
    assert "+three" in changed
    assert "! fetches" in changed
    assert "* modified  a.txt" in walked.press("f")
    assert "This step is no tool call." in walked.press("r", "down")
    assert "There was no plan yet." in walked.press("g", "p")
    assert "Nothing was sent to the model" in walked.press("m")


def test_a_text_is_searched(walked: Walked) -> None:
    """From step to step, whatever case; Esc ends it, and n means the kind again."""
    walked.press("/")
    walked.type("NEEDLE")
    found = [walked.here]
    walked.press("n")
    found.append(walked.here)
    walked.press("n")
    found.append(walked.here)
    assert found == [4, 6, 11]
    assert any("needle" in row.text and row.style == "found" for row in walked.walk.frame(90, 30))
    assert "no other step with 'needle'" in walked.press("n")
    walked.press("N", "N", "esc", "n")
    assert walked.here == 4
    assert "no other step" in walked.press("/", *"nothing", "backspace", "enter")


def test_a_moment_is_restored_from_where_one_stands(
    walked: Walked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder is named from where the person is; a refusal is told, and the walk goes on."""
    monkeypatch.chdir(tmp_path)
    walked.press("down", "down", "w")
    assert f"wrote 1 file, as runs saw them, to {tmp_path}"[:60] in walked.type("then")
    assert walked.daemon.params_of("StateAt")["seq"] == 3

    def refuse(*_: object) -> None:
        raise AnswerError("VALIDATION_FAILED", "it is not empty")

    walked.daemon.answers["StateAt"] = refuse
    walked.press("w")
    assert "it is not empty" in walked.type("then")
    assert "it is not empty" in walked.press("f")
    walked.press("w", *"x", "backspace", "backspace", "down")
    assert walked.here == 4


def test_a_run_under_way_is_told_on(walked: Walked) -> None:
    """At its end more is asked for: what was open is told again, and what came since."""
    walked.press("G")
    assert "no answer is recorded" in walked.see()
    before = walked.daemon.answers["ReplaySteps"]

    def later(asked: dict[str, object], notify: object) -> object:
        found = before(asked, notify)
        more = {"index": TOTAL + 1, "first_seq": 90, "seq": 90, "kind": "run", "ts": "2" * 20}
        found["total"] += 1
        if asked["after"] == TOTAL - 1:
            found["steps"][0] = {**found["steps"][0], "model": None, "text": "answered"}
            del found["steps"][0]["model"]
            found["steps"].append({**more, "title": "Run finished"})
        return found

    walked.daemon.answers["ReplaySteps"] = later
    assert f"step {TOTAL + 1} of {TOTAL + 1}" in walked.press("down")
    assert "answered" in walked.press("up")


def test_a_broken_connection_ends_the_walk(walked: Walked) -> None:
    """With words that say so."""
    walked.see()
    walked.daemon.hang_up.add("StateAt")
    with pytest.raises(Stop, match="connection to kbd broke"):
        walked.press("f")


@pytest.mark.parametrize(("width", "height"), [(40, 12), (20, 5), (1, 1), (300, 80)])
def test_any_terminal_will_do(walked: Walked, width: int, height: int) -> None:
    """Narrow and low, wide and high: the frame fits at every step."""
    walked.width, walked.height = width, height
    for key in ("p", "m", "r", "/", "esc", "?", "esc", *["down"] * TOTAL):
        walked.press(key)
