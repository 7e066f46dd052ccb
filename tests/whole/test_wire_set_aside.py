"""A file that takes its workers down, in a real daemon: told, set aside by name, and survived."""

import tempfile
from pathlib import Path

import pytest

from hostile_files import HOSTILE
from kbd.cli import main
from kbd.client.blocking import RemoteError
from real_daemon import RealDaemon

pytestmark = pytest.mark.full

LITTLE_BYTES = 500_000_000
"""Address space that the library for workbooks has not enough of for 12,000,000 cells."""


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_a_deadly_file_is_set_aside_and_others_are_read(
    backend: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Three deaths, then answers at once; doctor and the list of files name it, until a restart."""
    far = next(each for each in HOSTILE if each.what == "a cell as far as is read")
    with tempfile.TemporaryDirectory(prefix="kbd-") as folder:
        home = Path(folder, "h")
        home.mkdir(mode=0o700)
        (home / "settings.toml").write_text(f"[workers]\nmemory_bytes = {LITTLE_BYTES}\n")
        deadly, sound = Path(folder, "far.xlsx"), Path(folder, "sound.csv")
        deadly.write_bytes(far.build())
        sound.write_text("a,b\n1,2\n")
        daemon = RealDaemon(home, backend)
        daemon.start()
        try:
            workbench_id = daemon.workbench(deadly, sound)

            def asked(name: str) -> str:
                arguments = {"path": name}
                try:
                    daemon.ask(
                        "ToolsCall", workbench_id=workbench_id, name="get_file_map",
                        arguments=arguments,
                    )  # fmt: skip
                except RemoteError as refusal:
                    is_final = not refusal.data.get("retryable")
                    return str(refusal) if is_final else "worth another try"
                return ""

            told = [asked("far.xlsx") for _ in range(5)]
            assert all("far.xlsx" in each for each in told)
            assert ["set aside" in each for each in told] == [False] * 3 + [True] * 2
            assert asked("sound.csv") == ""

            rows = daemon.ask("WorkbenchFilesList", workbench_id=workbench_id)["files"]
            reasons = {row["path"]: row.get("reason", "") for row in rows}
            assert "is set aside until kbd is restarted" in reasons["far.xlsx"]
            assert reasons["sound.csv"] == ""
            aside = daemon.ask("ToolWorkerGetStatus")["set_aside"]
            assert [(row["path"], row["deaths"]) for row in aside] == [("far.xlsx", 3)]
            main(["--home", str(home), "doctor"])
            assert "set aside far.xlsx is set aside" in capsys.readouterr().out

            daemon.stop()
            daemon.start()
            assert "set aside" not in asked("far.xlsx")
        finally:
            daemon.stop()
