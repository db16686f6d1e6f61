"""Rules of the document and scene-text scorers that golden cases do not pin down: order, boundaries, limits."""

from __future__ import annotations

import random
from functools import cache

import pytest

from datbench.scorers.anls import anls, similarity
from datbench.scorers.base import FieldError
from datbench.scorers.cc_ocr import CC_OCR_DOC_PARSING, CC_OCR_KIE
from datbench.scorers.contractions import CONTRACTIONS, agreement, normalise_annotation
from datbench.scorers.documents import DOCVQA, INFOVQA, OCR_VQA
from datbench.scorers.faults import OutputFault
from datbench.scorers.html_tables import structure_teds
from datbench.scorers.json_fields import field_f1, field_set, find_json, label_characters, labelled_tree, tidy
from datbench.scorers.literals import MAX_DEPTH, LimitError, read_json, read_literal
from datbench.scorers.scene_text import CC_OCR_SCENE, TEXT_VQA
from datbench.scorers.tree_distance import Costs, tree_distance, tree_of


def fields(answer="gold", all_answers=None, **metadata):
    golds = [answer] if all_answers is None else all_answers
    return {"question_id": "q", "question": "?", "answer": answer, "all_answers": golds, **metadata}


# ANLS


@pytest.mark.parametrize(
    ("prediction", "golds", "expected"),
    [
        ("", [], 0.0),
        ("", ["  "], 1.0),
        ("abcd", ["abxy"], 0.5),
        ("ABC  d", ["abc d"], 1.0),
        ("x", ["abc", "xy"], 0.5),
    ],
)
def test_anls_is_the_best_raw_similarity(prediction, golds, expected):
    assert anls(prediction, golds) == pytest.approx(expected)


def test_similarity_has_no_transposition_and_no_length_limit():
    assert similarity("ab", "ba") == 0.0
    assert similarity("a" * 5000, "a" * 4999 + "b") == pytest.approx(1 - 1 / 5000)


@pytest.mark.parametrize(("scorer", "expected"), [(DOCVQA, 0.5), (OCR_VQA, 0.5), (INFOVQA, 0.0)])
def test_a_distance_of_exactly_one_half(scorer, expected):
    details = scorer.score(fields("abcd"), "abxy")
    assert details["score"] == expected
    if scorer is not INFOVQA:
        assert (details["anls_thresholded_0_5"], details["threshold_0_5_accuracy"]) == (0.5, 1.0)


def test_infovqa_divides_by_the_length_in_capitals():
    assert INFOVQA.score(fields("ß"), "x")["score"] == 0.0  # distance 1 of 2
    assert INFOVQA.score(fields("ab"), "aß")["score"] == pytest.approx(1 - 1 / 3)
    assert INFOVQA.score(fields("aß"), "xß")["score"] == pytest.approx(1 - 1 / 3)


def test_infovqa_looks_at_no_other_gold():
    assert INFOVQA.score(fields("gold", ["other"]), "other")["score"] == 0.0


def test_docvqa_reads_answer_only_where_all_answers_is_empty():
    assert DOCVQA.score(fields("abc", ["xyz"]), "abc")["score"] == 0.0
    assert DOCVQA.score(fields("gold", []), "gold")["score"] == 1.0
    assert DOCVQA.score(fields("gold", "other"), "other")["all_ground_truth_answers"] == ["other"]
    assert DOCVQA.score(fields("", ["", " "]), "")["all_ground_truth_answers"] == [" "]


def test_ocr_vqa_matches_two_empty_texts_and_scores_them_zero():
    details = OCR_VQA.score(fields(""), "")
    assert (details["score"], details["exact_match"]) == (0.0, 1.0)


def test_exact_match_counts_any_listed_gold():
    items = [DOCVQA.score(fields("a", ["a b", "c"]), output) for output in ("A  B", "c", "d", "")]
    assert DOCVQA.metrics(items)["accuracy__DocVQA-ExactMatch"] == 0.5


@pytest.mark.parametrize("scorer", [DOCVQA, INFOVQA, OCR_VQA, TEXT_VQA, CC_OCR_SCENE, CC_OCR_KIE, CC_OCR_DOC_PARSING])
def test_a_gold_that_is_no_text_is_refused(scorer):
    scorer.check(fields("text"))
    with pytest.raises(FieldError, match="answer"):
        scorer.check(fields(5))


@pytest.mark.parametrize("gold", [None, 0, False])
def test_docvqa_passes_over_empty_texts_only(gold):
    with pytest.raises(FieldError, match="all_answers"):
        DOCVQA.check(fields("a", ["", gold]))


def test_docvqa_metrics_of_bare_scores():
    assert DOCVQA.metrics([{"score": 0.25}])["accuracy__DocVQA-ANLS"] == 0.25


def test_text_vqa_refuses_golds_that_are_no_list():
    with pytest.raises(FieldError, match="all_answers"):
        TEXT_VQA.check(fields("a", "a"))


# text-vqa


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a/b /c", "ab c"),  # beside a blank somewhere: deleted everywhere
        ("x/b/c", "x b c"),
        ("1,000 x-y", "1000 xy"),  # a number with a comma deletes every mark
        ("3.5 3. .5 u.s.", "3.5 3 .5 us"),
        ("." * 33 + "x", ".x"),  # the first 32 periods only
        ("the An none ten dont", "0 10 don't"),
        ("&#*$%:'", "&#*$%:'"),
        ("\t\n", ""),
        ("GROẞ", "groß"),
    ],
)
def test_normalisation_of_annotations(text, expected):
    assert normalise_annotation(text) == expected


def test_contractions_only_add_apostrophes():
    assert len(CONTRACTIONS) == 114
    assert all(word.replace("'", "") == long.replace("'", "") for word, long in CONTRACTIONS.items())
    assert CONTRACTIONS["somebody'd"] == "somebodyd"


@pytest.mark.parametrize(
    ("given", "total", "expected"), [(1, 1, 0), (2, 2, 1 / 3), (1, 10, 0.3), (4, 10, 1), (0, 0, 0)]
)
def test_agreement_leaves_each_annotator_out_in_turn(given, total, expected):
    assert agreement("x", ["x"] * given + ["y"] * (total - given)) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("output", "golds", "expected"),
    [
        ("$12.50", ["12.50 dollars"], 1.0),
        ("12.50", ["12.50 dollars"], 0.0),  # no unit sign anywhere
        ("1200", ["$1200.00"], 0.0),  # compared as text
        ("$1.2.3", ["1.23"], 1.0),
        ("$5 off 20", ["520"], 1.0),
        ("$.50", ["50"], 1.0),
        ("$", ["$"], 0.0),
        ("$٣", ["$3"], 0.0),  # ASCII digits only
        ("who?ever, 1,0", ["whoever 10"] * 4, 1.0),  # commas and question marks go first
    ],
)
def test_text_vqa_falls_back_to_amounts(output, golds, expected):
    assert TEXT_VQA.score(fields("", golds), output)["score"] == expected


# cc-ocr-multi_scene_ocr


def test_scene_text_with_a_gold_in_another_script():
    assert CC_OCR_SCENE.score(fields("出口"), "出口 Ａ")["score"] == 1.0
    assert CC_OCR_SCENE.score(fields("出口"), "exit")["score"] == 0.0
    assert CC_OCR_SCENE.score(fields("abcd"), "DCBA!")["score"] == 1.0


def test_scene_text_metrics_of_nothing():
    assert CC_OCR_SCENE.metrics([]) == {"macro_f1": 0.0, "micro_f1": 0.0, "accuracy": 0.0}


def test_scene_text_micro_average_without_gold_characters():
    metrics = CC_OCR_SCENE.metrics([CC_OCR_SCENE.score(fields("出"), "口")])
    assert (metrics["micro_recall"], metrics["micro_precision"], metrics["accuracy"]) == (1.0, 1.0, 1.0)


# cc-ocr-kie


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('x {"a": "}{"} y', {"a": "}{"}),
        ('x {"a": "}"} y', {}),  # braces in strings are counted too
        ('{bad} {"a": 1}', {}),
        ('\\boxed{{"a": 1}} \\boxed{{"a": 2}}', {"a": 1}),
        ('\\boxed{{"a": 1}', {}),  # never closed: the text stays whole and begins with the box's brace
        ("<|begin_of_box|>1<|end_of_box|><|begin_of_box|>2<|end_of_box|>", 1),
        ('```JSON\n{"a": "``` b"}\n```', {"a": "b"}),
        ("NaN", pytest.approx(float("nan"), nan_ok=True)),
    ],
)
def test_where_json_is_found(text, expected):
    assert find_json(text) == expected


def test_values_are_tidied_only_in_objects():
    assert tidy([{"a": "ｘ  y"}]) == [{"a": "ｘ  y"}]
    assert tidy({"k": "！～￥"}) == {"k": "!~￥"}
    assert tidy({"ｋ": "ｘ　 y", "l": [None, True, 1.0, ["x", "y"], {"m": " z "}], "n": None}) == {
        "ｋ": "x y",
        "l": ["None", "True", "1.0", "['x', 'y']", {"m": "z"}],
        "n": None,
    }


def test_field_pairs_and_their_epsilon():
    assert field_set({"a": {"b": [1, "1", None]}, "": {"c": True}, "d": []}) == {
        ("a.b", "1"),
        ("a.b", "None"),
        ("c", "True"),
    }
    assert field_f1({("a", "1")}, {("a", "1")}) == pytest.approx(1 / (1 + 1e-6))
    assert field_f1(set(), set()) == 0.0


def test_labels_of_a_tree_in_postorder():
    tree = labelled_tree({"b": ["x", {"k": None}], "a": " "})
    assert tree.nodes == ["a", "x", "b[0]", "k", "b[1]", "b", "root"]
    assert label_characters({"b": ["x", {"k": None}], "a": " "}) == 12


def test_a_prediction_twice_as_heavy_scores_nothing_in_the_tree():
    details = CC_OCR_KIE.score(fields('{"a": "1"}'), '{"a": "1", "bb": ""}')
    assert details["nted_score"] == 0.0
    assert CC_OCR_KIE.score(fields('{"a": "1"}'), '{"a": "1", "b": ""}')["nted_score"] == 0.5


@pytest.mark.parametrize("deep", ["[" * 5000, '{"a":' * 3000 + "1" + "}" * 3000, '{"n": ' + "1" * 4301 + "}"])
def test_json_beyond_the_limits_is_an_error(deep):
    details = CC_OCR_KIE.score(fields('{"a": "1"}'), deep)
    assert (details["score"], details["f1_score"], details["nted_score"]) == (0.0, 0.0, 0.0)
    assert details["error"]


def test_json_up_to_the_limits_is_scored():
    depth = MAX_DEPTH - 100
    nested = '{"a":' * depth + "1" + "}" * depth
    assert CC_OCR_KIE.score(fields(nested), nested)["nted_score"] == 1.0
    assert read_json('{"n": -' + "1" * 4300 + "}")["n"] < 0
    assert read_json('["\\"' + "[" * 7000 + '"]')  # brackets in a text are no nesting


def test_repeated_long_paths_are_not_spelt_out():
    heavy = {"k" * 50_000: {str(i): i for i in range(1000)}}
    with pytest.raises(OutputFault, match="too long"):
        field_set(heavy)


# literals


def test_json_reader_tells_no_json_from_too_much_json():
    with pytest.raises(LimitError):
        read_json("[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1))
    with pytest.raises(ValueError, match="Extra data"):
        read_json("{} {}")
    assert read_json(" \n[NaN, Infinity]\t")[1] == float("inf")


@pytest.mark.parametrize("text", ["1+" * 50_000 + "1", "-" * 100_000 + "1", "(" * 100_000, "print(1)", "\0", "\ud800"])
def test_literals_fail_in_one_way(text):
    with pytest.raises(ValueError, match="no Python literal"):
        read_literal(text)


@pytest.mark.filterwarnings("error")
def test_literals_warn_of_nothing():
    assert read_literal(r"'\d'") == r"\d"


# cc-ocr-doc_parsing


@pytest.mark.parametrize(
    ("category", "output", "answer", "expected"),
    [
        ("doc", "\\title{a{b}c}", "c}", 1.0),  # to the first brace
        ("doc", "\\title{a\nb}x", "x", 1 / 11),  # not across lines
        ("doc", "{x}\\title{y}", "{x}", 1.0),
        ("doc", "\\title[o]{a}", "\\title[o]{a}", 1.0),
        ("doc", "a\r\t\n b", "ab", 1.0),
        ("doc", "a\u00a0b", "ab", 1 - 1 / 3),
        ("doc", "\\au\\title{x}thor{y}", "", 1.0),  # titles go before authors
        ("doc", "\\ti\\author{x}tle{y}", "y", 1 / 9),
        ("formula", "a\r", "a", 0.5),
        ("formula", "```LaTeX\nx ```", "x", 1.0),
        ("molecular", "<smiles>C\tC</smiles>", "CC", 1 - 1 / 3),
        ("molecular", "<SMILES>C", "C", 1 - 8 / 9),
        ("", "", "", 1.0),
        (None, "\\boxed{a} b}", "a} b", 1.0),
    ],
)
def test_document_text(category, output, answer, expected):
    details = CC_OCR_DOC_PARSING.score(fields(answer, l2_category=category), output)
    assert details["score"] == pytest.approx(expected)
    assert details["l2_category"] == (category or "doc")


@pytest.mark.parametrize(
    ("output", "answer", "expected"),
    [
        ("", "<table><tr><td>a</td></tr></table>", 1 / 3),
        ("text", "<table><tr><td>a</td></tr></table>", 0.0),
        ("<TABLE><tr><td>zzz</TABLE> tail", "<table><tr><td>a</td></tr></table>", 1.0),
        ("<table x><tr><td>a</td></tr></table>", "<table><tr><td>a</td></tr></table>", 1.0),
        ("<table><!-- c --><tr><td></td></tr></table>", "<table><tr><td></td></tr></table>", 2 / 3),
        ("<table>" + "<tr></tr>" * 5 + "</table>", "<table><tr><td></td></tr></table>", 0.0),
    ],
)
def test_table_structure(output, answer, expected):
    details = CC_OCR_DOC_PARSING.score(fields(answer, l2_category="table"), output)
    assert details["score"] == pytest.approx(expected)
    assert details["method"] == "teds"


def test_tables_too_large_to_compare_are_an_error():
    rows = "<table>" + "<tr><td>a</td></tr>" * 600
    details = CC_OCR_DOC_PARSING.score(fields(rows, l2_category="table"), rows + "<tr></tr>")
    assert details["score"] == 0.0
    assert "too large" in details["error"]
    assert structure_teds(rows, rows) == 1.0


# tree distance


def random_tree(source, size):
    """(label, children) nested tuples with ``size`` nodes."""
    if size == 1:
        return (source.choice("abcd") * source.randint(0, 3), ())
    children, left = [], size - 1
    while left:
        share = source.randint(1, left)
        children.append(random_tree(source, share))
        left -= share
    return (source.choice("abcd"), tuple(children))


@cache
def forest_distance(first, second):
    """The definition, by recursion over forests: deletion, insertion, or both last roots matched."""
    if not first and not second:
        return 0
    options = []
    if first:
        label, children = first[-1]
        options.append(forest_distance(first[:-1] + children, second) + len(label))
    if second:
        other, others = second[-1]
        options.append(forest_distance(first, second[:-1] + others) + len(other))
    if first and second:
        options.append(
            forest_distance(children, others)
            + forest_distance(first[:-1], second[:-1])
            + (0 if label == other else abs(len(label) - len(other)) + 0.5)
        )
    return min(options)


@pytest.mark.parametrize("seed", range(60))
def test_tree_distance_equals_its_definition(seed):
    source = random.Random(seed)
    roots = [random_tree(source, source.randint(1, 8)) for _ in range(2)]
    first, second = (tree_of(root, lambda node: node[1]) for root in roots)
    labels, others = ([label for label, _ in tree.nodes] for tree in (first, second))
    change = [[0 if a == b else abs(len(a) - len(b)) + 0.5 for b in others] for a in labels]
    costs = Costs(list(map(len, labels)), list(map(len, others)), change)
    assert tree_distance(first, second, costs) == forest_distance((roots[0],), (roots[1],))


def test_deep_bushy_trees_are_refused():
    def comb(depth):
        tree = ("x", ())
        for _ in range(depth):
            tree = ("x", (("x", ()), tree))
        return tree_of(tree, lambda node: node[1])

    costs = Costs([1] * 961, [1] * 961, [[0] * 961] * 961)
    with pytest.raises(OutputFault, match="961"):
        tree_distance(comb(480), comb(480), costs)
