"""`kbd chat`: a conversation with a workbench, or with a folder of files, in a terminal or a pipe.

Read `opening` first: it finds the workbench that is meant, and lets a person (`prompting`, with
`completing`) or a pipe talk to it. `session` is what a conversation knows of itself.

What is typed goes to `slash`: a command, or a message. A message is answered in `answering`, while
`working` shows what the run does, `tracing` its tool calls in full, and `flowing` writes the answer
as it comes. Commands that only show something are in `views` and `reviewing`, those
that change something in `acting`; `waiting` is what a person sees while that takes long, and
`models` knows what a model may be called.

A folder's files are found by `folder_scan`, copied in by `bringing`; `arrivals` knows what came
before.

There is one rule for streams: stdout has what was asked for, stderr has everything else.
"""
