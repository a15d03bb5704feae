"""The common command line of the client programs."""

import argparse


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--issuer", required=True)
    parser.add_argument("--authorize", required=True)
    parser.add_argument("--token", required=True)
    parser.add_argument("--device-authorization")
    parser.add_argument("--resource", required=True)
    parser.add_argument("--client-id", required=True)
    parser.add_argument("--client-name", default="")
    parser.add_argument("--client-secret")
    parser.add_argument("--secret-in-body", action="store_true")
    parser.add_argument("--redirect-uri")
    parser.add_argument("--scope", default="profile")
    parser.add_argument("--denial", default="access_denied")
    parser.add_argument("--unknown-scope")
    parser.add_argument("--revocation")
    parser.add_argument("--flow", choices=["code", "device"], default="code")
    parser.add_argument("--browser", required=True)
    return parser.parse_args()
