"""Runs that nobody waits for: from landed files to a recorded outcome, across crashes.

`work` (a job from its workbench to its outcome), `delivering` (copies of results into a folder, each
once), `commands` (the program that a rule runs for an outcome).
"""

__all__: list[str] = []
