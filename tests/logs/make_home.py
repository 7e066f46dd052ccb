"""Make the golden home: `PYTHONPATH=tests .venv/bin/python -m logs.make_home TARGET`.

The golden home is one that kbd 0.1 left behind, before calls recorded how their tables were read:
a run that used every tool for tables, with its draft, and a run whose daemon was killed. It was
made once, with the kbd of then, and is never changed; this says how. Beside logs and blobs it has
the caches of then, which no later kbd may read.
"""

import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

from model_server import Reply, call, calls, model_server, phase_of, text, turn_of
from real_daemon import RealDaemon

HERE = Path(__file__).resolve().parent
HOME = HERE / "home-v1.zip"
MODEL = "openai:some-model"

NAMES = """Nombre,Ciudad,Importe
López,Madrid,0
Peña,León,1
Gómez,León,2
Ibáñez,Ávila,3
Peña,Ávila,4
Núñez,León,5
García,Madrid,6
Martínez,León,7
Núñez,León,8
Gómez,Madrid,9
Peña,Ávila,10
García,Cádiz,11
"""
"""Spanish names in Windows' letters; the kbd of then took them for Polish ones."""

FILES = {
    # Nothing tells whether this is 1,234 or 1.234: it was read as a decimal.
    "rent.csv": "Ort;Art;Betrag\nKöln;Miete;1.234\nBonn;Miete;2.500\nBonn;Strom;1.180\n".encode(),
    # The rates tell that decimals have a comma here, so 1.234 is a thousand and more.
    "rates.csv": "Ort;Satz;Betrag\nKöln;0,5;1.234\nBonn;0,75;2.500\nKiel;1,25;1.180\n".encode(),
    # The last row is no order; it was counted as one.
    "orders.csv": b"Region,Amount\nNorth,10\nSouth,20\nWest,12\nTotal,42\n",
    "names.csv": NAMES.encode("cp1252"),
    "plain.csv": b"Item,Count\nApples,3\nPears,4\n",
}
"""What was read otherwise by the kbd of then, and a file that was not."""

JOB = "one sheet per category with Date, Description, Amount sorted by date"
JOB_ROWS = "".join(
    f"2024-01-{day:02},{name} {day},{day}.50,{name}\n"
    for day in range(1, 11)
    for name in ("Food", "Rent", "Travel", "Books")
)
JOB_FILE = f"Date,Description,Amount,Category\n{JOB_ROWS}".encode()


def _on_table(tool: str, path: str, **arguments: Any) -> dict[str, Any]:
    return call(tool, {"path": path, **arguments}, f"{tool}-{path.partition('.')[0]}")


def play(body: dict[str, Any]) -> Reply:
    """Look at each table in every way, and export what comes of it."""
    turn = turn_of(body)
    match phase_of(body):
        case "research" if turn == 0:
            return calls(*[_on_table("table_get_map", path) for path in FILES])
        case "research" if turn == 1:
            return calls(
                _on_table("table_describe", "rent.csv"),
                _on_table("table_stats", "orders.csv"),
                _on_table("table_read_rows", "names.csv", row_start=1, row_count=4),
                _on_table("table_query", "plain.csv", query="SELECT sum(Count) AS n FROM data"),
            )
        case "research" if turn == 2:
            return calls(
                _on_table("table_query", "rent.csv", query="SELECT sum(Betrag) AS s FROM data"),
                _on_table("table_query", "rates.csv", query="SELECT sum(Betrag) AS s FROM data"),
                _on_table("table_query", "orders.csv", query="SELECT sum(Amount) AS s FROM data"),
            )
        case "research":
            return text("# Research\n\nFive tables.")
        case "plan":
            return text("# Execution Plan\n\n## Task\nExport\n\n## Items\n- [ ] 1. Export them\n")
        case "implement" if turn == 0:
            return calls(
                _on_table(
                    "table_export", "orders.csv", target_path="out/orders.csv", format="csv",
                    query="SELECT Region, Amount FROM data ORDER BY Amount",
                ),
                _on_table(
                    "table_export", "plain.csv", target_path="out/plain.csv", format="csv"
                ),
            )  # fmt: skip
        case _:
            return text("Both are exported.")


def make(target: Path) -> None:
    """Make the home, and pack what of it is needed to go on with it."""
    with TemporaryDirectory(prefix="kbd-") as folder, model_server(play) as server:
        root = Path(folder)
        for name, data in {**FILES, "job.csv": JOB_FILE}.items():
            (root / name).write_bytes(data)
        known = {"OPENAI_BASE_URL": server.base_url, "KBD_MODEL": MODEL}
        daemon = RealDaemon(root / "home", environment=known)
        daemon.start()
        try:
            _finish_run(daemon, root)
            _cut_run(daemon, root)
        finally:
            daemon.kill()
        with ZipFile(target, "w", ZIP_DEFLATED, compresslevel=9) as packed:
            for part in ("daemon/log", "workbenches"):
                for path in sorted((root / "home" / part).rglob("*")):
                    if path.is_file():
                        packed.write(path, path.relative_to(root / "home"))


def _finish_run(daemon: RealDaemon, root: Path) -> None:
    workbench_id = daemon.workbench(*[root / name for name in FILES], name="tables")
    run = daemon.run_prompt(workbench_id, "export them")
    assert run["status"] == "finished", run
    # The readable copies follow the end of a run.
    time.sleep(2)


def _cut_run(daemon: RealDaemon, root: Path) -> None:
    workbench_id = daemon.workbench(root / "job.csv", name="cut")
    planner = {"workbench_id": workbench_id, "model_id": "offline:planner"}
    daemon.ask("WorkshopSetActiveModel", **planner)
    daemon.ask("WorkshopSendUserMessage", workbench_id=workbench_id, text=JOB)
    daemon.ask("WorkshopRunAgent", workbench_id=workbench_id, wait=False)
    while sum(event["type"] == "ItemCompleted" for event in daemon.events(workbench_id)) < 2:
        time.sleep(0.005)


if __name__ == "__main__":
    make(Path(sys.argv[1]))
