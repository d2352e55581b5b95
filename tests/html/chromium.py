"""Drives a headless Chromium through its DevTools protocol, over a pipe, with the standard library alone."""

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

FLAGS = ["--headless", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions",
         "--disable-dev-shm-usage", "--hide-scrollbars", "--force-color-profile=srgb", "--host-resolver-rules=MAP * ~NOTFOUND"]
KEYS = {"Tab": 9, "Enter": 13, "Escape": 27, " ": 32, "ArrowDown": 40, "ArrowUp": 38}


class Browser:
    def __init__(self, program, timeout=60):
        self.timeout, self.buffer, self.last_id, self.events = timeout, b"", 0, []
        self.profile = tempfile.mkdtemp(prefix="lockstep-chromium-")
        # Chromium reads commands from descriptor 3 and answers on 4; ours are kept clear of both.
        reads, self.write_end = (fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 10) for fd in os.pipe())
        self.read_end, writes = (fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 10) for fd in os.pipe())

        def descriptors():
            os.dup2(reads, 3)
            os.dup2(writes, 4)

        self.process = subprocess.Popen([program, *FLAGS, f"--user-data-dir={self.profile}", "about:blank"], pass_fds=(3, 4),
                                        preexec_fn=descriptors, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)
        os.close(reads)
        os.close(writes)

    def close(self):
        try:
            self.call("Browser.close")
        except (BrokenPipeError, RuntimeError):
            pass
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.read_end)
        os.close(self.write_end)
        shutil.rmtree(self.profile, ignore_errors=True)

    def receive(self, deadline):
        """The next message; None if there is none before the deadline."""
        while b"\0" not in self.buffer:
            if not select.select([self.read_end], [], [], max(0, deadline - time.monotonic()))[0]:
                return None
            data = os.read(self.read_end, 1 << 20)
            if not data:
                raise RuntimeError(f"Chromium ended with {self.process.wait(10)}")
            self.buffer += data
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, session=None, **params):
        self.last_id += 1
        message = {"id": self.last_id, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        os.write(self.write_end, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + self.timeout
        while (answer := self.receive(deadline)) is not None:
            if answer.get("id") == self.last_id:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.events.append(answer)
        raise RuntimeError(f"no answer to {method} in {self.timeout} s")


class Page:
    """One tab. `problems`: what the console said; `requests`: what was asked for beside the page itself."""

    def __init__(self, browser, width=1280, height=900, scheme="light", script=True):
        self.browser = browser
        self.target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        self.script = script
        self.session = browser.call("Target.attachToTarget", targetId=self.target, flatten=True)["sessionId"]
        self.problems, self.requests, self.loaded, self.document = [], [], False, None
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")
        self.resize(width, height)
        self.prefer(scheme)
        if not script:
            self.call("Emulation.setScriptExecutionDisabled", value=True)

    def close(self):
        self.browser.call("Target.closeTarget", targetId=self.target)

    def call(self, method, **params):
        result = self.browser.call(method, self.session, **params)
        self.take_events()
        return result

    def take_events(self):
        for event in self.browser.events:
            if event.get("sessionId") != self.session:
                continue
            name, params = event["method"], event["params"]
            if name == "Page.loadEventFired":
                self.loaded = True
            elif name == "Network.requestWillBeSent":
                if params["request"]["url"].partition("#")[0] != self.document and not params["request"]["url"].startswith("data:"):
                    self.requests.append(params["request"]["url"])
            elif name == "Runtime.exceptionThrown":
                self.problems.append(params["exceptionDetails"].get("exception", {}).get("description", str(params)))
            elif name == "Runtime.consoleAPICalled":
                self.problems.append(f"{params['type']}: {params['args']}")
            elif name == "Log.entryAdded":
                self.problems.append(f"{params['entry']['level']}: {params['entry']['text']}")
        self.browser.events = [event for event in self.browser.events if event.get("sessionId") not in (None, self.session)]

    def resize(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def prefer(self, scheme):
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme},
                                                          {"name": "prefers-reduced-motion", "value": "reduce"}])

    def open(self, url):
        self.loaded, self.document = False, url.partition("#")[0]
        self.call("Page.navigate", url=url)
        deadline = time.monotonic() + self.browser.timeout
        while not self.loaded:
            event = self.browser.receive(deadline)
            if event is None:
                raise RuntimeError(f"{url} did not load in {self.browser.timeout} s")
            self.browser.events.append(event)
            self.take_events()
        self.settle()

    def settle(self):
        """Lets observers of sizes and the next frame do their work."""
        if self.script:
            self.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done, 20)))")

    def evaluate(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            raise RuntimeError(f"{expression}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def text(self, selector):
        return self.evaluate(f"document.querySelector({json.dumps(selector)}).innerText")

    def texts(self, selector):
        return self.evaluate(f"[...document.querySelectorAll({json.dumps(selector)})].map((node) => node.textContent)")

    def click(self, selector):
        """With the mouse, in the middle of the first element that matches."""
        place = self.evaluate(f"""(() => {{
            const node = document.querySelector({json.dumps(selector)});
            node.scrollIntoView({{ block: "center" }});
            const box = node.getBoundingClientRect();
            return [box.x + box.width / 2, box.y + box.height / 2];
        }})()""")
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=place[0], y=place[1], button="left", clickCount=1)
        self.settle()

    def press(self, key, modifiers=0):
        text = {"Enter": "\r", " ": " "}.get(key, "")
        common = {"key": key, "code": "Space" if key == " " else key, "windowsVirtualKeyCode": KEYS[key], "modifiers": modifiers}
        self.call("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", text=text, **common)
        self.call("Input.dispatchKeyEvent", type="keyUp", **common)

    def type(self, text):
        self.call("Input.insertText", text=text)
        self.settle()

    def screenshot(self, file, whole=True):
        """Of the whole page, or of what the window shows."""
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"]
        with open(file, "wb") as out:
            out.write(base64.b64decode(data))
