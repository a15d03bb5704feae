"""The errors that are injected, and the calls for which an injection proves nothing, because no kernel returns the
error."""

import re

# The errors in the manual pages for the kinds of descriptors that the gateway uses, without those that only an
# incorrect program gets (EBADF, EFAULT, ENOTSOCK). Network errors are from tcp(7) and ip(7).
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

# Patterns of calls, as strace prints them with `-y`, and of errors that are not injected there.
EXCLUDED = [
    (r"(read|write)\(\d+<anon_inode:\[eventfd\]>", r"(?!EINTR|EAGAIN)",
     "an eventfd whose counter does not overflow returns only EAGAIN and EINTR: another error would be a lost wake-up"),
    (r"read\(\d+<anon_inode:\[signalfd\]>", r"(?!EAGAIN)",
     "a readable signalfd returns a signal: an injected error would lose SIGTERM"),
    (r"epoll_wait\(", r"(?!EINTR)", "only EINTR is returned for a valid epoll instance"),
    (r"epoll_ctl\(\d+<anon_inode:\[eventpoll\]>, EPOLL_CTL_(DEL|MOD)", r"",
     "removing or changing a registered descriptor needs no memory"),
    (r"(openat|read|newfstatat|lseek|fstat)\(.*(/proc/|/sys/|\.so|/etc/(ld|localtime))", r"E(IO|NOMEM|ISDIR)",
     "these files are not on disks, and there is memory for a name"),
]

# Calls without any injection.
LEFT_OUT = {
    "brk": "it returns the old break and no error; a Swift program ends if an allocation fails",
    "mmap": "as for brk; `memory` makes the mapping of buffers fail", "mremap": "as for brk", "munmap": "it fails only if there are too many mappings, as mmap does",
    "mprotect": "as for munmap",
    "futex": "it returns only EAGAIN and EINTR; glibc ends the program for any other error",
    "close": "the descriptor is closed even if it returns an error",
    "getrandom": "it blocks until there are bytes, and returns no error for a valid buffer",
    "clock_gettime": "answered without a system call", "gettid": "never fails", "getpid": "never fails",
    "sched_yield": "never fails", "exit": "never returns", "exit_group": "never returns", "set_robust_list": "never fails",
    "rseq": "glibc works without it", "arch_prctl": "runs before main", "execve": "runs before main",
    "set_tid_address": "never fails", "rt_sigaction": "fails for invalid signals only",
    "rt_sigprocmask": "fails for invalid arguments only", "sigaltstack": "fails for invalid stacks only",
    "rt_sigreturn": "never returns", "restart_syscall": "called by the kernel", "tgkill": "called when a program aborts",
    "pread64": "the program reads its own file, as the loader did",
}


def reason(line, error):
    """Returns the reason why an injection at this call proves nothing, or `None`."""
    for call, name, why in EXCLUDED:
        if re.search(call, line) and re.match(name, error):
            return why
    return None
