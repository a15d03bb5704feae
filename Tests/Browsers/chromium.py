"""A headless Chromium that a test controls."""

import base64
import json
import os
import subprocess
import sys


class Browser:
    """A browser that is controlled through a pair of pipes (Chrome DevTools Protocol)."""

    def __init__(self, program, profile):
        command, self.output = os.pipe()
        self.input, result = os.pipe()

        def pipes():
            # The numbers of the protocol. The pipes may already have them.
            first, second = os.dup(command), os.dup(result)
            os.dup2(first, 3)
            os.dup2(second, 4)

        self.process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--hide-scrollbars",
             "--disable-background-networking", "--remote-debugging-pipe", f"--user-data-dir={profile}", "about:blank"],
            close_fds=False, preexec_fn=pipes, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(command)
        os.close(result)
        self.rest = b""
        # The events that arrived while a call waited for its answer.
        self.events = []
        self.number = 0
        target = self.call("Target.createTarget", {"url": "about:blank"}, None)["targetId"]
        self.session = self.call("Target.attachToTarget", {"targetId": target, "flatten": True}, None)["sessionId"]
        self.call("Page.enable", {})

    def messages(self):
        while True:
            message, found, self.rest = self.rest.partition(b"\0")
            if found:
                yield json.loads(message)
                continue
            self.rest = message
            data = os.read(self.input, 1 << 20)
            if not data:
                sys.exit("the browser has ended")
            self.rest += data

    def call(self, method, parameters, session=""):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if session is not None:
            message["sessionId"] = self.session
        os.write(self.output, json.dumps(message).encode() + b"\0")
        for answer in self.messages():
            if "method" in answer:
                self.events.append(answer)
            if answer.get("id") == self.number:
                if "error" in answer:
                    sys.exit(f"{method}: {answer['error']}")
                return answer["result"]

    def open(self, url):
        """Opens a page and waits until it is loaded."""
        self.call("Page.navigate", {"url": url})
        for message in self.messages():
            if message.get("method") == "Page.loadEventFired":
                return

    def evaluate(self, script):
        result = self.call("Runtime.evaluate", {"expression": script, "awaitPromise": True, "returnByValue": True})
        return result["result"].get("value")

    def show_as(self, device, scheme):
        """Sets the size of the window, and the color scheme that the user prefers. Returns the width."""
        width, height = {"desktop": (1280, 800), "phone": (360, 740)}[device]
        self.call("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": device == "phone"})
        self.call("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
        return width

    def screenshot(self, path):
        image = self.call("Page.captureScreenshot", {"captureBeyondViewport": True})["data"]
        path.write_bytes(base64.b64decode(image))

    def end(self):
        self.process.terminate()
        self.process.wait(60)
