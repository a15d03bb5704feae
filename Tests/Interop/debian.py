"""The servers of Debian's packages, which `make deps-interop-debian` installs."""

import shutil

from harness import HERE, Example


class Doorkeeper(Example):
    """A Rails application with the engine Doorkeeper. Each app has its own client, because Doorkeeper asks for consent once
    for each client and user."""

    def __init__(self):
        super().__init__("doorkeeper", "basic", "legacy-secret-of-the-server", session="_example_session")
        self.own_clients, self.revocation = True, "/oauth/revoke"
        self.program = HERE / "servers" / "doorkeeper_server.rb"

    def command(self):
        return [shutil.which("ruby") or "ruby", str(self.program)]


DEBIAN_SERVERS = [Doorkeeper()]
