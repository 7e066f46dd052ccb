"""The API: the daemon put together, and what answers each request, a module a subject.

daemon          takes the home, assembles the parts from the bottom up, stops them from the top
commands        a command recorded for a handler, and its workbench kept open meanwhile
handlers        the table of all handlers
administration  the daemon itself, its plugins and its workers
workbenches     make, list, delete and fork workbenches
files           the files of a workbench
context_items   what every run is told
conversation    what was said, undone, and answered once more
runs            messages, and the runs on them
drafts          review, publish, discard; checkpoints
formats         the methods that formats contribute
search          a workbench's documents
logs            reading, following and checking logs; blobs
replays         a run step by step, a workbench as it stood
proofs          a run's calls done again
archives        backups and case files
providers       providers and models
egress          what may leave the machine
watches         watched folders

A handler asks the Keeper of a workbench, or reads its state; it decides nothing itself.
"""
