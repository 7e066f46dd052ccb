"""Watched folders: files that landed whole are copied, recorded once, and worked on once.

watcher           supervisor of all watched folders: inboxes, scheduler, outcome commands
inbox             one watched folder, from a file's arrival to its event
scanner           scanner of the folder: seen files, debouncing, what a new file is
tree              directory walk, never through a link; name patterns
hints             change notifications of the system; the truth is a scan
ingest            copies a file that landed, whole and hashed; keeps and sweeps the copies
retry             records what the log cannot take now as soon as it can
scheduler         fair scheduler: which job is next, over all watches
job               records of a job and its result; the next step of one
watch_jobs        carries a job out, from its workbench to its outcome
deliveries        copies of results in the folder that a rule names
rule_commands     commands of rules: a queue across restarts, a subprocess for each
dry_run           dry run of a rule: what it would do, without doing anything

A landing is in the daemon's log before anything is done with it, and its outcome after: so
whatever is killed, nothing is lost and nothing is worked on twice.
"""
