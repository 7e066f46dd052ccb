"""What a daemon holds in memory of folders in which much happened."""

import subprocess
import sys

import pytest

MANY = 100_000
MAX_MIB = 70.0
"""Both copies of the state together; about 600 bytes a file, its path and signature among them."""

MEASURE = """
import gc, hashlib, itertools, sys, time
from kbd.core.domain.daemon_state import DaemonState, fold_daemon
from kbd.events import codec
from kbd.events.watches import (
    FileLanded, FilesPassedOver, PassedFile, WatchAdded, WatchRule, WatchRunFinished,
    WatchRunStarted,
)

MANY, WATCH, clock = int(sys.argv[2]), "0" * 16, itertools.count(10**15, 40_000_000)

def rss_mib():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmRSS"))

def path(n):
    return f"2026/inbox {n % 37:02}/transactions {n:06}.csv"

def signature(n):
    return f"{20000 + n}:17000000000{n:08}:17000000010{n:08}:{1000000 + n}"

def body(*events):
    return codec.encode([codec.wrap_event(event, next(clock)) for event in events])

def passed():
    for first in range(0, MANY, 1000):
        files = tuple(PassedFile(path(n), signature(n)) for n in range(first, first + 1000))
        yield body(FilesPassedOver(WATCH, files))

def ended():
    for n in range(MANY):
        sha256 = hashlib.sha256(b"%d" % n).hexdigest()
        landing, bench = (2 + 3 * n,), sha256[:16]
        yield body(FileLanded(WATCH, path(n), sha256, 20000 + n, signature(n)))
        yield body(WatchRunStarted(WATCH, landing, bench))
        yield body(WatchRunFinished(WATCH, landing, bench, "published", "1"))

log = [body(WatchAdded(WATCH, WatchRule("n", "/inbox", "do it"))), *globals()[sys.argv[1]]()]
gc.collect()
before, begun, seq = rss_mib(), time.process_time(), 0
states = DaemonState(), DaemonState()
for records in map(codec.decode, log):
    for record in records:
        seq += 1
        for state in states:
            fold_daemon(state, seq, record)
spent = time.process_time() - begun
gc.collect()
(watch,) = states[1].watching.watches.values()
print(len(watch.signatures), len(watch.contents), len(watch.landings), rss_mib() - before, spent)
"""


@pytest.mark.soak
@pytest.mark.parametrize("what", ["passed", "ended"])
def test_a_hundred_thousand_files_fit(what: str) -> None:
    """Both copies of the state stay small, for files that were passed over and for ended ones."""
    told = subprocess.run(
        [sys.executable, "-c", MEASURE, what, str(MANY)],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    signatures, contents, landings, mib, spent_s = told.split()
    print(f"{what}: {float(mib):.1f} MiB for both copies, read in {float(spent_s):.1f} s")

    assert int(signatures) == MANY
    assert (int(contents), int(landings)) == ((MANY if what == "ended" else 0), 0)
    assert float(mib) < MAX_MIB
