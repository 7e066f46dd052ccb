"""The API: the daemon put together, and what answers each request, a module a subject.

`daemon` takes the home, assembles the parts from the bottom up and stops them from the top down.
`context` is what handlers reach, `handlers` the table of them all; the others are named for what
their requests are about.
"""
