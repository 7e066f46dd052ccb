"""A run as one HTML page: readable offline, in any browser, for as long as there are browsers.

Read `document` first: the page as a whole, its head, the list of steps with what filters it, plan
and files beside it. `run_index` looks up what a step needs of the others, `timeline` draws the run
to scale, `step_view` shows one step in full with its texts (JSON laid out). What the pages share is
in `kbd.core.audit.html`.

`page.html`, `page.css` and `page.js` lie beside. The page is a document that the script makes
handier: it shows one step at a time, filters, searches. It makes no markup of text either.
"""

from kbd.core.audit.page.document import page_of
from kbd.core.audit.page.run_index import CONTENTS_LIMIT_CHARACTERS, blobs_of

__all__ = ["CONTENTS_LIMIT_CHARACTERS", "blobs_of", "page_of"]
