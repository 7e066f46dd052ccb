"""Request handlers of the API, a module a subject, and the daemon that assembles the parts.

daemon          takes the home, assembles the parts from the bottom up, stops them from the top
commands        a command recorded for a handler, and its workbench kept open meanwhile
handlers        the table of all handlers
administration  the daemon itself, its plugins and its workers
workbenches     make, list, delete and fork workbenches
files           add, list, remove and extract the files of a workbench
context_items   context that every run is given
conversation    show the conversation, undo, regenerate an answer
runs            messages, and the runs on them
drafts          review, publish, discard; checkpoints
formats         the methods that formats contribute
search          a workbench's documents
logs            reading, following and checking logs; blobs
replays         a run step by step, a workbench as it stood
proofs          replay proofs of runs
archives        backups and case files
providers       providers and models
egress          consent to what leaves the machine
watches         watched folders

A handler asks the Keeper of a workbench, or reads its state; it decides nothing itself.
"""
