"""`make demo`: kbd does its main job on a sample file, by the commands that a user would type.

Everything happens in a temporary home that is removed at the end; what stays is `demo-out/`. No
model is connected and no network is used: the `offline` provider does the job, and the variables
that would connect another one are taken out of the environment.
"""

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.transactions import ROWS, transactions

__all__ = ["main"]

PROMPT = (
    "one sheet per category with Date, Description, Amount sorted by date, "
    "and a summary sheet with totals"
)

OUT = Path("demo-out")

MARK = ".made-by-kbd-demo"
"""Lies in the folder of results: only a folder with it is replaced."""

CORRECTION = 'replace "Rail pass" with "Train ticket" in transactions.csv'

BLAMED = ("transactions.csv", "row 1, Description")

NAME = "transactions"
"""Of the workbench."""

LAST_EVENTS = 12


def main() -> int:
    """Show the demo and return the exit code of the first command that failed, or 0."""
    if OUT.exists() and not (OUT / MARK).exists():
        print(f"{OUT}/ exists and was not made by the demo; move it away.", file=sys.stderr)
        return 1
    shutil.rmtree(OUT, ignore_errors=True)
    OUT.mkdir()
    (OUT / MARK).touch()
    # Short: a socket's path has 107 bytes at most.
    folder = Path(tempfile.mkdtemp(prefix="kbd-demo-", dir="/tmp"))
    demo = Demo(folder)
    try:
        demo.show()
    except subprocess.CalledProcessError as failed:
        print(f"\nThe demo failed (exit code {failed.returncode}).", file=sys.stderr)
        return failed.returncode
    except KeyboardInterrupt:
        return 130
    finally:
        demo.stop()
        shutil.rmtree(folder, ignore_errors=True)
    return 0


class Demo:
    """The commands of the demo, in a home of their own.

    Args:
        folder: Private and temporary; the home and the sample file go there.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._environment = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("OPENAI_", "KBD_"))
        } | {"KBD_HOME": str(folder / "home")}

    def show(self) -> None:
        """Do the job, from the file to the result, and prove that the log of it is whole.

        Raises:
            subprocess.CalledProcessError: A command failed.
        """
        sample = self._folder / "transactions.csv"
        sample.write_bytes(transactions())
        print(f"A year of transactions, {ROWS} rows:\n")
        print("".join(sample.read_text("utf-8").splitlines(keepends=True)[:4]))
        self.kbd("up")
        self.kbd("run", PROMPT, str(sample), "--name", NAME, "--publish", "--out", str(OUT))
        self.kbd("log", NAME, last=LAST_EVENTS)
        self.kbd("replay", NAME, "--html", str(OUT / "replay.html"))
        # A change of what is published waits in a draft, and is seen before it is published.
        self.kbd("send", NAME, CORRECTION)
        self.kbd("review", NAME, "--no-pager")
        self.kbd("review", NAME, "--html", str(OUT / "review.html"))
        self.kbd("blame", NAME, *BLAMED)
        self.kbd("discard", NAME, "--yes")
        self.kbd("verify")
        print(f'\nThe result is in {OUT}/. On your own files: .venv/bin/kbd run "PROMPT" FILE...')

    def stop(self) -> None:
        """Stop the daemon, whatever happened."""
        try:
            self.kbd("stop")
        except subprocess.CalledProcessError as failed:
            print(f"kbd did not stop (exit code {failed.returncode}).", file=sys.stderr)

    def kbd(self, *arguments: str, last: int | None = None) -> None:
        """Run a command as a user would, shown before what it prints; of that, the `last` lines.

        Raises:
            subprocess.CalledProcessError: It failed.
        """
        told = f" | tail -n {last}" if last else ""
        print(f"\n$ kbd {shlex.join(arguments)}{told}", flush=True)
        done = subprocess.run(
            [Path(sys.executable).with_name("kbd"), *arguments],
            env=self._environment,
            # Whole, it goes to the terminal itself, so that kbd draws there.
            stdout=subprocess.PIPE if last else None,
            text=True,
            check=False,
        )
        if last:
            print("".join(done.stdout.splitlines(keepends=True)[-last:]), end="", flush=True)
        done.check_returncode()


if __name__ == "__main__":
    sys.exit(main())
