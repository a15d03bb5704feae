"""Client threads that repeat requests and record for each one if the whole answer arrived."""

import collections
import ssl
import threading
import time

import clients
import stage

Loss = collections.namedtuple("Loss", "kind sent text began")
PAUSE = 0.004  # seconds between two requests of one client, so that one core suffices for all clients
UPLOAD = b"x" * (300 * 1024)


class Account:
    """The results of all clients of a run."""

    def __init__(self):
        self.lock, self.answered, self.losses = threading.Lock(), collections.Counter(), []
        self.refused = collections.Counter()
        self.resumed, self.handshakes = 0, 0
        self.problems = []

    def text(self):
        return ", ".join(f"{count} {kind}" for kind, count in sorted(self.answered.items()))


class Client(threading.Thread):
    """One kind of client. With `keeps` it uses a connection until the server closes it, otherwise a new one each
    time."""

    def __init__(self, kind, account, make, keeps, target="/small", size=stage.SMALL, body=None, resumes=False):
        super().__init__(daemon=True)
        self.kind, self.account, self.make, self.keeps = kind, account, make, keeps
        self.target, self.size, self.body, self.resumes = target, size, body, resumes
        self.done = threading.Event()
        self.session, self.client = None, None
        # The time of the first refused connection, from which on the gateway does not listen.
        self.refused_at = None

    def run(self):
        while not self.done.is_set():
            self.once()
            self.done.wait(PAUSE)
        if self.client:
            self.client.close()

    def once(self):
        if self.client is not None and self.client.ended():
            self.client = None
        kept = self.client is not None
        if self.client is None:
            asked = time.monotonic()
            try:
                self.client = self.make(self.session)
            except ConnectionRefusedError:
                self.refused_at = self.refused_at or asked
                with self.account.lock:
                    self.account.refused[self.kind] += 1
                self.done.wait(0.02)
                return
            except (OSError, ssl.SSLError) as error:
                return self.lose(asked, f"connecting: {type(error).__name__} {error}", False)
        sent = time.monotonic()
        try:
            status, count = self.client.request(self.target, self.body)
        except clients.NotTaken:
            # Retries on another connection, as any client does.
            self.client = None
            if not kept:
                self.lose(sent, "not accepted on a new connection", False)
            return
        except clients.Lost as error:
            self.client = None
            return self.lose(sent, f"{error}{' (kept)' if kept else ''}", error.began)
        if status != 200 or count != self.size:
            self.lose(sent, f"{status} with {count} bytes", True)
        else:
            with self.account.lock:
                self.account.answered[self.kind] += 1
        if self.resumes and self.client is not None:
            plain = self.client.socket
            with self.account.lock:
                self.account.handshakes += 1
                self.account.resumed += bool(plain.session_reused) if self.client.is_open else 0
            if self.client.is_open and plain.session is not None:
                self.session = plain.session
        if not self.keeps and self.client is not None:
            self.client.close()
            self.client = None

    def lose(self, sent, text, began):
        if self.client is not None:
            self.client.close()
            self.client = None
        with self.account.lock:
            self.account.losses.append(Loss(self.kind, sent, text, began))


def await_answers(crew, account, isReady=lambda client: True, seconds=60):
    """Waits until each kind of client has got an answer, except those that need long: they must be ready."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with account.lock:
            answered = set(account.answered)
        if all(client.kind in answered or client.target == "/slow" and isReady(client) for client in crew):
            return
        time.sleep(0.05)


def crew(gateway, account, each=1):
    """Returns one client of each kind."""
    port, tls_port, host = gateway.port, gateway.tls_port, gateway.host
    # A session belongs to its context, so each client that resumes sessions has its own context.
    tls = clients.context()
    h2 = clients.context(protocols=("h2",))

    def one(session):
        return clients.HTTP1(port, host)

    def one_tls(session):
        return clients.HTTP1(tls_port, host, tls)

    def two(session):
        return clients.HTTP2(port, host)

    def two_tls(session):
        return clients.HTTP2(tls_port, host, h2)

    def resuming(maximum):
        own = clients.context()
        own.maximum_version = maximum
        return lambda session: clients.HTTP1(tls_port, host, own, session)

    made = []
    for _ in range(each):
        made += [
            Client("kept", account, one, True),
            Client("kept TLS", account, one_tls, True),
            Client("kept h2c", account, two, True),
            Client("kept h2", account, two_tls, True),
            Client("new", account, one, False),
            Client("new TLS", account, one_tls, False),
            Client("new h2", account, two_tls, False),
            Client("resumed TLS 1.2", account, resuming(ssl.TLSVersion.TLSv1_2), False, resumes=True),
            Client("resumed TLS 1.3", account, resuming(ssl.TLSVersion.TLSv1_3), False, resumes=True),
            Client("uploads", account, one, True, "/sink", body=UPLOAD),
            Client("uploads h2", account, two_tls, True, "/sink", body=UPLOAD),
            Client("downloads", account, one_tls, True, "/large", stage.LARGE),
        ]
    return made
