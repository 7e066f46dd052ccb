"""The methods: what answers each request, a file a subject.

Each subject is a class that holds the parts it needs and a table from request to method. Plain
functions answer from state at once; coroutines wait for the log, the disk or a run.

Read `table` (all of them), `shop` (what they reach) and `holding` (what they keep open), then the
subjects: `daemon`, `providers`, `workbenches`, `forking`, `files` and `contexts` (with `sources`,
for what a client names by its path), `egress`, `workshop`, `conversation`, `workspace`, `drafts`,
`checkpoints`, `logs`, `replays`, `proofs`, `cases`, `backups`, `watches` (with `rules`, which
checks what a client asks of a watch); and `formats`, which answers what formats contribute, with
`owncalls` for what of that writes.
"""

from kbd.core.methods.shop import Shop
from kbd.core.methods.table import handlers

__all__ = ["Shop", "handlers"]
