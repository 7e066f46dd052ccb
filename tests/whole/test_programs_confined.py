"""Programs that tools start, over the wire: what one can do that a picture has taken over."""

import os
import socket
from pathlib import Path

import pytest
from PIL import Image

from kbd.core.plugins.confinement.layers import find_layers
from real_daemon import RealDaemon

pytestmark = pytest.mark.full

TAKEN_OVER = """#!/bin/bash
case "$*" in
  --version) echo "tesseract 9.9"; exit 0 ;;
  --list-langs) printf 'List:\\neng\\n'; exit 0 ;;
esac
cat > /dev/null
told=$(cat {secret} 2>/dev/null || echo unread)
( echo x > {outside}/made ) 2>/dev/null
( rm -f {secret} ) 2>/dev/null
( exec 3<>/dev/tcp/127.0.0.1/{port} && echo x >&3 ) 2>/dev/null
env | grep -q KBD_ && told=environment
printf 'level\\n5\\t1\\t1\\t1\\t1\\t1\\t0\\t0\\t9\\t9\\t95\\t%s\\n' "$told"
"""


def test_a_program_that_is_taken_over_reaches_nothing(short_dir: Path, tmp_path: Path) -> None:
    """It reads no other file, writes and removes none, and connects to nothing."""
    if not all(layer.holds for layer in find_layers()):
        pytest.skip("this kernel has no layer that holds a program")
    secret = tmp_path / "secret.txt"
    secret.write_text("hidden")
    Image.new("RGB", (400, 100), "white").save(tmp_path / "a.png")
    programs = short_dir / "bin"
    programs.mkdir()
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(0.5)
        program = programs / "tesseract"
        port = listening.getsockname()[1]
        program.write_text(TAKEN_OVER.format(secret=secret, outside=tmp_path, port=port))
        program.chmod(0o755)
        environment = {"PATH": f"{programs}:{os.environ['PATH']}", "KBD_LOG_LEVEL": "info"}
        daemon = RealDaemon(short_dir / "h", "trio", environment)
        daemon.start()
        try:
            workbench_id = daemon.workbench(tmp_path / "a.png")
            asked = {"workbench_id": workbench_id, "path": "a.png"}
            found = daemon.ask("OcrRecognizeText", **asked)
        finally:
            daemon.stop()
        assert [line["text"] for page in found["pages"] for line in page["lines"]] == ["unread"]
        assert secret.read_text() == "hidden"
        assert not (tmp_path / "made").exists()
        with pytest.raises(TimeoutError):
            listening.accept()
