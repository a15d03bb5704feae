"""The checker of a history (`history.py`). It states what no failure of a store may cause:

  - A code yields tokens at most once, and reaches the server at most once.
  - A redemption is refused with invalid_grant only if another redemption of the code succeeded or was in progress, or
    if the code expired. Every other refusal is 503 temporarily_unavailable with Retry-After.
  - A refresh token is accepted once. It is accepted a second time at most once, only with `store_epoch: once`, and
    only if the log says `epoch-family`. With `strict`, the log never says so. In a failover, a dump of the new primary
    must also show that Redis lost the acknowledged write: it has none of the tokens that followed from the first use.
  - A refresh token is refused with invalid_grant only if it was used before, or if its sign-in was ended by a second
    use of its code or of a refresh token. With `store_epoch: strict`, a fault after its issue is another reason.
  - After a refused second use, no token of the sign-in is accepted; with `once`, only as `epoch-family`.
  - A fault with the member `dark` names gateways without a usable store: they accept no code or token in that time.
  - All other requests are answered as without a fault; a sign-in may end with temporarily_unavailable.

A lost answer or another error is a problem, unless the same gateway was killed (`kill`) during the request.
"""

import collections
import math

SHOWN = 10  # problems that are reported with the events around them
# Seconds after a promotion for which a gateway may still use the old primary, and a replica may confirm its writes.
SWITCH = 5
CLOCKS = 2  # seconds by which a code may expire early or late: its expiry is a whole second


class Verdict:
    def __init__(self, history, epoch="once", lifetime=60, hasDumps=False):
        self.history, self.epoch, self.lifetime, self.hasDumps = history, epoch, lifetime, hasDumps
        self.dumps = [each for each in history.events if each["kind"] == "stored"]
        self.losses = 0
        self.problems, self.reported = [], set()
        self.by_login = collections.defaultdict(list)
        self.faults = [each for each in history.events if each["kind"] == "fault"]
        for event in history.events:
            if "login" in event:
                self.by_login[event["login"]].append(event)
        for event in history.events:
            self.judge_request(event)
        for events in self.by_login.values():
            self.judge_login(events)
        self.judge_dark()

    def report(self, event, text):
        """Adds a problem. A sign-in with several problems is reported once."""
        key = event.get("login", id(event))
        if key not in self.reported:
            self.reported.add(key)
            name = f"{event['kind']} {event['token']}" if "token" in event else event["kind"]
            around = self.history.around(event) if len(self.problems) < SHOWN else ""
            self.problems.append(f"{name}: {text}{around}")

    # All requests

    def judge_request(self, event):
        kind = event["kind"]
        if kind not in ("begin", "authorize", "redeem", "refresh", "pass", "use"):
            return
        if "lost" in event:
            if not self.is_killed(event):
                self.report(event, event["lost"])
        elif kind in ("begin", "pass") and "error" in event:
            if not self.is_killed(event):
                self.report(event, f"answered {event['status']} {event['error']}, although it needs no store")
        elif kind == "authorize" and "got" not in event:
            isAway = event.get("error") == "temporarily_unavailable" or event["status"] == 503 and event.get("retry")
            if not isAway and not self.is_killed(event):
                self.report(event, f"answered {event['status']} {event.get('error')}")
        elif kind in ("redeem", "refresh"):
            self.judge_refusal(event)

    def judge_refusal(self, event):
        answer = (event["status"], event.get("error"))
        if event["status"] == 200 and "error" not in event or answer == (400, "invalid_grant"):
            return
        if answer == (503, "temporarily_unavailable"):
            if not event.get("retry"):
                self.report(event, "503 without Retry-After")
        elif not self.is_killed(event):
            self.report(event, f"answered {answer[0]} {answer[1]}")

    def is_killed(self, event):
        """Returns true if the request was in progress while its gateway was killed. A balancer names the gateway in
        its answers, but not if it gives none."""
        return any(
            "kill" in each and overlap(each, event)
            and (event["replica"] == each["kill"] if "replica" in event
                 else event["gateway"] in (each["kill"], each.get("balancer")))
            for each in self.faults)

    # Sign-ins

    def judge_login(self, events):
        redeems = [each for each in events if each["kind"] == "redeem"]
        refreshes = [each for each in events if each["kind"] == "refresh"]
        issued = {each["got"]: each for each in events if "got" in each}
        codes, tokens = collections.defaultdict(list), collections.defaultdict(list)
        for each in redeems:
            codes[each["token"]].append(each)
        for each in refreshes:
            tokens[each["token"]].append(each)
        for attempts in codes.values():
            self.judge_code(attempts, issued, events)
        for attempts in tokens.values():
            self.judge_token(attempts, tokens)
        self.judge_session(codes, tokens, refreshes, issued)

    def judge_code(self, attempts, issued, events):
        won = accepted(attempts)
        if len(won) > 1:
            self.report(won[1], f"the code yielded tokens {len(won)} times")
        arrived = [each for each in events if each["kind"] == "upstream" and each["what"] == "redeem"]
        # If an answer is lost with its gateway, the retry may ask the server again, which knows what it has issued.
        if len(arrived) > 1 + sum("lost" in each for each in attempts):
            self.report(attempts[0], f"the code was redeemed {len(arrived)} times at the server")
        for each in attempts:
            if not isRefused(each):
                continue
            origin = issued.get(each["token"])
            isExpired = origin is not None and each["done"] - origin["sent"] > self.lifetime - CLOCKS
            others = [other for other in attempts if other is not each]
            isUsed = any(other["sent"] <= each["done"] for other in others if other in won)
            # The answer to an attempt may be lost although the server issued tokens.
            isBusy = any(overlap(other, each) or "lost" in other and other["sent"] <= each["done"] for other in others)
            if not (isExpired or isUsed or isBusy):
                self.report(each, "refused with invalid_grant, although no redemption of the code succeeded before")

    def judge_token(self, attempts, tokens):
        # Repeats within the reuse window get the same answer, with the same new token.
        first = {}
        for each in sorted(accepted(attempts), key=lambda each: each["sent"]):
            first.setdefault(each.get("got"), each)
        answers = list(first.values())
        revived = [each for each in answers if "epoch-family" in each.get("findings", ())]
        if self.epoch == "strict" and (len(answers) > 1 or revived):
            self.report(answers[-1], f"the token was accepted {len(answers)} times, with store_epoch: strict, and "
                                     f"{len(revived)} times as epoch-family")
        elif len(answers) > 2:
            self.report(answers[-1], f"the token was accepted {len(answers)} times")
        elif len(answers) - len(revived) > 1:
            self.report(
                answers[-1], f"the token was accepted {len(answers)} times, {len(revived)} of them as epoch-family")
        elif len(answers) == 2 and self.hasDumps:
            self.judge_loss(*answers, tokens)

    def judge_loss(self, first, second, tokens):
        """A second use is accepted only if Redis has lost the acknowledged write of the first."""
        dump = max((each for each in self.dumps if each["sent"] < second["done"]), key=lambda each: each["sent"],
                   default=None)
        if dump is None or dump["sent"] < first["sent"] - SWITCH:
            self.report(second, "the token was accepted 2 times, and no dump of Redis shows a loss of the first use")
            return
        followed, waiting = set(), [first["got"]]
        while waiting:
            token = waiting.pop()
            if token not in followed:
                followed.add(token)
                waiting += [each["got"] for each in accepted(tokens.get(token, ())) if "got" in each]
        if kept := followed & set(dump["tokens"]):
            self.report(second, f"the token was accepted 2 times, although the new primary {dump['server']} had the token "
                                f"{min(kept)}, which followed from the first use")
        self.losses += 1

    def judge_session(self, codes, tokens, refreshes, issued):
        """Judges what a second use ends: it explains refusals, and nothing may be accepted afterwards."""
        causes, ends = [], []
        for attempts in codes.values():
            for won in accepted(attempts):
                later = [each for each in attempts if each is not won and each["done"] >= won["sent"]]
                causes += later
                # Without the mark in the store, a replay is refused and ends nothing.
                isMarked = "claim-not-spent" not in won.get("findings", ())
                ends += [each for each in later if isRefused(each) and each["sent"] > won["done"] and isMarked]
        for attempts in tokens.values():
            for won in accepted(attempts):
                later = [each for each in attempts if each is not won and each["done"] >= won["sent"]]
                causes += later
                ends += [each for each in later if isRefused(each) and each["sent"] > won["done"]]
        for each in refreshes:
            if isRefused(each):
                origin = issued.get(each["token"])
                isLost = self.epoch == "strict" and origin is not None and any(
                    fault["done"] >= origin["sent"] and fault["sent"] <= each["done"] for fault in self.faults)
                if not isLost and not any(cause["sent"] <= each["done"] for cause in causes):
                    self.report(each, "the session was lost: invalid_grant for a token that was not used before")
        ended = min((each["done"] for each in ends), default=math.inf)
        for each in accepted(refreshes):
            isRevived = self.epoch == "once" and "epoch-family" in each.get("findings", ())
            if each["sent"] > ended and not isRevived:
                self.report(each, "a token was accepted after its sign-in had ended")

    def judge_dark(self):
        for fault in self.faults:
            for event in self.history.events:
                if (event["kind"] in ("redeem", "refresh") and event.get("status") == 200
                        and event["gateway"] in fault.get("dark", ())
                        and fault["sent"] < event["sent"] and event["done"] < fault["done"]):
                    self.report(event, f"accepted without a usable store ({fault['what']})")


def accepted(events):
    return [each for each in events if each.get("status") == 200]


def isRefused(event):
    return event.get("error") == "invalid_grant"


def overlap(one, other):
    return one["sent"] <= other["done"] and other["sent"] <= one["done"]


def problems(history, epoch="once", lifetime=60, hasDumps=False):
    """Returns the problems of a history as texts, each with the events around it. With `hasDumps`, the history has dumps
    of the servers that became the primary."""
    return Verdict(history, epoch, lifetime, hasDumps).problems
