"""The errors of a server as an app gets them from the gateway: the app checks each answer, and that no token or code comes
with it. --denial is the error of a server whose user refuses, and --unknown-scope that of a server which refuses such a
request; `page` if it shows a page. With --revocation, the app also revokes a refresh token."""

import base64
import hashlib
import json
import pathlib
import subprocess
import sys
from urllib.parse import parse_qs, urlencode, urlsplit

import requests

from arguments import parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "Support"))

from dice import dice, token  # noqa: E402

options = parse()
chance = dice("errors")
checked = []


def check(name, is_right, seen):
    if not is_right:
        sys.exit(f"{name}: {seen}")
    checked.append(name)


class SignIn:
    """One authorization request with its own verifier and state."""

    def __init__(self, **changes):
        self.verifier, self.state = token(chance, 32), token(chance, 8)
        challenge = base64.urlsafe_b64encode(hashlib.sha256(self.verifier.encode()).digest()).rstrip(b"=").decode()
        values = {
            "response_type": "code",
            "client_id": options.client_id,
            "redirect_uri": options.redirect_uri,
            "scope": options.scope,
            "state": self.state,
            "code_challenge": challenge,
            "code_challenge_method": "S256",
            **changes,
        }
        self.url = options.authorize + "?" + urlencode({k: v for k, v in values.items() if v is not None})

    def browse(self, *arguments):
        """Returns the parameters of the authorization response; an empty mapping if the browser ended on a page."""
        command = [sys.executable, options.browser, "--until", options.redirect_uri, *arguments, self.url]
        browser = subprocess.run(command, capture_output=True, timeout=180, text=True)
        last = browser.stdout.strip()
        if not last.startswith(options.redirect_uri):
            return {}
        values = {name: value for name, (value,) in parse_qs(urlsplit(last).query).items()}
        if values.get("state") != self.state or values.get("iss") != options.issuer:
            sys.exit(f"the response has another `state` or `iss`: {last}")
        return values

    def code(self):
        values = self.browse()
        if "code" not in values:
            sys.exit(f"the sign-in ended with {values or 'a page'}")
        return values["code"]

    def redeem(self, code, **changes):
        values = {"grant_type": "authorization_code", "code": code, "redirect_uri": options.redirect_uri}
        return post({**values, "code_verifier": self.verifier, **changes})


def post(values):
    return requests.post(options.token, data={"client_id": options.client_id, **values}, timeout=60)


def refused(name, answer, error, statuses=(400,)):
    """The answer is the error of RFC 6749, section 5.2, and no token."""
    try:
        values = answer.json()
    except ValueError:
        values = {}
    is_right = answer.status_code in statuses and values.get("error") == error and "access_token" not in values
    check(name, is_right, f"{answer.status_code} {answer.text[:200]}")


# pyop redirects to such a URI.
elsewhere = SignIn(redirect_uri=options.redirect_uri + "/elsewhere")
page = requests.get(elsewhere.url, allow_redirects=False, timeout=60)
check("unregistered redirect URI", page.status_code == 400 and "Location" not in page.headers, page.status_code)

unproven = SignIn(code_challenge=None, code_challenge_method=None).browse()
check("no code_challenge", unproven.get("error") == "invalid_request" and "code" not in unproven, unproven)



def check_refusal(name, error, seen):
    """The app gets the error of the server without a code, or nothing if the server shows a page."""
    expected = {} if error == "page" else {"error": error}
    check(name, {k: v for k, v in seen.items() if k in ("error", "code")} == expected, seen)


check_refusal("refusal", options.denial, SignIn().browse("--refuse"))
if options.unknown_scope:
    check_refusal("unknown scope", options.unknown_scope, SignIn(scope="no-such-scope").browse())

stolen = SignIn()
refused("wrong verifier", stolen.redeem(stolen.code(), code_verifier=token(chance, 32)), "invalid_grant")
refused("unknown code", SignIn().redeem(token(chance, 24)), "invalid_grant")
refused("unknown refresh token", post({"grant_type": "refresh_token", "refresh_token": "unknown"}), "invalid_grant")

sign_in = SignIn()
code = sign_in.code()
answer = requests.get(options.token, params={"grant_type": "authorization_code", "code": code}, timeout=60)
check("token request with GET", answer.status_code == 405 and "access_token" not in answer.text, answer.status_code)
answer = sign_in.redeem(code)
check("token request", answer.status_code == 200, f"{answer.status_code} {answer.text[:200]}")
refresh_token = answer.json()["refresh_token"]
refused("second use of the code", sign_in.redeem(code), "invalid_grant")
refused("refresh after that", post({"grant_type": "refresh_token", "refresh_token": refresh_token}), "invalid_grant")

if options.revocation:
    sign_in = SignIn()
    tokens = sign_in.redeem(sign_in.code()).json()
    form = {"client_id": options.client_id, "token": tokens["refresh_token"], "token_type_hint": "refresh_token"}
    answer = requests.post(options.revocation, data=form, timeout=60)
    check("revocation", answer.status_code == 200, f"{answer.status_code} {answer.text[:200]}")
    form = {"grant_type": "refresh_token", "refresh_token": tokens["refresh_token"]}
    refused("refresh after the revocation", post(form), "invalid_grant")
print(json.dumps({"checks": len(checked)}))
