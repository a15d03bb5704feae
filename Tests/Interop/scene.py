"""The servers and the gateway of one interoperability run."""

import json
import subprocess

from checks import check_issuer
from harness import OPENID_SERVER, free_ports, secret_file, start_gateway, start_server
from issuers import Issuers
from pairs import CLIENTS, GATEWAY_CLIENTS, OPENID_APP, WEB, Endpoints


def make_certificate(folder):
    """Makes a certificate for the gateway, which all clients trust."""
    certificate, key = folder / "gateway.pem", folder / "gateway.key"
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]
    command += ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
    command += ["-keyout", str(key), "-out", str(certificate)]
    subprocess.run(command, check=True, timeout=60, stderr=subprocess.DEVNULL)
    key.chmod(0o600)


def make_signing_key(folder):
    """Makes the key for the ID tokens of the servers without a preset. Two processes of a server have the same key, which
    is a part of their configuration."""
    command = ["openssl", "genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"]
    command += ["-out", str(folder / "signing.key")]
    subprocess.run(command, check=True, timeout=60, stderr=subprocess.DEVNULL)


def gateway_values(server, upstreams, port, admin, folder):
    """Returns the values for the template of the policy. JSON is YAML, too."""
    addresses = {"url": upstreams[0]}
    if len(upstreams) > 1:
        addresses = {"urls": upstreams, "affinity": server.session}
    secret = str(secret_file(server, folder))
    client = {"client_secret": {"file": secret}}
    if not server.own_clients:
        client["client_id"] = "legacy-web"
    origin = f"https://127.0.0.1:{port}"
    return {
        "origin": origin,
        "issuer": origin + server.issuer,
        "certificate": folder / "gateway.pem",
        "key": folder / "gateway.key",
        "address": f"127.0.0.1:{port}",
        "admin": f"127.0.0.1:{admin}",
        "upstream": "\n  ".join(f"{key}: {json.dumps(value)}" for key, value in {**server.upstream, **addresses}.items()),
        "secret": secret,
        "client": json.dumps(client),
        "openid": json.dumps({**client, "scopes": {"drop": ["offline_access"]}}),
    }


class Scene:
    """A server, or two processes of it, with the gateway in front of them."""

    def __init__(self, server, program, folder, is_twice):
        self.server, self.folder, self.running, self.issuers = server, folder, [], None
        port, admin = free_ports(2)
        base = f"https://127.0.0.1:{port}"
        self.redirect = base + "/.proofgate/callback"
        self.endpoints = Endpoints(server, base, base + server.issuer)
        try:
            self.start(program, port, admin, is_twice)
        except BaseException:
            self.end()
            raise

    def start(self, program, port, admin, is_twice):
        server, folder = self.server, self.folder
        arguments = [self.endpoints.issuer] if server.is_openid else []
        if server.own_clients:
            arguments += [str(folder / "signing.key")]
            arguments += sorted({client.id for client in CLIENTS + GATEWAY_CLIENTS + [OPENID_APP]})
        self.upstreams = []
        for number in range(2 if is_twice else 1):
            log = f"{server.name}-{number + 1}"
            process, upstream = start_server(server, f"{self.redirect} {WEB}", folder, *arguments, log=log)
            self.running.append(process)
            self.upstreams.append(upstream)
        if is_twice:
            self.issuers = Issuers(self.upstreams, server.resource, folder / "gateway.pem", folder / "gateway.key")
            self.running.append(self.issuers)
            self.endpoints.resource = self.issuers.resource
        values = gateway_values(server, self.upstreams, port, admin, folder)
        template = "openid.yaml" if server is OPENID_SERVER else "policy.yaml"
        self.running.append(start_gateway(program, template, values, port, folder, server.name))
        if server.is_openid:
            check_issuer(program, folder / f"{server.name}.yaml", self.endpoints.issuer)

    def end(self):
        for process in reversed(self.running):
            process.end()
