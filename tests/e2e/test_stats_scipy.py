"""What src/stats calculates against SciPy, over thousands of samples with and without ties.

SciPy counts exactly only without ties. With them, the reference is counted here by definition:
through all arrangements where they are few, else by dynamic programming over doubled midranks.
"""

import functools
import itertools
import math
import os
import pathlib
import subprocess

import numpy as np
import pytest
from scipy import stats

from helpers import find_binary

DUMP = os.environ.get("URINGBENCH_STATS_DUMP") or str(
    pathlib.Path(find_binary()).parent / "tests" / "stats_dump")
SIDES = ("two-sided", "less", "greater")
CONFIDENCE = 0.95


def ask(questions):
    """One list of numbers for each question; see tests/differential/stats_dump.cpp."""
    done = subprocess.run([DUMP], input="\n".join(questions) + "\n", capture_output=True, text=True,
                          timeout=120, check=True)
    answers = [[float(word) for word in line.split()] for line in done.stdout.splitlines()]
    assert len(answers) == len(questions)
    return answers


def listed(values):
    return " ".join([str(len(values)), *(repr(float(value)) for value in values)])


class Answer:
    def __init__(self, numbers):
        self.statistic, *p = numbers[:4]
        self.p = dict(zip(SIDES, p))
        self.exact = bool(numbers[4])
        self.estimate, self.low, self.high, self.coverage = numbers[5:9]
        self.rank = int(numbers[9])
        self.normal_p = dict(zip(SIDES, numbers[11:]))
        assert numbers[10] == self.statistic


def independent(pairs):
    return [Answer(numbers) for numbers in ask(
        [f"independent {CONFIDENCE} {listed(x)} {listed(y)}" for x, y in pairs])]


def paired(samples):
    return [Answer(numbers) for numbers in ask(
        [f"paired {CONFIDENCE} {listed(values)}" for values in samples])]


def agree(ours, theirs, relative=1e-11):
    """p-values for the three alternatives."""
    for side in SIDES:
        assert ours[side] == pytest.approx(theirs[side], rel=relative, abs=0), side


# --- samples -----------------------------------------------------------------------------------

def without_ties(random, most, least=1):
    n, m = random.integers(least, most + 1, 2)
    x = random.normal(0, 1, n)
    y = random.normal(random.choice([0, 0.5, 2]), random.choice([0.5, 1, 3]), m)
    return x, y


def with_ties(random, most, least=1):
    steps = random.choice([1, 3, 10, 40])
    x, y = without_ties(random, most, least)
    return np.round(x * steps), np.round(y * steps)


def samples(make, count, seed, *size):
    random = np.random.default_rng(seed)
    return [make(random, *size) for _ in range(count)]


# --- references --------------------------------------------------------------------------------

def tails(counts, place):
    """p for the three alternatives from counts of arrangements, as Python's whole numbers."""
    counts = [int(count) for count in counts]
    total = sum(counts)
    less = sum(counts[:place + 1]) / total
    greater = sum(counts[place:]) / total
    return {"two-sided": min(1, 2 * min(less, greater)), "less": less, "greater": greater}


def doubled_ranks(values):
    return [round(2 * rank) for rank in stats.rankdata(values)]


def rank_sum_counts(ranks, n):
    """How many ways to choose n of the ranks add up to 0, 1, 2…"""
    counts = np.zeros((n + 1, sum(ranks) + 1), dtype=np.uint64)
    counts[0, 0] = 1
    for rank in ranks:
        counts[1:, rank:] += counts[:-1, :-rank].copy()
    return counts[n]


def sign_counts(ranks):
    """How many ways to choose some of the ranks add up to 0, 1, 2…"""
    counts = np.zeros(sum(ranks) + 1, dtype=np.uint64)
    counts[0] = 1
    for rank in ranks:
        counts[rank:] += counts[:-rank].copy()
    return counts


def exact_independent(x, y):
    ranks = doubled_ranks([*x, *y])
    return tails(rank_sum_counts(ranks, len(x)), sum(ranks[:len(x)]))


def exact_paired(differences):
    kept = [value for value in differences if value]
    if not kept:
        return dict.fromkeys(SIDES, 1.0)
    ranks = doubled_ranks(np.abs(kept))
    return tails(sign_counts(ranks), sum(r for r, value in zip(ranks, kept) if value > 0))


def enumerated(x, y):
    """The same by writing down every arrangement."""
    ranks = doubled_ranks([*x, *y])
    sums = [sum(chosen) for chosen in itertools.combinations(ranks, len(x))]
    return tails(np.bincount(sums), sum(ranks[:len(x)]))


@functools.lru_cache(maxsize=None)
def tail_of_u(n, m):
    if max(n, m) > 30:
        deviation = math.sqrt(n * m * (n + m + 1) / 12)
        return stats.norm.cdf((np.arange(n * m + 1) + 0.5 - n * m / 2) / deviation)
    counts = rank_sum_counts([2 * rank for rank in range(1, n + m + 1)], n)[n * (n + 1)::2]
    return np.array([float(count) for count in np.cumsum(counts)[:n * m + 1]]) / math.comb(n + m, n)


@functools.lru_cache(maxsize=None)
def tail_of_w(n):
    most = n * (n + 1) // 2
    if n > 50:
        deviation = math.sqrt(n * (n + 1) * (2 * n + 1) / 24)
        return stats.norm.cdf((np.arange(most + 1) + 0.5 - most / 2) / deviation)
    return np.cumsum(sign_counts(list(range(1, n + 1)))) / 2.0 ** n


def check_interval(answer, tail, candidates):
    """Rank, ends and coverage from the distribution without ties."""
    ordered = np.sort(candidates)
    assert answer.estimate == pytest.approx(np.median(ordered), rel=1e-13, abs=1e-13)
    rank = int(np.sum(tail <= (1 - CONFIDENCE) / 2))
    assert answer.rank == rank
    if rank == 0:
        assert (answer.low, answer.high, answer.coverage) == (-math.inf, math.inf, 1)
        return
    assert answer.low == pytest.approx(ordered[rank - 1], rel=1e-13, abs=1e-13)
    assert answer.high == pytest.approx(ordered[-rank], rel=1e-13, abs=1e-13)
    assert answer.coverage == pytest.approx(1 - 2 * tail[rank - 1], abs=1e-12)


def walsh_averages(values):
    first, second = np.triu_indices(len(values))
    return (values[first] + values[second]) / 2


def wilcoxon_normal(differences, side):
    for name in ("approx", "asymptotic"):  # SciPy before and after 1.13
        try:
            return stats.wilcoxon(differences, correction=True, alternative=side, method=name)
        except ValueError as error:
            if "method" not in str(error):
                raise
    raise AssertionError("SciPy knows no normal approximation")


# --- independent samples -----------------------------------------------------------------------

@pytest.mark.parametrize("count, seed, most", [(1000, 1, 12), (150, 2, 30)])
def test_mann_whitney_without_ties_is_scipys(count, seed, most):
    pairs = samples(without_ties, count, seed, most)
    for (x, y), answer in zip(pairs, independent(pairs)):
        theirs = {side: stats.mannwhitneyu(x, y, method="exact", alternative=side)
                  for side in SIDES}
        assert answer.exact
        assert answer.statistic == theirs["less"].statistic
        agree(answer.p, {side: theirs[side].pvalue for side in SIDES})


@pytest.mark.parametrize("count, seed, most", [(700, 3, 12), (60, 4, 30)])
def test_mann_whitney_with_ties_is_counted_right(count, seed, most):
    pairs = samples(with_ties, count, seed, most)
    for (x, y), answer in zip(pairs, independent(pairs)):
        assert answer.exact
        assert answer.statistic == stats.mannwhitneyu(x, y).statistic
        agree(answer.p, exact_independent(x, y), 1e-14)


def test_mann_whitney_with_ties_is_what_all_arrangements_give():
    pairs = samples(with_ties, 300, 5, 5)
    for (x, y), answer in zip(pairs, independent(pairs)):
        agree(answer.p, enumerated(x, y), 1e-14)


def test_mann_whitney_with_ties_is_scipys_permutation_test():
    def u(x, y, axis):
        del y  # the rank sum of x says all
        return np.sum(x, axis=axis)

    pairs = samples(with_ties, 40, 6, 6, 2)
    for (x, y), answer in zip(pairs, independent(pairs)):
        ranks = stats.rankdata([*x, *y])
        theirs = {side: stats.permutation_test(
            (ranks[:len(x)], ranks[len(x):]), u, permutation_type="independent", vectorized=True,
            n_resamples=np.inf, alternative=side).pvalue for side in SIDES}
        agree(answer.p, theirs)


def test_mann_whitney_beyond_exact_counts_is_scipys_approximation():
    pairs = samples(without_ties, 100, 7, 80, 25) + samples(with_ties, 200, 8, 80, 25)
    beyond = 0
    for (x, y), answer in zip(pairs, independent(pairs)):
        if len(set([*x, *y])) == 1:
            agree(answer.normal_p, dict.fromkeys(SIDES, 1.0))
            continue
        theirs = {side: stats.mannwhitneyu(x, y, method="asymptotic", alternative=side).pvalue
                  for side in SIDES}
        agree(answer.normal_p, theirs)
        if max(len(x), len(y)) > 30:
            assert not answer.exact
            agree(answer.p, theirs)
            beyond += 1
    assert beyond > 200


def test_shift_between_is_the_median_difference_with_the_right_ranks():
    pairs = (samples(without_ties, 300, 9, 15) + samples(with_ties, 200, 10, 15) +
             samples(without_ties, 40, 11, 45, 20))
    for (x, y), answer in zip(pairs, independent(pairs)):
        check_interval(answer, tail_of_u(len(x), len(y)), np.subtract.outer(y, x).ravel())


# --- pairs -------------------------------------------------------------------------------------

@pytest.mark.parametrize("count, seed, most", [(500, 12, 20), (80, 13, 50)])
def test_signed_rank_without_ties_is_scipys(count, seed, most):
    differences = [y for _, y in samples(without_ties, count, seed, most)]
    for values, answer in zip(differences, paired(differences)):
        theirs = {side: stats.wilcoxon(values, method="exact", alternative=side) for side in SIDES}
        assert answer.exact
        assert answer.statistic == theirs["greater"].statistic
        agree(answer.p, {side: theirs[side].pvalue for side in SIDES})


def test_signed_rank_with_ties_and_zeros_is_counted_right():
    differences = [y for _, y in samples(with_ties, 400, 14, 25) + samples(with_ties, 60, 15, 50)]
    for values, answer in zip(differences, paired(differences)):
        agree(answer.p, exact_paired(values), 1e-14)


def test_signed_rank_with_ties_is_what_all_signs_give():
    differences = [y for _, y in samples(with_ties, 150, 16, 8)]
    for values, answer in zip(differences, paired(differences)):
        kept = np.array([value for value in values if value])
        ranks = np.array(doubled_ranks(np.abs(kept)), dtype=int)
        sums = [int(ranks @ signs) for signs in itertools.product((0, 1), repeat=len(kept))]
        agree(answer.p, tails(np.bincount(sums), int(ranks @ (kept > 0))), 1e-14)


def test_signed_rank_beyond_exact_counts_is_scipys_approximation():
    differences = [y for _, y in samples(without_ties, 100, 17, 120, 30) +
                   samples(with_ties, 150, 18, 120, 30)]
    beyond = 0
    for values, answer in zip(differences, paired(differences)):
        if not np.any(values):
            continue
        theirs = {side: wilcoxon_normal(values, side).pvalue for side in SIDES}
        agree(answer.normal_p, theirs)
        if np.count_nonzero(values) > 50:
            assert not answer.exact
            agree(answer.p, theirs)
            beyond += 1
    assert beyond > 100


def test_shift_of_pairs_is_the_median_average_with_the_right_ranks():
    differences = [y for _, y in samples(without_ties, 200, 19, 30) +
                   samples(with_ties, 200, 20, 30) + samples(without_ties, 40, 21, 70, 40)]
    for values, answer in zip(differences, paired(differences)):
        check_interval(answer, tail_of_w(len(values)), walsh_averages(values))


# --- the rest ----------------------------------------------------------------------------------

def test_normal_distribution_is_scipys():
    z = np.linspace(-37, 9, 2001)
    p = np.concatenate([10.0 ** np.linspace(-300, -1, 1500), np.linspace(0.001, 0.999, 1500),
                        1 - 10.0 ** np.linspace(-12, -1, 300)])
    cdf, quantile = ask([f"cdf {listed(z)}", f"quantile {listed(p)}"])
    np.testing.assert_allclose(cdf, stats.norm.cdf(z), rtol=1e-12)
    np.testing.assert_allclose(quantile, stats.norm.ppf(p), rtol=1e-12, atol=1e-12)


def test_least_p_is_that_of_one_arrangement():
    sizes = [(n, m) for n in range(1, 31) for m in range(1, 31)]
    for (n, m), (runs, pairs) in zip(sizes, ask([f"least {n} {m}" for n, m in sizes])):
        assert runs == pytest.approx(min(1, 2 / math.comb(n + m, n)), rel=1e-14)
        assert pairs == min(1, 2.0 ** (1 - n))


def test_medians_of_all_resamples_are_binomial():
    sizes = range(1, 100, 2)
    for n, answer in zip(sizes, ask([f"bootstrap_median {n}" for n in sizes])):
        expected = stats.binom.sf((n - 1) // 2, n, np.arange(1, n + 1) / n)
        np.testing.assert_allclose(answer, expected, rtol=1e-11)


def test_geometric_mean_is_scipys():
    random = np.random.default_rng(22)
    ratios = [random.lognormal(0, 0.2, random.integers(1, 50)) for _ in range(200)]
    for values, (answer,) in zip(ratios, ask([f"geomean {listed(values)}" for values in ratios])):
        assert answer == pytest.approx(stats.gmean(values), rel=1e-13)


def test_holm_is_the_closed_test_of_bonferroni():
    """By definition: the largest Bonferroni p of all families that hold the hypothesis."""
    random = np.random.default_rng(23)
    families = [np.round(random.uniform(0, 1, random.integers(1, 8)) ** 3, 3) + 1e-6
                for _ in range(200)]
    for p, answer in zip(families, ask([f"holm {listed(p)}" for p in families])):
        for own, adjusted in enumerate(answer):
            members = [chosen for size in range(1, len(p) + 1)
                       for chosen in itertools.combinations(range(len(p)), size) if own in chosen]
            expected = max(min(1, len(chosen) * min(p[i] for i in chosen)) for chosen in members)
            assert adjusted == pytest.approx(expected, rel=1e-14)
