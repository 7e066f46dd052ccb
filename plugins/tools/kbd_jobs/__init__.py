"""The tools for jobs: a job checked, and a job carried out by the tools that models call.

Read in this order: `job_tools` (the two tools, with answers in words), `preparation` (a job bound
to files, compiled and checked, nothing written) with `inputs` (which file is which input) and
`step_calls` (calls of tools, each with the job's hash); then what is written: `table_outputs`
(sheets and files of tables), and `document_outputs` (templates, replaced texts, conversions) with
`text_files` (a text replaced in a text file).
"""

from collections.abc import Sequence

from kbd import hookimpl
from kbd.tools import Tool
from kbd_jobs.job_tools import CheckJob, RunJob

__all__ = ["kbd_register_tools"]


@hookimpl
def kbd_register_tools() -> Sequence[Tool]:
    """Return the tools for jobs."""
    return [CheckJob(), RunJob()]
