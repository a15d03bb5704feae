"""An HTTP/2 client with prior knowledge that sends the same frames in each run. The frames of other load programs
depend on the times at which answers arrive."""

import socket
import struct

HEADERS, RESET, SETTINGS, GOAWAY, WINDOW_UPDATE = 1, 3, 4, 7, 8
END_STREAM, ACK, END_HEADERS = 1, 1, 4
# More than all answers of a connection need.
WINDOW = 1 << 30


class Connection:
    """One connection with equal requests. Field blocks are written by hand (RFC 7541, section 6): the first request
    adds its fields to the dynamic table, and the others refer to them, as with any client."""

    def __init__(self, port, host, path):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.reader = self.socket.makefile("rb")
        self.stream = 1
        # By index in the static table: :path, :authority, user-agent, accept.
        fields = ((4, path), (1, host), (58, "bench"), (19, "*/*"))
        self.block = b"\x82\x86" + b"".join(
            bytes((0x40 | name, len(value))) + value.encode() for name, value in fields
        )
        self.socket.sendall(
            b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
            + self.frame(SETTINGS, 0, 0, b"")
            + self.frame(WINDOW_UPDATE, 0, 0, struct.pack(">I", WINDOW))
        )

    @staticmethod
    def frame(kind, flags, stream, payload):
        return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload

    def ask(self, count):
        """Sends `count` requests at once and reads their whole answers, whose status must be 200."""
        requests = b""
        for _ in range(count):
            requests += self.frame(HEADERS, END_HEADERS | END_STREAM, self.stream, self.block)
            self.block = b"\x82\x86\xc1\xc0\xbf\xbe"
            self.stream += 2
        self.socket.sendall(requests)
        while count > 0:
            head = self.reader.read(9)
            if len(head) < 9:
                raise RuntimeError("the connection was closed before all answers came")
            kind, flags = head[3], head[4]
            payload = self.reader.read(int.from_bytes(head[:3], "big"))
            if kind == SETTINGS and not flags & ACK:
                self.socket.sendall(self.frame(SETTINGS, ACK, 0, b""))
            # `:status: 200` is in the static table, and comes first.
            if kind in (RESET, GOAWAY) or kind == HEADERS and payload[0] != 0x88:
                raise RuntimeError(f"answered with a frame of kind {kind}: {payload.hex()}")
            if kind in (0, HEADERS) and flags & END_STREAM:
                count -= 1

    def close(self):
        self.reader.close()
        self.socket.close()
