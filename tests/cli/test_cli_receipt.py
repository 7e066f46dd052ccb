"""`kbd receipt save`: a folder that holds a receipt is whole, and there is none else."""

import base64
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kbd.cli.exits import FAILED, OK, UNREACHABLE, USAGE
from scripted_daemon import AnswerError, ScriptedDaemon

FIRST, BETWEEN, LAST = b"one", b"two", b"three"


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _receipt() -> bytes:
    """A receipt of one file, as far as a save looks at it."""
    steps = [
        {"before": _sha256(one), "after": _sha256(other)}
        for one, other in ((FIRST, BETWEEN), (BETWEEN, LAST))
    ]
    ends = {"before": {"sha256": _sha256(FIRST)}, "after": {"sha256": _sha256(LAST)}}
    return json.dumps({"files": [{"path": "a.txt", **ends, "steps": steps}]}).encode()


@pytest.mark.parametrize("is_gone", [True, False])
def test_only_a_damaged_version_between_others_is_left_out(
    daemon: ScriptedDaemon, kbd: Callable[..., int], tmp_path: Path,
    capsys: pytest.CaptureFixture[str], is_gone: bool,
) -> None:  # fmt: skip
    """It is told; but where the daemon goes away there, nothing is saved."""
    blobs = {_sha256(each): each for each in (_receipt(), FIRST, LAST)}

    def read(params: dict[str, Any], _: object) -> dict[str, Any]:
        if params["hash"] == _sha256(LAST) and is_gone:
            daemon.close_after.add("BlobRead")
        if params["hash"] not in blobs:
            raise AnswerError("FILE_READ_FAILED", "the stored bytes are not those of their hash")
        data = base64.b64encode(blobs[params["hash"]]).decode()
        return {"base64": data, "size_bytes": 5, "has_more": False}

    daemon.answers["ReceiptGet"] = {"hash": _sha256(_receipt()), "size_bytes": len(_receipt())}
    daemon.answers["BlobRead"] = read
    folder = tmp_path / "proof"
    code = kbd("receipt", "save", "taxes", "--to", str(folder))
    said = capsys.readouterr().err
    assert code == (UNREACHABLE if is_gone else OK)
    assert folder.exists() is not is_gone
    assert ("is left out: FILE_READ_FAILED" in said) is not is_gone


def _serve(daemon: ScriptedDaemon, path: str) -> None:
    """Have the daemon give a receipt of one file, whatever it calls that."""
    receipt = _receipt().replace(b"a.txt", path.encode())
    blobs = {_sha256(each): each for each in (receipt, FIRST, BETWEEN, LAST)}

    def read(params: dict[str, Any], _: object) -> dict[str, Any]:
        data = blobs[params["hash"]]
        return {
            "base64": base64.b64encode(data).decode(),
            "size_bytes": len(data),
            "has_more": False,
        }

    daemon.answers["ReceiptGet"] = {"hash": _sha256(receipt), "size_bytes": len(receipt)}
    daemon.answers["BlobRead"] = read


def test_nothing_is_saved_into_the_home_of_kbd(
    daemon: ScriptedDaemon, kbd: Callable[..., int], tmp_path: Path,
    capsys: pytest.CaptureFixture[str], short_dir: Path,
) -> None:  # fmt: skip
    """Also where a link leads there; and a receipt beside it is saved."""
    _serve(daemon, "sub/a.txt")
    before = sorted(short_dir.iterdir())
    (tmp_path / "way").symlink_to(short_dir)
    for named in ("proof", "a/b/proof"):
        for folder in (short_dir / named, tmp_path / "way" / named):
            code = kbd("receipt", "save", "taxes", "--to", str(folder))
            assert code == USAGE
            assert "home of kbd" in capsys.readouterr().err
    assert sorted(short_dir.iterdir()) == before
    assert kbd("receipt", "save", "taxes", "--to", str(tmp_path / "proof")) == OK
    assert (tmp_path / "proof" / "after" / "sub" / "a.txt").read_bytes() == LAST


@pytest.mark.parametrize("path", ["../../escaped.txt", "..", "a/../../../x"])
def test_a_name_of_a_receipt_leads_nowhere(
    daemon: ScriptedDaemon, kbd: Callable[..., int], tmp_path: Path, path: str
) -> None:
    """A receipt that names a file outside of its folder is not saved, nor is anything of it."""
    _serve(daemon, path)
    before = sorted(tmp_path.rglob("*"))
    assert kbd("receipt", "save", "taxes", "--to", str(tmp_path / "a" / "proof")) == FAILED
    assert [each for each in sorted(tmp_path.rglob("*")) if each not in before] == [tmp_path / "a"]
