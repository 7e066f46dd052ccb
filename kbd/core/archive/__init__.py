"""Copies to keep: a run as a case file that verifies itself, all of kbd as a backup, and back.

`checked` is what the check of either found.
"""

__all__: list[str] = []
