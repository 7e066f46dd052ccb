"""Watched folders: what landed whole is copied, recorded once, and worked on once.

The key of a file is its watch, its path below the folder and the hash of its content; the daemon's
log says which keys there were, and a scan against it is the truth. What the system tells of changes
is a hint. Read `work` (what a job is and who carries it out), then `names` and `tree` (what is in a
folder), `known` (which of it landed before), `settling` (when a file is whole), `taking` (its
copy), `looking` (those together), `mounts` and `hints` (how changes are noticed), `inbox` (all of
that for one watch), `copies` (how long a copy is kept), `starting` (which job is next), `commands`
(the rules' commands), `trial` (what a rule would do), `lasting` (going on whatever fails), and
`watcher` (all watches).
"""

from kbd.core.watcher.work import Job, JobFile, Labour, Notify, Result

__all__ = ["Job", "JobFile", "Labour", "Notify", "Result"]
