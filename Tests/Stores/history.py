"""The history of a run: every request with its answer, every fault, every token request that reached the legacy
server, and the findings of the gateways' logs. Times are those of the monotonic clock, which all processes share."""

import json
import time

# The log line of a request is made while the request is answered; its time has milliseconds.
SLACK = 0.25  # seconds


class History:
    def __init__(self, path):
        self.path, self.events, self.began = path, [], time.monotonic()
        # Written at once, in case that the run does not come to its end; `collect` writes all of it again.
        self.file = open(path, "w")

    def add(self, kind, sent, done=None, **members):
        """Adds an event. Members that are `None` are omitted."""
        event = {"kind": kind, "sent": sent, "done": sent if done is None else done}
        event |= {name: value for name, value in members.items() if value is not None}
        self.events.append(event)
        self.file.write(json.dumps(event) + "\n")
        return event

    def fault(self, what, sent, done, **members):
        """Adds a fault: from `sent` to `done`."""
        return self.add("fault", sent, done, what=what, **members)

    def collect(self, legacy, gateways):
        """Adds what the legacy server and the gateways recorded, and writes the history. Call it once, at the end.

        Returns the problems of the records themselves.
        """
        problems = [text for each in gateways if each.is_running and (text := each.finish_log())]
        time.sleep(0.3)  # lines of other threads follow within some 10 ms
        problems += [f"{each.name} dropped lines of its decision log" for each in gateways if each.dropped()]
        for event in legacy.events():
            self.events.append(event | {"done": event["sent"]})
        for each in gateways:
            problems += self.attach(each.findings())
        self.events.sort(key=lambda event: event["sent"])
        self.file.close()
        with open(self.path, "w") as file:
            for event in self.events:
                file.write(json.dumps(event) + "\n")
        return problems

    def attach(self, findings):
        """Adds each finding of a token request to the request that it belongs to."""
        requests = {}
        for event in self.events:
            if event["kind"] in ("redeem", "refresh"):
                requests.setdefault(event["client"], []).append(event)
        problems = []
        for finding in findings:
            self.events.append(finding | {"done": finding["sent"]})
            if finding["endpoint"] != "token":
                continue
            at = finding["sent"]
            fitting = [
                event for event in requests.get(finding["client"], ())
                # A balancer names the replica in its answer, if there is one.
                if event.get("replica", event["gateway"]) in (finding["gateway"], "haproxy")
                and event["sent"] - SLACK <= at <= event["done"] + SLACK
                and event.get("status", finding["status"]) == finding["status"]]
            # A client sends its requests one after another, except with the same token.
            event = min(fitting, key=lambda event: abs(event["done"] - at), default=None)
            if event is None:
                problems.append(f"no request fits the finding {finding['finding']} of {finding['gateway']} for "
                                f"{finding['client']}")
            else:
                event.setdefault("findings", []).append(finding["finding"])
        return problems

    def text(self, event):
        """Returns an event as one line."""
        at = f"{event['sent'] - self.began:9.3f}"
        if event["kind"] == "fault":
            return f"{at} -- {event['what']}, for {event['done'] - event['sent']:.3f} s"
        if event["kind"] == "finding":
            return f"{at} log of {event['gateway']}: {event['finding']} for {event['client']}"
        if event["kind"] == "stored":
            return f"{at} the new primary {event['server']} has {len(event['tokens'])} tokens"
        if event["kind"] == "upstream":
            return f"{at} the server got: {event['what']} of {event['login']}"
        result = event.get("lost") or f"{event.get('status')} {event.get('error', '')}".strip()
        rule = f" ({event['rule']})" if "rule" in event else ""
        token = f" {event['token']}" if "token" in event else ""
        new = f", new token {event['got']}" if "got" in event else ""
        found = f", log: {' '.join(event['findings'])}" if "findings" in event else ""
        return (f"{at} {event['kind']}{token} of {event.get('login', '-')} at {event['gateway']}: {result}{rule} after "
                f"{event['done'] - event['sent']:.3f} s{new}{found}")

    def around(self, event, most=12):
        """Returns the events of the same sign-in and the faults near an event, as lines."""
        near = [each for each in self.events
                if each.get("login") == event.get("login") and "login" in event and each["kind"] != "finding"
                or each["kind"] == "fault" and each["sent"] - 5 <= event["sent"] <= each["done"] + 5]
        near.sort(key=lambda each: (each["sent"], each["done"]))
        place = next((n for n, each in enumerate(near) if each is event), 0)
        first = max(0, min(place - most // 2, len(near) - most))
        return "".join(f"\n           {self.text(each)}" for each in near[first:first + most])

    def latest_of(self, login):
        """Returns the last event of a sign-in."""
        return next(each for each in reversed(self.events) if each.get("login") == login)

    def latest(self, most=6):
        """Returns the last events as lines."""
        return "".join(f"\n           {self.text(each)}" for each in self.events[-most:])
