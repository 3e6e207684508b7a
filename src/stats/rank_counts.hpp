// Inside stats: how rank statistics are distributed when there is no difference, counted out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace uringbench::stats {

/// Of `all` equally likely arrangements, how many give a statistic of at most, and of exactly, the
/// one asked for.
struct Tail {
  std::uint64_t up_to = 0;
  std::uint64_t exactly = 0;
  std::uint64_t all = 1;
};

/// Of the C(n+m, n) ways to call n of n+m pooled values x. `groups`: how many values are equal, in
/// ascending order, n+m in all. n, m <= 31; u2 = 2 U.
Tail count_u(std::span<const std::size_t> groups, std::size_t n, std::size_t m, std::size_t u2);
/// Of the 2^n ways to give n differences a sign. `groups`: how many are equally far from 0,
/// nearest first, n <= 63 in all; w2 = 2 W+.
Tail count_w(std::span<const std::size_t> groups, std::size_t n, std::size_t w2);

/// P(U <= u) and P(W+ <= w) without ties: exact where the rank tests are, else by the normal
/// approximation with continuity correction.
double tail_of_u(std::size_t n, std::size_t m, std::size_t u);
double tail_of_w(std::size_t n, std::size_t w);

/// Standard deviations of U and of W+; `cubes` is the sum of t^3 - t over groups of t
/// equal values.
double deviation_of_u(std::size_t n, std::size_t m, double cubes);
double deviation_of_w(std::size_t n, double cubes);

}  // namespace uringbench::stats
