"""Debian's Chromium, through selenium."""

from __future__ import annotations

import json
import shutil
from importlib.util import find_spec
from pathlib import Path
from typing import Any

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
DRIVER = shutil.which("chromedriver") if find_spec("selenium") else None
MISSING = "chromium, chromedriver and selenium are not installed"

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
        from selenium import webdriver

        options = webdriver.ChromeOptions()
        options.binary_location = str(CHROMIUM)
        for flag in (*_FLAGS, f"--user-data-dir={profile}"):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self._driver = webdriver.Chrome(options, webdriver.ChromeService(DRIVER))

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *error: object) -> None:
        self._driver.quit()

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

    def open(self, page: Path, *size: int, dark: bool = False) -> None:
        """Load a page from a file, on a screen of some size."""
        if size:
            self.resize(*size, dark=dark)
        self.log("browser")
        self.log("performance")
        self._driver.get(page.resolve().as_uri())

    def run(self, script: str, *values: Any) -> Any:
        """What a function body returns; its arguments are `arguments[0]`, …"""
        return self._driver.execute_script(script, *values)

    def move(self, x: float, y: float, *, click: bool = False) -> None:
        """Move the mouse to a point of the screen."""
        from selenium.webdriver.common.actions.action_builder import ActionBuilder

        actions = ActionBuilder(self._driver, duration=0)
        actions.pointer_action.move_to_location(round(x), round(y))
        if click:
            actions.pointer_action.click()
        actions.perform()

    def press(self, key: str) -> None:
        """Press and release a key."""
        from selenium.webdriver import ActionChains

        ActionChains(self._driver).send_keys(key).perform()

    def log(self, kind: str) -> list[dict[str, Any]]:
        """New entries of the log `browser` (the console) or `performance`."""
        return self._driver.get_log(kind)

    def requests(self) -> list[str]:
        """Addresses that were asked for since the page was opened."""
        entries = [json.loads(entry["message"])["message"] for entry in self.log("performance")]
        sent = [entry for entry in entries if entry["method"] == "Network.requestWillBeSent"]
        return [entry["params"]["request"]["url"] for entry in sent]

    def cdp(self, command: str, **parameters: Any) -> Any:
        """A command of the DevTools protocol."""
        return self._driver.execute_cdp_cmd(command, parameters)
