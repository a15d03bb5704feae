"""The servers of Debian's packages, which `make deps-interop-debian` installs."""

import shutil

from harness import BUILD, HERE, Example


class Doorkeeper(Example):
    """A Rails application with the engine Doorkeeper. Each app has its own client, because Doorkeeper asks for consent once
    for each client and user."""

    def __init__(self):
        super().__init__("doorkeeper", "basic", "legacy-secret-of-the-server", session="_example_session")
        self.own_clients, self.revocation, self.unknown_scope = True, "/oauth/revoke", "page"
        self.program = HERE / "servers" / "doorkeeper_server.rb"

    def command(self):
        return [shutil.which("ruby") or "ruby", str(self.program)]


class LemonLDAP(Example):
    """The portal of LemonLDAP::NG, whose packages are unpacked and not installed."""

    denial = "consent_required"

    def __init__(self, name, issuer, endpoints=None, clients=()):
        super().__init__(
            name,
            "post",
            "legacy secret/+&%",
            is_openid=True,
            issuer=issuer,
            endpoints=endpoints,
            authorize="/oauth2/authorize",
            token="/oauth2/token",
            kind="lemonldap-ng",
            session="lemonldap",
        )
        self.clients, self.is_probed = clients, not clients
        self.program = HERE / "servers" / "lemonldap_ng_server.pl"

    def command(self):
        return [shutil.which("perl") or "perl", str(self.program), str(BUILD / "lemonldap-ng")]


DEBIAN_SERVERS = [
    Doorkeeper(),
    LemonLDAP("lemonldap-ng", "/"),
    # MSAL accepts only an issuer with a path. In the document of the server, all addresses are then wrong.
    LemonLDAP("lemonldap-ng-path", "/oauth", {"metadata": "/.well-known/openid-configuration"}, ["msal"]),
]
