"""oidc-agent of Debian: `oidc-gen` makes an account with the code flow or, with --flow device, with the device grant;
the agent then keeps the refresh token, and `oidc-token` gets tokens from it. It finds the endpoints in the metadata
document of the issuer, sends the client id in HTTP Basic with an empty secret, and does not percent-encode its forms."""

import json
import os
import pathlib
import re
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.request

from arguments import parse
from device import USER_CODE, confirm

ACCOUNT = "interop"
options = parse()


def wait(seconds, what, probe):
    """Returns the first true result of `probe`."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := probe():
            return found
        time.sleep(0.05)
    sys.exit(f"oidc-agent: no {what} after {seconds} seconds")


def me(token):
    request = urllib.request.Request(options.resource, headers={"Authorization": "Bearer " + token})
    context = ssl.create_default_context() if options.resource.startswith("https:") else None
    handlers = [urllib.request.ProxyHandler({})] + ([urllib.request.HTTPSHandler(context=context)] if context else [])
    with urllib.request.build_opener(*handlers).open(request, timeout=60) as answer:
        return json.load(answer)


with tempfile.TemporaryDirectory(prefix="oidc-agent-") as home:
    folder = pathlib.Path(home)
    (folder / ".config" / "oidc-agent").mkdir(parents=True)
    environment = dict(os.environ, HOME=home, TMPDIR=home, OIDC_ENCRYPTION_PW="interop")
    environment["OIDC_SOCK"] = str(folder / "agent.sock")
    agent = subprocess.Popen(
        ["oidc-agent", "--console", "--no-autoreauthenticate", "--socket-path", environment["OIDC_SOCK"]],
        env=environment,
        stdout=subprocess.DEVNULL,
    )
    try:
        wait(60, "socket", (folder / "agent.sock").exists)
        command = ["oidc-gen", ACCOUNT, "--manual", "--flow=" + options.flow, "--issuer=" + options.issuer]
        command += ["--client-id=" + options.client_id, "--client-secret=", "--scope=openid profile offline_access"]
        command += ["--redirect-uri=" + (options.redirect_uri or "http://localhost:4242"), "--no-url-call"]
        command += ["--pw-env", "--prompt=none", "--confirm-yes"]
        if "SSL_CERT_FILE" in os.environ:
            command += ["--cert-path=" + os.environ["SSL_CERT_FILE"]]
        with open(folder / "gen.out", "wb") as output:
            # A line of output must reach the file before the program ends.
            generator = subprocess.Popen(
                ["stdbuf", "--output=L"] + command, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=output
            )

        def said(pattern):
            text = (folder / "gen.out").read_text(errors="replace")
            if found := re.search(pattern, text):
                return found.group()
            if generator.poll():
                sys.exit("oidc-gen: " + " ".join(text.split())[-300:])

        if options.flow == "device":
            code = wait(60, "user code", lambda: said(USER_CODE.pattern))
            page = wait(60, "address", lambda: said(r"https?://\S+/device\b"))
            confirm(options.browser, page, code, options.client_name)
        else:
            address = wait(60, "authorization request", lambda: said(re.escape(options.authorize) + r"\?\S+"))
            subprocess.run([sys.executable, options.browser, address], stdout=subprocess.DEVNULL, timeout=180)
        generator.wait(timeout=180)
        if generator.returncode:
            said("^$")
            sys.exit("oidc-gen: " + " ".join((folder / "gen.out").read_text(errors="replace").split())[-300:])

        def token(*arguments):
            run = subprocess.run(
                ["oidc-token", *arguments, ACCOUNT],
                env=environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=60,
                text=True,
            )
            if run.returncode:
                sys.exit("oidc-token: " + " ".join(run.stdout.split())[-300:])
            return run.stdout.strip()

        first = token()
        result = {"me": me(first)}
        second = token("--force-new")
        result["refreshed"] = second != first and me(second)
    finally:
        agent.terminate()
        agent.wait(timeout=60)
print(json.dumps(result))
