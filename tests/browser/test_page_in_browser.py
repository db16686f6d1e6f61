"""The page in a real browser: what readers can do with it, at any size, with keyboard and screen reader."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from PIL import Image
from playwright.sync_api import Browser, expect
from support.synthetic_run import make_run
from support.watched_page import WatchedPage

from datbench_tasks.reporting import page as page_module
from datbench_tasks.reporting.page import write_page
from datbench_tasks.reporting.report import Report, load_report


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    return load_report(make_run(tmp_path_factory.mktemp("run"), samples=270, judged=True), dataset="none")


@pytest.fixture(scope="module")
def page_path(report: Report, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "report.html"
    write_page(report, path, samples=report.samples(), images=red_square)
    return path


def red_square(_: str) -> Image.Image:
    return Image.new("RGB", (600, 300), "red")


@pytest.fixture
def opened(browser: Browser, page_path: Path) -> WatchedPage:
    return WatchedPage(browser, page_path)


def counts_of(report: Report, **wanted: object) -> int:
    return sum(all(getattr(outcome, key) == value for key, value in wanted.items()) for outcome in report.outcomes)


def test_shows_the_numbers_of_the_report(opened: WatchedPage, report: Report) -> None:
    assert opened.tab.locator("h1").inner_text() == "acme/vlm-7b"
    assert opened.tab.title().startswith("acme/vlm-7b")
    assert report.signature_line in opened.tab.locator(".signature").inner_text()
    assert f"{100 * report.macro_accuracy:.1f} %" in opened.tab.locator("#headline").inner_text()
    table = opened.tab.get_by_role("table", name="Capabilities")
    for figures in report.capabilities:
        row = table.get_by_role("row").filter(has_text=figures.name)
        assert f"{100 * figures.accuracy:.1f}" in row.inner_text()


def test_draws_one_dot_for_each_capability_and_average(opened: WatchedPage) -> None:
    assert opened.tab.locator("svg.broad circle").count() == 9 + 2
    assert opened.tab.locator("svg.broad text", has_text="grounding").count() == 1


def test_filters_by_capability_dataset_and_state(opened: WatchedPage, report: Report) -> None:
    tab = opened.tab
    assert opened.status() == "270 of 270 samples"
    tab.get_by_role("combobox", name="Capability").select_option(label="math (30)")
    assert opened.status() == "30 of 30 samples"
    tab.get_by_role("combobox", name="Source dataset").select_option("=mathvista")
    in_dataset = counts_of(report, dataset="mathvista")
    assert opened.status() == f"{in_dataset} of 30 samples"
    tab.locator(".chip.right").click()
    assert opened.status() == f"{counts_of(report, dataset='mathvista', right=True)} of 30 samples"
    assert tab.locator(".row:not(.right)").count() == 0


@pytest.mark.parametrize(
    ("state", "count"),
    [
        ("right", lambda outcome: outcome.right is True),
        ("wrong", lambda outcome: outcome.right is False),
        ("unparsed", lambda outcome: outcome.verdict == "unparsed"),
        ("truncated", lambda outcome: outcome.truncated),
        ("lost_to_formatting", lambda outcome: "lost_to_formatting" in outcome.flags),
        ("empty", lambda outcome: "empty" in outcome.flags),
    ],
)
def test_a_state_filter_finds_what_the_report_counts(opened: WatchedPage, report: Report, state: str, count) -> None:
    expected = sum(bool(count(outcome)) for outcome in report.outcomes)
    assert expected > 0
    assert opened.tab.locator(f".chip.{state} b").inner_text() == str(expected)
    opened.tab.locator(f".chip.{state}").click()
    assert opened.status() == f"{expected} of 270 samples"


def test_pending_samples_can_be_found_before_judging(browser: Browser, tmp_path: Path) -> None:
    unjudged = load_report(make_run(tmp_path / "run", samples=90), dataset="none")
    write_page(unjudged, tmp_path / "page.html", samples=unjudged.samples())
    opened = WatchedPage(browser, tmp_path / "page.html")
    opened.tab.locator(".chip.pending").click()
    assert opened.status() == f"{unjudged.total.pending} of 90 samples"
    assert "pending" in opened.tab.locator("#detail .answers").inner_text()


def test_search_finds_text_of_question_answer_and_id(opened: WatchedPage, report: Report) -> None:
    for text, field in (("HEINEKEN", "dataset"), ("db_math_000007", "id")):
        opened.tab.get_by_role("searchbox", name="Search").fill(text)
        expected = counts_of(report, **{field: {"dataset": "text-vqa", "id": text}[field]})
        expect(opened.tab.locator("#status")).to_have_text(f"{expected} of 270 samples")
    opened.tab.get_by_role("searchbox", name="Search").fill("no sample says this")
    expect(opened.tab.locator("#detail")).to_contain_text("No sample matches")


def test_shows_all_of_a_judged_sample(opened: WatchedPage) -> None:
    opened.tab.get_by_role("combobox", name="Source dataset").select_option("=charxiv_reasoning")
    detail = opened.tab.locator("#detail")
    for text in ("Which model is best at epoch 40?", "DenseNet", "acme/judge-30b"):
        expect(detail).to_contain_text(text)
    detail.get_by_text("Judge prompt").click()
    expect(detail.get_by_text("Respond with exactly two lines")).to_be_visible()


def test_thumbnails_load_from_the_page_itself(opened: WatchedPage) -> None:
    image = opened.tab.locator("#detail img")
    expect(image).to_be_visible()
    assert image.evaluate("image => image.decode().then(() => image.naturalWidth)") == 384
    assert len([address for address in opened.requests if not address.startswith("data:")]) == 1


def test_keys_move_through_the_list_and_between_list_and_sample(opened: WatchedPage) -> None:
    tab = opened.tab
    tab.locator("#list").focus()
    steps = [
        ("j", "db_chart_000001"),
        ("ArrowDown", "db_chart_000002"),
        ("k", "db_chart_000001"),
        ("End", "db_table_000029"),
        ("ArrowDown", "db_table_000029"),
        ("Home", "db_chart_000000"),
        ("ArrowUp", "db_chart_000000"),
    ]
    for key, expected in steps:
        tab.keyboard.press(key)
        assert opened.active_id() == expected, key
        active = tab.locator("#list").get_attribute("aria-activedescendant")
        assert tab.locator(f"#{active}").get_attribute("aria-selected") == "true"
    tab.keyboard.press("Enter")
    assert tab.evaluate("document.activeElement.id") == "detail"
    tab.keyboard.press("j")
    assert opened.active_id() == "db_chart_000001"
    tab.keyboard.press("Escape")
    assert tab.evaluate("document.activeElement.id") == "list"
    tab.keyboard.press("/")
    assert tab.evaluate("document.activeElement.id") == "query"
    tab.keyboard.type("jk/")
    assert tab.get_by_role("searchbox", name="Search").input_value() == "jk/"


def test_the_first_tab_stop_skips_to_the_samples(opened: WatchedPage) -> None:
    opened.tab.keyboard.press("Tab")
    link = opened.tab.get_by_role("link", name="Skip to the samples")
    expect(link).to_be_focused()
    expect(link).to_be_in_viewport()
    opened.tab.keyboard.press("Enter")
    expect(opened.tab.locator("#samples")).to_be_focused()


def test_every_tab_stop_shows_where_it_is(opened: WatchedPage) -> None:
    visible = """() => {
        const node = document.activeElement;
        const chosen = node.querySelector("[aria-selected=true]");
        const drawn = [node, node.nextElementSibling, chosen].filter(Boolean).map((each) => getComputedStyle(each));
        return node.matches(".skip") || drawn.some((style) => style.outlineStyle === "solid");
    }"""
    stops: set[str] = set()
    opened.tab.keyboard.press("Tab")
    while opened.tab.evaluate("document.activeElement !== document.body"):
        assert opened.tab.evaluate(visible), opened.tab.evaluate("document.activeElement.outerHTML.slice(0, 200)")
        stops.add(opened.tab.evaluate("document.activeElement.id"))
        opened.tab.keyboard.press("Tab")
    assert {"capability", "dataset", "query", "list"} <= stops


def test_roles_and_names_say_what_is_on_the_page(opened: WatchedPage) -> None:
    tab = opened.tab
    options = tab.get_by_role("listbox", name="Samples").get_by_role("option")
    assert options.first.get_attribute("aria-setsize") == "270"
    assert options.first.get_attribute("aria-posinset") == "1"
    assert tab.get_by_role("heading", level=1).count() == 1
    assert tab.get_by_role("main").count() == 1
    assert tab.get_by_role("search").count() == 1
    assert tab.get_by_role("status").inner_text() == "270 of 270 samples"
    assert tab.get_by_role("group", name="State").get_by_role("radio").count() >= 6
    unnamed = """() => [...document.querySelectorAll("button, select, input, [role=region]")]
        .filter((node) => !(node.labels?.length || node.ariaLabel || node.textContent)).length"""
    assert tab.evaluate(unnamed) == 0


@pytest.mark.parametrize("dark", [False, True])
def test_texts_stand_out_from_their_background(browser: Browser, page_path: Path, dark: bool) -> None:
    opened = WatchedPage(browser, page_path, dark=dark)
    contrasts = opened.tab.evaluate(CONTRASTS)
    assert {name: round(value, 1) for name, value in contrasts.items() if value < 4.5} == {}


CONTRASTS = """() => {
    const light = (text) => {
        const parts = text.match(/[\\d.]+/g).slice(0, 3).map((part) => part / 255)
            .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
    };
    const probe = document.body.appendChild(document.createElement("i"));
    const colour = (name) => { probe.style.color = `var(--${name})`; return light(getComputedStyle(probe).color); };
    const found = {};
    for (const text of ["ink", "soft", "accent", "right", "wrong", "pending"]) {
        for (const ground of ["paper", "sheet", "tint"]) {
            const [low, high] = [colour(text), colour(ground)].sort((one, two) => one - two);
            found[`${text} on ${ground}`] = (high + 0.05) / (low + 0.05);
        }
    }
    return found;
}"""


def test_dark_screens_get_a_dark_page(browser: Browser, page_path: Path) -> None:
    grounds = [
        WatchedPage(browser, page_path, dark=dark).tab.evaluate("getComputedStyle(document.body).backgroundColor")
        for dark in (False, True)
    ]
    assert grounds == ["rgb(252, 251, 248)", "rgb(21, 23, 26)"]


def test_paper_is_light_and_shows_numbers_not_the_list(browser: Browser, page_path: Path) -> None:
    tab = WatchedPage(browser, page_path, dark=True).tab
    tab.emulate_media(media="print", color_scheme="dark")
    assert tab.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(252, 251, 248)"
    expect(tab.get_by_role("table", name="Capabilities")).to_be_visible()
    expect(tab.locator("#samples")).to_be_hidden()


def test_rows_keep_their_names_when_a_table_is_scrolled(browser: Browser, page_path: Path) -> None:
    table = WatchedPage(browser, page_path, width=360).tab.locator(".table").first
    assert table.evaluate("table => { table.scrollLeft = 400; return table.scrollLeft; }") > 100
    assert table.locator("tbody th").first.evaluate("name => name.getBoundingClientRect().left") >= 0


def test_narrow_screens_show_list_and_sample_in_turn(browser: Browser, page_path: Path) -> None:
    opened = WatchedPage(browser, page_path, width=360)
    tab = opened.tab
    assert tab.evaluate("document.documentElement.scrollWidth") == 360
    expect(tab.locator("svg.slim")).to_be_visible()
    expect(tab.locator("svg.broad")).to_be_hidden()
    expect(tab.locator("#detail")).to_be_hidden()
    tab.locator(".row").nth(2).click()
    expect(tab.locator("#list")).to_be_hidden()
    assert opened.active_id() == "db_chart_000002"
    tab.get_by_role("button", name="Next sample").click()
    assert opened.active_id() == "db_chart_000003"
    expect(tab.get_by_role("button", name="Next sample")).to_be_focused()
    assert tab.evaluate("document.documentElement.scrollWidth") == 360
    tab.get_by_role("button", name="List").click()
    expect(tab.locator("#list")).to_be_visible()
    expect(tab.locator("#list")).to_be_focused()


def test_a_second_run_stands_beside_the_first(browser: Browser, report: Report, tmp_path: Path) -> None:
    weaker = load_report(make_run(tmp_path / "b", samples=90, seed=5, accuracy=0.3, model="acme/small"), dataset="none")
    write_page(report, tmp_path / "page.html", samples=report.samples(), other=weaker)
    tab = WatchedPage(browser, tmp_path / "page.html").tab
    assert tab.locator("svg.broad circle.second").count() == 9 + 2 + 1
    expect(tab.locator("svg.broad")).to_contain_text("acme/small")
    expect(tab.locator("#signatures")).to_contain_text(weaker.signature_line)
    expect(tab.locator(".notice")).to_contain_text("not comparable with the second run: judge")
    row = tab.get_by_role("table", name="Capabilities").get_by_role("row").filter(has_text="macro")
    expect(row).to_contain_text(f"{100 * (report.macro_accuracy - weaker.macro_accuracy):+.1f}".replace("-", "−"))


def test_five_thousand_samples_keep_the_document_small(browser: Browser, report: Report, tmp_path: Path) -> None:
    first, *_ = report.samples()
    samples = (replace(first, record={**first.record, "id": f"s{number}"}) for number in range(5_000))
    write_page(report, tmp_path / "page.html", samples=samples)
    opened = WatchedPage(browser, tmp_path / "page.html")
    assert opened.status() == "5,000 of 5,000 samples"
    assert opened.tab.locator(".row").count() < 50
    opened.tab.locator("#list").evaluate("list => { list.scrollTop = list.scrollHeight; }")
    expect(opened.tab.locator(".row").last).to_contain_text("s4999")
    assert opened.tab.locator(".row").count() < 50
    opened.tab.get_by_role("searchbox", name="Search").fill("s4998")
    expect(opened.tab.locator("#status")).to_have_text("1 of 5,000 samples")


class TestFolderBesideThePage:
    @pytest.fixture
    def folder_page(self, report: Report, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        monkeypatch.setattr(page_module, "INLINE_LIMIT", 0)
        path = tmp_path / "odd #1 ?name%20.html"
        write_page(report, path, samples=report.samples(), images=red_square)
        return path

    def test_loads_one_capability_at_a_time(self, browser: Browser, folder_page: Path) -> None:
        opened = WatchedPage(browser, folder_page)
        expect(opened.tab.locator("#status")).to_have_text("30 of 30 samples")
        assert [address.rsplit("/", 1)[1] for address in opened.requests if address.endswith(".js")] == ["part-0.js"]
        opened.tab.get_by_role("combobox", name="Capability").select_option(label="table (30)")
        expect(opened.tab.locator("#detail h3")).to_have_text("db_table_000000")
        opened.tab.get_by_role("combobox", name="Capability").select_option("all")
        expect(opened.tab.locator("#status")).to_have_text("270 of 270 samples")
        assert len([address for address in opened.requests if address.endswith(".js")]) == 9

    def test_loads_thumbnails_from_the_folder(self, browser: Browser, folder_page: Path) -> None:
        opened = WatchedPage(browser, folder_page)
        image = opened.tab.locator("#detail img")
        assert image.evaluate("image => image.decode().then(() => image.naturalWidth)") == 384
        folder = folder_page.with_name("odd #1 ?name%20_files").as_uri() + "/"
        assert all(address.startswith(folder) for address in opened.requests[1:])
        assert opened.violations() == []

    def test_says_when_the_folder_is_not_there(self, browser: Browser, folder_page: Path, tmp_path: Path) -> None:
        lonely = tmp_path / "elsewhere" / "page.html"
        lonely.parent.mkdir()
        folder_page.rename(lonely)
        opened = WatchedPage(browser, lonely)
        expect(opened.tab.locator("#status")).to_contain_text("belongs beside this page")
