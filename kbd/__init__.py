"""kbd: a background daemon that lets models work on office files through reviewable drafts.

Read in this order: `types` and `errors` (the vocabulary), `messages`, `toolcall` (calls of tools in
plain text), `events` (the log: the only authority), `formats`, `tools`, `search`, `editing`,
`providers` and `hookspecs` (what a plugin writes), `requests` and `rpc` (what a client writes),
then `core` (how a command becomes an event and a run does its work).
Beside them: `arguments` (what a model wrote, made a record), `plaintext`, `sheets`, `opc` and
`office` (what formats of text, formats with sheets of cells, formats that are packages, and those
of office programs share), `jobs` (the language of jobs), `figures` (numbers as people read them),
`job_words` (which tables a job reads), `lookalikes` (texts that look the same, told apart),
`testing` (for authors of plugins), `client` and `cli` (who talks to the daemon).

A plugin marks its hooks with `kbd.hookimpl`.
"""

# What typing.TYPE_CHECKING is, without the 9 ms that importing typing costs `kbd status`.
TYPE_CHECKING = False
if TYPE_CHECKING:
    import pluggy

    hookimpl: pluggy.HookimplMarker

__all__ = ["__version__", "hookimpl"]

__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    """Resolve `hookimpl` on first use, so that a thin client does not pay for pluggy."""
    if name == "hookimpl":
        import pluggy  # noqa: PLC0415 - 36 ms that `kbd status` need not spend

        return pluggy.HookimplMarker("kbd")
    msg = f"module 'kbd' has no attribute {name!r}"
    raise AttributeError(msg)
