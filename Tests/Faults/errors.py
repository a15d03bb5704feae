"""Which errors are injected, and which injected errors say nothing because no kernel returns them."""

import re

# What the manual pages list for the kind of descriptor that the gateway uses, and what can be met by a program that
# behaves: no EBADF, EFAULT, ENOTSOCK. The network's errors are those of tcp(7) and ip(7).
ERRORS = {
    "accept4": ["ECONNABORTED", "EMFILE", "ENFILE", "ENOBUFS", "ENOMEM", "EPERM", "EINTR", "ENETDOWN", "EHOSTUNREACH"],
    "bind": ["EADDRINUSE", "EACCES", "EADDRNOTAVAIL"],
    "clone3": ["EAGAIN", "ENOMEM"],
    "connect": ["ECONNREFUSED", "ENETUNREACH", "EHOSTUNREACH", "EADDRNOTAVAIL", "ETIMEDOUT", "EACCES", "EPERM"],
    "epoll_create1": ["EMFILE", "ENFILE", "ENOMEM"],
    "epoll_ctl": ["ENOMEM", "ENOSPC"],
    "epoll_wait": ["EINTR"],
    "eventfd2": ["EMFILE", "ENFILE", "ENOMEM"],
    "fstat": ["ENOMEM"],
    "getpeername": ["ENOBUFS", "ENOTCONN"],
    "getsockname": ["ENOBUFS"],
    "getsockopt": ["ENOMEM"],
    "ioctl": ["EINVAL"],
    "listen": ["EADDRINUSE"],
    "lseek": ["ESPIPE"],
    "madvise": ["ENOMEM", "EAGAIN"],
    "newfstatat": ["EACCES", "ENOENT", "EIO", "ENOMEM"],
    "openat": ["EACCES", "EMFILE", "ENFILE", "ENOENT", "EIO", "ENOMEM"],
    "poll": ["EINTR", "ENOMEM"],
    "prctl": ["EPERM"],
    "prlimit64": ["EPERM"],
    "read": ["EIO", "EINTR", "EISDIR"],
    "readlink": ["EACCES", "ENOENT", "ENOMEM"],
    "recvfrom": ["ECONNRESET", "ETIMEDOUT", "ENOMEM", "ENOBUFS", "EHOSTUNREACH", "EINTR", "EIO"],
    "rt_sigprocmask": [],
    "sched_getaffinity": ["EPERM"],
    "sendmsg": ["ECONNRESET", "EPIPE", "ENOBUFS", "ENOMEM", "EACCES", "ETIMEDOUT", "EHOSTUNREACH", "EINTR"],
    "sendto": ["ECONNRESET", "EPIPE", "ENOBUFS", "ENOMEM", "EACCES", "ETIMEDOUT", "EHOSTUNREACH", "EINTR"],
    "setpriority": ["EACCES", "EPERM"],
    "setsockopt": ["ENOMEM", "ENOBUFS"],
    "shutdown": ["ENOTCONN"],
    "signalfd4": ["EMFILE", "ENFILE", "ENOMEM"],
    "socket": ["EMFILE", "ENFILE", "ENOBUFS", "ENOMEM", "EACCES"],
    "write": ["EIO", "ENOSPC", "EPIPE", "EINTR"],
}

# A call that matches, as strace writes it with `-y`, is not a place for these errors.
EXCLUDED = [
    (r"(read|write)\(\d+<anon_inode:\[eventfd\]>", r"(?!EINTR|EAGAIN)",
     "an eventfd whose counter does not overflow returns no error but EAGAIN and EINTR: a made-up one is a lost wake-up"),
    (r"read\(\d+<anon_inode:\[signalfd\]>", r"(?!EAGAIN)",
     "a signalfd that is readable returns a signal: a made-up error loses SIGTERM"),
    (r"epoll_wait\(", r"(?!EINTR)", "only EINTR is returned for a valid epoll instance"),
    (r"epoll_ctl\(\d+<anon_inode:\[eventpoll\]>, EPOLL_CTL_(DEL|MOD)", r"",
     "a descriptor that is registered is removed and changed without memory"),
    (r"(openat|read|newfstatat|lseek|fstat)\(.*(/proc/|/sys/|\.so|/etc/(ld|localtime))", r"E(IO|NOMEM|ISDIR)",
     "these are not disks, and memory for a name is there"),
]

# Calls that are left out as a whole.
LEFT_OUT = {
    "brk": "it returns the old break and no error; a Swift program ends where an allocation fails",
    "mmap": "as for brk", "mremap": "as for brk", "munmap": "it fails only where mappings run out, as mmap does",
    "mprotect": "as for munmap",
    "futex": "EAGAIN and EINTR are its answers, glibc ends the program for any other",
    "close": "the descriptor is closed whatever it returns",
    "getrandom": "it blocks until it has bytes, and returns no error for a valid buffer",
    "clock_gettime": "answered without a system call", "gettid": "never fails", "getpid": "never fails",
    "sched_yield": "never fails", "exit": "never returns", "exit_group": "never returns", "set_robust_list": "never fails",
    "rseq": "glibc goes without it", "arch_prctl": "before any code of ours", "execve": "before any code of ours",
    "set_tid_address": "never fails", "rt_sigaction": "fails for invalid signals only",
    "rt_sigprocmask": "fails for invalid arguments only", "sigaltstack": "fails for invalid stacks only",
    "rt_sigreturn": "never returns", "restart_syscall": "made by the kernel", "tgkill": "made when a program aborts",
    "pread64": "reads its own program file, as the loader did",
}


def reason(line, error):
    """Why an injection at this call proves nothing; `None` when it does."""
    for call, name, why in EXCLUDED:
        if re.search(call, line) and re.match(name, error):
            return why
    return None
