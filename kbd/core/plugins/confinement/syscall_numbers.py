"""Numbers of the system calls that the filters of worker calls name, for each kind of machine.

They are fixed for ever by the kernel's own headers (`asm/unistd_64.h`, `asm-generic/unistd.h`).
"""

from collections.abc import Mapping
from typing import Final

import msgspec

__all__ = ["LAST_KNOWN", "Machine", "find_machine"]

LAST_KNOWN: Final = 462
"""The highest number that these tables were made with (Linux 6.9). A call that is newer is answered
with ENOSYS, as a kernel without it does, so that a library takes the older way."""

_NUMBERS: Final[Mapping[str, tuple[int | None, int | None]]] = {
    "read": (0, 63), "write": (1, 64), "open": (2, None), "openat": (257, 56),
    "openat2": (437, 437), "close": (3, 57), "close_range": (436, 436), "creat": (85, None),
    "lseek": (8, 62), "pread64": (17, 67), "pwrite64": (18, 68), "preadv": (295, 69),
    "pwritev": (296, 70), "readv": (19, 65), "writev": (20, 66), "ftruncate": (77, 46),
    "fallocate": (285, 47), "fsync": (74, 82), "fdatasync": (75, 83), "sync_file_range": (277, 84),
    "flock": (73, 32), "fadvise64": (221, 223), "copy_file_range": (326, 285),
    "sendfile": (40, 71), "fcntl": (72, 25), "ioctl": (16, 29), "dup": (32, 23),
    "dup2": (33, None), "dup3": (292, 24), "pipe": (22, None), "pipe2": (293, 59),
    "stat": (4, None), "lstat": (6, None), "fstat": (5, 80), "newfstatat": (262, 79),
    "statx": (332, 291), "statfs": (137, 43), "fstatfs": (138, 44), "access": (21, None),
    "faccessat": (269, 48), "faccessat2": (439, 439), "getdents": (78, None),
    "getdents64": (217, 61), "readlink": (89, None), "readlinkat": (267, 78), "getcwd": (79, 17),
    "umask": (95, 166), "rename": (82, None), "renameat": (264, 38), "renameat2": (316, 276),
    "unlink": (87, None), "unlinkat": (263, 35), "mkdir": (83, None), "mkdirat": (258, 34),
    "rmdir": (84, None), "mmap": (9, 222), "munmap": (11, 215), "mprotect": (10, 226),
    "mremap": (25, 216), "brk": (12, 214), "madvise": (28, 233), "msync": (26, 227),
    "mincore": (27, 232), "membarrier": (324, 283), "mlock": (149, 228), "munlock": (150, 229),
    "get_mempolicy": (239, 236), "rt_sigaction": (13, 134), "rt_sigprocmask": (14, 135),
    "rt_sigreturn": (15, 139), "rt_sigpending": (127, 136), "rt_sigtimedwait": (128, 137),
    "rt_sigsuspend": (130, 133), "sigaltstack": (131, 132), "pause": (34, None),
    "restart_syscall": (219, 128), "clock_gettime": (228, 113), "clock_getres": (229, 114),
    "clock_nanosleep": (230, 115), "nanosleep": (35, 101), "gettimeofday": (96, 169),
    "time": (201, None), "times": (100, 153), "alarm": (37, None), "setitimer": (38, 103),
    "getitimer": (36, 102), "clone": (56, 220), "clone3": (435, 435), "futex": (202, 98),
    "set_robust_list": (273, 99), "get_robust_list": (274, 100), "set_tid_address": (218, 96),
    "rseq": (334, 293), "gettid": (186, 178), "getpid": (39, 172), "getppid": (110, 173),
    "arch_prctl": (158, None), "exit": (60, 93), "exit_group": (231, 94), "sched_yield": (24, 124),
    "sched_getaffinity": (204, 123), "sched_getparam": (143, 121),
    "sched_getscheduler": (145, 120), "sched_get_priority_max": (146, 125),
    "sched_get_priority_min": (147, 126), "getcpu": (309, 168), "getpriority": (140, 141),
    "getuid": (102, 174), "geteuid": (107, 175), "getgid": (104, 176), "getegid": (108, 177),
    "getresuid": (118, 148), "getresgid": (120, 150), "getgroups": (115, 158),
    "getpgrp": (111, None), "getpgid": (121, 155), "getsid": (124, 156), "poll": (7, None),
    "ppoll": (271, 73), "select": (23, None), "pselect6": (270, 72), "epoll_create": (213, None),
    "epoll_create1": (291, 20), "epoll_ctl": (233, 21), "epoll_wait": (232, None),
    "epoll_pwait": (281, 22), "eventfd": (284, None), "eventfd2": (290, 19), "uname": (63, 160),
    "sysinfo": (99, 179), "getrlimit": (97, 163), "setrlimit": (160, 164), "prlimit64": (302, 261),
    "getrusage": (98, 165), "getrandom": (318, 278), "recvfrom": (45, 207), "sendto": (44, 206),
    "getsockopt": (55, 209), "getsockname": (51, 204), "getpeername": (52, 205),
    "shutdown": (48, 210), "wait4": (61, 260), "waitid": (247, 95), "kill": (62, 129),
    "tgkill": (234, 131), "prctl": (157, 167), "socket": (41, 198), "connect": (42, 203),
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271),
    "process_madvise": (440, 440), "kcmp": (312, 272), "pidfd_open": (434, 434),
    "pidfd_getfd": (438, 438), "pidfd_send_signal": (424, 424), "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426), "io_uring_register": (427, 427), "userfaultfd": (323, 282),
    "bpf": (321, 280), "perf_event_open": (298, 241), "keyctl": (250, 219), "add_key": (248, 217),
    "request_key": (249, 218), "unshare": (272, 97), "setns": (308, 268), "mount": (165, 40),
    "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51), "move_mount": (429, 429),
    "open_tree": (428, 428), "fsopen": (430, 430), "fsconfig": (431, 431), "fsmount": (432, 432),
    "fspick": (433, 433), "mount_setattr": (442, 442), "open_by_handle_at": (304, 265),
    "name_to_handle_at": (303, 264), "init_module": (175, 105), "finit_module": (313, 273),
    "delete_module": (176, 106), "kexec_load": (246, 104), "kexec_file_load": (320, 294),
    "reboot": (169, 142), "swapon": (167, 224), "swapoff": (168, 225), "acct": (163, 89),
    "quotactl": (179, 60), "quotactl_fd": (443, 443), "settimeofday": (164, 170),
    "clock_settime": (227, 112), "adjtimex": (159, 171), "clock_adjtime": (305, 266),
    "iopl": (172, None), "ioperm": (173, None), "modify_ldt": (154, None),
    "personality": (135, 92), "tkill": (200, 130), "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240), "chmod": (90, None), "fchmodat": (268, 53),
    "fchmodat2": (452, 452), "chown": (92, None), "lchown": (94, None), "fchownat": (260, 54),
    "setxattr": (188, 5), "lsetxattr": (189, 6), "removexattr": (197, 14),
    "lremovexattr": (198, 15), "utime": (132, None), "utimes": (235, None),
    "futimesat": (261, None), "utimensat": (280, 88), "truncate": (76, 45),
    "sched_setaffinity": (203, 122), "sched_setscheduler": (144, 119),
    "sched_setparam": (142, 118), "sched_setattr": (314, 274), "setpriority": (141, 140),
    "ioprio_set": (251, 30), "shmget": (29, 194), "shmat": (30, 196), "shmctl": (31, 195),
    "semget": (64, 190), "semop": (65, 193), "semctl": (66, 191), "semtimedop": (220, 192),
    "msgget": (68, 186), "msgsnd": (69, 189), "msgrcv": (70, 188), "msgctl": (71, 187),
    "mq_open": (240, 180), "mq_unlink": (241, 181), "migrate_pages": (256, 238),
    "move_pages": (279, 239), "process_mrelease": (448, 448), "inotify_init": (253, None),
    "inotify_init1": (294, 26), "fanotify_init": (300, 262), "syslog": (103, 116),
    "socketpair": (53, 199),
}  # fmt: skip
"""The number on x86-64 and on 64-bit ARM, None where a machine has no such call."""


class Machine(msgspec.Struct, frozen=True):
    """Kind of machine: how the kernel names it to a filter, and its numbers.

    Args:
        audit_arch: The value of `AUDIT_ARCH_…`.
        foreign_bit: The bit that marks numbers of another convention on the same machine (x32 on
            x86-64), or 0.
        numbers: The number of each call by its name.
    """

    audit_arch: int
    foreign_bit: int
    numbers: Mapping[str, int]


def find_machine(name: str) -> Machine | None:
    """Return the machine of a name as `os.uname` has it; None for one that has no table here."""
    match name:
        case "x86_64":
            return Machine(0xC000003E, 0x40000000, _column(0))
        case "aarch64":
            return Machine(0xC00000B7, 0, _column(1))
        case _:
            return None


def _column(index: int) -> dict[str, int]:
    return {name: found for name, pair in _NUMBERS.items() if (found := pair[index]) is not None}
