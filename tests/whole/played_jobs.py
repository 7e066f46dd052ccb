"""Jobs that a scripted model does over HTTP, from a prompt to what is published."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from model_server import Reply, model_server
from real_daemon import RealDaemon

__all__ = ["run_job"]


def run_job(
    home: Path, backend: str, play: Callable[[dict[str, Any]], Reply], prompt: str, *files: Path
) -> tuple[list[dict[str, Any]], Callable[[str], bytes]]:
    """Do a job and publish it; return its events and what reads a published file."""
    with model_server(play) as server:
        environment = {"OPENAI_BASE_URL": server.base_url, "KBD_MODEL": "openai:clerk"}
        daemon = RealDaemon(home, backend, environment)
        daemon.start()
        try:
            workbench_id = daemon.workbench(*files)
            run = daemon.run_prompt(workbench_id, prompt)
            assert run["status"] == "finished", run
            assert {item["state"] for item in run["items"]} == {"done"}, run
            daemon.ask("DraftPublish", workbench_id=workbench_id)
            events = daemon.events(workbench_id)
        finally:
            daemon.stop()
    published = home / "workbenches" / workbench_id / "published"
    return events, lambda name: (published / name).read_bytes()
