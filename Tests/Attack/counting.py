"""Counts the instructions and the memory of single requests. `cost` and `complexity` share this, and a server."""

import mmap
import re
import shutil
import socket
import struct
import subprocess
import sys
import threading

from searches.common import ROOT, Gateway  # Also adds Tests/Support to the path.

from preload import compiled

START = 300  # seconds; valgrind is slow, and the machine may be busy
PATIENCE = 120  # seconds for an answer


def check_tools(name):
    for tool in ("valgrind", "vgdb", "strip", "swiftc"):
        if not shutil.which(tool):
            sys.exit(f"{name}: missing {tool}")


def stripped(program, folder):
    """Returns a copy of the program without symbols for debuggers, with which valgrind starts faster."""
    copy = folder / "proofgate"
    subprocess.run(["strip", "--strip-debug", "-o", str(copy), str(program)], check=True)
    return copy


class Upstream:
    """The server behind the gateway: each connection has a thread. `answer` is a function of a request target that returns
    the bytes of a response, and true if the connection ends with it."""

    def __init__(self, answer):
        self.answer = answer
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while True:
            connection, _ = self.listener.accept()
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        try:
            with connection, connection.makefile("rb") as reader:
                while line := reader.readline():
                    length, is_chunked = 0, False
                    while (field := reader.readline()) not in (b"\r\n", b""):
                        name, _, value = field.partition(b":")
                        if name.lower() == b"content-length":
                            length = int(value)
                        is_chunked |= name.lower() == b"transfer-encoding"
                    if is_chunked:
                        while size := int(reader.readline().partition(b";")[0] or b"0", 16):
                            reader.read(size + 2)
                        while reader.readline() not in (b"\r\n", b""):
                            pass
                    else:
                        reader.read(length)
                    data, is_last = self.answer(line.split(b" ")[1].decode("latin-1"))
                    connection.sendall(data)
                    if is_last:
                        return
        except (OSError, ValueError, IndexError):
            pass  # The gateway has closed the connection, perhaps in the middle of a request.


class Instructions:
    """A gateway of which the instructions of single requests are counted with callgrind, which writes its counts on
    command. `prefix` is the interpreter of a program that needs one."""

    def __init__(self, program, folder, policy, port, prefix=()):
        self.folder, self.dumps = folder, 0
        tool = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/counts"]
        self.gateway = Gateway(program, folder, policy, port, [*tool, *prefix], patience=START)

    def count(self, act):
        """Returns the instructions of the gateway while `act` runs, and its result. The gateway must have been idle since
        the last count."""
        result = act()
        return self.dump(), result

    def dump(self):
        """Returns the instructions since the last call."""
        # A gateway that waits for a socket is interrupted after this time, which is 100 ms without the option.
        command = ["vgdb", "--max-invoke-ms=1", f"--pid={self.gateway.process.pid}", "dump"]
        subprocess.run(command, check=True, capture_output=True, timeout=START)
        self.dumps += 1
        file = self.folder / f"counts.{self.dumps}"
        found = re.search(r"^totals: (\d+)", file.read_text(errors="replace"), re.MULTILINE)
        file.unlink()
        return int(found[1])


class Memory:
    """A gateway of which the memory of single requests is counted by `memory.c`. Its program must be linked dynamically."""

    def __init__(self, program, folder, policy, port, prefix=()):
        library, file = compiled(ROOT / "Tests" / "Attack" / "memory.c", folder / "memory.so"), folder / "memory"
        file.write_bytes(bytes(16))
        with open(file, "r+b") as opened:
            self.counts = mmap.mmap(opened.fileno(), 16)
        variables = {"LD_PRELOAD": str(library), "MEMORY_COUNTS": str(file)}
        self.gateway = Gateway(program, folder, policy, port, prefix, variables)
        if struct.unpack("qq", self.counts[:])[0] == 0:
            sys.exit("the memory is not counted; is the program linked dynamically?")

    def count(self, act, times=3, enough=0):
        """Returns the least of the largest amounts of memory, in bytes, that the gateway has added while `act` ran, up to
        `times` times or until it is not above `enough`: what happens at the same time may add to it once."""
        least = None
        for _ in range(times):
            held = self.counts[:8]
            self.counts[8:] = held
            act()
            held, most = struct.unpack("q", held)[0], struct.unpack("q", self.counts[8:])[0]
            least = most - held if least is None else min(least, most - held)
            if least <= enough:
                break
        return least
