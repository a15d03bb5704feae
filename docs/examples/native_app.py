#!/usr/bin/env python3
"""A native app that needs only Python's standard library: it signs in with PKCE and a loopback redirect URI, keeps its
refresh token in a file, and shows who has signed in.

  native_app.py [--port PORT] [--without-pkce] SERVER CLIENT_ID FILE

It signs in, or uses the refresh token in FILE. Legacy servers know apps with one port and without PKCE.
"""

import argparse
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

arguments = argparse.ArgumentParser()
arguments.add_argument("--port", type=int, default=0, help="of the redirect URI; 0 is any free port")
arguments.add_argument("--without-pkce", action="store_true")
arguments.add_argument("server")
arguments.add_argument("client_id")
arguments.add_argument("file", type=pathlib.Path)
options = arguments.parse_args()
server, client_id, file = options.server, options.client_id, options.file


def token_request(**form):
    try:
        request = urllib.request.urlopen(server + "/token", urlencode({"client_id": client_id, **form}).encode())
    except urllib.error.HTTPError as error:
        sys.exit(f"the token endpoint answers {error.code}: {error.read().decode()}")
    return json.load(request)


def sign_in():
    callback = Callback(options.port)
    verifier, state = secrets.token_urlsafe(32), secrets.token_urlsafe(16)
    challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
    query = {"response_type": "code", "client_id": client_id, "redirect_uri": callback.redirect_uri, "state": state}
    if not options.without_pkce:
        query |= {"code_challenge": challenge, "code_challenge_method": "S256"}
    answer = dict(parse_qsl(urlsplit(callback.open(f"{server}/authorize?{urlencode(query)}")).query))
    if answer.get("state") != state or answer.get("iss", server) != server:
        sys.exit("the response is not for this request")
    if "error" in answer:
        sys.exit(f"{answer['error']}: {answer.get('error_description')}; see {answer.get('error_uri')}")
    return token_request(
        grant_type="authorization_code",
        code=answer["code"],
        redirect_uri=callback.redirect_uri,
        **({} if options.without_pkce else {"code_verifier": verifier}),
    )


if file.exists():
    token = token_request(grant_type="refresh_token", refresh_token=file.read_text())
else:
    token = sign_in()
if "refresh_token" in token:
    with open(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as output:
        output.write(token["refresh_token"])
request = urllib.request.Request(server + "/api/me", headers={"Authorization": "Bearer " + token["access_token"]})
print("signed in as", json.load(urllib.request.urlopen(request))["user"])
