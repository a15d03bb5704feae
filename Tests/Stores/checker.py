"""The check of the checker: histories that are right have no problem, and each made-up wrong one is found."""

import history
import judge


class Story:
    """A made-up history of one sign-in, a second for each event."""

    def __init__(self):
        self.history = history.History("/dev/null")
        self.history.began, self.now = 0, 100.0

    def add(self, kind, lasts=0.1, step=1, **members):
        self.history.add(
            kind, self.now, self.now + lasts, **({"login": "app-1", "client": "app", "gateway": "gateway-1"} | members))
        self.now += step
        return self

    def code(self):
        self.add("authorize", status=302, got="code")
        return self

    def redeem(self, status=200, **members):
        more = {200: {"got": "token-0"}, 400: {"error": "invalid_grant"},
                503: {"error": "temporarily_unavailable", "retry": True}}.get(status, {})
        self.add("redeem", token="code", status=status, **(more | members))
        if status == 200:
            self.add("upstream", what="redeem")
        return self

    def refresh(self, token, status=200, **members):
        more = {200: {"got": f"token-{token + 1}"}, 400: {"error": "invalid_grant"},
                503: {"error": "temporarily_unavailable", "retry": True}}.get(status, {})
        self.add("refresh", token=f"token-{token}", status=status, **(more | members))
        return self

    def fault(self, lasts=1.0, **members):
        self.history.fault("a fault", self.now, self.now + lasts, **members)
        return self

    def dump(self, *tokens):
        """A dump of the new primary. With at least one, the history must show each loss."""
        return self.add("stored", step=0.1, login=None, client=None, gateway=None, server="redis-1", tokens=list(tokens))

    def wait(self, seconds):
        self.now += seconds
        return self


def story():
    return Story().code()


REVIVED = {"findings": ["epoch-family"]}

# Title, history, `store_epoch`, and a part of the expected problem; `None` if there must be none.
CASES = [
    ("a sign-in", story().redeem().refresh(0).refresh(1), "strict", None),
    ("a redemption that is repeated after 503", story().redeem(503).fault().redeem(503).redeem().refresh(0), "once",
     None),
    ("a replay ends the sign-in", story().redeem().refresh(0).redeem(400).refresh(1, 400), "strict", None),
    ("a used token ends the sign-in", story().redeem().refresh(0).refresh(0, 400).refresh(1, 400), "strict", None),
    ("the loser of two simultaneous redemptions", story().redeem(400, lasts=2).wait(-1.5).redeem().wait(-1), "once",
     None),
    ("an expired code", story().wait(60).redeem(400), "once", None),
    ("the same answer twice", story().redeem().refresh(0).refresh(0), "strict", None),
    ("a revived family", story().redeem().refresh(0).fault().refresh(0, got="x", **REVIVED), "once", None),
    ("a revived family, whose first use the new primary never had",
     story().redeem().refresh(0).fault().dump("token-0").refresh(0, got="x", **REVIVED), "once", None),
    ("a revived family that the new primary never had",
     story().redeem().refresh(0).refresh(1).fault().dump().refresh(0, got="x", **REVIVED), "once", None),
    ("a lost family with strict", story().redeem().refresh(0).fault().refresh(1, 400), "strict", None),
    ("no answer because of a kill", story().fault(kill="gateway-1").redeem(None, lost="no answer"), "once", None),
    ("a sign-in without the store", Story().add("authorize", status=302, error="temporarily_unavailable"), "once",
     None),

    ("a code that yields tokens twice", story().redeem().redeem(got="token-9"), "once", "yielded tokens 2 times"),
    ("a code that is redeemed twice at the server", story().redeem(503).add("upstream", what="redeem").redeem(), "once",
     "2 times at the server"),
    ("invalid_grant for the first redemption", story().redeem(400), "once", "refused with invalid_grant"),
    ("invalid_grant after 503", story().redeem(503).fault().redeem(400), "once", "refused with invalid_grant"),
    ("invalid_grant and tokens later", story().redeem(400).redeem(), "once", "refused with invalid_grant"),
    ("503 without Retry-After", story().redeem(503, retry=None), "once", "without Retry-After"),
    ("503 with another error", story().redeem(503, error="server_error"), "once", "server_error"),
    ("502", story().redeem(502, error="temporarily_unavailable"), "once", "502"),
    ("200 without tokens", story().redeem(200, error="an answer without tokens"), "once", "without tokens"),
    ("no answer", story().redeem(None, lost="no answer"), "once", "no answer"),
    ("no answer, and the kill of another gateway", story().fault(kill="gateway-2").redeem(None, lost="no answer"),
     "once", "no answer"),
    ("a token that is accepted twice", story().redeem().refresh(0).refresh(0, got="x"), "once", "accepted 2 times"),
    ("a token that is revived twice", story().redeem().refresh(0).refresh(0, got="x", **REVIVED)
     .refresh(0, got="y", **REVIVED), "once", "accepted 3 times"),
    ("a revived family, although the new primary had the first use",
     story().redeem().refresh(0).fault().dump("token-0", "token-1").refresh(0, got="x", **REVIVED), "once",
     "had the token token-1"),
    ("a revived family, although the new primary had a later use",
     story().redeem().refresh(0).refresh(1).refresh(2).fault().dump("token-2", "token-3")
     .refresh(0, got="x", **REVIVED), "once", "had the token token-2"),
    ("a revived family long after the failover",
     story().redeem().dump().wait(20).refresh(0).refresh(0, got="x", **REVIVED), "once", "no dump of Redis"),
    ("a token of an earlier epoch with strict", story().redeem().fault().refresh(0, **REVIVED), "strict",
     "store_epoch: strict"),
    ("a revived family with strict", story().redeem().refresh(0).refresh(0, got="x", **REVIVED), "strict",
     "store_epoch: strict"),
    ("a lost session", story().redeem().refresh(0).fault().refresh(1, 400), "once", "session was lost"),
    ("a lost session without a fault", story().redeem().refresh(0).refresh(1, 400), "strict", "session was lost"),
    ("an ended family that comes back", story().redeem().refresh(0).refresh(0, 400).fault().refresh(1), "once",
     "after its sign-in had ended"),
    ("an ended family that comes back as epoch-family", story().redeem().refresh(0).redeem(400).refresh(1, **REVIVED),
     "strict", "store_epoch: strict"),
    ("an ended family that comes back with strict", story().redeem().refresh(0).redeem(400).refresh(1), "strict",
     "after its sign-in had ended"),
    ("tokens without a store", story().fault(lasts=5, dark=["gateway-1"]).wait(1).redeem(), "once",
     "without a usable store"),
    ("a page that fails", Story().add("pass", status=502, error="0 bytes"), "once", "needs no store"),
    ("a sign-in that does not begin", Story().add("begin", status=503, error="0 bytes"), "once", "needs no store"),
    ("a sign-in that fails", Story().add("authorize", status=302, error="server_error"), "once", "server_error"),
]


def run(stage, verdict):
    wrong = []
    for title, made, epoch, expected in CASES:
        hasDumps = any(each["kind"] == "stored" for each in made.history.events)
        found = judge.problems(made.history, epoch, hasDumps=hasDumps)
        if expected is None and found:
            wrong.append(f"{title}: {found[0]}")
        elif expected is not None and not any(expected in each for each in found):
            wrong.append(f"{title}: not found; {found or 'no problem'}")
    verdict("checker", f"{len(CASES)} made-up histories, {sum(1 for case in CASES if case[3])} of them wrong", wrong)
