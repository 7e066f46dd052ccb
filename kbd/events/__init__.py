r"""Event log: the facts that were recorded, and the only authority over what happened.

Contents, in reading order:

* `base`, `workbenches`, `runs`, `drafts`, `approvals`, `watches`, `recipes`, `restores`, `damages`,
  `retention`, `vocabulary`: the events, a closed set of frozen records.
* `frame`: bytes and checksums; `faults`: what may be wrong with them. `codec`: records and bytes,
  and records as clients see them.
* `log` (`EventLog`): append, read, replay; over `segment` (files, and the end that is written),
  `scan` (what lies on disk; a log that somebody else has open), `anchor` (how far the log was
  durable), `disk` (what may fail);
  `shortages`: what the machine has run out of, as errors.
* `blobs` (`BlobStore`): the bytes of files, by hash; `vocabulary` says which event names which.
  `checked_blobs`: where they lie and which are whole; `stored_blobs`: those that are kept although
  no event names them.
* `log_copy`: a log's beginning as a log of its own.
  `verification`: proof that all is whole. `repair`: of torn writes, and the explicit cut.
  `damage_repair`: of a damaged log, by a copy of it or a cut.

The format on disk
==================

A log is a directory. `<first sequence number, 20 digits>.kbl` are its segments, read in the order
of their names; together they are one history. All numbers outside msgpack are little endian.

**A segment** begins with a header of 64 bytes and goes on with frames to its end; in the last one,
zeros may follow them:

    0   8  magic "KBDLOG\r\n"
    8   2  format of the segment: 1
    10  2  the oldest format that a reader must know to read it: 1
    12  8  sequence number of its first event
    20  8  salt, a random number
    28  32 chain value at the end of the segment before; zeros in the first segment
    60  4  crc32 of bytes 0 to 59

**A frame** is a commit: its events landed together. It is never empty, at most 64 MiB long:

    0   2  magic "KB"
    2   1  version: 1
    3   1  flags: 0
    4   4  crc32 of the salt (8 bytes), this frame's bytes 0 to 3, and its bytes from 8 to the end
    8   4  length of what follows the header: the chain value and the body
    12  4  crc32 field of the frame before; of the first frame, of the segment's header
    16  8  sequence number of its first event
    24  32 chain value: sha256 of the chain value of the frame before (zeros before the very first
           frame) followed by the body
    56     body: a msgpack array of records; its length says how many sequence numbers are used

**A record** is `[type, version, data, ts_us, run, cause, flags]`: the name of the event, the
version of its data, the data as a map (fields at their default are left out), the time of the
decision in microseconds since 1970 UTC, the number of the run within the workbench or 0, the
sequence number of the event it follows from or 0, and 1 if a reader that does not know the event
must not go on, else 0. What a client asked for has a further element, its actor: a map of the
client's name, its connection, its version and its host. What belongs to the run of a job or a
recipe has one more, the SHA-256 of that document; before it stands a nil where no client asked.
Readers keep what they do not know: further elements, fields and types.

**Reserved space.** Behind the last frame of the last segment the file may go on with zeros: space
that a process reserved, to fill it with frames, and did not give back because it died. They are
the end of the log, and no torn write, if nothing but zeros follows up to the end of the file. The
next process that opens the log to write cuts them off, and keeps and records nothing of it. Before
another segment follows, the file ends with its last frame: in any other place zeros are damage. A
frame begins with "KB", so zeros are never one, however many.

**The anchor**, the file `anchor`, says up to where the log was durable: see `anchor`.

Events are numbered from 1 without gaps. Only the end of the last segment ever changes. A frame is
written whole and synced before the next is begun, so at most the last one can be torn; of a torn
one in reserved space any part may still be zeros. It is cut off at the next start, its bytes up to
the last that is not zero kept in `<segment>.torn-<n>`. What is cut on somebody's wish is kept in
`<file>.cut-<n>`. `*.tmp` are files that never came to be.

A worked example: a log whose only event is `ModelChosen(model_id="offline:planner")`, with salt 0.
File `00000000000000000001.kbl`:

    0    4b 42 44 4c 4f 47 0d 0a 01 00 01 00 01 00 00 00   magic, format 1, reader 1, first event 1
    16   00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00   salt, chain
    32   00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00
    48   00 00 00 00 00 00 00 00 00 00 00 00 4c b1 9b 4a   crc32 of the header
    64   4b 42 01 00 01 85 82 bd 55 00 00 00 4c b1 9b 4a   magic, crc32, length 85, crc32 before
    80   01 00 00 00 00 00 00 00 e3 27 df 48 0d 7f 88 75   event 1, chain value
    96   46 10 ff 4f 81 78 80 73 b3 49 3d b8 d2 17 93 ca
    112  1c c1 29 d2 08 96 ec 8e 91 97 ab 4d 6f 64 65 6c   array of 1, of 7, "ModelChosen"
    128  43 68 6f 73 65 6e 01 81 a8 6d 6f 64 65 6c 5f 69   version 1, a map of one, "model_id"
    144  64 af 6f 66 66 6c 69 6e 65 3a 70 6c 61 6e 6e 65   "offline:planner"
    160  72 cf 00 06 44 1f 0c 38 fc 00 00 00 00            1763750000000000 us, 0, 0, 0

What is kept apart
==================

A write that was not finished is repaired; damage is not. Bytes that are no frame count as
unfinished, and zeros as reserved space, only at the end of the last segment, if no frame that is
valid by itself with the expected or a later number follows, and if the anchor does not say that
they were durable.
Otherwise the log opens for reading up to there, and the error names file, offset and event.

The chain tells of bit rot and of edits. It does not stop somebody who may write the directory from
writing the whole log anew: for that, keep `EventLog.head` elsewhere.
"""

from kbd.events.base import Fact, Recorded
from kbd.events.blobs import BlobStore
from kbd.events.codec import NotUnderstood, Unknown, wrap_event
from kbd.events.disk import DISK, Disk, LogPoisoned
from kbd.events.log import EventLog
from kbd.events.vocabulary import VERSIONS, Event, named_blobs

__all__ = [
    "DISK",
    "VERSIONS",
    "BlobStore",
    "Disk",
    "Event",
    "EventLog",
    "Fact",
    "LogPoisoned",
    "NotUnderstood",
    "Recorded",
    "Unknown",
    "named_blobs",
    "wrap_event",
]
