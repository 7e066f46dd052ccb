"""Watched folders: files that landed whole are copied, recorded once, and worked on once.

watcher           supervisor of all watched folders: inboxes, scheduler, outcome commands
inbox             one watched folder, from a file's arrival to its event
scanner           scanner of the folder: which files are new, and what one of them is
tree              directory walk, component by component, never through a link
hints             change notifications of the system; the truth is a scan
settling          debouncing: a file is whole after its quiet time
ingest            copies a file that landed, whole and hashed; keeps and sweeps the copies
seen_files        cache of files that need no event
name_patterns     which names are temporary, and which a rule takes
retry             retry policy: logs a failure, backs off, tries again
scheduler         fair scheduler: which job is next, over all watches
job               records of a job and its result
watch_jobs        carries a job out, from its workbench to its outcome
next_step         decides from the job's log what is to be done next; pure
deliveries        copies of results in the folder that a rule names
outcome_commands  queue of rules' commands: one run for each outcome, in order, across restarts
rule_commands     subprocess of a rule's command: no shell, no key of kbd's, a time limit
dry_run           dry run of a rule: what it would do, without doing anything

A landing is in the daemon's log before anything is done with it, and its outcome after: so
whatever is killed, nothing is lost and nothing is worked on twice.
"""
