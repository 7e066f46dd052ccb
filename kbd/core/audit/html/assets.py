"""Styles and scripts of the pages, and the hashes by which a page's policy allows them."""

import base64
import hashlib
from pathlib import Path

__all__ = ["EARLY_SCRIPT", "csp_hash", "dark_style", "light_style", "read_asset", "shared_style"]

EARLY_SCRIPT = 'document.documentElement.classList.add("js")'
"""Runs before anything is drawn, so that nobody with scripts sees the page without."""


def read_asset(module: str, name: str) -> str:
    """Return a text that lies beside a module, which is named by its `__file__`."""
    return (Path(module).parent / name).read_text("utf-8")


def light_style() -> str:
    """Return what all pages look like, in the light colors."""
    return read_asset(__file__, "base.css")


def dark_style() -> str:
    """Return the colors of the dark theme."""
    return read_asset(__file__, "dark.css")


def shared_style() -> str:
    """Return what all pages look like, dark where the reader's system is."""
    return f"{light_style()}@media (prefers-color-scheme: dark) {{\n{dark_style()}}}\n"


def csp_hash(part: str) -> str:
    """Return the hash by which the content security policy allows a script or style."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(part.encode()).digest()).decode()}'"
