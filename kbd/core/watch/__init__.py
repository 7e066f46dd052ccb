"""Watched folders: what landed whole is copied, recorded once, and worked on once.

watcher        all watched folders: an inbox for each, the scheduler, the rules' commands
inbox          one watched folder, from a file's arrival to its event
scanner        looks into the folder; `tree` is what is there, `hints` what the system tells
settling       when a file is whole; `ingest` copies and hashes it; `seen_files` remembers
name_patterns  which names are temporary, and which a rule takes
retry          what goes on for as long as the daemon lives, whatever fails meanwhile
scheduler      which job is next, over all watches
job            what the watcher asks for and gets back
watch_jobs     a job from its workbench to its outcome; `next_step` says what is to be done
deliveries     copies of results in the folder that a rule names
rule_commands  the program that a rule runs for an outcome
dry_run        what a rule would do, found out without doing anything
"""
