"""An office program for tests: what it does is said in the document, and it keeps a diary.

It is run as LibreOffice is. Behind its copy, the diary has a line for each start and each end.
"""

import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

HERE = Path(__file__).resolve().parent
SLEEP_S = 600


def arguments() -> dict[str, str]:
    """What it was asked for."""
    given = sys.argv[1:]
    found = {each.partition("=")[0]: each.partition("=")[2] for each in given if "=" in each}
    found["convert"] = given[given.index("--convert-to") + 1]
    found["outdir"] = given[given.index("--outdir") + 1]
    found["document"] = given[-1]
    return found


def note(line: str) -> None:
    """Write a line into the diary."""
    with (HERE / "diary").open("a") as diary:
        diary.write(f"{line}\n")


def stay(*, apart: bool) -> int:
    """Start a process that outlives this one, in its group or apart from it."""
    command = [sys.executable, "-S", "-c", f"import time; time.sleep({SLEEP_S})"]
    return subprocess.Popen(command, start_new_session=apart).pid


def crash() -> None:
    """Print something, and be ended by a signal."""
    print("assertion failed in", __file__, flush=True)
    os.kill(os.getpid(), signal.SIGSEGV)


def fill(target: Path) -> None:
    """Write without an end."""
    with target.open("wb") as file:
        while True:
            file.write(bytes(1 << 20))


def spin() -> None:
    """Compute without an end."""
    while True:
        pass


def sleep() -> None:
    """Do nothing for long, and have a child do the same."""
    note(f"child {stay(apart=False)}")
    time.sleep(SLEEP_S)


def link(target: Path) -> None:
    """Leave a link in place of the printed document."""
    target.symlink_to(HERE / "diary")
    sys.exit(0)


def lead_away(target: Path) -> None:
    """Leave a link in place of the folder of the printed document: to somebody's documents."""
    elsewhere = HERE / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / target.name).write_text("secret page\n")
    target.parent.rmdir()
    target.parent.symlink_to(elsewhere)
    sys.exit(0)


def tear(target: Path) -> None:
    """Leave something that is no document."""
    target.write_text("torn\n")
    sys.exit(0)


def wait(name: str) -> None:
    """Wait for a file beside the program."""
    while not (HERE / name).exists():
        time.sleep(0.01)


def tell(asked: dict[str, str]) -> None:
    """Write down where it is, and what it has."""
    profile = asked["-env:UserInstallation"].removeprefix("file://")
    networks = Path("/proc/net/dev").read_text().splitlines()[2:]
    facts = {
        "environment": dict(os.environ),
        "profile": Path(profile, "user", "registrymodifications.xcu").read_text(),
        "convert": asked["convert"],
        "document": asked["document"],
        "links": Path(asked["document"]).stat().st_nlink,
        "files": resource.getrlimit(resource.RLIMIT_NOFILE)[0],
        "interfaces": [line.partition(":")[0].strip() for line in networks],
    }
    (HERE / "facts").write_text(json.dumps(facts))


def main() -> None:
    """Do what the document says."""
    asked = arguments()
    document = Path(asked["document"])
    pages, *words = document.read_text().split()
    kind = asked["convert"].partition(":")[0]
    target = Path(asked["outdir"], f"{document.stem}.{kind}")
    note(f"begin {' '.join(words)} {os.getpid()}")
    before: dict[str, Callable[[], object]] = {
        "chatter": lambda: [print("x" * 100_000) for _ in range(100)],
        "crash": crash,
        "fail": lambda: sys.exit(3),
        "hoard": lambda: bytearray(1 << 40),
        "huge": lambda: fill(target),
        "link": lambda: link(target),
        "away": lambda: lead_away(target),
        "nothing": lambda: sys.exit(0),
        "orphan": lambda: note(f"child {stay(apart=True)}"),
        "sleep": sleep,
        "spin": spin,
        "tell": lambda: tell(asked),
        "torn": lambda: tear(target),
        "until": lambda: wait(words[1]),
    }
    before.get(words[0], lambda: None)()
    count = int(pages) if pages.isdigit() else 2
    target.write_text("".join(f"page {number} of {document.name}\n" for number in range(count)))
    note("end")


main()
