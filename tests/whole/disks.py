"""File systems of a few pages, for tests that fill them."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

__all__ = ["bound_folder", "loop_disk", "tiny_disk"]

DISK_MIB = 64


@contextmanager
def tiny_disk(folder: Path, size_bytes: int) -> Iterator[None]:
    """Mount a small file system at a new folder, or skip where nobody may."""
    folder.mkdir()
    with _mounted(folder, "-t", "tmpfs", "-o", f"size={size_bytes}", "tmpfs"):
        yield


@contextmanager
def loop_disk(image: Path, folder: Path) -> Iterator[None]:
    """Mount a file system of its own, in a file that is made if need be, or skip."""
    folder.mkdir(exist_ok=True)
    if not image.exists():
        with image.open("wb") as file:
            file.truncate(DISK_MIB << 20)
        try:
            subprocess.run(["mkfs.ext4", "-q", str(image)], check=True, capture_output=True)
        except (FileNotFoundError, subprocess.CalledProcessError):
            pytest.skip("no file system can be made here: that takes mkfs.ext4")
    with _mounted(folder, "-o", "loop", str(image)):
        yield


@contextmanager
def bound_folder(source: Path, folder: Path) -> Iterator[None]:
    """Mount a folder at another one, or skip where nobody may."""
    folder.mkdir(exist_ok=True)
    with _mounted(folder, "--bind", str(source)):
        yield


@contextmanager
def _mounted(folder: Path, *words: str) -> Iterator[None]:
    try:
        made = subprocess.run(
            ["mount", *words, str(folder)], capture_output=True, text=True, check=False
        )
    except FileNotFoundError:
        pytest.skip("no file system can be mounted here: there is no mount")
    if made.returncode:
        pytest.skip(f"no file system can be mounted here: {made.stderr.strip()}")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)
