"""Policies and certificates that change under load."""

import ssl
import time

import clients
import loaders
import stage


def expected(name):
    """Returns the test certificate with this name in DER form."""
    return ssl.PEM_cert_to_DER_cert((stage.CERTIFICATES / f"{name}.pem").read_text())


def shown(gateway):
    """Returns the certificate that a new handshake receives."""
    connection = clients.opened(gateway.tls_port, clients.context())
    try:
        return connection.getpeercert(binary_form=True)
    finally:
        connection.close()


def run(options, folder, judge):
    count = 6 if options.short else 40
    upstream = stage.Upstream(folder).start()
    gateway = None
    try:
        gateway = stage.Gateway(folder, options.proofgate, upstream.port, workers=2).start()
        account = loaders.Account()
        crew = loaders.crew(gateway, account)
        standing = clients.HTTP1(gateway.tls_port, gateway.host, clients.context())
        first = standing.socket.getpeercert(binary_form=True)
        standing.request("/small")
        for client in crew:
            client.start()
        loaders.await_answers(crew, account)
        problems, refused, longest = [], 0, 0
        for number in range(count):
            if number % 5 == 4:
                # This reload is refused, because certificate and key do not belong together.
                gateway.install("other" if number % 2 == 0 else "gateway")
                key = gateway.folder / "served.key"
                kept = key.read_bytes()
                key.write_bytes((stage.CERTIFICATES / "client.key").read_bytes())
                before = shown(gateway)
                if "reload refused" not in gateway.reload():
                    problems.append("a key that does not belong to the certificate was accepted")
                if shown(gateway) != before:
                    problems.append("a refused reload changed the certificate")
                refused += 1
                key.write_bytes(kept)
            name = ("other", "gateway")[number % 2]
            gateway.install(name)
            gateway.title = f"Load {number}"
            gateway.write_policy()
            began = time.monotonic()
            said = gateway.reload()
            longest = max(longest, time.monotonic() - began)
            if " in force" not in said:
                problems.append(f"reload {number}: {said.strip()}")
            if shown(gateway) != expected(name):
                problems.append(f"after reload {number} a new handshake does not receive the new certificate")
            status, _ = standing.request("/small")
            if status != 200 or standing.socket.getpeercert(binary_form=True) != first:
                problems.append("an established connection did not continue unchanged")
            time.sleep(0.15)
        for client in crew:
            client.done.set()
        for client in crew:
            client.join(60)
        problems += [f"{loss.kind}: {loss.text}" for loss in account.losses]
        if account.refused:
            problems.append(f"connections were refused: {dict(account.refused)}")
        missing = {client.kind for client in crew} - set(account.answered)
        if missing:
            problems.append(f"no answers for: {', '.join(sorted(missing))}")
        # The first handshake of each client is a full one.
        if account.resumed < account.handshakes - 2 * 2:
            problems.append(f"only {account.resumed} of {account.handshakes} handshakes resumed their session")
        judge("reload", f"{count} reloads with a new policy and certificate each and {refused} refused reloads, "
              f"at most {longest * 1000:.0f} ms; {sum(account.answered.values())} requests, {len(account.losses)} lost "
              f"({account.text()}); {account.resumed} of {account.handshakes} sessions resumed", problems)
    finally:
        if gateway:
            gateway.stop()
        upstream.stop()
