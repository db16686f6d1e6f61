"""Model, judge and dataset text is hostile: none of it runs or leaves the page's folder, and all of it is shown."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect
from support.hostile_page import PAYLOADS, hostile_report, hostile_samples
from support.synthetic_run import make_run
from support.watched_page import WatchedPage

from datbench_tasks.reporting import page as page_module
from datbench_tasks.reporting.page import write_page
from datbench_tasks.reporting.report import load_report

SAMPLES = 3 * len(PAYLOADS)
ALLOWED_ELEMENTS = """
a article b bdi body button caption circle code dd details div dl dt fieldset figure form h1 h2 h3 h4 head header html
input kbd label legend li line link main meta noscript option p script section select small span style summary svg
table tbody td text th thead title tr ul wbr
"""


@pytest.fixture(scope="module", params=["one file", "folder"])
def hostile_page(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hostile")
    report = hostile_report(load_report(make_run(folder / "run", samples=18), dataset="none"))
    path = folder / "page" / "report.html"
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "folder":
            patch.setattr(page_module, "INLINE_LIMIT", 0)
        write_page(report, path, samples=hostile_samples(), other=report)
    return path


@pytest.fixture
def opened(browser: Browser, hostile_page: Path) -> WatchedPage:
    opened = WatchedPage(browser, hostile_page)
    opened.tab.locator("#capability").select_option("all")
    expect(opened.tab.locator("#status")).to_have_text(f"{SAMPLES} of {SAMPLES} samples")
    return opened


def unfold(opened: WatchedPage) -> None:
    opened.tab.evaluate("document.querySelectorAll('#detail details').forEach((each) => { each.open = true; })")


def test_nothing_runs_and_nothing_leaves_the_folder(opened: WatchedPage, hostile_page: Path) -> None:
    opened.tab.locator("#list").focus()
    for _ in range(SAMPLES):
        unfold(opened)
        opened.tab.keyboard.press("j")
    for name in PAYLOADS:
        opened.tab.locator("#dataset").select_option(f"={name}")
    assert opened.tab.evaluate("window.pwned") is None
    assert opened.faults == []
    assert opened.violations() == []
    own_folder = hostile_page.parent.as_uri() + "/"
    assert [address for address in opened.requests if not address.startswith(own_folder)] == []
    assert opened.tab.url == hostile_page.as_uri()


def test_no_text_becomes_an_element(opened: WatchedPage) -> None:
    names = "[...new Set([...document.querySelectorAll('*')].map((node) => node.localName))]"
    handlers = """[...document.querySelectorAll('*')].flatMap((node) => [...node.attributes])
        .filter(({ name, value }) => name.startsWith("on") || value.startsWith("javascript:")).length"""
    opened.tab.locator("#list").focus()
    for _ in range(0, SAMPLES, 3):
        unfold(opened)
        assert set(opened.tab.evaluate(names)) <= set(ALLOWED_ELEMENTS.split())
        assert opened.tab.evaluate(handlers) == 0
        for _ in range(3):
            opened.tab.keyboard.press("j")


def test_texts_are_shown_as_they_are(opened: WatchedPage) -> None:
    opened.tab.locator("#list").focus()
    for payload in PAYLOADS[:18]:
        assert opened.tab.locator("#detail .text").first.text_content() == payload.replace("\r\n", "\n")
        for _ in range(3):
            opened.tab.keyboard.press("j")


@pytest.mark.parametrize(
    ("found_by", "marks"),
    [
        ("gnitteg", {"U+202E", "U+202C", "U+2066", "U+2069", "U+200F", "U+061C", "U+202B", "U+2067"}),
        ("surrogates", {"U+D800", "U+DFFF", "U+D83D"}),
        ("bell", {"U+0000", "U+001B", "U+0007", "U+007F", "U+FEFF"}),
    ],
)
def test_hidden_characters_are_shown_by_name(opened: WatchedPage, found_by: str, marks: set[str]) -> None:
    opened.tab.locator("#query").fill(found_by)
    expect(opened.tab.locator("#status")).to_have_text(f"3 of {SAMPLES} samples")
    shown = opened.tab.locator("#detail .text").first
    assert set(shown.locator(".mark").all_inner_texts()) == marks
    assert shown.locator("bdi").evaluate("node => getComputedStyle(node).unicodeBidi") == "isolate"


def test_filters_work_on_hostile_names(opened: WatchedPage) -> None:
    for payload in PAYLOADS:
        opened.tab.locator("#dataset").select_option(f"={payload}")
        assert opened.status() == f"3 of {SAMPLES} samples"
    opened.tab.locator("#dataset").select_option("all")
    opened.tab.locator(".chip.pending").click()
    assert opened.status() == f"{len(PAYLOADS)} of {SAMPLES} samples"
    opened.tab.locator("#query").fill("<script>window")
    matching = sum("<script>window" in payload for payload in PAYLOADS)
    expect(opened.tab.locator("#status")).to_have_text(f"{matching} of {SAMPLES} samples")


ENOUGH_BLOCKED = """() => new Promise((done) => {
    const end = Date.now() + 20_000;
    const look = () => (violations.length > 5 || Date.now() > end ? done(violations.length > 5) : setTimeout(look, 20));
    look();
})"""


def test_the_policy_would_stop_what_slipped_through(opened: WatchedPage) -> None:
    """The second line of defence holds on its own: markup put in by force neither runs nor loads."""
    opened.tab.evaluate(
        """(payloads) => payloads.forEach((payload) => {
            document.body.append(document.createRange().createContextualFragment(payload));
        })""",
        [payload for payload in PAYLOADS if "refresh" not in payload],
    )
    assert opened.tab.evaluate(ENOUGH_BLOCKED)
    assert opened.tab.evaluate("window.pwned") is None
    assert {opened.failures[address] for address in opened.requests if "evil.example" in address} == {"csp"}
