"""Charts: bars, lines, a pie, subplots of a paper, and an infographic."""

from __future__ import annotations

from collections.abc import Iterator

from matplotlib.figure import Figure
from PIL import Image

from tools.draw_samples.canvas import BLUE, GREEN, INK, ORANGE, PURPLE, RED, blank, bold, disc, font, label, rendered
from tools.draw_samples.items import FILLED_RUBRIC, TWO_LINE_RUBRIC, Item

SHORT = "\nAnswer the question using a single word, number or phrase. Put the final answer in \\boxed{}."
BOXED = "\nAnswer with a short answer inside \\boxed{}."
CONCISE = "\nAnswer concisely."


def rainfall() -> Image.Image:
    """Bars with their values on top."""
    figure = Figure(figsize=(5.4, 3.8), layout="constrained")
    axes = figure.subplots()
    towns, depths = ["Arden", "Bexley", "Corran", "Dunmore", "Elgin"], [62, 48, 91, 35, 74]
    axes.bar_label(axes.bar(towns, depths, color=BLUE), fontsize=12)
    axes.set(title="Rainfall in March (mm)", xlabel="Town", ylabel="Rainfall (mm)", ylim=(0, 105))
    axes.spines[["top", "right"]].set_visible(False)
    return rendered(figure)


def visitors() -> Image.Image:
    """Two lines over years, with a legend."""
    figure = Figure(figsize=(5.4, 3.8), layout="constrained")
    axes = figure.subplots()
    years = [2018, 2019, 2020, 2021, 2022]
    for name, values, colour, mark in (
        ("Museum", [40, 55, 20, 35, 60], RED, "o"),
        ("Garden", [30, 35, 50, 45, 40], GREEN, "s"),
    ):
        axes.plot(years, values, color=colour, marker=mark, label=name)
    axes.set(title="Visitors per year (thousands)", xlabel="Year", ylabel="Visitors (thousands)", ylim=(0, 70))
    axes.set_xticks(years)
    axes.grid(alpha=0.4)
    axes.legend(loc="lower right")
    return rendered(figure)


def energy() -> Image.Image:
    """A pie with percentages."""
    figure = Figure(figsize=(5.2, 3.8), layout="constrained")
    axes = figure.subplots()
    axes.pie(
        [45, 25, 18, 12],
        labels=["Wind 45%", "Solar 25%", "Hydro 18%", "Biomass 12%"],
        colors=[BLUE, ORANGE, GREEN, PURPLE],
        startangle=90,
        counterclock=False,
        wedgeprops={"edgecolor": "white"},
        textprops={"fontsize": 12},
    )
    axes.set_title("Electricity from renewable sources, 2023")
    return rendered(figure)


def training() -> Image.Image:
    """Two subplots as in a paper."""
    figure = Figure(figsize=(7, 3.3), layout="constrained")
    left, right = figure.subplots(1, 2)
    epochs = [0, 10, 20, 30, 40]
    left.plot(epochs, [2.4, 1.5, 1.0, 0.8, 0.7], color=BLUE, label="Baseline")
    left.plot(epochs, [2.4, 1.2, 0.7, 0.5, 0.4], color=RED, linestyle="--", label="Proposed")
    left.set(title="(a) Loss", xlabel="Epoch", ylabel="Training loss", ylim=(0, 2.6), xticks=epochs)
    left.legend()
    right.plot(epochs, [10, 48, 62, 68, 70], color=BLUE, label="Baseline")
    right.plot(epochs, [10, 58, 74, 80, 82], color=RED, linestyle="--", label="Proposed")
    right.set(title="(b) Accuracy", xlabel="Epoch", ylabel="Accuracy (%)", ylim=(0, 100), xticks=epochs)
    right.legend(loc="lower right")
    return rendered(figure)


def coffee() -> Image.Image:
    """An infographic: three figures and a note."""
    image, draw = blank(480, 400, "#fbf3e4")
    label(draw, (240, 36), "COFFEE AT THE OFFICE", bold(28), "#5a3414")
    facts = (
        ("68%", "drink coffee every day", BLUE),
        ("3.2", "cups on an average day", GREEN),
        ("9 am", "is the busiest hour", RED),
    )
    for row, (figure, text, colour) in enumerate(facts):
        y = 108 + row * 88
        disc(draw, (90, y), 40, colour)
        label(draw, (90, y), figure, bold(22), "white")
        draw.text((150, y), text, font=font(22), fill=INK, anchor="lm")
    label(draw, (240, 372), "Source: survey of 1,250 workers, May 2024", font(16), "#5a3414")
    return image


def items() -> Iterator[Item]:
    """The chart questions."""
    bars, lines, pie, plots, poster = rainfall(), visitors(), energy(), training(), coffee()
    yield Item("chartqa", bars, "What is the value of the tallest bar?", "91", suffix=SHORT)
    yield Item("chartqa", bars, "How much rain fell in Dunmore?", "35", suffix=SHORT)
    yield Item("chartqa", bars, "What is the difference between the rainfall of Elgin and Arden?", "12", suffix=SHORT)
    yield Item(
        "chartqa",
        lines,
        "In which year did the garden have more visitors than the museum by the largest margin?",
        "2020",
        suffix=SHORT,
    )
    single = {"year_flags": ["NO"], "is_multi_turn": False}
    yield Item(
        "chartqapro",
        pie,
        "What percentage does solar contribute?",
        "25%",
        suffix=BOXED,
        metadata={"question_type": "Factoid", **single},
    )
    yield Item(
        "chartqapro",
        pie,
        "Which source is the smallest?\nA) Wind\nB) Solar\nC) Hydro\nD) Biomass",
        "D",
        suffix=BOXED,
        metadata={"question_type": "Multi Choice", **single},
    )
    yield Item(
        "chartqapro",
        lines,
        "In which year did the museum have the fewest visitors?",
        "2020",
        suffix=BOXED,
        metadata={"question_type": "Factoid", "year_flags": ["YES"], "is_multi_turn": False},
    )
    descriptive, reasoning = {"question_type": "descriptive"}, {"question_type": "reasoning"}
    yield Item(
        "charxiv_descriptive",
        plots,
        "For the subplot at row 1 and column 1, what is the label of the y-axis?",
        "Training loss",
        suffix=CONCISE,
        metadata=descriptive,
    )
    yield Item(
        "charxiv_descriptive",
        plots,
        "For the subplot at row 1 and column 2, how many lines are there?",
        "2",
        suffix=CONCISE,
        rubric=TWO_LINE_RUBRIC,
        metadata=descriptive,
    )
    yield Item(
        "charxiv_reasoning",
        plots,
        "Which method reaches the higher accuracy at epoch 40?",
        "Proposed",
        suffix=CONCISE,
        metadata=reasoning,
    )
    yield Item(
        "charxiv_reasoning",
        plots,
        "Does the loss of the baseline ever fall below 0.5?",
        "No",
        suffix=CONCISE,
        rubric=FILLED_RUBRIC,
        metadata=reasoning,
    )
    yield Item(
        "infovqa",
        poster,
        "What percentage drink coffee every day?",
        "68%",
        all_answers=("68%", "68 percent"),
        metadata={"operation/reasoning": [], "data_split": "val"},
    )
    yield Item(
        "infovqa",
        poster,
        "Which is the busiest hour?",
        "9 am",
        metadata={"operation/reasoning": [], "data_split": "val"},
    )
