"""SIGTERM under load. Requests from before the end of the drain delay are answered; later connections are refused."""

import signal
import threading
import time

import clients
import loaders
import stage

DELAY = 1.0  # seconds, as in the policy
TIMEOUT = 20  # seconds, as in the policy


class Late(threading.Thread):
    """Idle clients with one connection each, which send a request shortly before the end of the delay."""

    def __init__(self, gateway, account, moment, count=120):
        super().__init__(daemon=True)
        self.account, self.moment, self.kind = account, moment, "late on kept"
        self.held = [clients.HTTP1(gateway.port, gateway.host) for _ in range(count)]
        for each in self.held:
            each.request("/small")

    def run(self):
        # Spread over the last 50 ms before that moment.
        sent = []
        for number, each in enumerate(self.held):
            place = self.moment() - 0.05 * (1 - number / len(self.held))
            if (early := place - time.monotonic()) > 0:
                time.sleep(early)
            each.send(each.head("GET", "/small"))
            sent.append(time.monotonic())
        for each, when in zip(self.held, sent):
            try:
                status, count = each.answer()
                problem = "" if status == 200 and count == stage.SMALL else f"{status} with {count} bytes"
                began = True
            except clients.Lost as error:
                problem, began = str(error), error.began
            each.close()
            with self.account.lock:
                if problem:
                    self.account.losses.append(loaders.Loss(self.kind, when, problem, began))
                else:
                    self.account.answered[self.kind] += 1


def once(options, folder, upstream, number):
    """Runs one drain. Returns its account and its problems."""
    gateway = stage.Gateway(
        folder, options.proofgate, upstream.port, name=f"gateway-{number}", workers=2,
        gateway=f"  drain_delay: {int(DELAY * 1000)}ms\n  drain_timeout: {TIMEOUT}s").start()
    account, problems = loaders.Account(), []
    try:
        crew = loaders.crew(gateway, account)
        # Answers that are in progress when the delay ends.
        for kind, make in (("slow answers", lambda _: clients.HTTP1(gateway.port, gateway.host)),
                           ("slow answers h2", lambda _: clients.HTTP2(gateway.port, gateway.host))):
            crew.append(loaders.Client(kind, account, make, False, "/slow", 64 * 1024))
        end = [float("inf")]
        late = Late(gateway, account, lambda: end[0])
        for client in crew:
            client.start()
        loaders.await_answers(crew, account, lambda client: client.client is not None)
        end[0] = time.monotonic() + DELAY
        gateway.child.send_signal(signal.SIGTERM)
        late.start()
        if gateway.child.wait(TIMEOUT + 60) != 0:
            problems.append(f"the gateway ended with {gateway.child.returncode}")
        took = time.monotonic() - end[0]
        for client in crew:
            client.done.set()
        for client in [*crew, late]:
            client.join(60)
        for loss in account.losses:
            if loss.sent < end[0]:
                problems.append(f"{loss.kind}: {loss.text}, sent {(end[0] - loss.sent) * 1000:.1f} ms before the end of the delay")
            elif loss.began:
                problems.append(f"{loss.kind}: a truncated answer: {loss.text}")
        early = [client.refused_at for client in crew if client.refused_at and client.refused_at < end[0]]
        if early:
            problems.append(f"connections were refused {(end[0] - min(early)) * 1000:.1f} ms before the end of the delay")
        if " cut" in gateway.said():
            problems.append(gateway.said().splitlines()[-1])
        missing = {client.kind for client in crew} - set(account.answered)
        if missing:
            problems.append(f"no answers for: {', '.join(sorted(missing))}")
        return account, problems, took
    finally:
        gateway.stop()


def run(options, folder, judge):
    upstream = stage.Upstream(folder).start()
    try:
        rounds = options.rounds_of(5)
        answered, after, problems, longest = {}, 0, [], 0
        for number in range(rounds):
            account, found, took = once(options, folder, upstream, number)
            problems += found
            longest = max(longest, took)
            after += len(account.losses)
            for kind, count in account.answered.items():
                answered[kind] = answered.get(kind, 0) + count
        text = ", ".join(f"{count} {kind}" for kind, count in sorted(answered.items()))
        judge("drain", f"{rounds} x SIGTERM under load; {sum(answered.values())} requests answered ({text}); {after} sent "
              f"after the delay and not accepted; ended at most {longest:.1f} s after the delay", problems)
    finally:
        upstream.stop()
