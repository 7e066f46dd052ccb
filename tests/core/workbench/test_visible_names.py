"""A tool makes nothing that is hidden, unless a person added it."""

from pathlib import Path

import pytest

from folding import Folded, blob
from kbd.core.domain.workbench_state import WorkbenchState
from kbd.core.workbench.call_files import CallFiles
from kbd.core.workbench.file_store import Blobs
from kbd.core.workbench.sandbox import check_visible
from kbd.errors import SandboxViolation
from kbd.events.blobs import BlobStore
from kbd.events.drafts import DraftOpened, FileChanged
from kbd.types import CallId, FileName

HIDDEN = (
    ".vscode/tasks.json", ".local/bin/x", ".git/hooks/pre-commit", ".env", ".bashrc", "a/.env",
    "a/.b/c.txt", ".config/autostart/x.desktop", "a/b/.hidden/deep/x.txt", "..x", "....a/b",
)  # fmt: skip


@pytest.mark.parametrize("name", HIDDEN)
def test_no_hidden_name_is_made(name: str) -> None:
    """Wherever the dot stands; the model is told why, and a name that it may use."""
    with pytest.raises(SandboxViolation, match="begins with a dot") as refused:
        check_visible(FileName(name), ())
    assert "use one without it, such as" in refused.value.message


@pytest.mark.parametrize("name", ["a.txt", "a/b.txt", "a.b/c.d", "…/x", "a..b", "x."])
def test_other_names_are_made(name: str) -> None:
    """A dot within a name hides nothing."""
    check_visible(FileName(name), ())


@pytest.mark.parametrize(
    ("name", "added", "allowed"),
    [
        (".env", ".env", True),
        (".env", "a/.env", False),
        (".ENV", ".env", False),
        (".vscode/tasks.json", ".vscode/settings.json", True),
        (".vscode/tasks.json", ".vscode", False),
        (".vscode/.x", ".vscode/settings.json", False),
        (".vscode/deep/x", ".vscode/settings.json", False),
        (".git/hooks/pre-commit", ".git/config", False),
        (".git/hooks/pre-commit", ".git/hooks/post-commit", True),
        (".vscode-evil/x", ".vscode/x", False),
        ("a/.b/c", "a/.b/d", True),
        (".bashrc", "notes.txt", False),
    ],
)
def test_what_a_person_added_allows_itself_and_its_folder(
    name: str, added: str, *, allowed: bool
) -> None:
    """The very name, or a visible one in the very folder; not one beside, below or above."""
    if allowed:
        check_visible(FileName(name), (added,))
    else:
        with pytest.raises(SandboxViolation):
            check_visible(FileName(name), (added,))


def _files(tmp_path: Path, state: WorkbenchState) -> CallFiles:
    blobs = Blobs(BlobStore(tmp_path / "blobs"))
    return CallFiles(state, blobs, tmp_path, tmp_path, lambda _: {})


def test_a_tool_that_makes_a_name_up_is_refused(tmp_path: Path) -> None:
    """What is put under a name that `new` did not give is held to the same rules."""
    folded = Folded()
    folded.add(".env", "a")
    files = _files(tmp_path, folded.state)
    for name in (*HIDDEN, "../x", "/etc/x", "a/../../x", "meta/x", "a\0"):
        if name != ".env":
            with pytest.raises(SandboxViolation):
                files.put(FileName(name), tmp_path / "staged")
            with pytest.raises(SandboxViolation):
                files.new(name)
    files.put(FileName(".env"), tmp_path / "staged")
    files.put(FileName("a.txt"), tmp_path / "staged")


def test_what_a_run_made_allows_nothing(tmp_path: Path) -> None:
    """Only a person's file counts, not one that an earlier call, or an older kbd, wrote."""
    folded = Folded()
    folded.apply(DraftOpened("d1"))
    folded.apply(
        FileChanged(
            name=FileName(".vscode/a.json"), before=None, after=blob("a"), size_bytes=1,
            before_size_bytes=0, call_id=CallId("c1"),
        )
    )  # fmt: skip
    with pytest.raises(SandboxViolation):
        _files(tmp_path, folded.state).new(".vscode/tasks.json")
