#!/usr/bin/env python3
"""The random choices of a script, from one seed: that of the environment variable SEED, or a new one.

    Tests/Support/dice.py NAME COUNT      prints COUNT lines of its input, in their order; NAME is a part of the script

The seed is printed as soon as the script makes its first choice, so that the log of a failure shows it. Programs that
the script starts get the same seed.
"""

import base64
import os
import random
import sys
import threading

_guard = threading.Lock()
_seed = None


def seed():
    """Returns the seed, and prints it once."""
    global _seed
    with _guard:
        if _seed is None:
            text = os.environ.get("SEED", "")
            if text and not text.isdigit():
                sys.exit(f"the environment variable SEED is `{text}` and not a number")
            _seed = int(text or random.SystemRandom().randrange(1_000_000))
            os.environ["SEED"] = str(_seed)
            print(f"seed {_seed} (SEED={_seed} makes the same choices)", file=sys.stderr, flush=True)
        return _seed


def dice(name):
    """Returns the choices of a part of the script. They do not depend on how often other parts choose."""
    return random.Random(f"{seed()} {name}")


def token(chance, count):
    """Returns `count` random bytes in base64url."""
    return base64.urlsafe_b64encode(chance.getrandbits(8 * count).to_bytes(count, "big")).rstrip(b"=").decode()


if __name__ == "__main__":
    lines = sys.stdin.read().splitlines()
    chosen = dice(sys.argv[1]).sample(range(len(lines)), min(int(sys.argv[2]), len(lines)))
    print("\n".join(lines[number] for number in sorted(chosen)))
