"""A run as one HTML page: readable offline, in any browser, for as long as there are browsers.

Read `document` first: the page as a whole. `whole` looks up what a step needs of the others, `head`
heads the page, `timeline` draws it (`scale`: time to scale), `lists` has the list of steps, what
filters it, and plan and files beside it; `steps` shows one step in full, `texts` its texts
(`jsontext`: JSON laid out), `figures` its times and sizes. `markup` makes text HTML: everything
from files, models and tools is hostile, and gets in only there.

`page.html`, `page.css` and `page.js` lie beside. The page is a document that the script makes
handier: it shows one step at a time, filters, searches. It makes no markup of text either.
"""

from kbd.core.replay.page.document import page_of
from kbd.core.replay.page.whole import CONTENTS_LIMIT_CHARACTERS, blobs_of

__all__ = ["CONTENTS_LIMIT_CHARACTERS", "blobs_of", "page_of"]
