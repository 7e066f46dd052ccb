"""Request handlers of the API, a module a subject, and the daemon that assembles the parts.

daemon          takes the home, assembles the parts bottom up, with the table of all handlers
daemon_start    a start as the daemon's log has it: its home's place, its plugins
damaged_start   a start with a damaged log of the daemon: what can be read, and what is hidden
commands        a command recorded for a handler, and its workbench kept open meanwhile
metrics         the metrics, as a request, at their socket and in a file
traces          traces of runs, sent to a collector
administration  the daemon itself, its plugins and its workers
workbenches     make, list, delete and fork workbenches
files           add, list, remove and extract files; context that every run is given
runs            messages and the runs on them; show the conversation, undo, regenerate
drafts          change set, publish, discard; checkpoints
reviews         what the draft changes inside its files
receipts        documents that prove what a publish changed
formats         the methods that formats contribute
approvals       what waits for a person, and the person's decision
tools           the list of tools, and calls of them
client_calls    how the calls of clients that write are carried out and recorded
search          a workbench's documents
logs            reading, following and checking logs; blobs
replays         a run step by step, a workbench as it stood, replay proofs of runs
copies          backups and case files
storage         what takes the disk, what goes when, making room; refusals at the quota
providers       providers and models; consent to what leaves the machine
recipes         recipes: saved, listed, tried, removed
watches         watched folders

A handler asks the Keeper of a workbench, or reads its state; it decides nothing itself.
"""
