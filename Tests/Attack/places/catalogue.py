"""All places."""

import dataclasses
import typing

from . import answers, requests
from .units import written


@dataclasses.dataclass(frozen=True)
class Place:
    name: str
    grammar: str
    # The greatest length of an input in bytes.
    longest: int
    # Returns the request of a text in a scene.
    make: typing.Callable
    # Bytes that would end the text, or that are refused at once.
    forbidden: bytes = b""
    # Texts in front of the repeated units and behind them.
    starts: tuple = (b"",)
    ends: tuple = (b"",)
    # The version of HTTP.
    version: int = 1
    # True if `make` sends requests, whose cost does not count.
    prepares: bool = False

    def request(self, scene, prefix, units, suffix, length):
        return self.make(scene, written(prefix, units, suffix, length))


def all_places():
    found = {}

    def add(name, grammar, longest, make, forbidden=b"", starts=(b"",), ends=(b"",), prepares=False, http1=True, http2=False):
        for version, wanted in ((1, http1), (2, http2)):
            if wanted:
                full = name if version == 1 else f"{name} over HTTP/2"
                if full in found:
                    raise ValueError(f"two places with the name {full}")
                found[full] = Place(full, grammar, longest, make, forbidden, starts, ends, version, prepares)

    requests.places(add)
    answers.places(lambda name, *values, **more: add("answer: " + name, *values, **more))
    return found
