"""Figures of this process and of the disk of the home, as the system tells them. Blocks.

Their names are those that client libraries of Prometheus share:
https://prometheus.io/docs/instrumenting/writing_clientlibs/#process-metrics
"""

import os
import resource
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from kbd.core.metrics.exposition import MetricFamily, Sample, gauge

__all__ = ["process_families"]

# Places of proc(5) in /proc/self/stat, counted from the state, which follows the name in brackets.
_UTIME, _STIME, _THREADS, _STARTTIME, _RSS = 11, 12, 17, 19, 21


def process_families(home: Path) -> Iterator[MetricFamily]:
    """Return what the system tells; without /proc, or a disk that answers, only the rest.

    Args:
        home: A folder of the disk that is looked at.
    """
    with suppress(OSError, ValueError, IndexError):
        text = Path("/proc/self/stat").read_text("ascii", "replace")
        fields = text.rpartition(")")[2].split()
        ticks = os.sysconf("SC_CLK_TCK")
        cpu_s = (int(fields[_UTIME]) + int(fields[_STIME])) / ticks
        yield MetricFamily(
            "process_cpu_seconds_total", "counter", "Processor time of the daemon.", [Sample(cpu_s)]
        )
        rss = int(fields[_RSS]) * os.sysconf("SC_PAGE_SIZE")
        yield gauge("process_resident_memory_bytes", "Memory of the daemon.", rss)
        yield gauge("process_threads", "Threads of the daemon.", int(fields[_THREADS]))
        boot_s = _boot_time_s()
        started_s = boot_s + int(fields[_STARTTIME]) / ticks
        yield gauge("process_start_time_seconds", "When the daemon started (Unix).", started_s)
    with suppress(OSError):
        yield gauge(
            "process_open_fds", "Open descriptors of the daemon.", len(os.listdir("/proc/self/fd"))
        )
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    yield gauge("process_max_fds", "Descriptors that the daemon may open.", soft)
    with suppress(OSError):
        disk = os.statvfs(home)
        free = disk.f_bavail * disk.f_frsize
        yield gauge("kbd_disk_free_bytes", "Space that is free for the home.", free)
        yield gauge("kbd_disk_size_bytes", "Size of its disk.", disk.f_blocks * disk.f_frsize)


def _boot_time_s() -> int:
    for line in Path("/proc/stat").read_text("ascii", "replace").splitlines():
        if line.startswith("btime "):
            return int(line.split()[1])
    raise ValueError("the system does not say when it was started")
