"""Mutated HTTP/2 frames. Each conversation begins with well-formed frames; mutations change lengths, types, flags, streams,
payloads, field blocks, the order, and the writes in which the bytes arrive.

After each batch a normal client gets its page over HTTP/2, TLS or HTTP/1.1. The gateway's own frames must be well-formed,
and the server must get nothing but strict requests that a stream of HTTP/2 has described.
"""

import random
import selectors
import socket
import ssl
import struct
import time

from .common import CERTIFICATES, Client, Failure, Gateway, Server, Time, free_ports, response, shown

COUNT, UNIT = 40_000, "mutated frames"
PARALLEL = 16  # conversations at a time
BATCH = 64  # conversations between two requests of the normal client
QUIET = 0.25  # seconds without a byte of the gateway after which a conversation is closed
PAUSE = 0.03  # the same after the first write
PAGE = b"the page of a normal client"
POLICY = """version: 1
gateway:
  origin: http://127.0.0.1:{port}
  listeners:
    - address: 127.0.0.1:{port}
    - address: 127.0.0.1:{tls}
      tls: {{ certificate: {folder}/gateway.pem, private_key: {folder}/gateway.key }}
  admin: 127.0.0.1:{admin}
  workers: 1
  http2: true
upstream:
  url: http://127.0.0.1:{server}
  endpoints: {{ authorization: /authorize, token: /token }}
  forward_trailers: true
clients:
  - {{ id: com.example.app, name: App, type: public, application: native, redirect_uris: ["com.example.app:/cb"], raw_refresh_until: never }}
"""

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, PRIORITY, RESET, SETTINGS, PUSH, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = range(10)
END_STREAM, ACK, END_HEADERS, PADDED, WITH_PRIORITY = 1, 1, 4, 8, 0x20
LAST_PING = b"the last"
SMUGGLED = b"GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n"


def frame(kind, flags, stream, payload, length=None):
    size = len(payload) if length is None else length
    return struct.pack(">I", size & 0xFFFFFF)[1:] + struct.pack(">BBI", kind & 255, flags & 255, stream & 0xFFFFFFFF) + payload


# --- Field blocks (RFC 7541)

def integer(value, bits, first):
    limit = (1 << bits) - 1
    if value < limit:
        return bytes([first | value])
    out, value = bytearray([first | limit]), value - limit
    while value >= 128:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def text(value, huffman=0):
    return integer(len(value), 7, 0x80 if huffman else 0) + value


def literal(r, name, value):
    """A literal field with, without and never with an entry in the dynamic table."""
    return r.choice((b"\x40", b"\x00", b"\x10")) + text(name) + text(value)


def fields(r, host, method, path):
    """The fields of a normal request."""
    pseudo = [(b":method", method), (b":scheme", b"http"), (b":path", path), (b":authority", host)]
    more = [(b"user-agent", b"search"), (b"accept", b"*/*"), (b"cookie", b"a=b"), (b"cookie", b"c=d"), (b"te", b"trailers"),
            (b"x-long", b"v" * r.randrange(1, 400)), (b"accept-language", b"en"), (b"priority", b"u=1")]
    return pseudo + r.sample(more, r.randrange(len(more)))


NAMES = [b":method", b":path", b":scheme", b":authority", b":status", b":protocol", b":", b"", b"Upper", b"host", b"connection",
         b"transfer-encoding", b"content-length", b"te", b"upgrade", b"expect", b"a b", b"a:b", b"a\r\nb", b"\xff", b"a\0b",
         b"content-type", b"trailer", b"keep-alive", b"proxy-connection", b"x-forwarded-for"]
VALUES = [b"", b" ", b"GET", b"CONNECT", b"/", b"*", b"//a", b"http://b/", b"0", b"-1", b"5", b"18446744073709551616", b"chunked",
          b"a\r\n\r\n" + SMUGGLED, b"a\nb", b"a\0b", b"\t", b"\xff\xfe", b"100-continue", b"websocket", b"trailers", b"x" * 5000,
          b"/authorize?client_id=com.example.app", b"application/grpc", b"/ HTTP/1.1\r\nX: y"]


def changed_fields(r, pairs):
    for _ in range(r.randrange(1, 4)):
        at = r.randrange(len(pairs) + 1)
        how = r.randrange(5)
        if how == 0:
            pairs.insert(at, (r.choice(NAMES), r.choice(VALUES)))
        elif at < len(pairs):
            if how == 1:
                pairs[at] = pairs[at][0], r.choice(VALUES)
            elif how == 2:
                pairs[at] = r.choice(NAMES), pairs[at][1]
            elif how == 3:
                del pairs[at]
            else:
                pairs.insert(r.randrange(len(pairs) + 1), pairs[at])
    return pairs


def odd_instruction(r):
    """An instruction of a field block that is unusual or wrong."""
    return r.choice((
        integer(r.choice((0, 1, 61, 62, 63, 200, 1 << 20, 1 << 62)), 7, 0x80), integer(r.choice((0, 4096, 4097, 1 << 30)), 5, 0x20),
        b"\xff" * r.randrange(1, 12), b"\x40\x85" + r.randbytes(5) + text(b"v"), b"\x40" + integer(1 << 28, 7, 0) + b"a",
        b"\x0f\x2f" + text(r.randbytes(6), 1), b"\x3f\xe1\x1f", b"\x82" * r.randrange(2, 400)))


# --- Conversations

def request(r, host, stream):
    """The frames of a normal request, with or without a body and trailers."""
    method = r.choice((b"GET", b"GET", b"POST", b"PUT", b"HEAD", b"OPTIONS", b"DELETE"))
    path = r.choice((b"/", b"/page?a=b", b"/upload", b"/authorize?client_id=com.example.app&response_type=code", b"/token"))
    block = b"".join(literal(r, *pair) for pair in fields(r, host, method, path))
    has_body = method in (b"POST", b"PUT") or r.random() < 0.05
    return headers(r, stream, block, END_STREAM if not has_body else 0) + (body(r, stream) if has_body else [])


def headers(r, stream, block, flags):
    """HEADERS and CONTINUATION frames with this block, at times with padding and a priority."""
    cuts = sorted(r.randrange(len(block) + 1) for _ in range(r.choice((0, 0, 0, 1, 2, 5))))
    pieces = [block[a:b] for a, b in zip([0] + cuts, cuts + [len(block)])]
    first = pieces[0]
    if r.random() < 0.2:
        flags |= WITH_PRIORITY
        first = struct.pack(">IB", r.choice((0, 1, 3, 0x80000001)), r.randrange(256)) + first
    if r.random() < 0.2:
        flags |= PADDED
        padding = r.randrange(20)
        first = bytes([padding]) + first + bytes(padding)
    frames = [[HEADERS, flags, stream, first]] + [[CONTINUATION, 0, stream, piece] for piece in pieces[1:]]
    frames[-1][1] |= END_HEADERS
    return frames


def body(r, stream):
    frames = []
    for _ in range(r.randrange(1, 4)):
        content = r.choice((b"", b"a=b&c=d", SMUGGLED, b"0\r\n\r\n" + SMUGGLED, r.randbytes(r.randrange(2000))))
        frames.append([DATA, 0, stream, content])
    if r.random() < 0.3:
        return frames + headers(r, stream, literal(r, b"x-trailer", r.choice((b"t", b"a\r\nb", SMUGGLED))), END_STREAM)
    frames[-1][1] |= END_STREAM
    return frames


def control(r, stream):
    """A frame that is no part of a request. Most are well-formed, because others end the connection."""
    past = max(1, stream - 2)
    if r.random() < 0.95:
        return [r.choice((
            [SETTINGS, 0, 0, r.choice((b"", struct.pack(">HI", 4, r.choice((0, 100, 65535, 1 << 24))), struct.pack(">HI", 1, 0)))],
            [PING, r.choice((0, 0, ACK)), 0, r.randbytes(8)], [WINDOW_UPDATE, 0, 0, struct.pack(">I", r.choice((1, 65535)))],
            [WINDOW_UPDATE, 0, past, struct.pack(">I", r.choice((1, 65535)))], [PRIORITY, 0, stream, struct.pack(">IB", 0, 9)],
            [RESET, 0, past, struct.pack(">I", r.randrange(16))],
            [r.choice((10, 12, 16, 0x2A, 255)), r.randrange(256), r.choice((0, past)), r.randbytes(9)]))] if stream > 1 else []
    some = r.choice((0, stream, past, stream + 2))
    return [r.choice((
        [SETTINGS, 0, 0, b"".join(struct.pack(">HI", r.randrange(1, 9), r.choice((0, 1, 100, 16384, 65535, 1 << 24, 1 << 31)))
                                  for _ in range(r.randrange(4)))],
        [SETTINGS, ACK, 0, b""], [PING, r.choice((0, 0, ACK)), 0, r.randbytes(8)],
        [WINDOW_UPDATE, 0, some, struct.pack(">I", r.choice((0, 1, 1000, 65535, (1 << 31) - 1, 1 << 31)))],
        [RESET, 0, some, struct.pack(">I", r.randrange(16))], [PRIORITY, 0, some, struct.pack(">IB", r.choice((0, 1, stream)), 9)],
        [GOAWAY, 0, 0, struct.pack(">II", some, r.randrange(14)) + r.randbytes(r.randrange(9))],
        [PUSH, END_HEADERS, some, struct.pack(">I", 2) + b"\x82\x84"],
        [r.choice((10, 12, 16, 0x2A, 255)), r.randrange(256), some, r.randbytes(9)],
        [CONTINUATION, END_HEADERS, some, b"\x82"]))]


def mutated(r, one):
    """Changes one frame; returns the frames in its place as bytes."""
    kind, flags, stream, payload = one
    length, how = None, r.randrange(12)
    if how == 0:
        length = max(0, len(payload) + r.choice((-9, -1, 1, 2, 9, 100, 16384, 1 << 23)))
    elif how == 1:
        kind = r.choice((r.randrange(10), r.randrange(256)))
    elif how == 2:
        flags ^= 1 << r.randrange(8)
    elif how == 3:
        stream = r.choice((0, 1, 2, stream + 1, stream + 2, max(0, stream - 2), stream + 100, (1 << 31) - 1, stream | 1 << 31))
    elif how == 4 and payload:
        changed = bytearray(payload)
        for _ in range(r.choice((1, 1, 2, 8))):
            changed[r.randrange(len(changed))] = r.choice((0, 255, r.randrange(256)))
        payload = bytes(changed)
    elif how == 5:
        payload = payload[:r.randrange(len(payload) + 1)]
    elif how == 6:
        payload += r.randbytes(r.choice((1, 4, 60)))
    elif how == 7:
        at = r.randrange(len(payload) + 1)
        payload = payload[:at] + r.randbytes(r.randrange(1, 5)) + payload[at:]
    elif how == 8:
        return frame(*one) * r.choice((2, 3, 20))
    elif how == 9 and kind in (HEADERS, CONTINUATION):
        payload = r.choice((payload + odd_instruction(r), odd_instruction(r) + payload))
    elif how == 10:
        payload = r.randbytes(r.choice((0, 4, 5, 6, 8, len(payload))))
    else:
        flags = r.randrange(256)
    return frame(kind, flags, stream, payload, length)


def conversation(r, host):
    """Returns the writes of one conversation, the number of its requests, and that of its mutated frames."""
    frames, stream = [[SETTINGS, 0, 0, b""]], 1
    for _ in range(r.randrange(3, 9)):
        if r.random() < 0.55:
            if r.random() < 0.25:
                pairs = changed_fields(r, fields(r, host, r.choice((b"GET", b"POST")), b"/"))
                flags = r.choice((0, END_STREAM))
                frames += [one + [True] for one in headers(r, stream, b"".join(literal(r, *pair) for pair in pairs), flags)]
                frames += body(r, stream) if not flags else []
            else:
                frames += request(r, host, stream)
            stream += 2
        else:
            frames += control(r, stream)
    share, count, parts = r.choice((0, 0, 0.03, 0.2, 0.9)), 0, [PREFACE]
    if share == 0.2:
        a, b = r.randrange(len(frames)), r.randrange(len(frames))
        frames[a], frames[b] = frames[b] + [True], frames[a] + [True]
    chosen, calm = r.randrange(len(frames)), None
    for at, one in enumerate(frames):
        marked, one = len(one) > 4, one[:4]
        if at == chosen or r.random() < share:
            calm = calm or len(parts)
            parts.append(mutated(r, one))
            count += 1
        else:
            parts.append(frame(*one))
            count += marked
    if r.random() < 0.02:
        parts[0] = PREFACE[:r.randrange(len(PREFACE))] + r.choice((b"", b"X"))
    parts.append(frame(PING, 0, 0, LAST_PING))
    data = b"".join(parts)
    cuts = [r.randrange(1, len(data)) for _ in range(r.choice((0, 0, 1, 4, 30)))]
    # In most conversations, the gateway reads what comes in front of the first mutation separately: it processes nothing of
    # the bytes that it reads together with a violation.
    if r.random() < 0.85:
        calm = len(b"".join(parts[:calm]))
        cuts = [calm] + [cut for cut in cuts if cut > calm]
    cuts.sort()
    return [data[a:b] for a, b in zip([0] + cuts, cuts + [len(data)])], stream // 2, count


# --- The gateway's frames

class Reader:
    """Reads the gateway's frames, which must be well-formed.

    The conversation is complete after the response to its last frame, and to `requests` requests."""

    def __init__(self, tally, requests):
        self.requests = requests
        self.data, self.tally, self.first, self.open, self.pinged, self.text = b"", tally, True, {}, False, False
        self.ended = 0

    def is_complete(self):
        return self.pinged and self.ended >= self.requests

    def feed(self, data):
        self.data += data
        if self.text or self.first and self.data.startswith(b"HTTP/1.1"):
            # The preface was damaged, so the gateway answers in HTTP/1.1.
            self.text = True
            return
        while len(self.data) >= 9:
            length = int.from_bytes(self.data[:3], "big")
            if length > 16384:
                raise Failure("the gateway sent a frame of more than 16,384 bytes", shown(self.data[:9]))
            if len(self.data) < 9 + length:
                return
            kind, flags, stream = self.data[3], self.data[4], int.from_bytes(self.data[5:9], "big")
            payload, self.data = self.data[9:9 + length], self.data[9 + length:]
            self.one(kind, flags, stream, payload)

    def one(self, kind, flags, stream, payload):
        def refuse(why):
            raise Failure(f"the gateway sent {why}", shown(frame(kind, flags, stream, payload)))

        if self.first and kind not in (SETTINGS, GOAWAY):
            refuse("another first frame than SETTINGS")
        self.first = False
        if kind not in (DATA, HEADERS, RESET, SETTINGS, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION):
            refuse("a frame that no server may send")
        if (kind in (SETTINGS, PING, GOAWAY)) != (stream == 0) and kind != WINDOW_UPDATE:
            refuse("a frame on a wrong stream")
        self.tally[kind] = self.tally.get(kind, 0) + 1
        if kind == HEADERS:
            if self.open.get(stream) == "ended" or not stream % 2:
                refuse("HEADERS on a stream that has ended")
            self.open[stream] = "open"
        if kind == DATA and self.open.get(stream) != "open":
            refuse("DATA on a stream that is not open")
        if kind in (HEADERS, DATA) and flags & END_STREAM or kind == RESET:
            self.ended += self.open.get(stream) != "ended"
            self.open[stream] = "ended"
        if kind == PING and flags & ACK and payload == LAST_PING:
            self.pinged = True


def converse(way, writes, requests, tally):
    """One conversation alone: over TLS, or to find the one that is to blame."""
    port, context = way
    with socket.create_connection(("127.0.0.1", port), timeout=5) as plain:
        each, reader = context.wrap_socket(plain) if context else plain, Reader(tally, requests)
        try:
            for number, write in enumerate(writes):
                each.settimeout(5)
                each.sendall(write)
                each.settimeout(PAUSE if number == 0 else QUIET)
                while number in (0, len(writes) - 1) and not reader.is_complete():
                    try:
                        data = each.recv(65536)
                    except TimeoutError:
                        break
                    if not data:
                        return
                    reader.feed(data)
        except OSError:
            pass
        finally:
            each.close()


def read_all(waiting, quiet):
    """Reads from all conversations until they are complete, or until the gateway is quiet."""
    last = time.monotonic()
    deadline = last + 10
    while waiting.get_map() and time.monotonic() - last < quiet and time.monotonic() < deadline:
        for key, _ in waiting.select(quiet):
            try:
                data = key.fileobj.recv(65536)
            except OSError:
                data = b""
            last = time.monotonic()
            if data:
                key.data.feed(data)
            if not data or key.data.is_complete():
                waiting.unregister(key.fileobj)


def converse_all(port, conversations, tally, patient):
    """Holds these conversations at the same time. Their writes take turns. If `patient`, the gateway can answer what it got
    with the first writes; otherwise later frames arrive while it still works on them."""
    waiting, held = selectors.DefaultSelector(), []
    for writes, requests, abrupt in conversations:
        each = socket.create_connection(("127.0.0.1", port), timeout=5)
        each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        each.setblocking(False)
        held.append((each, list(writes), abrupt))
        waiting.register(each, selectors.EVENT_READ, Reader(tally, 0 if abrupt else requests))
    for turn in range(max(len(writes) for writes, _, _ in conversations)):
        for each, writes, _ in held:
            if turn < len(writes):
                try:
                    if each.send(writes[turn]) < len(writes[turn]):
                        writes.clear()  # The gateway does not read any more.
                except OSError:
                    writes.clear()
        if turn == 0:
            read_all(waiting, PAUSE if patient else 0.002)
    read_all(waiting, QUIET)
    waiting.close()
    for each, _, abrupt in held:
        if abrupt:
            each.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        each.close()


# --- A normal client

class Normal:
    """The normal client, on a new connection each time, in one of three ways."""

    def __init__(self, gateway, tls, context):
        self.gateway, self.tls, self.context, self.times = gateway, tls, context, 0

    def ask(self):
        self.times += 1
        way = self.times % 3
        if way == 0:
            client = Client(self.gateway)
            client.socket.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n" % self.gateway)
            answer = client.read()
            client.close()
            found = answer and (answer[0], answer[2])
        else:
            plain = socket.create_connection(("127.0.0.1", self.tls if way == 1 else self.gateway), timeout=30)
            each = self.context.wrap_socket(plain) if way == 1 else plain
            found = self.page(each)
            each.close()
        if found != (200, PAGE):
            raise Failure(f"the normal client got {found!r} in place of its page over {('HTTP/1.1', 'TLS', 'h2c')[way]}")

    def page(self, each):
        block = b"\x82\x86\x84\x41" + text(b"127.0.0.1:%d" % self.gateway)
        each.sendall(PREFACE + frame(SETTINGS, 0, 0, b"") + frame(HEADERS, END_HEADERS | END_STREAM, 1, block))
        data, status, content = b"", None, b""
        while piece := each.recv(65536):
            data += piece
            while len(data) >= 9 and len(data) >= 9 + int.from_bytes(data[:3], "big"):
                length, kind, flags = int.from_bytes(data[:3], "big"), data[3], data[4]
                payload, data = data[9:9 + length], data[9 + length:]
                if kind == HEADERS:
                    status = 200 if payload[0] == 0x88 else 0  # `:status: 200` is in the static table, and comes first.
                elif kind == DATA:
                    content += payload
                if kind in (HEADERS, DATA) and flags & END_STREAM:
                    return status, content
                if kind in (RESET, GOAWAY):
                    return kind, payload
        return None


def answer(method, target, fields, body):
    complaint = None
    if b"smuggled" in target or any(byte <= 0x20 or byte == 0x7F for byte in target):
        complaint = "a request that no client sent"
    if any(b"\r" in value or b"\n" in value for value in fields.values()):
        complaint = "a line end in a field"
    if method == b"HEAD":
        return response(200), complaint
    return response(200, PAGE if target == b"/" else b"another page"), complaint


# --- The search

class Scene:
    def __init__(self, program, folder):
        self.program, self.folder = program, folder
        port, tls, admin = free_ports(3)
        self.server = Server(answer)
        try:
            for name in ("gateway.pem", "gateway.key"):
                copy = folder / name
                copy.write_bytes((CERTIFICATES / name).read_bytes())
                copy.chmod(0o600)
            policy = POLICY.format(port=port, tls=tls, admin=admin, server=self.server.port, folder=folder)
            self.gateway = Gateway(program, folder, policy, port)
        except BaseException:
            self.server.end()
            raise
        self.context = ssl.create_default_context()
        self.context.check_hostname, self.context.verify_mode = False, ssl.CERT_NONE
        self.context.set_alpn_protocols(["h2"])
        self.host = b"127.0.0.1:%d" % port
        self.plain, self.over_tls = (port, None), (tls, self.context)
        self.normal = Normal(port, tls, self.context)

    def check(self):
        self.gateway.check()
        self.normal.ask()
        self.server.state()

    def end(self):
        self.gateway.kill()
        self.server.end()


def blame(program, folder, host, batch, seconds=60):
    """Returns the first conversation of the batch that fails alone, without the writes that it can do without."""
    def fails(writes, requests):
        scene = Scene(program, folder)
        try:
            # The requests of a conversation name the host of the gateway.
            own = [write.replace(host, scene.host) for write in writes]
            for way in (scene.plain, scene.over_tls):
                converse(way, own, requests, {})
                for _ in range(3):
                    scene.check()
            return False
        except (Failure, OSError):
            return True
        finally:
            scene.end()

    end = time.monotonic() + seconds
    for writes, requests, _ in batch:
        if time.monotonic() > end:
            break
        if fails(writes, requests):
            shortest = b"".join(writes)
            if not fails([shortest], requests):
                return ["one conversation alone, as the bytes of its writes:", *map(shown, writes)]
            for _ in range(12):
                kept = cut_back(shortest)
                if kept is None or time.monotonic() > end or not fails([kept], requests):
                    break
                shortest = kept
            return ["one conversation alone, as its bytes:", shown(shortest)]
    return [f"no conversation fails alone; the {len(batch)} of the batch, as the bytes of their writes:",
            shown(repr([writes for writes, _, _ in batch]).encode(), 20_000)]


def cut_back(data, size):
    """Returns the conversation without its last frame, or `None` if there is none."""
    at, last = len(PREFACE), None
    while at + 9 <= len(data):
        last, at = at, at + 9 + int.from_bytes(data[at:at + 3], "big")
    return data[:last] if last and last > len(PREFACE) else None


def run(program, folder, seed, count, broken):
    r, tally, sent, batches, limit = random.Random(seed), {}, 0, 0, Time(count)
    scene = Scene(program, folder)
    try:
        for _ in range(6):
            scene.check()
        before = scene.gateway.descriptors() - scene.server.state()[1]
        while sent < count:
            limit.check()
            batch = []
            while len(batch) < BATCH and sent < count:
                writes, requests, mutations = conversation(r, scene.host)
                batch.append((writes, requests, r.random() < 0.3))
                sent += mutations
            batches += 1
            try:
                for first in range(0, len(batch), PARALLEL):
                    part = batch[first:first + PARALLEL]
                    converse_all(scene.plain[0], part[1:] or part, tally, r.random() < 0.7)
                    converse(scene.over_tls, part[0][0], part[0][1], tally)
                if broken and batches == 2:
                    scene.gateway.process.kill()
                    scene.gateway.process.wait(10)
                scene.check()
            except (Failure, OSError) as problem:
                shown_by = blame(program, folder, scene.host, batch)
                raise Failure(f"batch {batches}: {problem}", *getattr(problem, "evidence", ()), *shown_by) from None
        seen, _ = scene.server.state()
        if count >= 5000 and (not all(tally.get(kind) for kind in (DATA, HEADERS, RESET, GOAWAY)) or seen < count // 100):
            raise Failure(f"the search does not reach what it should: {tally}, {seen} requests at the server")
        # The gateway keeps connections to the server for a while; all others must be closed.
        end = time.monotonic() + 30
        while (open_now := scene.gateway.descriptors() - scene.server.state()[1]) > before + 2 and time.monotonic() < end:
            time.sleep(0.2)
        if open_now > before + 2:
            raise Failure(f"{open_now} descriptors are open, {before} were open at the start")
        scene.gateway.stop()
        return (f"{sent} mutated frames, {seen} requests at the server, {tally.get(HEADERS, 0)} responses, "
                f"{tally.get(RESET, 0)} resets, {tally.get(GOAWAY, 0)} GOAWAYs, {batches} pages for normal clients")
    finally:
        scene.end()
