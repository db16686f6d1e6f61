"""Bootstrap, McNemar and Holm against closed forms and other libraries."""

from __future__ import annotations

import random

import numpy as np
import pytest
from scipy.stats import binomtest

from datbench_tasks.reporting.intervals import (
    bootstrap_means,
    holm,
    mcnemar,
    percentile_interval,
    seed_of,
    two_sided_p,
)


def test_the_interval_of_independent_samples_is_the_normal_one():
    values = [1.0] * 600 + [0.0] * 400
    low, high = percentile_interval(bootstrap_means(values, None, seed=1))
    half = 1.96 * (0.6 * 0.4 / 1000) ** 0.5
    assert low == pytest.approx(0.6 - half, abs=0.004)
    assert high == pytest.approx(0.6 + half, abs=0.004)


def test_clusters_of_equal_answers_widen_the_interval():
    values = [float(n % 5 < 3) for n in range(200) for _ in range(4)]
    clusters = [n // 4 for n in range(800)]
    alone = percentile_interval(bootstrap_means(values, None, seed=1))
    together = percentile_interval(bootstrap_means(values, clusters, seed=1))
    ratio = (together.high - together.low) / (alone.high - alone.low)
    assert ratio == pytest.approx(2.0, rel=0.1)


def test_clusters_of_unequal_size_weigh_by_their_samples():
    means = bootstrap_means([1.0, 1.0, 1.0, 0.0], ["a", "a", "a", "b"], seed=1)
    assert set(np.round(means, 9)) == {0.0, 0.75, 1.0}


def test_equal_seeds_give_equal_bytes_and_other_seeds_other_ones():
    values = [random.Random(n).random() for n in range(50)]
    first = bootstrap_means(values, None, seed_of("signature", "math"))
    assert first.tobytes() == bootstrap_means(values, None, seed_of("signature", "math")).tobytes()
    assert first.tobytes() != bootstrap_means(values, None, seed_of("signature", "chart")).tobytes()


def test_the_random_stream_is_the_one_that_published_intervals_rest_on():
    means = bootstrap_means([0.0, 0.25, 0.5, 1.0], None, seed=7, resamples=4)
    assert means.tolist() == [0.625, 0.5625, 0.4375, 0.375]


@pytest.mark.parametrize(("only_first", "only_second"), [(0, 0), (5, 1), (10, 10), (300, 240), (0, 12)])
def test_mcnemar_is_the_exact_binomial_test(only_first, only_second):
    flips = only_first + only_second
    expected = binomtest(only_first, flips).pvalue if flips else 1.0
    assert mcnemar(only_first, only_second) == pytest.approx(expected, abs=1e-12)


def test_the_bootstrap_p_value_counts_both_sides():
    assert two_sided_p(np.array([0.1] * 1999 + [-0.1])) == pytest.approx(2 * 2 / 2001)
    assert two_sided_p(np.array([0.1] * 2000)) == pytest.approx(2 / 2001)
    assert two_sided_p(np.zeros(2000)) == 1.0


def test_holm_steps_down_and_never_falls():
    assert holm({"a": 0.01, "b": 0.04, "c": 0.03, "d": 0.9}) == {"a": 0.04, "b": 0.09, "c": 0.09, "d": 0.9}
    assert holm({"a": 0.6, "b": 0.7}) == {"a": 1.0, "b": 1.0}
