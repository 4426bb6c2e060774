"""A headless Chromium over WebDriver (https://www.w3.org/TR/webdriver2/), with the standard library alone.

    with Browser() as browser:
        page = browser.open("file:///tmp/report.html", width=390, height=844, dark=True)
        page.js("return document.title")
        page.screenshot("report.png")
"""
import base64
import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request


class Failed(Exception):
    pass


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def wait_until(what, ask, seconds=20):
    """What ask() returns, once it is something."""
    end = time.monotonic() + seconds
    while True:
        found = ask()
        if found:
            return found
        if time.monotonic() > end:
            raise Failed(f"waited {seconds} s in vain: {what}")
        time.sleep(0.1)


class Browser:
    KEYS = {"Enter": "\ue007", "Tab": "\ue004", "Control": "\ue009", "Escape": "\ue00c", "ArrowLeft": "\ue012",
            "ArrowUp": "\ue013", "ArrowRight": "\ue014", "ArrowDown": "\ue015", "Backspace": "\ue003",
            "End": "\ue010", "Home": "\ue011"}

    def __init__(self):
        port = free_port()
        self.profile = tempfile.mkdtemp(prefix="inkling-browser-")
        self.driver = subprocess.Popen([shutil.which("chromedriver"), f"--port={port}"], stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL)
        self.root = f"http://127.0.0.1:{port}"
        self.session = ""
        wait_until("chromedriver", self._ready)
        options = {
            "args": ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-dev-shm-usage",
                     f"--user-data-dir={self.profile}"],
        }
        # Entries of the log "performance" name each request that a page makes.
        wants = {"browserName": "chrome", "goog:chromeOptions": options,
                 "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"}}
        made = self.call("POST", "/session", {"capabilities": {"alwaysMatch": wants}})
        self.session = "/session/" + made["sessionId"]
        self.call("POST", "/timeouts", {"script": 30000, "pageLoad": 30000})

    def _ready(self):
        try:
            return self.call("GET", "/status")["ready"]
        except OSError:
            return False

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.call("DELETE", "")
        except (OSError, Failed):
            pass
        self.driver.terminate()
        self.driver.wait()
        shutil.rmtree(self.profile, ignore_errors=True)

    def call(self, method, path, body=None):
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(self.root + self.session + path, data, {"Content-Type": "application/json"},
                                         method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as e:
            raise Failed(json.load(e)["value"]["message"].split("\n")[0]) from None

    def cdp(self, command, **params):
        return self.call("POST", "/goog/cdp/execute", {"cmd": command, "params": params})

    def open(self, url, width=1400, height=900, dark=False):
        phone = width < 600
        self.cdp("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=phone)
        scheme = "dark" if dark else "light"
        self.cdp("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.call("POST", "/url", {"url": "about:blank"})
        self.log("browser"), self.log("performance")
        self.call("POST", "/url", {"url": url})
        return self

    def log(self, kind):
        return self.call("POST", "/se/log", {"type": kind})

    def requested(self):
        """Addresses that were asked for since open() or the last call, other than the page's own data."""
        found = []
        for entry in self.log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                found.append(message["params"]["request"]["url"])
        return found

    def errors(self):
        return [entry["message"] for entry in self.log("browser") if entry["level"] in ("SEVERE", "WARNING")]

    def js(self, script, *args):
        return self.call("POST", "/execute/sync", {"script": script, "args": list(args)})

    def js_async(self, script, *args):
        return self.call("POST", "/execute/async", {"script": script, "args": list(args)})

    def find(self, css):
        return next(iter(self.call("POST", "/element", {"using": "css selector", "value": css}).values()))

    def click(self, css):
        self.call("POST", f"/element/{self.find(css)}/click", {})

    def type(self, css, text):
        self.call("POST", f"/element/{self.find(css)}/value", {"text": text})

    def keys(self, *keys, held=()):
        """Presses keys, by name or character, where the focus is."""
        actions = []
        for key in held:
            actions.append({"type": "keyDown", "value": self.KEYS.get(key, key)})
        for key in keys:
            value = self.KEYS.get(key, key)
            actions += [{"type": "keyDown", "value": value}, {"type": "keyUp", "value": value}]
        for key in held:
            actions.append({"type": "keyUp", "value": self.KEYS.get(key, key)})
        self.call("POST", "/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": actions}]})

    def mouse(self, css, *points, drag=False):
        """Moves over points of an element, as fractions of its width and height; pressed between them for a drag."""
        x, y, width, height = self.js("const b = document.querySelector(arguments[0]); b.scrollIntoView({block: 'center'});"
                                      "const r = b.getBoundingClientRect(); return [r.x, r.y, r.width, r.height]", css)
        actions = []
        for i, (across, down) in enumerate(points):
            actions.append({"type": "pointerMove", "duration": 40, "x": round(x + across * width),
                            "y": round(y + down * height), "origin": "viewport"})
            if drag and i == 0:
                actions.append({"type": "pointerDown", "button": 0})
        if drag:
            actions.append({"type": "pointerUp", "button": 0})
        pointer = {"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": actions}
        self.call("POST", "/actions", {"actions": [pointer]})

    def screenshot(self, path, height=None):
        """Of the window; with a height, of one so high."""
        if height:
            width = self.js("return innerWidth")
            self.cdp("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)
            time.sleep(0.3)
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("GET", "/screenshot")))
        return os.path.abspath(path)
