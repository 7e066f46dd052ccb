"""The words that lie in every case file: what it is, how to check it, how to look at it."""

from kbd.core.archive.verify.manifest import Case

__all__ = ["readme_of"]

_TEXT = """\
Case file of run {run}

This file holds what kbd {version} recorded of a run in the workbench {workbench}, up to event
{seq} ({time}), and all that it rests on:

  report.html    the run as one page; open it in a browser, it needs no network
  log/           the log from its first event on, byte for byte
  blobs/         every file version, result and message that the log names, each under its sha256
  manifest.json  every member with its size, its sha256, and the sha256 of each 64 KiB of it
  __main__.py, verify/   what checks all this, in plain Python

To check it, with nothing but Python 3.8 or newer:

  python3 FILE                        every byte, the log, the file versions; 0 if it is whole
  python3 FILE --head SEQ:HASH        also compare a head of the log that was kept elsewhere
  python3 FILE --extract FOLDER       also unpack it; any program that knows zip does that, too
  python3 FILE OTHER                  check another case file with the verifier of this one
  kbd verify FILE                     the same check by an installed kbd

A byte that was changed is found and its place is told. Where the damage is in __main__.py or in the
record at the very end, Python itself may refuse the file in words of its own, or find no program in
it: then check it with another case file's verifier, or with kbd.

What a check shows: no byte is another than when this file was made, each event follows from the
one before, and each file version is the one that its event names. Somebody could still write all of
it anew; against that, compare the head below with one that was kept where nobody could change it
(`kbd log WB --head` prints it at any time):

  {seq}:{head}

The log was only read to write this file, and nothing was recorded in it. Events of the workbench
after the run's last one are not in here; those of earlier runs are, for the chain begins there.
"""


def readme_of(case: Case) -> str:
    """Return the readme of a case."""
    return _TEXT.format(
        run=case.run,
        version=case.kbd,
        workbench=case.workbench[0],
        seq=case.seq,
        time=case.time,
        head=case.head,
    )
