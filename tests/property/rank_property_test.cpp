// What holds for rank tests and their intervals whatever was measured.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "stats/stats.hpp"

namespace uringbench::stats {
namespace {

using Values = std::vector<double>;

/// 1 to `most` whole numbers below `values`; few values make ties.
rc::Gen<Values> samples(std::size_t most, int values) {
  return rc::gen::exec([=] {
    const auto size = *rc::gen::inRange<std::size_t>(1, most + 1);
    const auto drawn = *rc::gen::container<std::vector<int>>(
        size, rc::gen::resize(rc::kNominalSize, rc::gen::inRange(1, values)));
    return Values(drawn.begin(), drawn.end());
  });
}

/// With many ties, with few, with none.
rc::Gen<Values> any_samples(std::size_t most) {
  return rc::gen::oneOf(samples(most, 4), samples(most, 30), samples(most, 1'000'000'000));
}

Values times(Values values, double factor) {
  for (double& value : values) value *= factor;
  return values;
}

Values logs(Values values) {
  for (double& value : values) value = std::log(value);
  return values;
}

/// Of pairs: ln y - ln x.
Values log_ratios(const Values& x, const Values& y) {
  Values ratios(std::min(x.size(), y.size()));
  for (std::size_t i = 0; i < ratios.size(); i++) ratios[i] = std::log(y[i]) - std::log(x[i]);
  return ratios;
}

bool has_ties(Values values) {
  std::sort(values.begin(), values.end());
  return std::adjacent_find(values.begin(), values.end()) != values.end();
}

void check_range(const RankTest& test) {
  for (const double p : {test.p_two_sided, test.p_less, test.p_greater}) {
    RC_ASSERT(p > 0);
    RC_ASSERT(p <= 1);
  }
  RC_ASSERT(test.p_less + test.p_greater >= 1 - 1e-12);  // both hold what was observed
  RC_ASSERT(test.p_two_sided == std::min(1.0, 2 * std::min(test.p_less, test.p_greater)));
}

// 40 is beyond exact counting: the normal approximation has the same properties.
TEST(MannWhitneyProperty, SwappingMirrorsAndOrderDoesNotMatter) {
  ASSERT_TRUE(rc::check([] {
    Values x = *any_samples(40);
    Values y = *any_samples(40);
    const RankTest test = mann_whitney(x, y);
    check_range(test);
    const RankTest swapped = mann_whitney(y, x);
    RC_ASSERT(test.p_two_sided == swapped.p_two_sided);
    RC_ASSERT(test.p_less == swapped.p_greater);
    RC_ASSERT(test.p_greater == swapped.p_less);
    RC_ASSERT(test.statistic + swapped.statistic == static_cast<double>(x.size() * y.size()));
    // The other direction: less is better instead of more.
    const RankTest turned = mann_whitney(times(x, -1), times(y, -1));
    RC_ASSERT(turned.p_less == test.p_greater);
    RC_ASSERT(turned.p_two_sided == test.p_two_sided);
    std::reverse(x.begin(), x.end());
    std::rotate(y.begin(), y.begin() + static_cast<std::ptrdiff_t>(y.size() / 2), y.end());
    RC_ASSERT(mann_whitney(x, y).p_two_sided == test.p_two_sided);
  }));
}

TEST(MannWhitneyProperty, UnitsDoNotMatter) {
  ASSERT_TRUE(rc::check([] {
    const Values x = *any_samples(35);
    const Values y = *any_samples(35);
    const RankTest test = mann_whitney(x, y);
    RC_ASSERT(mann_whitney(times(x, 1000), times(y, 1000)).p_two_sided == test.p_two_sided);
    RC_ASSERT(mann_whitney(logs(x), logs(y)).p_two_sided == test.p_two_sided);
    const Shift shift = shift_between(logs(x), logs(y), 0.95);
    const Shift scaled = shift_between(logs(times(x, 1000)), logs(times(y, 1000)), 0.95);
    RC_ASSERT(std::abs(shift.estimate - scaled.estimate) < 1e-12);
    RC_ASSERT(shift.rank == scaled.rank);
    if (shift.rank > 0) {
      RC_ASSERT(std::abs(shift.low - scaled.low) < 1e-12);
      RC_ASSERT(std::abs(shift.high - scaled.high) < 1e-12);
    }
  }));
}

TEST(MannWhitneyProperty, AValueThatGoesUpNeverLowersU) {
  ASSERT_TRUE(rc::check([] {
    Values x = *any_samples(20);
    const Values y = *any_samples(20);
    const RankTest before = mann_whitney(x, y);
    const auto place = *rc::gen::inRange<std::size_t>(0, x.size());
    x[place] += *rc::gen::inRange(0, 20);
    RC_ASSERT(mann_whitney(x, y).statistic >= before.statistic);
  }));
}

void check_interval(const Shift& shift, double confidence) {
  RC_ASSERT(shift.low <= shift.estimate);
  RC_ASSERT(shift.estimate <= shift.high);
  RC_ASSERT(shift.coverage >= confidence - 1e-12);
  RC_ASSERT(shift.coverage <= 1);
  RC_ASSERT((shift.rank == 0) == std::isinf(shift.low));
  RC_ASSERT((shift.rank == 0) == std::isinf(shift.high));
}

TEST(ShiftProperty, IntervalAndTestSayTheSameWithoutTies) {
  ASSERT_TRUE(rc::check([] {
    const Values x = *samples(40, 1'000'000'000);
    const Values y = times(*samples(40, 1'000'000'000), *rc::gen::element(1.0, 0.7, 1.6));
    Values pooled = x;
    pooled.insert(pooled.end(), y.begin(), y.end());
    RC_PRE(!has_ties(pooled));
    const double confidence = *rc::gen::element(0.8, 0.9, 0.95, 0.99);
    const Shift shift = shift_between(x, y, confidence);
    check_interval(shift, confidence);
    const bool outside = shift.low > 0 || shift.high < 0;
    const double p = mann_whitney(x, y).p_two_sided;
    RC_ASSERT(outside == (p <= (1 - confidence) * (1 + 1e-12)));
    RC_CLASSIFY(outside, "different");
  }));
}

TEST(ShiftProperty, IntervalAndTestOfPairsSayTheSameWithoutTies) {
  ASSERT_TRUE(rc::check([] {
    const auto size = *rc::gen::inRange<std::size_t>(1, 60);
    const auto drawn = *rc::gen::unique<std::vector<int>>(
        size, rc::gen::resize(rc::kNominalSize, rc::gen::inRange(1, 1'000'000)));
    Values differences(drawn.begin(), drawn.end());
    const int sixths = *rc::gen::inRange(0, 4);  // so many turn negative: half of them, or fewer
    for (double& difference : differences) {
      if (*rc::gen::inRange(0, 6) < sixths) difference = -difference;
    }
    const double confidence = *rc::gen::element(0.8, 0.9, 0.95, 0.99);
    const Shift shift = shift_of_pairs(differences, confidence);
    check_interval(shift, confidence);
    const bool outside = shift.low > 0 || shift.high < 0;
    const double p = signed_rank(differences).p_two_sided;
    RC_ASSERT(outside == (p <= (1 - confidence) * (1 + 1e-12)));
    RC_CLASSIFY(outside, "different");
  }));
}

TEST(ShiftProperty, TurnsAroundWithTheDirection) {
  ASSERT_TRUE(rc::check([] {
    const Values x = *any_samples(35);
    const Values y = *any_samples(35);
    const Shift shift = shift_between(x, y, 0.95);
    check_interval(shift, 0.95);
    for (const Shift& back :
         {shift_between(y, x, 0.95), shift_between(times(x, -1), times(y, -1), 0.95)}) {
      RC_ASSERT(back.estimate == -shift.estimate);
      RC_ASSERT(back.low == -shift.high);
      RC_ASSERT(back.high == -shift.low);
    }
  }));
}

TEST(SignedRankProperty, TurnsAroundWithTheDirection) {
  ASSERT_TRUE(rc::check([] {
    const Values differences = log_ratios(*any_samples(60), *any_samples(60));
    const SignedRank test = signed_rank(differences);
    check_range(test);
    RC_ASSERT(test.n + test.zeros == differences.size());
    const SignedRank turned = signed_rank(times(differences, -1));
    RC_ASSERT(turned.p_two_sided == test.p_two_sided);
    RC_ASSERT(turned.p_less == test.p_greater);
    RC_ASSERT(turned.statistic + test.statistic == static_cast<double>(test.n * (test.n + 1) / 2));
    const Shift shift = shift_of_pairs(differences, 0.95);
    check_interval(shift, 0.95);
    const Shift back = shift_of_pairs(times(differences, -1), 0.95);
    RC_ASSERT(back.estimate == -shift.estimate);
    RC_ASSERT(back.low == -shift.high);
  }));
}

TEST(SignedRankProperty, UnitsDoNotMatter) {
  ASSERT_TRUE(rc::check([] {
    const auto most = *rc::gen::inRange<std::size_t>(1, 60);
    const Values x = *samples(most, 1'000'000'000);
    const Values y = *samples(most, 1'000'000'000);
    const Values ratios = log_ratios(x, y);
    const Values scaled = log_ratios(times(x, 1000), times(y, 1000));
    // Rounding tells ratios apart that are equal, as those of 1 to 2 and 2 to 4; this is about
    // others.
    Values sizes = ratios;
    for (double& size : sizes) size = std::round(std::abs(size) * 1e11);
    RC_PRE(!has_ties(sizes));
    RC_ASSERT(signed_rank(scaled).p_two_sided == signed_rank(ratios).p_two_sided);
    const Shift shift = shift_of_pairs(ratios, 0.95);
    RC_ASSERT(std::abs(shift_of_pairs(scaled, 0.95).estimate - shift.estimate) < 1e-12);
  }));
}

rc::Gen<Values> probabilities() {
  return rc::gen::map(rc::gen::container<std::vector<int>>(rc::gen::inRange(1, 1001)),
                      [](const auto& thousandths) {
                        Values p(thousandths.begin(), thousandths.end());
                        return times(p, 1e-3);
                      });
}

TEST(HolmProperty, IsMonotoneAndNeverBelowP) {
  ASSERT_TRUE(rc::check([] {
    const Values p = *probabilities();
    const Values adjusted = holm(p);
    RC_ASSERT(adjusted.size() == p.size());
    const double count = static_cast<double>(p.size());
    for (std::size_t i = 0; i < p.size(); i++) {
      RC_ASSERT(adjusted[i] >= p[i]);
      RC_ASSERT(adjusted[i] <= std::min(1.0, count * p[i]));  // never harsher than Bonferroni
      for (std::size_t j = 0; j < p.size(); j++) {
        if (p[i] <= p[j]) RC_ASSERT(adjusted[i] <= adjusted[j]);
      }
    }
    if (!p.empty()) {
      const double least = *std::min_element(p.begin(), p.end());
      RC_ASSERT(*std::min_element(adjusted.begin(), adjusted.end()) ==
                std::min(1.0, count * least));
    }
  }));
}

TEST(BootstrapProperty, StaysWithinWhatWasMeasured) {
  ASSERT_TRUE(rc::check([] {
    const Values x = *any_samples(25);
    const Values y = *any_samples(25);
    const auto seed = *rc::gen::arbitrary<std::uint64_t>();
    const auto [least_x, most_x] = std::minmax_element(x.begin(), x.end());
    const auto [least_y, most_y] = std::minmax_element(y.begin(), y.end());
    const BootstrapInterval between = bootstrap_shift_between(x, y, 0.9, seed, 60);
    RC_ASSERT(between.low <= between.high);
    RC_ASSERT(between.low >= *least_y - *most_x);
    RC_ASSERT(between.high <= *most_y - *least_x);
    const BootstrapInterval paired = bootstrap_shift_of_pairs(x, 0.9, seed, 60);
    RC_ASSERT(paired.low >= *least_x);
    RC_ASSERT(paired.high <= *most_x);
  }));
}

}  // namespace
}  // namespace uringbench::stats
