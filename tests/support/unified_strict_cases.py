"""Strict mode, case by case: (quirk, input, result in strict mode). Written from the rule, row by row of the table."""

from __future__ import annotations

import math
from typing import Any

NAN = math.nan

# (quirk, target, prediction, right?)
TEXT: list[tuple[str, Any, Any, bool]] = [
    ("Q1", "1", "10", False),
    ("Q1", "4", "x = 14", False),
    ("Q1", "cat", "education", False),
    ("Q1", "cat", "It is a cat.", True),
    ("Q1", "cat", "It is a (cat), surely", True),
    ("Q1", "New York", "She lives in new  york now", True),
    ("Q1", "vitamin B12", "They lack vitamin B12.", True),
    ("Q1", "vitamin B1", "They lack vitamin B12.", False),
    ("Q1", "5 km", "It is 5 km away", True),
    ("Q1", "5 km", "It is 2.5 km away", False),
    ("Q1", "5 km", "It is -5 km away", False),
    ("Q1", "北京", "首都是北京。", True),
    ("Q1", "7", "7", True),
    ("Q1", "1,250", "It costs 1250 dollars", True),
    ("Q2", "banana", "a", False),
    ("Q2", "unknown", "No", False),
    ("Q2", "Gaul", "Au", False),
    ("Q2", "Mercury is the closest planet", "Mercury", False),
    ("Q2", "yes", "Yes!", True),
    ("Q3", "true", "not true", False),
    ("Q3", "true", "That is not true.", False),
    ("Q3", "true", "It isn't true", False),
    ("Q3", "true", "It is true", True),
    ("Q3", "对", "不对", False),
    ("Q3", "4", "4 + 3 = 7", False),
    ("Q3", "7", "4 + 3 = 7", True),
    ("Q3", "Paris", "Not Paris, I think. The answer is London.", False),
    ("Q3", "Paris", "Paris or London? The answer is London.", False),
    ("Q3", "London", "Paris or London? The answer is London.", True),
    ("Q3", "London", "I weighed Paris.\\boxed{\\text{London}}", True),
    ("Q11", "2021", "between 2020-2021", True),
    ("Q11", "-2021", "between 2020-2021", False),
    ("Q11", "8", "15-8", True),
    ("Q11", "-8", "It is -8", True),
    ("Q12", "100000", "1e5", True),
    ("Q12", "1/2", "It is 1/2", True),
    ("Q12", "2", "It is 1/2", False),
    ("Q12", "50%", "about 50%", True),
    ("Q12", "50", "about 50%", True),
    ("Q12", "a", "the answer is a", True),
    ("Q12", "6.02e23", "N is 6.02E23", True),
    ("Q12", "1", "The answer is one of the best films", False),
    ("Q12", "342", "The answer is three hundred and forty-two.", True),
    ("Q12", "5", "The answer is max=5", True),
    ("Q12", "5", "The answer is x=5", True),
    ("Q19", "0", 0, True),
    ("Q19", "False", False, True),
    ("Q19", "5", 0, False),
]

# (quirk, prediction, extracted answer)
EXTRACTED: list[tuple[str, Any, str]] = [
    ("Q11", "2020-2021", "2021"),
    ("Q11", "15-8", "8"),
    ("Q11", "x-8", "8"),
    ("Q11", "it is -8", "-8"),
    ("Q11", "= -8", "-8"),
    ("Q12", "1e5", "1e5"),
    ("Q12", "6.02E23", "6.02E23"),
    ("Q12", "1/2", "1/2"),
    ("Q12", "3/4 of 2,000", "2000"),
    ("Q12", "50%", "50%"),
    ("Q12", "The answer is a", "a"),
    ("Q12", "The answer is one of the best", "one of the best"),
    ("Q12", "The answer is twenty five", "25"),
    ("Q12", "The answer is Three Hundred and Forty-Two.", "342"),
    ("Q12", "The answer is max=5", "max=5"),
    ("Q12", "The answer is x=5", "5"),
    ("Q12", "The answer is 42 km", "42"),
    ("Q12", "\\boxed{5 \\text{ cm}}", "5"),
    ("Q19", 0, "0"),
    ("Q19", 0.0, "0.0"),
    ("Q19", False, ""),
    ("Q19", None, ""),
    ("Q19", "", ""),
]

# (quirk, target, prediction, error token)
BLANK: list[tuple[str, Any, Any, str]] = [
    ("Q4", NAN, "banana", "empty_reference"),
    ("Q4", "banana", NAN, "empty_prediction"),
    ("Q4", NAN, NAN, "empty_reference"),
    ("Q4", "nan", "nan", ""),
]

# (quirk, targets cell, list)
TARGETS: list[tuple[str, Any, list[str]]] = [
    ("Q4", NAN, []),
    ("Q4", ["a", NAN, None, ""], ["a"]),
    ("Q13", ("a", "b"), ["a", "b"]),
    ("Q18", "|x-1|", ["|x-1|"]),
    ("Q18", "P(A|B)", ["P(A|B)"]),
    ("Q18", "a; b", ["a; b"]),
    ("Q18", "a || b", ["a", "b"]),
    ("Q18", '["a|b", "c"]', ["a|b", "c"]),
]

FOUR = ["red", "green", "blue", "Tuesday"]

# (quirk, label base, labels of a column with four choices each, base)
BASES: list[tuple[str, list[Any], int]] = [
    ("Q5", [0, 1, 2], 0),
    ("Q5", [1, 2, 3, 4], 1),
    ("Q5", ["1", "4"], 1),
    ("Q5", [1, 2, 3], 0),
    ("Q5", [0, 4], 0),
    ("Q5", [1.0, NAN, 4.0], 1),
    ("Q5", ["A", "B"], 0),
    ("Q5", [[1, 2], [4]], 1),
    ("Q5", ["1,2", "[3, 4]"], 1),
    ("Q5", [], 0),
]

# (quirk, label base, label cell, index among FOUR)
LABELS: list[tuple[str, int, Any, int | None]] = [
    ("Q5", 0, 4, None),
    ("Q5", 0, 3, 3),
    ("Q5", 1, 4, 3),
    ("Q5", 1, 1, 0),
    ("Q5", 1, 0, None),
    ("Q5", 1, "2", 1),
    ("Q13", 0, 1.0, 1),
    ("Q13", 0, 1.5, None),
    ("Q13", 0, "1.0", 1),
    ("Q14", 0, "green", 1),
    ("Q14", 0, " Green. ", 1),
    ("Q14", 0, "tuesday", 3),
    ("Q14", 0, "gree", None),
    ("Q7", 0, "Ａ", 0),
    ("Q4", 0, NAN, None),
    ("Q14", 0, "B", 1),
    ("Q14", 0, "(B)", 1),
]

# (quirk, label base, prediction, index among FOUR)
CHOICES: list[tuple[str, int, Any, int | None]] = [
    ("Q6", 0, "a dog is D", 3),
    ("Q6", 0, "A reasonable choice is C", 2),
    ("Q6", 0, "I think B", 1),
    ("Q6", 0, "It's C", 2),
    ("Q6", 0, "\\boxed{B} because A is wrong", 1),
    ("Q6", 0, "\\boxed{\\text{b}}", 1),
    ("Q6", 0, "<answer>C</answer> and not D", 2),
    ("Q6", 0, "The answer is (b).", 1),
    ("Q6", 0, "The answer is B, since C is wrong", 1),
    ("Q6", 0, "Option C fits. Not D", 2),
    ("Q6", 0, "B. The blue one, unlike D", 1),
    ("Q6", 0, "b) the green one", 1),
    ("Q6", 0, "(C) as shown in D", 2),
    ("Q6", 0, "b", 1),
    ("Q6", 0, "this is a sentence", None),
    ("Q6", 0, "A, or rather B", 0),
    ("Q6", 0, "Between A and C I take C", 2),
    ("Q6", 0, "Answer: **D**", 3),
    ("Q7", 0, "答案是B", 1),
    ("Q7", 0, "选A", 0),
    ("Q7", 0, "答案：B", 1),
    ("Q7", 0, "Ａ", 0),
    ("Q7", 0, "我认为C最合适", 2),
    ("Q5", 0, "2", 2),
    ("Q5", 1, "2", 1),
    ("Q5", 0, "4", None),
    ("Q5", 1, "The answer is 4", 3),
    ("Q4", 0, NAN, None),
    ("Q19", 0, 0, 0),
    ("Q13", 0, 1.0, 1),
]

# (quirk, label base, labels cell, set among FOUR)
GOLD_SETS: list[tuple[str, int, Any, set[int] | None]] = [
    ("Q8", 0, "AC", {0, 2}),
    ("Q8", 0, "A、C", {0, 2}),
    ("Q8", 0, "A，C", {0, 2}),
    ("Q8", 0, "AZ", None),
    ("Q8", 0, [99], None),
    ("Q9", 0, [], set()),
    ("Q9", 0, "[]", set()),
    ("Q13", 0, (0, 2), {0, 2}),
    ("Q13", 0, [0.0, 2.0], {0, 2}),
    ("Q5", 1, "1,2,3,4", {0, 1, 2, 3}),
    ("Q14", 0, ["red", "blue"], {0, 2}),
    ("Q4", 0, NAN, None),
]

# (quirk, label base, prediction, set among FOUR)
CHOICE_SETS: list[tuple[str, int, Any, set[int] | None]] = [
    ("Q8", 0, "AC", {0, 2}),
    ("Q8", 0, "The answer is BD.", {1, 3}),
    ("Q8", 0, "AA", None),
    ("Q8", 0, "AZ", None),
    ("Q9", 0, "[]", set()),
    ("Q6", 0, "A dog and a cat: B and D", {1, 3}),
    ("Q6", 0, "The answers are A and C", {0, 2}),
    ("Q6", 0, "a, c", {0, 2}),
    ("Q6", 0, "a dog", None),
    ("Q7", 0, "答案是A和C", {0, 2}),
    ("Q7", 0, "选AC", {0, 2}),
    ("Q5", 1, "1,2,3,4", {0, 1, 2, 3}),
    ("Q5", 0, "1,2,3", {1, 2, 3}),
    ("Q5", 0, "[0, 2]", {0, 2}),
    ("Q12", 0, '{"choices": ["A", "C"]}', {0, 2}),
    ("Q4", 0, NAN, None),
]

# (quirk, choices cell, list or error token)
CHOICE_CELLS: list[tuple[str, Any, Any]] = [
    ("Q13", ("a", "b"), ["a", "b"]),
    ("Q4", NAN, "empty_choices"),
    ("Q13", '["a", "b"]', ["a", "b"]),
    ("Q13", 5, "choices_not_list"),
]

# (quirk, judge response, verdict)
VERDICTS: list[tuple[str, Any, bool | None]] = [
    ("Q10", '{"judgement_result": true}', True),
    ("Q10", '{"judgement_result": "false"}', False),
    ("Q10", '{"judgement_result": "no"}', False),
    ("Q10", '{"judgement_result": "0"}', False),
    ("Q10", '{"judgement_result": 0}', False),
    ("Q10", '{"judgement_result": "Yes"}', True),
    ("Q10", '{"judgement_result": null}', None),
    ("Q10", '{"judgement_result": "maybe"}', None),
    ("Q10", '```json\n{"judgement_result": false}\n```', False),
    ("Q10", 'I say {"reason": "{", "judgement_result": true} so', True),
    ("Q10", '{"judgement_result": true} no: {"judgement_result": false}', False),
    ("Q10", '<think>{"judgement_result": true}</think>{"judgement_result": false}', False),
    ("Q10", '<think>{"judgement_result": true}</think> hm', None),
    ("Q10", '<think>{"judgement_result": true}, or is it', None),
    ("Q10", '{"judgement_result": true} <think> is it', True),
    ("Q10", "It is not true.", None),
    ("Q10", "true", True),
    ("Q10", "False.", False),
    ("Q10", "", None),
    ("Q10", None, None),
    ("Q10", "correct", None),
]
