#!/usr/bin/env python3
"""A native app that needs only Python's standard library: it signs in with PKCE and a loopback redirect URI, keeps its
refresh token in a file, and shows who has signed in.

  native_app.py GATEWAY CLIENT_ID FILE      signs in, or uses the refresh token in FILE

Unlike the libraries in docs/apps.md, it retries nothing and supports one flow: it shows the messages, no more.
"""

import base64
import hashlib
import json
import os
import pathlib
import secrets
import sys
import urllib.error
import urllib.request
from urllib.parse import parse_qsl, urlencode, urlsplit

from callback import Callback

gateway, client_id, file = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])


def token_request(**form):
    try:
        request = urllib.request.urlopen(gateway + "/token", urlencode({"client_id": client_id, **form}).encode())
    except urllib.error.HTTPError as error:
        sys.exit(f"the token endpoint answers {error.code}: {error.read().decode()}")
    return json.load(request)


def sign_in():
    callback = Callback()
    verifier, state = secrets.token_urlsafe(32), secrets.token_urlsafe(16)
    challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
    query = {"response_type": "code", "client_id": client_id, "redirect_uri": callback.redirect_uri, "state": state}
    query |= {"code_challenge": challenge, "code_challenge_method": "S256"}
    answer = dict(parse_qsl(urlsplit(callback.open(f"{gateway}/authorize?{urlencode(query)}")).query))
    if answer.get("state") != state or answer.get("iss") != gateway:
        sys.exit("the response is not for this request")
    if "error" in answer:
        sys.exit(f"{answer['error']}: {answer.get('error_description')}; see {answer.get('error_uri')}")
    return token_request(
        grant_type="authorization_code",
        code=answer["code"],
        redirect_uri=callback.redirect_uri,
        code_verifier=verifier,
    )


if file.exists():
    token = token_request(grant_type="refresh_token", refresh_token=file.read_text())
else:
    token = sign_in()
if "refresh_token" in token:
    with open(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as output:
        output.write(token["refresh_token"])
request = urllib.request.Request(gateway + "/api/me", headers={"Authorization": "Bearer " + token["access_token"]})
print("signed in as", json.load(urllib.request.urlopen(request))["user"])
