"""Worker processes: hostile and heavy work, away from the daemon.

Each plugin that is called has one *zygote*: a single-threaded process that has imported the plugin
and its heavy libraries and does nothing but fork. Each call is one fork of it, which limits itself,
does one piece of work, answers and dies; nothing of one call is left for the next.

    daemon ──control──> zygote         SOCK_SEQPACKET, one msgpack record a packet:
                                       Start, Call (with a socket), Kill
    daemon <──control── zygote         Ready or StartFailed, then Begun and Ended for each call
    daemon <───call───> child          SOCK_STREAM: a request and an answer, each a length of four
                                       bytes (big-endian) and msgpack; never pickle
    daemon <───noise─── both           a pipe: whatever is printed; drained, its end kept

The zygote is the parent of every call, so it alone may kill one without a race over reused pids;
a call's whole process group goes with it. When the daemon dies the control channel ends, and the
zygote kills what it has and leaves; when a zygote dies the kernel kills its children.

    wire      the records of these channels
    zygote    the zygote's loop                    } what runs in
    child     one call: limits, work, answer       } the worker
    entry     calls of format handlers,            } processes
    extracts  of all text a part at a time         }
    pieces    of all text for an index             }
    spans     where a text is cut                  }
    channel   a call's request and answer
    process   one zygote, seen from the daemon
    outcomes  what an answer, or a death, means
    pool      `Workers`
    derived   maps and short texts, kept by content
    shelves   what formats keep of a file between calls, and which of it goes
    operations  operations, made the records of a handler
    formats   `FormatCalls`: the formats, called in workers

The worker's side imports `wire`, and this page imports nothing, so that a worker starts quickly.
"""

__all__: list[str] = []
