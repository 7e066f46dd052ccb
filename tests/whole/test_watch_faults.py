"""What goes wrong in a watched folder: each ends in an outcome that is explained."""

import io
import random
import socket
import subprocess
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from model_server import Reply, call, calls, failure, model_server, phase_of, text, turn_of
from whole.disks import tiny_disk
from whole.watched import SALES, eventually, shop_at

pytestmark = [pytest.mark.full, pytest.mark.timeout(600)]

PLAN = "# Execution Plan\n\n## Task\nwrite\n\n## Items\n- [ ] 1. Write the notes\n\n## Notes\n"
NO_RETRY = {"retries": 0}

PLAIN = """
import ctypes
header, sets = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
ctypes.CDLL(None).capget(header, sets)
sets[0], sets[1] = sets[0] & ~6, sets[1] & ~6
ctypes.CDLL(None).capset(header, sets)
"""
"""Takes from a daemon that is root what lets root read anything (capabilities(7), 1 and 2)."""

SMALL_BYTES, LARGE_BYTES = 1_000, 200_000


def _play(body: dict[str, Any]) -> Reply:
    """Write a small and a large note, as a model would."""
    match phase_of(body):
        case "research" if turn_of(body) == 0:
            return calls(call("list_files", {}))
        case "plan":
            return text(PLAN)
        case "implement" if turn_of(body) == 0:
            small = call("write_text_file", {"path": "a.txt", "content": "s" * SMALL_BYTES}, "a")
            large = call("write_text_file", {"path": "b.txt", "content": "l" * LARGE_BYTES}, "b")
            return calls(small, large)
        case _:
            return text("done")


def test_a_provider_that_fails(short_dir: Path, anyio_backend: str) -> None:
    """Retried by policy, then parked; when the server answers again the same run is finished."""
    state = {"down": True}

    def play(body: dict[str, Any]) -> Reply:
        return failure(503) if state["down"] else _play(body)

    with (
        model_server(play) as server,
        shop_at(
            short_dir, anyio_backend, OPENAI_BASE_URL=server.base_url, KBD_MODEL="openai:clerk"
        ) as shop,
    ):
        inbox = shop.inbox("in", "write the notes", on_failure={"retries": 2, "wait_s": 0.1})
        inbox.drop("a.csv")
        inbox.settled(1)
        stuck = inbox.failed()["a.csv"]

        assert (stuck["code"], stuck["attempt"]) == ("PROVIDER_UNAVAILABLE", 3), stuck
        assert "503" in stuck["message"]
        assert len(server.requests) == 3 * 2
        finished = [e["data"] for e in inbox.recorded() if e["type"] == "WatchRunFinished"]
        assert [bool(data.get("retry_at_us")) for data in finished] == [True, True, False]
        state["down"] = False
        inbox.next_file_runs(2)
        inbox.retry()
        (ended, *_) = inbox.settled(2)["recent"]
        assert (ended["outcome"], ended["run_id"]) == ("published", stuck["run_id"])
        types = Counter(shop.types(ended["workbench_id"]))
        assert (types["RunStarted"], types["RunResumed"]) == (1, 3)
        assert sorted(inbox.delivered()) == ["a(1).txt", "a.txt", "b(1).txt", "b.txt"]


def test_nobody_answers(short_dir: Path, anyio_backend: str) -> None:
    """A refused connection is parked after its retries; the address is not in the message."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"http://127.0.0.1:{port}/v1"
    with shop_at(short_dir, anyio_backend, OPENAI_BASE_URL=address) as shop:
        inbox = shop.inbox(
            "in", "write", model_id="openai:clerk", on_failure={"retries": 1, "wait_s": 0.1}
        )
        inbox.drop("a.csv")
        inbox.settled(1)
        stuck = inbox.failed()["a.csv"]
        assert stuck["code"] in ("NETWORK_UNAVAILABLE", "PROVIDER_UNAVAILABLE")
        assert str(port) not in stuck["message"]


def _own_address() -> str:
    """Return an address of this machine that is not its loopback, or skip; nothing is sent."""
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.connect(("192.0.2.1", 9))
            address = str(probe.getsockname()[0])
    except OSError as error:
        pytest.skip(f"no address but the loopback's: {error}")
    if address.startswith("127."):
        pytest.skip("no address but the loopback's")
    return address


def test_consent_that_is_missing(short_dir: Path, anyio_backend: str) -> None:
    """Nothing is connected before a person agrees; then the retry finishes, and the next, too."""
    with (
        model_server(_play, host=_own_address()) as server,
        shop_at(short_dir, anyio_backend, OPENAI_BASE_URL=server.base_url) as shop,
    ):
        model = "openai:clerk"
        inbox = shop.inbox("in", "write the notes", model_id=model)
        inbox.drop("a.csv")
        inbox.settled(1)
        asked = inbox.failed()["a.csv"]

        assert (asked["code"], asked["attempt"]) == ("EGRESS_CONSENT_REQUIRED", 1), asked
        assert asked["actions"]
        assert server.requests == []
        inbox.retry()
        inbox.settled(1)
        assert inbox.failed()["a.csv"]["code"] == "EGRESS_CONSENT_REQUIRED"
        assert server.requests == []
        consent = {"provider_id": "openai", "model_id": model}
        shop.daemon.ask("WatchResume", watch_id=inbox.watch_id, consent=consent)
        inbox.retry()
        watch = inbox.settled(1)
        assert watch["recent"][0]["outcome"] == "published"
        assert server.requests
        inbox.next_file_runs(2)


def _cut_workbook() -> bytes:
    whole = io.BytesIO()
    openpyxl.Workbook().save(whole)
    return whole.getvalue()[: len(whole.getvalue()) // 2]


def _empty_zip() -> bytes:
    whole = io.BytesIO()
    zipfile.ZipFile(whole, "w").close()
    return whole.getvalue()


def test_files_that_cannot_be_read(short_dir: Path, anyio_backend: str) -> None:
    """Damaged in any way, empty, too large: none is passed over as done."""
    noise = random.Random(3).randbytes(5000)
    files = {
        "garbage.xlsx": b"PK\x03\x04" + noise, "cut.xlsx": _cut_workbook(),
        "hollow.xlsx": _empty_zip(), "garbage.docx": noise, "hollow.pptx": _empty_zip(),
        "garbage.pdf": b"%PDF-1.7\n" + noise, "noise.csv": b"\0" + noise, "empty.csv": b"",
    }  # fmt: skip
    with shop_at(short_dir, anyio_backend, KBD_LIMITS_FILE_BYTES="100000") as shop:
        inbox = shop.inbox("in", on_failure=NO_RETRY)
        for name, content in files.items():
            inbox.drop(name, content)
        inbox.drop("large.csv", b"x" * 100_001)
        landed = len(list(inbox.folder.iterdir()))
        watch = inbox.settled(landed)
        failed = inbox.failed()

        told = {path: (row["code"], row["message"]) for path, row in failed.items()}
        print(f"\n{anyio_backend}:", *(f"{path}: {said}" for path, said in told.items()), sep="\n")
        assert watch["outcomes"] == {"failed": landed}, told
        assert all(message for _, message in told.values())
        tables = {"noise.csv", "empty.csv"}  # Any bytes can be read as a table of some kind.
        assert {told[name][0] for name in files.keys() - tables} == {"FILE_READ_FAILED"}
        assert {told[name][0] for name in tables} == {"VALIDATION_FAILED"}
        assert str(shop.folder) not in str(told)
        inbox.next_file_runs(landed + 1)


def test_a_file_without_permission(short_dir: Path, anyio_backend: str) -> None:
    """It is parked; a retry without the permission says the same, and with it the file runs."""
    with shop_at(short_dir, anyio_backend, preface=PLAIN) as shop:
        inbox = shop.inbox("in")
        secret = short_dir / "secret.csv"
        secret.write_text(SALES)
        secret.chmod(0)
        secret = secret.rename(inbox.folder / "secret.csv")
        inbox.settled(1)
        assert inbox.failed()["secret.csv"]["code"] == "FILE_READ_FAILED"
        assert "permission denied" in inbox.failed()["secret.csv"]["message"]
        inbox.retry()
        inbox.settled(2)
        assert inbox.failed()["secret.csv"]["code"] == "FILE_READ_FAILED"
        secret.chmod(0o600)
        inbox.retry()
        eventually("it does not run", inbox.delivered)
        inbox.settled(3)
        assert inbox.failed() == {}
        inbox.next_file_runs(4)


def test_a_rule_that_cannot_be_followed(short_dir: Path, anyio_backend: str) -> None:
    """What the model declines is parked with what it said: nobody is there to read it."""
    with shop_at(short_dir, anyio_backend) as shop:
        inbox = shop.inbox("in", "translate it into German")
        inbox.drop("a.csv")
        assert inbox.settled(1)["outcomes"] == {"failed": 1}
        row = inbox.failed()["a.csv"]
        assert (row["code"], row["attempt"]) == ("VALIDATION_FAILED", 1)
        assert "This was not done" in row["message"]
        assert "translate it into German" in row["message"]
        inbox.retry()
        assert inbox.settled(1)["outcomes"] == {"failed": 2}
        again = inbox.failed()["a.csv"]
        assert again["run_id"] != row["run_id"]
        assert again["message"] == row["message"]


def test_a_full_outbox(short_dir: Path, anyio_backend: str) -> None:
    """What finds room is delivered, the rest is parked; a retry brings only that, each once."""
    outbox = short_dir / "full"
    with (
        tiny_disk(outbox, 64 * 1024),
        model_server(_play) as server,
        shop_at(
            short_dir, anyio_backend, OPENAI_BASE_URL=server.base_url, KBD_MODEL="openai:clerk"
        ) as shop,
    ):
        inbox = shop.inbox(
            "in", "write the notes", deliver_to=str(outbox),
            on_failure={"retries": 1, "wait_s": 0.1},
        )  # fmt: skip
        inbox.drop("a.csv")
        inbox.settled(1)
        stuck = inbox.failed()["a.csv"]

        assert (stuck["code"], stuck["attempt"]) == ("DISK_FULL", 2), stuck
        assert set(inbox.delivered()) <= {"a.txt"}
        asked = len(server.requests)
        room = ["mount", "-o", "remount,size=4m", str(outbox)]
        subprocess.run(room, check=True)
        inbox.retry()
        (ended, *_) = inbox.settled(1)["recent"]
        assert ended["outcome"] == "published"
        assert {name: len(data) for name, data in inbox.delivered().items()} == {
            "a.txt": SMALL_BYTES, "b.txt": LARGE_BYTES
        }  # fmt: skip
        assert len(server.requests) == asked
        types = Counter(shop.types(ended["workbench_id"]))
        assert (types["RunStarted"], types["PublishCompleted"], types["EffectDone"]) == (1, 1, 2)
        assert types["RunResumed"] == 0


def test_an_outbox_that_is_a_file_or_gone(short_dir: Path, anyio_backend: str) -> None:
    """A file in its place is told at once, what is gone after the retries, and nothing is made."""
    with shop_at(short_dir, anyio_backend) as shop:
        inbox = shop.inbox("in", on_failure={"retries": 1, "wait_s": 0.1})
        inbox.outbox.rmdir()
        inbox.outbox.write_text("in the way")
        inbox.drop("a.csv")
        inbox.settled(1)
        stuck = inbox.failed()["a.csv"]

        assert (stuck["code"], stuck["attempt"]) == ("FILE_WRITE_FAILED", 1), stuck
        assert inbox.outbox.read_text() == "in the way"
        inbox.outbox.unlink()
        inbox.retry()
        inbox.settled(1)
        gone = inbox.failed()["a.csv"]
        assert (gone["code"], gone["attempt"]) == ("FILE_WRITE_FAILED", 3), gone
        assert not inbox.outbox.exists()
        inbox.outbox.mkdir()
        inbox.retry()
        (ended, *_) = inbox.settled(1)["recent"]
        assert ended["outcome"] == "published"
        assert list(inbox.delivered()) == ["a-sorted.csv"]
        assert shop.types(ended["workbench_id"]).count("RunStarted") == 1
        inbox.next_file_runs(2)
