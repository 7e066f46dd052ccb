"""What a path may mean: the hostile inputs of reliability, section 5.3 A, each refused."""

import pytest

from kbd.core.workbench.sandbox import file_name
from kbd.errors import SandboxViolation


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("a.txt", "a.txt"),
        ("sub/b.txt", "sub/b.txt"),
        ("a/./x", "a/x"),
        ("a//x", "a/x"),
        ("draft/a.txt", "a.txt"),
        ("published/a.txt", "a.txt"),
        ("report..final.txt", "report..final.txt"),
        ("a%2e%2e/x", "a%2e%2e/x"),
        ("…/x", "…/x"),
        (".env", ".env"),
        ("cafe\u0301.csv", "caf\u00e9.csv"),
        ("draft-evil/x", "draft-evil/x"),
        ("Überweisung März.xlsx", "Überweisung März.xlsx"),
    ],
)
def test_legal_names_are_kept(path: str, name: str) -> None:
    """A relative name is itself, NFC, without dots and the two known roots."""
    assert name == file_name(path)


@pytest.mark.parametrize(
    "path",
    [
        "", ".", "/", "../x", "a/../../x", "a/..", "draft/../x", "/etc/passwd", "~/x",
        "//host/share/x", "C:\\x", "..\\..\\x", "a\0.xlsx", "a" * 256, "/".join("a" * 20),
        "meta/x", "META/x", "a\u202eb.txt", "a\u200bb.txt", "a\nb", "a\x1b[31m", "CON.xlsx",
        "x.xlsx.", "x.xlsx::$DATA", "a ", "bad\udcff", "published/draft/../../x", "a\u2028b",
    ],
)  # fmt: skip
def test_hostile_names_are_refused(path: str) -> None:
    """Whatever would leave the workbench, hide or differ elsewhere is SANDBOX_VIOLATION."""
    with pytest.raises(SandboxViolation):
        file_name(path)
