"""Runs that nobody waits for: from landed files to a recorded outcome, across crashes.

`standing` (what a job's workbench says is next; pure), `preparing` (the workbench, its files, the
consent), `reading` (whether what landed can be read), `delivering` (copies of results in a folder,
each once), `commands` (the program that a rule runs for an outcome), `work` (a job from its
workbench to its outcome).
"""

from kbd.core.unattended.work import Unattended

__all__ = ["Unattended"]
