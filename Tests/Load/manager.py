"""A service manager with a descriptor store: the part of systemd's protocol that a restart needs (sd_notify(3),
sd_listen_fds(3), systemd.io/FILE_DESCRIPTOR_STORE)."""

import array
import os
import select
import socket
import subprocess
import sys
import threading

# Gives the descriptors in its first argument the numbers from 3 on, and becomes the service.
LAUNCHER = """
import fcntl, os, sys
inherited = [int(each) for each in sys.argv[1].split(",") if each]
copies = [fcntl.fcntl(each, fcntl.F_DUPFD, 3 + len(inherited)) for each in inherited]
for number, copy in enumerate(copies):
    os.dup2(copy, 3 + number)
    os.close(copy)
for number in inherited:
    if number >= 3 + len(inherited):
        os.close(number)
os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS=str(len(inherited)), LISTEN_FDNAMES=sys.argv[2])
os.execvp(sys.argv[3], sys.argv[3:])
"""


class Manager:
    """Receives the messages of one service, keeps its descriptors, and passes them to each process that it starts."""

    def __init__(self, folder, capacity=64, sockets=()):
        """`sockets`: names and sockets, as those of socket units."""
        self.path = os.path.join(folder, "notify")
        self.capacity, self.sockets = capacity, list(sockets)
        self.store, self.messages = [], []
        self.changed = threading.Condition()
        self.receiver = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.receiver.bind(self.path)
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self.receive, daemon=True)
        self.thread.start()

    def spawn(self, command, output):
        """Starts the service with its sockets and the stored descriptors."""
        self.receive_waiting()
        with self.changed:
            self.messages.clear()
            passed = [(name, each.fileno()) for name, each in self.sockets] + self.store
        environment = {**os.environ, "NOTIFY_SOCKET": self.path}
        if self.capacity:
            environment["FDSTORE"] = str(self.capacity)
        return subprocess.Popen(
            [sys.executable, "-c", LAUNCHER, ",".join(str(number) for _, number in passed),
             ":".join(name for name, _ in passed), *command],
            pass_fds=[number for _, number in passed], env=environment, stdout=output, stderr=output,
            start_new_session=True)

    def wait(self, text, seconds):
        """Waits for a message that contains a text, from the process that was started last."""
        with self.changed:
            if not self.changed.wait_for(lambda: any(text in each for each in self.messages), seconds):
                raise RuntimeError(f"the service has not sent {text}")

    def names(self):
        with self.changed:
            return [name for name, _ in self.store]

    def receive_waiting(self):
        """Waits until the messages of a process that has ended are processed, because the manager does this before it
        starts the next one."""
        while select.select([self.receiver], [], [], 0)[0]:
            self.ended.wait(0.005)

    def receive(self):
        while not self.ended.is_set():
            if not select.select([self.receiver], [], [], 0.1)[0]:
                continue
            with self.changed:
                data, ancillary, _, _ = self.receiver.recvmsg(65536, socket.CMSG_SPACE(253 * 4))
                descriptors = array.array("i")
                for level, kind, content in ancillary:
                    if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
                        descriptors.frombytes(content[:len(content) - len(content) % descriptors.itemsize])
                self.handle(data.decode(), list(descriptors))
                self.changed.notify_all()

    def handle(self, text, descriptors):
        values = dict(line.split("=", 1) for line in text.split("\n"))
        self.messages.append(text)
        name = values.get("FDNAME", "stored")
        if values.get("FDSTOREREMOVE") == "1":
            for other, number in [each for each in self.store if each[0] == name]:
                os.close(number)
                self.store.remove((other, number))
        keeps = values.get("FDSTORE") == "1"
        known = {os.fstat(number).st_ino for _, number in self.store}
        for number in descriptors:
            if keeps and len(self.store) < self.capacity and os.fstat(number).st_ino not in known:
                self.store.append((name, number))
            else:
                os.close(number)

    def stop(self):
        self.ended.set()
        self.thread.join(5)
        self.receiver.close()
        for _, number in self.store:
            os.close(number)
        for _, each in self.sockets:
            each.close()
