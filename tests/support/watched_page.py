"""A browser tab that remembers everything a page should not do."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Browser, Page

_WATCH = """
window.violations = [];
document.addEventListener("securitypolicyviolation", (event) => violations.push(event.violatedDirective));
"""


class WatchedPage:
    """A page opened from disk.

    Attributes:
        tab: Playwright's page.
        requests: addresses asked for, in order.
        failures: address -> why the browser did not get it.
        faults: dialogs, script errors and console messages.
    """

    def __init__(self, browser: Browser, path: Path, *, width: int = 1280, dark: bool = False) -> None:
        self.tab: Page = browser.new_page(
            viewport={"width": width, "height": 800}, color_scheme="dark" if dark else "light"
        )
        self.requests: list[str] = []
        self.failures: dict[str, str | None] = {}
        self.faults: list[str] = []
        self.tab.add_init_script(_WATCH)
        self.tab.on("request", lambda request: self.requests.append(request.url))
        self.tab.on("requestfailed", lambda request: self.failures.update({request.url: request.failure}))
        self.tab.on("pageerror", lambda error: self.faults.append(f"error: {error}"))
        self.tab.on("console", lambda message: self.faults.append(f"console: {message.text}"))
        self.tab.on("dialog", self._dismiss)
        self.tab.goto(path.as_uri())

    def status(self) -> str:
        """The line that says how many samples match."""
        return self.tab.locator("#status").inner_text()

    def violations(self) -> list[str]:
        """What the content security policy had to block."""
        return self.tab.evaluate("violations")

    def active_id(self) -> str:
        """Id of the sample that is shown."""
        return self.tab.locator("#detail h3").inner_text()

    def _dismiss(self, dialog) -> None:  # type: ignore[no-untyped-def]
        self.faults.append(f"dialog: {dialog.message}")
        dialog.dismiss()
