"""The checker of receipts: the standard library alone, Python 3.8 and newer.

It knows nothing of the rest of kbd: what a receipt claims is found again in the bytes by code of
its own. What a format's parts hold is read by the `receipt_check` of its plugin, which imports
nothing but the standard library either; so no format is named here. `kbd receipt save` puts all of
it beside a receipt, as one file that Python runs.

`packages` (parts of a zip, within limits), `markup` (XML as text that two readers agree on),
`claims` (the receipt itself), `lists` (what differs, compared with what is claimed), `parts` (a
package), `files` (a file of the receipt), `shelf` (which file given is which version), `report`
(all of it), `command` (what is printed).
"""

__all__ = ["SOURCES"]

SOURCES = (
    "__init__", "packages", "markup", "claims", "lists", "parts", "files", "shelf", "report",
    "command",
)  # fmt: skip
"""The modules, in the order in which they build on each other."""
