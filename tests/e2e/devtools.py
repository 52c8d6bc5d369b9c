"""A real browser that a test drives: Chromium's DevTools protocol over two pipes, with the standard library.

Waits are for what the page shows, and each has a deadline.
"""
import base64
import json
import os
import select
import shutil
import subprocess
import time
import unittest
from pathlib import Path

import harness

CHROMIUM = shutil.which("chromium")
needs_browser = unittest.skipUnless(CHROMIUM, "NOT TESTED: the page in a browser; install chromium")

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars",
         "--disable-background-networking", "--disable-component-update", "--disable-sync",
         "--remote-debugging-pipe"]


class Browser:
    """One window. Use as a context manager."""

    def __init__(self, folder):
        down, self.to = os.pipe()      # the browser reads file descriptor 3 ...
        self.back, up = os.pipe()      # ... and writes 4
        # chromium is a shell script on Debian, and hands both on.
        self.process = subprocess.Popen(
            ["bash", "-c", 'exec "$@" 3<&"$DOWN" 4>&"$UP"', "bash", CHROMIUM, *FLAGS,
             f"--user-data-dir={folder}/profile", "about:blank"],
            env={**os.environ, "DOWN": str(down), "UP": str(up)}, pass_fds=(down, up), start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(down)
        os.close(up)
        self.partial = b""
        self.number = 0
        self.session = None
        self.said = []       # console messages and exceptions
        page = next(t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=page["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        harness.kill_group(self.process)
        os.close(self.to)
        os.close(self.back)

    def call(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + harness.DEADLINE_S
        while True:
            answer = self._next(deadline, method)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise AssertionError(f"{method}: {answer['error']}")
                return answer["result"]
            self._note(answer)

    def _next(self, deadline, method):
        while b"\0" not in self.partial:
            ready, _, _ = select.select([self.back], [], [], max(0, deadline - time.monotonic()))
            if not ready:
                raise AssertionError(f"the browser did not answer {method}")
            data = os.read(self.back, 1 << 16)
            if not data:
                raise AssertionError("the browser ended")
            self.partial += data
        text, self.partial = self.partial.split(b"\0", 1)
        return json.loads(text)

    def _note(self, event):
        params = event.get("params", {})
        if event.get("method") == "Runtime.exceptionThrown":
            self.said.append(params["exceptionDetails"].get("text", "exception"))
        if event.get("method") == "Log.entryAdded":
            self.said.append(params["entry"]["text"])
        if event.get("method") == "Runtime.consoleAPICalled":
            self.said.append(str([argument.get("value") for argument in params["args"]]))

    def evaluate(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise AssertionError(f"{expression}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def open(self, url):
        self.call("Page.navigate", url=url)
        self.until("document.readyState === 'complete' && document.querySelector('main') !== null")

    def until(self, condition):
        """Returns once the condition on the document holds; it is looked at with each change."""
        self.evaluate(f"""new Promise(resolve => {{
          const look = () => {{ if ({condition}) {{ watch.disconnect(); resolve(true); }} }};
          const watch = new MutationObserver(look);
          watch.observe(document, {{subtree: true, childList: true, attributes: true, characterData: true}});
          document.addEventListener('readystatechange', look);
          look();
        }})""")

    def shape(self, width, dark=False, height=900):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                  mobile=width < 500)
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def picture(self, path):
        """The whole page as a PNG."""
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}
        data = self.call("Page.captureScreenshot", captureBeyondViewport=True, clip=clip)["data"]
        Path(path).write_bytes(base64.b64decode(data))
