"""Git with git-credential-oauth of Debian as its credential helper. The helper opens the browser with `open` or
`xdg-open`, listens on a loopback port, and sends a redirect URI with an empty path. Git gets the access token as a
password. The helper of Debian 12 keeps no refresh token."""

import json
import os
import subprocess
import sys
import tempfile
import urllib.request
from urllib.parse import urlsplit

from arguments import parse

options = parse()
base = urlsplit(options.authorize)
url = f"{base.scheme}://{base.netloc}"

with tempfile.TemporaryDirectory() as home:
    configuration = os.path.join(home, "gitconfig")
    for key, value in {
        "credential.helper": "oauth",
        **({f"credential.{url}.oauthClientSecret": options.client_secret} if options.client_secret else {}),
        f"credential.{url}.oauthClientId": options.client_id,
        f"credential.{url}.oauthScopes": options.scope,
        f"credential.{url}.oauthAuthURL": urlsplit(options.authorize).path,
        f"credential.{url}.oauthTokenURL": urlsplit(options.token).path,
    }.items():
        subprocess.run(["git", "config", "--file", configuration, key, value], check=True, timeout=60)
    environment = dict(os.environ, HOME=home, GIT_CONFIG_GLOBAL=configuration, GIT_CONFIG_NOSYSTEM="1")
    environment["GIT_TERMINAL_PROMPT"] = "0"
    for shim in ("open", "xdg-open", "x-www-browser", "www-browser"):
        os.symlink(os.environ["BROWSER_PROGRAM"], os.path.join(home, shim))
    environment["PATH"] = home + os.pathsep + os.environ["PATH"]
    filled = subprocess.run(
        ["git", "credential", "fill"],
        input=f"protocol={base.scheme}\nhost={base.netloc}\n\n",
        stdout=subprocess.PIPE,
        env=environment,
        cwd=home,
        text=True,
        timeout=60,
    )
if filled.returncode:
    sys.exit(1)
credential = dict(line.split("=", 1) for line in filled.stdout.splitlines() if "=" in line)
request = urllib.request.Request(options.resource, headers={"Authorization": "Bearer " + credential["password"]})
opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
with opener.open(request, timeout=60) as answer:
    print(json.dumps({"me": json.load(answer), "refreshed": None}))
