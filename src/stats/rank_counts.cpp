#include "stats/rank_counts.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <map>
#include <mutex>
#include <numeric>
#include <utility>
#include <vector>

#include "stats/family.hpp"
#include "stats/rank_tests.hpp"

namespace uringbench::stats {

namespace {

using Counts = std::vector<std::uint64_t>;

/// C(n, k): 64 bits hold it, with the factor before the last division, up to C(62, 31).
std::uint64_t choose(std::size_t n, std::size_t k) {
  std::uint64_t ways = 1;
  for (std::size_t taken = 1; taken <= k; taken++) ways = ways * (n - k + taken) / taken;
  return ways;
}

/// For each 2 U up to `most`, in how many arrangements it comes out. U is the number of pairs
/// whose x is larger, equal ones counting half. So calling j of a group of t values x adds
/// j (2 s + t - j) to 2 U, where s of the values below were called y. This is the sum of doubled
/// midranks without what every arrangement has in common.
Counts distribution_of_u2(std::span<const std::size_t> groups, std::size_t n, std::size_t m,
                          std::size_t most) {
  const std::size_t width = most + 1;
  Counts counts((n + 1) * width);  // counts[k * width + u2]: k of the values so far are x
  counts[0] = 1;
  std::size_t seen = 0;
  for (const std::size_t group : groups) {
    // From many to few: what is added to was read already, so it can stay in place.
    for (std::size_t k = std::min(seen, n) + 1; k-- > (seen > m ? seen - m : 0);) {
      const std::size_t below = seen - k;  // called y
      const std::size_t reached = 2 * k * below;
      std::uint64_t ways = 1;
      for (std::size_t j = 1; j <= std::min(group, n - k); j++) {
        ways = ways * (group - j + 1) / j;
        const std::size_t shift = j * (2 * below + group - j);
        if (shift > most) continue;
        const std::uint64_t* from = &counts[k * width];
        std::uint64_t* to = &counts[(k + j) * width + shift];
        const std::size_t end = std::min(reached, most - shift) + 1;
        for (std::size_t u2 = 0; u2 < end; u2++) to[u2] += ways * from[u2];
      }
    }
    seen += group;
  }
  return {counts.end() - static_cast<std::ptrdiff_t>(width), counts.end()};
}

/// For each 2 W+ up to `most`, in how many of the sign patterns it comes out.
Counts distribution_of_w2(std::span<const std::size_t> groups, std::size_t most) {
  Counts counts(most + 1);
  counts[0] = 1;
  std::size_t seen = 0;
  for (const std::size_t group : groups) {
    const std::size_t rank2 = 2 * seen + group + 1;
    for (std::size_t member = 0; member < group; member++) {
      for (std::size_t w2 = most + 1; w2-- > rank2;) counts[w2] += counts[w2 - rank2];
    }
    seen += group;
  }
  return counts;
}

Tail tail_at(const Counts& running, std::size_t place, std::uint64_t all) {
  const std::uint64_t before = place == 0 ? 0 : running[place - 1];
  return {running[place], running[place] - before, all};
}

/// Without ties the distribution depends on the sizes alone and is counted once: running sums over
/// the doubled statistic. Entries are never removed, so references stay good.
template <class Count>
const Counts& untied(std::pair<std::size_t, std::size_t> sizes, Count count) {
  static std::mutex mutex;
  static std::map<std::pair<std::size_t, std::size_t>, Counts> tables;
  const std::lock_guard lock(mutex);
  const auto found = tables.find(sizes);
  if (found != tables.end()) return found->second;
  Counts counts = count(std::vector<std::size_t>(sizes.first + sizes.second, 1));
  std::partial_sum(counts.begin(), counts.end(), counts.begin());
  return tables.emplace(sizes, std::move(counts)).first->second;
}

const Counts& untied_u(std::size_t n, std::size_t m) {
  return untied(std::pair(std::min(n, m), std::max(n, m)),
                [&](const auto& groups) { return distribution_of_u2(groups, n, m, 2 * n * m); });
}

const Counts& untied_w(std::size_t n) {
  return untied(std::pair(n, std::size_t{0}),
                [&](const auto& groups) { return distribution_of_w2(groups, n * (n + 1)); });
}

/// P(statistic <= value) when its mean and deviation are those.
double normal_tail(double value, double mean, double deviation) {
  return normal_cdf((value + 0.5 - mean) / deviation);
}

}  // namespace

Tail count_u(std::span<const std::size_t> groups, std::size_t n, std::size_t m, std::size_t u2) {
  const std::uint64_t all = choose(n + m, n);
  if (groups.size() == n + m) return tail_at(untied_u(n, m), u2, all);
  const Counts counts = distribution_of_u2(groups, n, m, u2);
  return {std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}), counts[u2], all};
}

Tail count_w(std::span<const std::size_t> groups, std::size_t n, std::size_t w2) {
  const std::uint64_t all = std::uint64_t{1} << n;
  if (groups.size() == n) return tail_at(untied_w(n), w2, all);
  const Counts counts = distribution_of_w2(groups, w2);
  return {std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}), counts[w2], all};
}

double tail_of_u(std::size_t n, std::size_t m, std::size_t u) {
  if (is_exact_independent(n, m)) {
    return static_cast<double>(untied_u(n, m)[2 * u]) / static_cast<double>(choose(n + m, n));
  }
  const double mean = static_cast<double>(n) * static_cast<double>(m) / 2;
  return normal_tail(static_cast<double>(u), mean, deviation_of_u(n, m, 0));
}

double tail_of_w(std::size_t n, std::size_t w) {
  if (n <= kMostExactPairs) {
    return std::ldexp(static_cast<double>(untied_w(n)[2 * w]), -static_cast<int>(n));
  }
  const double mean = static_cast<double>(n) * static_cast<double>(n + 1) / 4;
  return normal_tail(static_cast<double>(w), mean, deviation_of_w(n, 0));
}

double deviation_of_u(std::size_t n, std::size_t m, double cubes) {
  const double all = static_cast<double>(n + m);
  const double product = static_cast<double>(n) * static_cast<double>(m);
  return std::sqrt(product / 12 * (all + 1 - cubes / (all * (all - 1))));
}

double deviation_of_w(std::size_t n, double cubes) {
  const double size = static_cast<double>(n);
  return std::sqrt(size * (size + 1) * (2 * size + 1) / 24 - cubes / 48);
}

}  // namespace uringbench::stats
