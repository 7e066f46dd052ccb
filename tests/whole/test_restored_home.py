"""A restored home does nothing that its backup says people agreed to, before a person agrees anew.

With the real daemon, a model that is elsewhere, and the command line in processes of its own.
"""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kbd.cli.exits import CONFIRMATION_NEEDED, OK, USAGE
from real_daemon import RealDaemon
from wired import MODEL, Wired, wired

CONSENT = {"provider_id": "openai", "model_id": MODEL}
PROMPT = "write out.txt"


class Backed:
    """A home with a rule and consents that worked, its backup, and a home restored from that.

    Attributes:
        wire: The daemon of the original, which is stopped, and the model.
        inbox: The watched folder.
        effect: The file that the rule's command makes.
        outbox: Where the rule delivers to.
        command: The rule's command.
        workbench_id: A workbench with a consent that persists.
        watch_id: The watch.
        again: The daemon of the restored home.
        told: What `kbd restore` said.
    """

    def __init__(self, wire: Wired) -> None:
        folder = wire.folder
        self.wire, self.inbox, self.outbox = wire, folder / "in", folder / "out"
        self.effect = folder / "effect"
        self.inbox.mkdir()
        self.command = ["/bin/sh", "-c", f"echo done >> {self.effect}"]
        self._fill()
        backup, restored = folder.parent / "b", folder.parent / "r"
        wire.ask("BackupCreate", target=str(backup))
        wire.daemon.stop()
        self.again = RealDaemon(restored, wire.daemon.backend, wire.environment, wire.preface)
        done = kbd(restored, "restore", str(backup))
        assert done.returncode == OK, done.stderr
        self.told = done.stdout + done.stderr
        self.effect.unlink()
        wire.script.requests.clear()

    def _fill(self) -> None:
        wire = self.wire
        wire.script.writes = {"out.txt": "made"}
        self.workbench_id = wire.workbench(a__txt="mine")
        wire.ask("UserSetConsentMode", mode="allow_all", approved=True)
        self.watch_id = wire.ask(
            "WatchAdd", folder=str(self.inbox), prompt=PROMPT, quiet_s=0.1, publish="auto",
            deliver_to=str(self.outbox), on_outcome=self.command, consent=CONSENT,
        )["watch_id"]  # fmt: skip
        status = wire.ask("EgressGetConsentStatus", workbench_id=self.workbench_id, model_id=MODEL)
        wire.ask(
            "EgressGrantWorkshopConsent", workbench_id=self.workbench_id, **CONSENT,
            scope_hash=status["scope_hash"], persist=True,
        )  # fmt: skip
        (self.inbox / "one.txt").write_text("one")
        until(self.effect.exists)
        # Nothing here is vacuous: in the original all of it works.
        assert [path.name for path in self.outbox.iterdir()] == ["out.txt"]
        assert wire.script.requests

    def begin(self) -> None:
        """Start the restored home's daemon, with a file that landed and a message."""
        self.again.start()
        (self.inbox / "two.txt").write_text("two")
        self.again.ask("WorkshopSendUserMessage", workbench_id=self.workbench_id, text="go")

    def watch(self) -> Any:
        """Return the watch of the restored home."""
        return self.again.ask("WatchGet", watch_id=self.watch_id)["watch"]

    def is_still(self) -> None:
        """Check that nothing of the backup is in force, and that nothing was done."""
        assert self.again.ask("UserGetConsentMode")["mode"] == "ask"
        watch = self.watch()
        assert (watch["status"], watch["restored"], watch["running"]) == ("paused", True, 0)
        assert watch["landed"] == 1, "a folder that only a backup names was looked at"
        refused = refusal(self.again, "WorkshopRunAgent", workbench_id=self.workbench_id, wait=True)
        assert refused["error_code"] == "EGRESS_CONSENT_REQUIRED"
        self.nothing_done()

    def nothing_done(self) -> None:
        """Check that no command ran, nobody was asked and nothing was delivered."""
        assert not self.effect.exists()
        assert self.wire.script.requests == []
        assert [path.name for path in self.outbox.iterdir()] == ["out.txt"]


def kbd(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run the command line, with nobody at its terminal."""
    return subprocess.run(
        [sys.executable, "-m", "kbd", "--home", str(home), *words],
        capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False,
    )  # fmt: skip


def until(holds: Callable[[], bool]) -> None:
    """Wait until something holds."""
    deadline = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def refusal(daemon: RealDaemon, method: str, **params: Any) -> Any:
    """Ask for what must be refused; return the error's data."""
    with pytest.raises(Exception, match=r".") as refused, daemon.client() as client:
        client.send(method, params)
    return refused.value.data  # type: ignore[attr-defined]


@pytest.fixture
def backed() -> Iterator[Backed]:
    """A home that was restored, and its daemon not yet started."""
    with wired("asyncio", host="model.example") as wire:
        made = Backed(wire)
        try:
            yield made
        finally:
            made.again.stop()


@pytest.mark.full
def test_a_restore_shows_what_the_rules_would_do(backed: Backed) -> None:
    """By name: the folder, the command, the delivery, the mode; and what is not in force."""
    for text in (str(backed.inbox), backed.command[-1], str(backed.outbox), "auto"):
        assert text in backed.told
    assert "allow_all" in backed.told
    assert "does not hold here" in backed.told


@pytest.mark.full
def test_nothing_of_a_backup_is_in_force_without_a_yes(backed: Backed) -> None:
    """Not after the start, not after kill -9, not after a resume that does not name it."""
    backed.begin()
    backed.is_still()
    backed.again.kill()
    backed.again.start()
    backed.is_still()

    asked = {"watch_id": backed.watch_id}
    acts = {
        "on_outcome": backed.command, "publish": "auto", "deliver_to": str(backed.outbox)
    }  # fmt: skip
    for confirm in (
        {},
        {"confirm": {**acts, "on_outcome": ["/bin/true"]}},
        {"confirm": {**acts, "deliver_to": str(backed.inbox)}},
        *({"confirm": {n: v for n, v in acts.items() if n != left}} for left in acts),
    ):
        refused = refusal(backed.again, "WatchResume", **asked, **confirm, consent=CONSENT)
        assert refused["error_code"] == "VALIDATION_FAILED"
        wrong = [n for n in acts if confirm.get("confirm", {}).get(n) != acts[n]]
        assert refused["detail"]["unconfirmed"] == {name: acts[name] for name in wrong}
    backed.is_still()


@pytest.mark.full
def test_the_command_line_asks_for_each_by_name(backed: Backed) -> None:
    """Where nobody can be asked nothing is done, and what to say is told, to be copied."""
    backed.begin()
    home = backed.again.home
    listed = kbd(home, "watch", "list").stdout
    for text in (str(backed.inbox), backed.command[-1], str(backed.outbox), "auto"):
        assert text in listed
    done = kbd(home, "watch", "resume", "in", "--consent")
    assert done.returncode == CONFIRMATION_NEEDED
    assert backed.command[-1] in done.stderr
    assert f"deliver-to={backed.outbox}" in done.stderr
    done = kbd(home, "watch", "resume", "in", "--confirm", "command=/bin/true")
    assert done.returncode == USAGE
    backed.is_still()

    acts = (f"command=/bin/sh -c '{backed.command[-1]}'", "publish=auto")
    flags = [word for act in acts for word in ("--confirm", act)]
    done = kbd(home, "watch", "resume", "in", *flags)
    assert done.returncode == CONFIRMATION_NEEDED
    backed.is_still()
    # The consent of the backup is not carried along with the rest.
    flags += ["--confirm", f"deliver-to={backed.outbox}"]
    done = kbd(home, "watch", "resume", "in", *flags)
    assert done.returncode == CONFIRMATION_NEEDED
    assert "consent" in done.stderr
    backed.is_still()


@pytest.mark.full
def test_after_each_yes_the_rule_works_again(backed: Backed) -> None:
    """And what landed meanwhile is found. Without the consent a run is put aside, unsent."""
    acts = {
        "on_outcome": backed.command, "publish": "auto", "deliver_to": str(backed.outbox)
    }  # fmt: skip
    asked = {"watch_id": backed.watch_id}
    backed.begin()
    backed.again.ask("WatchResume", **asked, confirm=acts)
    until(lambda: backed.watch()["failed"] == 1)
    assert backed.watch()["landings"][0]["code"] == "EGRESS_CONSENT_REQUIRED"
    assert backed.wire.script.requests == []
    backed.again.ask("WatchResume", **asked, consent=CONSENT)
    backed.again.ask("WatchFailedRetry", **asked)
    until(lambda: len(list(backed.outbox.iterdir())) == 2)
    assert backed.wire.script.requests
    assert backed.effect.exists()
    events = backed.again.events("daemon")
    (restored,) = (each for each in events if each["type"] == "HomeRestored")
    (first, _) = (each for each in events if each["type"] == "WatchResumed")
    assert first["data"]["confirmed"] == acts
    (own,) = (
        each
        for each in backed.again.events(backed.workbench_id)
        if each["type"] == "WorkbenchRestored"
    )
    assert own["data"]["restore_id"] == restored["data"]["restore_id"]
    assert json.dumps(events).count(restored["data"]["restore_id"]) == 1
