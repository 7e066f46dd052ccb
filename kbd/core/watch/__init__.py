"""Watched folders: what landed whole is copied, recorded once, and worked on once.

watcher           all watched folders: an inbox for each, the scheduler, the rules' commands
inbox             one watched folder, from a file's arrival to its event
scanner           looks into the folder: which files are new, and what one of them is
tree              what is in the folder, component by component, never through a link
hints             what the system tells of changes; the truth is a scan
settling          when a file is whole
ingest            the copy of a file that landed, whole and hashed
seen_files        what is known of files that need no event
name_patterns     which names are temporary, and which a rule takes
retry             what goes on for as long as the daemon lives, whatever fails meanwhile
scheduler         which job is next, over all watches
job               what the watcher asks for and gets back
watch_jobs        a job from its workbench to its outcome
next_step         what is to be done next, told from the job's log; pure
deliveries        copies of results in the folder that a rule names
outcome_commands  one run of a rule's command for each outcome, in order, across restarts
rule_commands     the program that is run: no shell, no key of kbd's, a limit of time
dry_run           what a rule would do, found out without doing anything

A landing is in the daemon's log before anything is done with it, and its outcome after: so
whatever is killed, nothing is lost and nothing is worked on twice.
"""
