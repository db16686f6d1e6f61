"""Rules of ocrbench-v2 that golden cases do not pin down: dispatch, boundaries, limits, segmentation."""

from __future__ import annotations

import os
import random
import re
import stat
import subprocess
import sys

import pytest

from datbench.scorers import page_similarity, segmentation
from datbench.scorers.base import FieldError
from datbench.scorers.html_tables import cell_teds
from datbench.scorers.ocrbench_fields import dict_f1, key_values, read_dict
from datbench.scorers.ocrbench_position import answer_with_position, iou
from datbench.scorers.ocrbench_text import (
    cased_text_match,
    chinese_formula,
    chinese_text_match,
    contains_count,
    formula,
    letters,
    near_count,
    text_match,
)
from datbench.scorers.ocrbench_v2 import OCRBENCH_V2
from datbench.scorers.page_similarity import bleu, f_measure, meteor
from datbench.scorers.page_similarity import page_similarity as likeness


def fields(*answers, question="?", **metadata):
    return {"question_id": "q", "question": question, "answer": "unused", "all_answers": list(answers), **metadata}


# dispatch


@pytest.mark.parametrize(
    ("task_type", "mode", "method"),
    [
        ("text recognition en", "multiple choice", "multiple_choice"),
        ("text recognition en", "case sensitive", "vqa_case_sensitive"),
        ("text recognition en", "None", "vqa"),
        ("reasoning VQA cn", "case sensitive", "vqa_case_sensitive"),
        ("reasoning VQA cn", "", "cn_vqa"),
        ("text translation cn", "multiple choice", "cn_vqa"),
        ("math QA en", "case sensitive", "vqa"),
        ("text counting en", "exact match", "counting"),
        ("Text recognition en", "", "vqa_fallback"),
        ("text recognition en ", "", "vqa_fallback"),
        ("text spotting cn", "", "vqa_fallback"),
        (None, ["x"], "vqa_fallback"),
        ("handwritten answer extraction cn", "", "handwritten_extraction"),
    ],
)
def test_the_rule_follows_type_and_eval(task_type, mode, method):
    assert OCRBENCH_V2.score(fields("a", type=task_type, eval=mode), "a")["scoring_method"] == method


def test_a_missing_type_is_the_empty_text():
    assert OCRBENCH_V2.score(fields("a"), "a")["task_type"] == ""


@pytest.mark.parametrize(("task_type", "text"), [("text spotting en", "a\nb"), ("full-page OCR en", "b")])
def test_raw_types_see_the_whole_output(task_type, text):
    assert OCRBENCH_V2.score(fields("a", type=task_type), "a\nb")["pred_answer"] == text


def test_metrics_count_chinese_parsing_as_english_and_unknown_types_nowhere():
    details = [
        {"task_type": "formula recognition cn", "score": 1},
        {"task_type": "chart parsing en", "score": 0},
        {"task_type": "zzz", "score": 1},
    ]
    metrics = OCRBENCH_V2.metrics(details)
    assert len(metrics) == 17
    assert (metrics["Parsing"], metrics["CN_Parsing"], metrics["Average"]) == (0.5, 0.0, 0.5 / 8)
    assert OCRBENCH_V2.metrics([]) == {"accuracy": 0.0}


@pytest.mark.parametrize(
    ("row", "field"),
    [
        ({**fields(), "all_answers": "text", "type": "zzz"}, "all_answers"),
        (fields("1", 2, type="text counting en"), "all_answers"),
        (fields(None, type="formula recognition cn"), "all_answers"),
        (fields(1, "a", type="full-page OCR en"), "all_answers"),
        (fields(1, type="handwritten answer extraction cn", question="简答"), "all_answers"),
        (fields("a", type="text grounding en", bbox=[1, 2, 3]), "bbox"),
    ],
)
def test_malformed_rows_are_refused(row, field):
    with pytest.raises(FieldError) as refusal:
        OCRBENCH_V2.check(row)
    assert refusal.value.field == field


def test_rows_that_only_look_malformed_are_accepted():
    OCRBENCH_V2.check(fields(1, 2.5, None, type="text recognition en"))
    OCRBENCH_V2.check(fields("a", 1, type="full-page OCR en"))
    OCRBENCH_V2.check(fields(1, type="handwritten answer extraction cn"))
    OCRBENCH_V2.check(fields("a", type="text grounding en", bbox=[]))
    OCRBENCH_V2.check(fields("a", type="text recognition en", bbox=[1]))


# text rules


@pytest.mark.parametrize(
    ("rule", "prediction", "answers", "expected"),
    [
        (letters, "(A).3", ["A"], 1.0),
        (letters, "A", ["A", "A"], 0.0),
        (letters, "12", [""], 1.0),
        (text_match, "I know", ["no"], 1.0),
        (text_match, "anything", [" "], 1.0),
        (text_match, "x one two three four", ["one two three four"], 1.0),
        (text_match, "x one two three four five x", ["one two three four five"], 1 - 4 / 27),
        (text_match, "a b c d e", ["a b c d efghijklm"], 9 / 17),
        (text_match, "a b c d e", ["a b c d efghijklmn"], 0.5),
        (text_match, "a b c d e", ["a b c d efghijklmno"], 0.0),  # below one half
        (text_match, "a b", ["a  b"], 0.0),  # blanks of an answer stay
        (text_match, "42", [42], 1.0),
        (text_match, "x", [None, ["x"]], 0.0),
        (cased_text_match, "a", ["A"], 0.0),
        (chinese_text_match, "一二，三", ["二， 三"], 1.0),
        (chinese_text_match, "a,b,c,d,e", ["a,b,c"], 1.0),
        (chinese_text_match, "a,b,c,d,e", ["a,b,c,d"], 1 - 2 / 9),
        (chinese_text_match, "ab", ["a\u3000b"], 0.0),
        (formula, "$x ^2$", ["x^ 2"], 1.0),
        (formula, "X", ["x"], 0.0),
        (chinese_formula, r"a\text{\text{b}}", ["ab"], 0.0),
        (chinese_formula, r"a\text{b}", [r"a\text{b}", "z"], 0.0),
        (contains_count, "There are 12", ["2"], 1.0),
        (near_count, "-20", ["20"], 1.0),
        (near_count, "1,020", ["1"], 1.0),
        (near_count, "15", [" 1_0 "], 0.0),  # closeness of one half is too little
        (near_count, "14", ["10"], 0.6),
        (near_count, "20", ["10"], 0.0),
        (near_count, "0", ["0"], 0.0),
        (near_count, "٣", ["3"], 1.0),
        (near_count, "3", ["three"], 0.0),
        (near_count, "none", ["3"], 0.0),
    ],
)
def test_text_rules(rule, prediction, answers, expected):
    assert rule(prediction, answers) == pytest.approx(expected)
    assert rule(prediction, []) == 0.0


def test_leading_zeros_count_as_digits():
    details = OCRBENCH_V2.score(fields("1", type="text counting en", eval="regression"), "0" * 4300 + "1")
    assert (details["score"], "4300" in details["error"]) == (0.0, True)


# fields


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ('```JSON\n{"a": 1}\n``` and more', {"a": 1}),
        ('```yaml\n{"a": 1}\n```', {"yaml\n": 0, "a": "1"}),
        ("{'a': None,}", {"a": None}),
        ("Total: 3\nTax=4", {"Total": "3", "Tax": "4"}),
        ("Details below\nname: x, age: 2", {"Details below\nname": "x", "age": "2"}),
        ("a: \nb", {"a": "b"}),
        ("{a: }", {"a": ""}),
        ("a:\n\n", {}),
        ("E-mail: x", {"mail": "x"}),
        ("**name**: x", {}),
        ("[1, 2]", {}),
        ('["a: b"]', {"a": "b"}),
    ],
)
def test_reading_a_dict(output, expected):
    expected.pop("yaml\n", None)
    assert read_dict(output) == expected


def test_key_value_scan_equals_the_pattern_it_stands_for():
    pattern = re.compile(r'["\']?([\w\s]+)["\']?\s*[:=]\s*["\']?([^\n,"\'{}]+)["\']?')
    source = random.Random(7)
    for _ in range(20_000):
        text = "".join(source.choices("ab _\n\t\"':=,{}-\u3000é1", k=source.randint(0, 12)))
        assert key_values(text) == {key.strip(): value.strip() for key, value in pattern.findall(text)}, repr(text)


@pytest.mark.parametrize(
    ("output", "reference", "expected"),
    [
        ('{"a": "X y"}', "{'a': 'xY'}", 1.0),
        ('{"a": 1, "b": 2}', "{'a': '1'}", 2 / 3),
        ('{"a": null}', "{'b': None}", 0.0),
        ('{"a": "1"}', "{'a': ['2', '1'], 'c': [None, 'x']}", 1.0),
        ('{"a": "1", "c": "z"}', "{'a': '1', 'c': [None, 'x']}", 2 / 3),
        ('{"a": 0}', "{'a': False}", 1.0),
        ('{"a": 0}', "{'a': '0'}", 0.0),
        ('{"a": ["abc"]}', "{'a': [['abc']]}", 1.0),
        ('{"a": "1"}', "{'a': '1', 'b': []}", 0.0),
        ('{"a": 1}', '{"a": null}', 0.0),
        ('{"a": "1"}', {"a": 1}, 1.0),
    ],
)
def test_f1_of_fields(output, reference, expected):
    assert dict_f1(output, [reference, "{}"]) == pytest.approx(expected)


@pytest.mark.parametrize("around", ["{}", "[{}, set()]", "({},)", "(1, {})", "[{{'b': {}}}]"])
def test_sets_are_printed_in_one_order(around):
    items = [f"item {i}" for i in range(50)]
    given, printed = ("{" + ", ".join(map(repr, order)) + "}" for order in (items, sorted(items)))
    assert dict_f1("{'a': " + around.format(given) + "}", [{"a": around.format(printed)}]) == 1.0


def test_a_number_too_long_to_print_is_an_error():
    details = OCRBENCH_V2.score(
        fields("{'a': 1}", type="key information extraction en"), "{'a': 0x" + "f" * 10_000 + "}"
    )
    assert (details["score"], "too large" in details["error"]) == (0.0, True)


# tables

TABLE = "<table><tr><td>ab</td><td>cd</td></tr></table>"


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        (TABLE, 1.0),
        ("```html\n<body>" + TABLE + "</body>", 1.0),
        (TABLE.upper(), 0.0),
        (TABLE.replace(">ab", ">a<!-- c -->b"), 1.0),
        (TABLE.replace(">ab", ">ax"), 1 - 0.5 / 3),
        (TABLE.replace("<td>ab", "<td colspan=2>ab"), 1 - 1 / 3),
        (TABLE.replace("<td>ab", "<td colspan=two>ab"), 0.0),
        (TABLE.replace("<td>", "<th>").replace("</td>", "</th>"), 1 - 2 / 3),
        (TABLE.replace(">ab", "><b>ab</b>"), 1 - 0.5 / 4),
        ("<div>" + TABLE + "</div>", 1.0),
        ("<table></table>", 0.0),
        ("<table>" + "<tr><td></td></tr>" * 2000 + "</table>", 0.0),
    ],
)
def test_tables_with_cells(output, expected):
    row = fields(TABLE, question="Give HTML", type="table parsing en")
    assert OCRBENCH_V2.score(row, output)["score"] == pytest.approx(expected)


def test_tables_by_text_unless_the_question_asks_for_html():
    row = fields("short", question="Give Markdown", type="table parsing cn")
    assert OCRBENCH_V2.score(row, "a short\ntext")["score"] == 1.0


def test_line_feeds_of_an_html_answer_leave_nothing():
    row = fields(TABLE.replace(">ab", ">a\nb"), question="HTML", type="table parsing en")
    assert OCRBENCH_V2.score(row, TABLE)["score"] == 1.0


def test_cells_with_tags_compare_token_by_token():
    gold = "<table><tr><td>x<i>y</i>z</td></tr></table>"
    assert cell_teds("<table><tr><td>x<b>y</b>z</td></tr></table>", gold) == pytest.approx(1 - (2 / 5) / 3)
    assert cell_teds("<table><tr><td>xyz</td></tr></table>", gold) == pytest.approx(1 - (2 / 5) / 3)


def test_what_a_cell_loses_of_the_tags_in_it():
    nested = "<table><tr><td>a<table><tr><td>b</td>{}</tr></table></td></tr></table>"
    assert cell_teds(nested.format("c"), nested.format("")) == 1.0  # the text behind a cell
    cell = "<table><tr><td>{}</td></tr></table>"
    assert cell_teds(cell.format("a<unk>b</unk>"), cell.format("a")) == pytest.approx(1 - (2 / 3) / 3)
    assert cell_teds(cell.format("a<?x?>b<!-- c -->"), cell.format("ab")) == 1.0


def test_a_runaway_table_is_an_error():
    rows = "<table>" + "<tr><td>a</td></tr>" * 600 + "</table>"
    row = fields(rows, question="html", type="table parsing en")
    details = OCRBENCH_V2.score(row, rows.replace(">a", ">b"))
    assert (details["score"], "too large" in details["error"]) == (0.0, True)


# positions

BOX = [10, 20, 30, 40]


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ('{"answer": "yes", "bbox": [10, 20, 30, 40]}', 1.0),
        ("{'answer': 'yes', 'bbox': '10, 20, 30, 40'}", 1.0),
        ('{"answer": "yes", "bbox": ["10", "20", 30.9, 40, 5]}', 1.0),
        ('{"answer": "yes", "bbox": [10, 20, 30, 40, "x"]}', 0.5),
        ('{"answer": "yes", "bbox": [10, 20]}', 0.5),
        ('{"answer": "yes", "bbox": null}', 0.5),
        ('{"bbox": [10, 20, 30, 40]}', 0.5),  # no key "answer": free text
        ("yes (10, 20, 30, 40)", 1.0),
        ("yes [10,20,30,40)", 1.0),
        ("yes (10, 20, 30, 40) (1, 1, 2, 2)", 0.5),
        ("yes (1, 1, 2, 2) (10, 20, 30, 40) (1, 1, 2, 2)", 1.0),  # repeats count where they first stand
        ("yes (10, 20, 30, 40) (10, 20, 30, 1001)", 1.0),
        ("yes (10, 20, 30, 40) (1, 1, 2, 1000)", 0.5),
        ("yes (-10, 20, 30, 40)", 0.5),
    ],
)
def test_answers_with_positions(output, expected):
    assert answer_with_position(output, ["yes"], BOX) == expected


@pytest.mark.parametrize("box", [None, [], "10, 20, 30, 40", "1234", [[10, 20], [30, 20], [30, 40], [10, 40]]])
def test_reference_boxes_that_never_match(box):
    assert answer_with_position('{"answer": "yes", "bbox": [10, 20, 30, 40]}', ["yes"], box) == 0.5


def test_a_predicted_box_may_be_any_sequence_of_digits():
    assert answer_with_position("""{"answer": "yes", "bbox": "'1234'"}""", ["yes"], [1, 2, 3, 4]) == 1.0


def test_iou_takes_corners_as_they_come():
    assert iou([0, 0, 2, 2], [1, 1, 3, 3]) == pytest.approx(1 / 7)
    assert iou([2, 2, 0, 0], [2, 2, 0, 0]) == 0.0
    assert iou([0, 0, 0, 0], [0, 0, 0, 0]) == 0.0
    assert iou([0, 0, float("inf"), 1], BOX) == 0.0


@pytest.mark.parametrize(
    "output", ['{"answer": null}', '{"answer": []}', '{"answer": {}}', "(1, 2, 3, " + "1" * 4301 + ")"]
)
def test_positions_that_cannot_be_scored(output):
    details = OCRBENCH_V2.score(fields("yes", type="VQA with position en", bbox=BOX), output)
    assert details["score"] == 0.0
    assert details["error"]


def test_an_answer_of_the_wrong_kind_is_no_error_without_references():
    assert answer_with_position('{"answer": null, "bbox": [10, 20, 30, 40]}', [], BOX) == 0.5


# pages


@pytest.mark.parametrize(
    ("prediction", "answer", "expected"),
    [("", "", 0.25), ("", "x", 0.0), ("x", "", 0.0), ("one", "one", (0.5 + 1 + 1) / 4)],
)
def test_shortest_pages(prediction, answer, expected):
    assert likeness(prediction, [answer]) == pytest.approx(expected)
    assert likeness(prediction, []) == 0.0


def test_bleu_of_a_text_and_of_half_of_it():
    text = tuple("abcdefgh")
    assert bleu(text, text) == pytest.approx(1.0)
    assert bleu(text[:4], text) == pytest.approx(2.718281828 ** (1 - 8 / 4))
    assert 0.0 < bleu(text[:3], text[:3]) < 1e-70
    assert bleu(("x",), text) == 0.0


def test_f_measure_is_over_distinct_tokens():
    assert f_measure(("a", "a", "b"), ("a", "A")) == 0.5


def test_meteor_pairs_the_latest_and_counts_chunks():
    assert meteor(("a", "b"), ("a", "b")) == pytest.approx(1 - 0.5 / 8)
    assert meteor(("b", "a"), ("a", "b")) == pytest.approx(0.5)
    assert meteor(("a", "b"), ("a", "a", "b")) == pytest.approx((1 - 0.5 / 8) * (2 / 3) / (0.9 + 0.1 * 2 / 3))


def test_meteor_pairs_equal_stems_and_no_other_words(monkeypatch):
    assert meteor(("Running",), ("runs",)) == 0.5
    assert meteor(("run", "dog"), ("run", "cat")) == 0.0
    monkeypatch.setattr(page_similarity, "UNPAIRED_TOKENS_VOID_METEOR", False)
    assert meteor(("run", "dog"), ("run", "cat")) == pytest.approx(0.5 * 0.5)


def test_handwriting_is_a_page_only_for_short_answer_questions():
    row = {"type": "handwritten answer extraction cn"}
    assert OCRBENCH_V2.score(fields("甲乙", question="简答题", **row), "甲")["score"] not in (0.0, 1.0)
    assert OCRBENCH_V2.score(fields("甲", question="填空", **row), "甲乙")["score"] == 1.0


# segmentation


def test_chinese_in_either_text_makes_both_be_segmented():
    assert segmentation.words("清华大学 010-88886666") == ["清华大学", " ", "010", "-", "88886666"]
    assert likeness("ab cd", ["ab cd"]) != likeness("ab cd 中", ["ab cd 中"])


@pytest.fixture(scope="module")
def jieba_itself():
    import jieba

    jieba.setLogLevel("CRITICAL")
    original = jieba.Tokenizer()
    original.tmp_dir = os.devnull
    original.initialize()
    return original


SIGNS = "我来到北京清华大学的了不研究生命起源杭研大厦，。 \r\n\tab1.5%-+#&._é\u3000Ａ龘\u9fd5\u9fd6"


@pytest.mark.parametrize("kind", ["signs", "words", "parts of words", "characters", "rare characters"])
def test_words_are_those_of_jieba_itself(jieba_itself, kind):
    entries = [word for word, count in jieba_itself.FREQ.items() if count]
    source = random.Random(kind)
    draw = {
        "signs": lambda: source.choice(SIGNS),
        "words": lambda: source.choice(entries),
        "parts of words": lambda: source.choice(entries)[: source.randint(1, 2)],
        "characters": lambda: source.choice(source.choice(entries)),
        "rare characters": lambda: chr(source.randint(0x4E00, 0x9FD5)),
    }[kind]
    for _ in range(500):
        text = "".join(draw() for _ in range(source.randint(0, 25)))
        assert segmentation.words(text) == jieba_itself.lcut(text), repr(text)


def test_long_chinese_runs_are_segmented_whole(jieba_itself):
    text = "的" + "大学" * 3_000 + "龘鱻" * 1_000
    assert segmentation.words(text) == jieba_itself.lcut(text)
    details = OCRBENCH_V2.score(fields("甲", type="full-page OCR cn"), text)
    assert details.keys() == OCRBENCH_V2.score(fields("甲", type="full-page OCR cn"), "甲").keys()


SEGMENT = """
from datbench.scorers.segmentation import _cache_folder, words
assert words("来到北京") == ["来到", "北京"]
print(_cache_folder())
"""


def segment_in_a_fresh_process(**environment):
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", SEGMENT],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )


def test_the_cache_lies_in_a_private_folder_and_nothing_is_printed(tmp_path):
    run = segment_in_a_fresh_process(XDG_CACHE_HOME=str(tmp_path / "cache"))
    folder = tmp_path / "cache" / "datbench" / "jieba-0.42.1"
    assert run.stdout.strip() == str(folder)
    assert run.stderr == ""
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert [path.name for path in folder.iterdir()] == ["jieba.cache"]


def test_a_folder_that_others_can_write_to_is_not_used(tmp_path):
    folder = tmp_path / "datbench" / "jieba-0.42.1"
    folder.mkdir(parents=True)
    folder.chmod(0o777)
    run = segment_in_a_fresh_process(XDG_CACHE_HOME=str(tmp_path))
    assert run.stdout.strip() == os.devnull
    assert list(folder.iterdir()) == []


def test_a_home_that_cannot_be_written_to_is_no_hindrance(tmp_path):
    (tmp_path / "file").touch()
    assert segment_in_a_fresh_process(XDG_CACHE_HOME=str(tmp_path / "file")).stdout.strip() == os.devnull
