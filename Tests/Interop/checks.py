"""Checks of the results of client programs, and of the commands of `proofgate` with a running server."""

import json
import subprocess

from harness import quiet_environment, secret_file


def user(answer):
    """Returns the user whom a resource endpoint names, which is the userinfo endpoint of some servers."""
    return answer.get("user") or answer.get("name", "").lower()


def judge(result):
    """Returns the columns `token` and `refresh` of the table; raises if the token belongs to another user."""
    if "checks" in result:
        return f"{result['checks']} errors", "-"
    if result.get("subject", "ada").lower() != "ada":
        raise RuntimeError(f"the ID token and the userinfo endpoint say {result['subject']}")
    if user(result["me"]) != "ada" or "profile" not in result["me"].get("scope", ""):
        raise RuntimeError(f"the resource endpoint says {result['me']}")
    if result["refreshed"] is None:
        return "accepted", "not in client"
    if not result["refreshed"] or user(result["refreshed"]) != "ada":
        raise RuntimeError("the refreshed token was not accepted or not new")
    return "accepted", "accepted"


def check_issuer(proofgate, policy, issuer):
    """Raises unless `check --online` accepts the issuer of the policy, and no other one."""
    text = policy.read_text()
    other = policy.with_name("other-issuer.yaml")
    other.write_text(text.replace(f"issuer: {issuer}\n", f"issuer: {issuer}/other\n"))
    other.chmod(0o600)
    for path, fails in ((policy, False), (other, True)):
        run = subprocess.run(
            [str(proofgate), "check", "--online", str(path)],
            env=quiet_environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=60,
            text=True,
        )
        if (run.returncode != 0) != fails or ("issuer-differs" in run.stdout) != fails:
            raise RuntimeError(f"check --online of {path.name}: exit code {run.returncode}: {run.stdout.strip()}")


def probe(program, server, upstream, redirect, folder):
    """Raises if `proofgate probe` does not find the preset of the server and its client authentication."""
    command = [str(program), "probe", upstream, "--json", "--redirect-uri", redirect]
    command += ["--client-id", "com.example.app" if server.own_clients else "legacy-web"]
    command += ["--client-secret-file", str(secret_file(server, folder))]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60, env=quiet_environment())
    if result.returncode != 0:
        raise RuntimeError(f"exit code {result.returncode}: {result.stderr.strip()}")
    report = json.loads(result.stdout)
    found = {finding["id"]: finding.get("value") for finding in report["findings"]}
    expected = {"authorization": server.authorize, "token": server.token}
    for name, value in expected.items():
        if found.get(name) != value:
            raise RuntimeError(f"{name} is `{found.get(name)}` in place of `{value}`")
    # django-oauth-toolkit accepts both methods.
    if server.authentication not in found["authentication"].split():
        raise RuntimeError(f"the client authentication is `{found['authentication']}`")
    if report.get("kind") != server.upstream.get("kind"):
        raise RuntimeError(f"the preset is `{report.get('kind')}`")
    if server.secret in result.stdout + result.stderr:
        raise RuntimeError("the report has the secret")
