// Several tests at once, what a number of runs can show at all, and averages over cells.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace uringbench::stats {

/// Holm's step-down adjustment, in the order given: adj_(k) = max over j <= k of
/// min(1, (m - j + 1) p_(j)). Source: Holm 1979.
std::vector<double> holm(std::span<const double> p_values);

/// Least n with least_p(n) * tests <= alpha: runs on each side, or pairs.
std::size_t least_runs_per_side(std::size_t tests, double alpha);
std::size_t least_pairs(std::size_t tests, double alpha);

/// exp(mean(ln ratio)); nothing for an empty span. Every ratio > 0.
std::optional<double> geometric_mean(std::span<const double> ratios);

double normal_cdf(double z);
double normal_quantile(double probability);  ///< in (0, 1)

/// About how many runs (or pairs) bring an interval's half-width down to `wanted`, from a
/// half-width seen with n: it shrinks with the square root of n. Both half-widths > 0.
std::size_t runs_for_half_width(std::size_t n, double half_width, double wanted);

/// The chance that two sets of n and m runs without any difference look more than `margin` worse
/// (one-sided) when runs vary by `cv`: normal runs, Hodges-Lehmann estimate (efficiency 3/pi).
/// margin and cv as fractions, cv >= 0; n, m >= 1.
double chance_beyond_margin(double margin, double cv, std::size_t n, std::size_t m);

}  // namespace uringbench::stats
