"""Copies to keep: a run as a case file that verifies itself, all of kbd as a backup, and back."""

__all__: list[str] = []
