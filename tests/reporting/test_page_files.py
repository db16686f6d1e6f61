"""What ``write_page`` leaves on the disk: one file or a folder beside it, the same bytes each time, safe names."""

from __future__ import annotations

import base64
import hashlib
import html.parser
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageFile
from support.hostile_page import PAYLOADS, hostile_report, hostile_samples
from support.synthetic_run import make_run

from datbench_tasks.reporting import page as page_module
from datbench_tasks.reporting.page import ASSETS, write_page
from datbench_tasks.reporting.page_data import TEXT_LIMIT, embed, sample_data
from datbench_tasks.reporting.page_overview import overview
from datbench_tasks.reporting.report import Report, load_report
from datbench_tasks.reporting.thumbnails import SIDE, thumbnail
from datbench_tasks.sample_logs import Sample


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    return load_report(make_run(tmp_path_factory.mktemp("run"), samples=36, judged=True), dataset="none")


@pytest.fixture
def in_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_module, "INLINE_LIMIT", 0)


class Elements(html.parser.HTMLParser):
    """Script and style elements of a page, as an HTML parser sees them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.contents: list[tuple[str, dict[str, str | None], str]] = []
        self.policy = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if tag == "meta" and values.get("http-equiv") == "Content-Security-Policy":
            self.policy = values["content"] or ""
        if tag in ("script", "style"):
            self.contents.append((tag, values, ""))

    def handle_data(self, data: str) -> None:
        if self.contents and self.cdata_elem:
            tag, values, content = self.contents[-1]
            self.contents[-1] = (tag, values, content + data)

    def data(self, name: str) -> Any:
        return next(json.loads(content) for _, values, content in self.contents if values.get("id") == name)


def written(path: Path) -> Elements:
    return Elements(path.read_text(encoding="utf-8"))


def files_below(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def shape(number: int) -> Image.Image:
    return Image.new("RGB", (40, 40), (number * 40, 0, 0))


def test_a_small_run_is_one_file(report: Report, tmp_path: Path) -> None:
    write_page(report, tmp_path / "new" / "page.html", samples=report.samples())
    assert files_below(tmp_path) == ["new/page.html"]
    page = written(tmp_path / "new" / "page.html")
    assert page.data("report")["folder"] is None
    samples = [sample for number in range(9) for sample in page.data(f"part-{number}")]
    assert [sample["id"] for sample in samples] == [sample.record["id"] for sample in report.samples()]


@pytest.mark.usefixtures("in_folder")
def test_a_large_run_has_a_folder_with_one_part_for_each_capability(report: Report, tmp_path: Path) -> None:
    write_page(report, tmp_path / "page.html", samples=report.samples())
    content = written(tmp_path / "page.html").data("report")
    assert [part["capability"] for part in content["parts"]] == [figures.name for figures in report.capabilities]
    folder = tmp_path / content["folder"]["address"]
    assert files_below(folder) == [f"part-{number}.js" for number in range(9)]
    script = (folder / "part-3.js").read_text(encoding="utf-8")
    samples = json.loads(re.fullmatch(r"datbenchPart\(3,(.*)\);\n", script, re.DOTALL)[1])
    assert len(samples) == content["parts"][3]["count"] == 4


@pytest.mark.usefixtures("in_folder")
def test_equal_thumbnails_are_kept_once(report: Report, tmp_path: Path) -> None:
    write_page(report, tmp_path / "page.html", samples=report.samples(), images=lambda name: shape(int(name[-1]) % 2))
    folder = tmp_path / written(tmp_path / "page.html").data("report")["folder"]["address"]
    assert files_below(folder / "images-0") == ["0.webp", "1.webp"]


def test_thumbnails_lie_in_the_page_when_it_is_small(report: Report, tmp_path: Path) -> None:
    write_page(report, tmp_path / "page.html", samples=report.samples(), images=lambda name: shape(1))
    images = written(tmp_path / "page.html").data("images-0")
    assert [base64.b64decode(image)[:4] for image in images] == [b"RIFF"]


def test_the_page_alone_is_kept_up_to_the_limit(
    report: Report, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_module, "INLINE_LIMIT", 100_000)
    first, *_ = report.samples()
    for count, inline in ((10, True), (200, False)):
        output = [replace(first, record={**first.record, "output": "x" * 1_000})] * count
        write_page(report, tmp_path / "page.html", samples=output)
        assert (written(tmp_path / "page.html").data("report")["folder"] is None) is inline


@pytest.mark.parametrize("limit", [0, page_module.INLINE_LIMIT])
def test_the_same_report_gives_the_same_bytes(
    report: Report, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: int
) -> None:
    monkeypatch.setattr(page_module, "INLINE_LIMIT", limit)
    for name in ("one", "two"):
        write_page(report, tmp_path / name / "page.html", samples=report.samples(), images=lambda name: shape(2))
    one, two = tmp_path / "one", tmp_path / "two"
    assert files_below(one) == files_below(two)
    assert all((one / name).read_bytes() == (two / name).read_bytes() for name in files_below(one))


@pytest.mark.usefixtures("in_folder")
def test_earlier_versions_go_and_other_files_stay(report: Report, tmp_path: Path) -> None:
    folder = tmp_path / "page_files"
    write_page(report, tmp_path / "page.html", samples=report.samples())
    (before,) = folder.iterdir()
    (folder / "notes.txt").write_text("mine", encoding="utf-8")
    first, *_ = report.samples()
    write_page(report, tmp_path / "page.html", samples=[first])
    assert not before.exists()
    assert len(list(folder.iterdir())) == 2
    assert (folder / "notes.txt").read_text(encoding="utf-8") == "mine"


def test_a_page_that_needs_no_folder_leaves_none(
    report: Report, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(page_module, "INLINE_LIMIT", 0)
        write_page(report, tmp_path / "page.html", samples=report.samples())
    write_page(report, tmp_path / "page.html", samples=report.samples())
    assert files_below(tmp_path) == ["page.html"]
    assert not (tmp_path / "page_files").exists()


@pytest.mark.usefixtures("in_folder")
def test_a_fault_on_the_way_leaves_the_old_page_whole(report: Report, tmp_path: Path) -> None:
    def cut_short() -> Iterator[Sample]:
        yield from list(report.samples())[:5]
        raise OSError("the disk is gone")

    write_page(report, tmp_path / "page.html", samples=report.samples())
    before = {name: (tmp_path / name).read_bytes() for name in files_below(tmp_path)}
    with pytest.raises(OSError, match="the disk is gone"):
        write_page(report, tmp_path / "page.html", samples=cut_short())
    assert {name: (tmp_path / name).read_bytes() for name in files_below(tmp_path)} == before


@pytest.mark.usefixtures("in_folder")
def test_no_text_of_a_sample_becomes_a_file_name(report: Report, tmp_path: Path) -> None:
    write_page(hostile_report(report), tmp_path / "page.html", samples=hostile_samples(), images=lambda name: shape(1))
    known = re.compile(r"page\.html|page_files/[0-9a-f]{16}/(part-\d+\.js|images-\d+/\d+\.webp)")
    assert [name for name in files_below(tmp_path) if not known.fullmatch(name)] == []


def test_hostile_text_stays_inside_its_element(report: Report, tmp_path: Path) -> None:
    write_page(hostile_report(report), tmp_path / "page.html", samples=hostile_samples())
    page = written(tmp_path / "page.html")
    kinds = [(tag, values.get("type")) for tag, values, _ in page.contents]
    parts = 2 * len(PAYLOADS)
    assert kinds == [("style", None), *[("script", "application/json")] * (1 + parts), ("script", None)]
    for number, payload in enumerate(PAYLOADS):
        assert page.data(f"part-{number}")[0]["question"] == payload


def test_the_policy_names_the_script_and_the_style_by_hash(report: Report, tmp_path: Path) -> None:
    write_page(report, tmp_path / "page.html", samples=report.samples())
    page = written(tmp_path / "page.html")
    for directive, tag in (("script-src", "script"), ("style-src", "style")):
        content = next(content for name, values, content in page.contents if name == tag and not values)
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{directive} 'sha256-{digest}';" in page.policy
    assert page.policy.startswith("default-src 'none';")


def test_the_script_never_reads_text_as_markup_or_code() -> None:
    script = (ASSETS / "page.js").read_text(encoding="utf-8")
    for way in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function(", "srcdoc"):
        assert way not in script
    assert "</script" not in script
    assert "<!--" not in script


@pytest.mark.parametrize(
    ("length", "shown"),
    [
        (TEXT_LIMIT, "x" * TEXT_LIMIT),
        (TEXT_LIMIT + 1, {"text": "x" * TEXT_LIMIT, "length": TEXT_LIMIT + 1}),
        (100_000, {"text": "x" * TEXT_LIMIT, "length": 100_000}),
    ],
)
@pytest.mark.parametrize("field", ["output", "question"])
def test_long_texts_are_cut_with_their_length(report: Report, field: str, length: int, shown: object) -> None:
    first, *_ = report.samples()
    assert sample_data(replace(first, record={**first.record, field: "x" * length}))[field] == shown


@pytest.mark.parametrize(
    ("changes", "states"),
    [
        ({"is_correct": True, "score": 1.0}, ["right"]),
        ({"is_correct": False, "score": 0.2}, ["wrong"]),
        ({"flags": ["empty", "lost_to_formatting", "?"], "score": 0.0}, ["wrong", "lost_to_formatting", "empty"]),
        ({"flags": ["truncated"], "score": 1.0}, ["right", "truncated"]),
        ({"eval_mode": "judge", "pending": True}, ["pending"]),
        ({"eval_mode": "judge", "score_details": {"judge_verdict": "unparsed"}}, ["unparsed"]),
        ({"eval_mode": "judge", "score_details": {"judge_verdict": "correct"}, "score": 1.0}, ["right"]),
    ],
)
def test_states_of_a_sample(report: Report, changes: dict[str, Any], states: list[str]) -> None:
    first, *_ = report.samples()
    assert sample_data(Sample({}, {**first.record, "flags": [], **changes}))["states"] == states


@pytest.mark.parametrize("text", ["</script>", "<!--", "]]>", "&lt;", "\u2028\u2029", "\ud800", '"\\'])
def test_embedded_json_reads_back_and_holds_nothing_that_html_minds(text: str) -> None:
    embedded = embed({text: [text]})
    assert json.loads(embedded) == {text: [text]}
    assert not set("<>&\u2028\u2029\ud800") & set(embedded)


@pytest.mark.parametrize(
    ("image", "size"),
    [
        (Image.new("RGB", (2_000, 1_000)), (SIDE, SIDE // 2)),
        (Image.new("RGB", (10, 20)), (10, 20)),
        (Image.new("L", (1_000, 1_000)), (SIDE, SIDE)),
        (Image.new("1", (800, 800)), (SIDE, SIDE)),
        (Image.new("CMYK", (800, 400)), (SIDE, SIDE // 2)),
        (Image.new("I;16", (800, 400)), (SIDE, SIDE // 2)),
        (Image.new("P", (1, 900)), (1, SIDE)),
    ],
)
def test_thumbnails_fit_whatever_the_image(image: Image.Image, size: tuple[int, int], tmp_path: Path) -> None:
    (tmp_path / "small.webp").write_bytes(thumbnail(image) or b"")
    with Image.open(tmp_path / "small.webp") as small:
        assert small.size == size


def test_transparent_parts_of_a_thumbnail_are_white(tmp_path: Path) -> None:
    (tmp_path / "small.webp").write_bytes(thumbnail(Image.new("RGBA", (50, 50), (0, 0, 0, 0))) or b"")
    with Image.open(tmp_path / "small.webp") as small:
        assert small.convert("RGB").getpixel((25, 25)) == (255, 255, 255)


def test_a_broken_image_has_no_thumbnail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ImageFile, "LOAD_TRUNCATED_IMAGES", False)  # libraries of other tests switch it on
    Image.new("RGB", (500, 500), "green").save(tmp_path / "whole.png")
    (tmp_path / "half.png").write_bytes((tmp_path / "whole.png").read_bytes()[:200])
    with Image.open(tmp_path / "half.png") as broken:
        assert thumbnail(broken) is None


def test_what_a_second_run_lacks_stands_above_the_tables(report: Report, tmp_path: Path) -> None:
    lesser = make_run(tmp_path, samples=8, capabilities=["counting", "math"])
    problems = "\n".join(overview(report, load_report(lesser, dataset="none"))["problems"])
    assert "not comparable with the second run: judge: acme/judge-30b#" in problems
    assert "averages not comparable with the second run: only one has chart, document, general, grounding" in problems
    assert "second run: math: 1 sample without a verdict" in problems
