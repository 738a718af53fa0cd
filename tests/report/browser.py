"""Chromium through ChromeDriver's own HTTP interface, which needs no package."""

from __future__ import annotations

import base64
import json
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
DRIVER = shutil.which("chromedriver")
MISSING = "chromium and chromedriver are not installed"

_FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--force-color-profile=srgb",
    "--allow-file-access-from-files",
)


class Browser:
    """One window; `with` ends it."""

    def __init__(self, profile: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self._address = f"http://127.0.0.1:{port}"
        self._process = subprocess.Popen(
            [str(DRIVER), f"--port={port}", "--log-level=SEVERE"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self._wait()
        wanted = {
            "goog:chromeOptions": {
                "binary": CHROMIUM,
                "args": [*_FLAGS, f"--user-data-dir={profile}"],
            },
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
        }
        answer = self._call("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
        self._session = f"/session/{answer['sessionId']}"

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *error: object) -> None:
        try:
            self._call("DELETE", self._session)
        finally:
            self._process.terminate()
            self._process.wait(30)

    def resize(self, width: int, height: int = 900, *, dark: bool = False) -> None:
        """A screen of this size; narrow ones are phones."""
        mobile = width < 600
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": mobile}
        self.cdp("Emulation.setDeviceMetricsOverride", **size)
        theme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.cdp("Emulation.setEmulatedMedia", features=[theme])

    def media(self, kind: str) -> None:
        """Show pages as on this medium, `print`, or on the usual one, ``."""
        self.cdp("Emulation.setEmulatedMedia", media=kind)

    def scripts(self, *, allowed: bool) -> None:
        """Whether pages may run JavaScript."""
        self.cdp("Emulation.setScriptExecutionDisabled", value=not allowed)

    def open(self, page: Path) -> None:
        """Load a page from a file."""
        self.log("browser")
        self.log("performance")
        self._call("POST", f"{self._session}/url", {"url": page.resolve().as_uri()})

    def run(self, script: str, *values: Any) -> Any:
        """What a function body returns; its arguments are `arguments[0]`, …"""
        return self._call(
            "POST", f"{self._session}/execute/sync", {"script": script, "args": list(values)}
        )

    def move(self, x: float, y: float, *, click: bool = False) -> None:
        """Move the mouse to a point of the screen."""
        steps: list[dict[str, Any]] = [
            {"type": "pointerMove", "duration": 0, "x": round(x), "y": round(y)}
        ]
        if click:
            steps += [{"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}]
        mouse = {"type": "pointer", "id": "mouse", "actions": steps}
        self._call("POST", f"{self._session}/actions", {"actions": [mouse]})

    def press(self, key: str) -> None:
        """Press and release a key."""
        steps = [{"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}]
        keys = {"type": "key", "id": "keys", "actions": steps}
        self._call("POST", f"{self._session}/actions", {"actions": [keys]})

    def log(self, kind: str) -> list[dict[str, Any]]:
        """New entries of the log `browser` (the console) or `performance`."""
        return self._call("POST", f"{self._session}/se/log", {"type": kind})

    def requests(self) -> list[str]:
        """Addresses that were asked for since the page was opened."""
        entries = [json.loads(entry["message"])["message"] for entry in self.log("performance")]
        sent = [entry for entry in entries if entry["method"] == "Network.requestWillBeSent"]
        return [entry["params"]["request"]["url"] for entry in sent]

    def screenshot(self, path: Path, *, whole: bool = False) -> None:
        """Write a PNG of the screen, or of the whole page."""
        options = {"captureBeyondViewport": whole}
        if whole:
            size = self.cdp("Page.getLayoutMetrics")["cssContentSize"]
            options["clip"] = {**size, "x": 0, "y": 0, "scale": 1}
        path.write_bytes(base64.b64decode(self.cdp("Page.captureScreenshot", **options)["data"]))

    def cdp(self, command: str, **parameters: Any) -> Any:
        """A command of the DevTools protocol."""
        body = {"cmd": command, "params": parameters}
        return self._call("POST", f"{self._session}/goog/cdp/execute", body)

    def _wait(self) -> None:
        for _ in range(1200):
            try:
                if self._call("GET", "/status")["ready"]:
                    return
            except OSError:
                time.sleep(0.1)
        raise AssertionError("ChromeDriver did not start")

    def _call(self, verb: str, path: str, body: dict[str, Any] | None = None) -> Any:
        request = urllib.request.Request(
            self._address + path,
            None if body is None else json.dumps(body).encode(),
            {"Content-Type": "application/json"},
            method=verb,
        )
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise AssertionError(error.read().decode()[:2000]) from error
