"""The verifier that lies in every case file: the standard library alone, Python 3.8 and newer.

kbd checks case files with the same modules. They know nothing of the rest of kbd: the log is read
here by code of its own, so that two readers agree on what a log says, or show that they do not.

`manifest` (what is in a case file), `layout` (what each byte of it must be), `pinpoint` (which byte
is wrong), `packed` (msgpack), `history` (the log), `opening` (finding the manifest), `case` (all),
`unpacking` (to a folder), `command` (what is printed). `main.txt` becomes the `__main__.py` of a
case file, which runs them in the order of `SOURCES`: modules come before those that use them.
"""

__all__ = ["SOURCES"]

SOURCES = (
    "__init__", "manifest", "layout", "pinpoint", "packed", "history", "opening", "case",
    "unpacking", "command",
)  # fmt: skip
"""The modules of the verifier in the order in which they are run."""
