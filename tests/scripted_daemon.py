"""A daemon that answers from a script: what the command line is tested against.

It speaks the real transport (JSON-RPC, a line a message, a Unix socket); only its answers are
written down beforehand. Of a list a script has the rows, oldest first, as far as a test is about
them: filters, order and the first page are made here.
"""

import json
import socketserver
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

__all__ = ["AnswerError", "Notify", "ScriptedDaemon"]

Notify = Callable[[str, dict[str, Any]], None]
"""Send a notification on the connection that is being answered."""

Answer = Callable[[dict[str, Any], Notify], Any]


class AnswerError(Exception):
    """Raised by an answer: the daemon refuses.

    Args:
        error_code: The application's code.
        message: For people.
        data: More of the error's object.
    """

    def __init__(self, error_code: str, message: str, **data: Any) -> None:
        super().__init__(message)
        self.message = message
        self.data = {"error_code": error_code, **data}


class ScriptedDaemon:
    """Answers on a socket until it is closed.

    Args:
        path: The socket.
        answers: By method, a value or a function of the parameters and `Notify`.

    Attributes:
        asked: Every request, in order: the method and its parameters.
        told: Every message that wants no answer, likewise.
        hang_up: The methods on which the connection is closed instead of answered.
        close_after: The methods on which it is closed when they are answered.
    """

    def __init__(self, path: Path, answers: dict[str, Any]) -> None:
        self.path = path
        self.answers = answers
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.told: list[tuple[str, dict[str, Any]]] = []
        self.hang_up: set[str] = set()
        self.close_after: set[str] = set()
        script = self

        class Connection(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                for text in self.rfile:
                    request = json.loads(text)
                    if "id" not in request:  # it wants no answer, and no daemon gives one
                        script.told.append((request["method"], request.get("params") or {}))
                        continue
                    if request["method"] in script.hang_up:
                        return
                    self._write(script.answer(request, self._notify))
                    if request["method"] in script.close_after:
                        return

            def _notify(self, method: str, params: dict[str, Any]) -> None:
                self._write({"method": method, "params": params})

            def _write(self, message: dict[str, Any]) -> None:
                self.wfile.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

        self._server = socketserver.ThreadingUnixStreamServer(str(path), Connection)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()

    def answer(self, request: dict[str, Any], notify: Notify) -> dict[str, Any]:
        """Return the response to one request, and keep the request."""
        method, params = request["method"], request.get("params") or {}
        self.asked.append((method, params))
        if method not in self.answers:
            error = {"code": -32601, "message": f"no method {method}"}
            return {"id": request["id"], "error": error}
        answer = self.answers[method]
        try:
            result = answer(params, notify) if callable(answer) else answer
        except AnswerError as failure:
            error = {"code": -32000, "message": failure.message, "data": failure.data}
            return {"id": request["id"], "error": error}
        if method in _LISTS:
            result = _LISTS[method](params, result)
        return {"id": request["id"], "result": result}

    def methods(self) -> list[str]:
        """Return the methods that were asked, in order."""
        return [method for method, _ in self.asked]

    def params_of(self, method: str) -> dict[str, Any]:
        """Return the parameters of the last request of a method."""
        return next(params for name, params in reversed(self.asked) if name == method)

    def close(self) -> None:
        """Answer nobody any more."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
        self.path.unlink(missing_ok=True)


Rows = list[dict[str, Any]]


def _workbenches(params: dict[str, Any], result: dict[str, Any]) -> dict[str, Any]:
    rows: Rows = [
        {
            "has_draft": False, "disk_bytes": 0, "files": 0, "last_seq": 0, "status": "idle",
            "runs": 0, "approvals": 0, "name": "", "created_at": "", "updated_at": "", **row,
        }
        for row in result["workbenches"]
    ]  # fmt: skip
    counts = {
        "drafts": sum(row["has_draft"] for row in rows),
        "damaged": sum("reason" in row for row in rows),
        "unread": 0,
        "disk_bytes": sum(row["disk_bytes"] for row in rows),
        "daemon_disk_bytes": 0,
        "landed_disk_bytes": 0,
    }
    if "named" in params:
        rows = _named(rows, params["named"])
    if params.get("status"):
        rows = [row for row in rows if row["status"] in params["status"]]
    key = {"updated": "updated_at", "name": "name", "size": "disk_bytes"}
    if params.get("order") in key:
        rows.sort(key=lambda row: row[key[params["order"]]])
    return {**counts, **result, **_first_page(params, rows, "workbenches")}


def _named(rows: Rows, named: str) -> Rows:
    for meant in (
        [row for row in rows if row["id"] == named],
        [row for row in rows if row["name"] == named],
        [row for row in rows if row["id"].startswith(named)],
    ):
        if meant:
            return meant
    return []


def _runs(params: dict[str, Any], result: dict[str, Any]) -> dict[str, Any]:
    rows: Rows = [{"workbench_name": "", **row} for row in result["runs"]]
    return {"unread": 0, **result, **_first_page(params, rows, "runs")}


def _first_page(params: dict[str, Any], rows: Rows, field: str) -> dict[str, Any]:
    total = len(rows)
    if params.get("descending"):
        rows = rows[::-1]
    return {field: rows[: params.get("limit")], "total": total}


_LISTS = {"WorkbenchList": _workbenches, "RunList": _runs}
