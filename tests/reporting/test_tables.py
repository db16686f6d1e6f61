"""Tables in text, Markdown, LaTeX and CSV, with names that try to break them."""

from __future__ import annotations

import csv
import io

from datbench_tasks.reporting.tables import Table, as_csv, as_latex, as_markdown, as_text, without_empty_columns

TABLE = Table(
    "Accuracy of a|b_c",
    ("capability", "accuracy", "metrics"),
    (("math", "61.0", "f1=0.5"), ("scene & more", "7.5", "-")),
    (("all", "34.2", "-"),),
    texts=frozenset({"metrics"}),
)


def test_text_is_aligned():
    assert as_text([TABLE], ["a note"]) == (
        "Accuracy of a|b_c\n"
        "\n"
        "capability    accuracy  metrics\n"
        "-------------------------------\n"
        "math              61.0  f1=0.5\n"
        "scene & more       7.5  -\n"
        "-------------------------------\n"
        "all               34.2  -\n"
        "\n"
        "a note\n"
    )


def test_the_last_column_wraps():
    wide = Table("t", ("name", "metrics"), (("a", "one=1, two=2, three=3, four=4"),), texts=frozenset({"metrics"}))
    assert as_text([wide], [], width=26).splitlines()[4:6] == ["a     one=1, two=2,", "      three=3, four=4"]


def test_markdown_cannot_be_broken_by_names():
    assert as_markdown([TABLE], ["<b>"]).splitlines() == [
        r"### Accuracy of a\|b_c",
        "",
        "| capability | accuracy | metrics |",
        "| :-- | --: | :-- |",
        "| math | 61.0 | f1=0.5 |",
        "| scene & more | 7.5 | - |",
        "| **all** | **34.2** | **-** |",
        "",
        r"* \<b\>",
    ]


def test_latex_cannot_be_broken_by_names():
    text = as_latex([TABLE], ["50 % of {x}"])
    assert r"scene \& more & 7.5 & - \\" in text
    assert r"\caption{Accuracy of a\textbar{}b\_c. 50 \% of \{x\}.}" in text
    assert r"\begin{tabular}{lrl}" in text


def test_latex_prints_what_its_default_font_lacks():
    assert r"p & \textless{}0.001 \\" in as_latex([Table("t", ("name", "value"), (("p", "<0.001"),))], [])


def test_control_and_bidi_characters_become_visible():
    hostile = Table("t", ("name", "value"), (("a\x1b[31m\u202eb\nc", "1"),))
    for text in (as_text([hostile], []), as_markdown([hostile], []), as_latex([hostile], [])):
        assert "\x1b" not in text
        assert "\u202e" not in text
        assert "U+001B" in text


def test_csv_keeps_precision_and_unites_columns():
    text = as_csv([{"name": "a,b", "value": 0.1 + 0.2}, {"name": "c", "metric": 'say "x"'}])
    assert list(csv.DictReader(io.StringIO(text))) == [
        {"name": "a,b", "value": "0.30000000000000004", "metric": ""},
        {"name": "c", "value": "", "metric": 'say "x"'},
    ]


def test_empty_columns_are_left_out_but_for_the_first():
    table = Table("t", ("name", "pending", "missing", "truncated"), (("-", "-", "3", "unknown"), ("-", "-", "-", "-")))
    assert without_empty_columns(table).columns == ("name", "missing")
