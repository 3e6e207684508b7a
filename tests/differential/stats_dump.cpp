// Reads questions, prints what uringbench calculates: one line each, for tests that ask SciPy the
// same (tests/e2e/test_stats_scipy.py).
//
//   independent CONFIDENCE N x… M y…     statistic p less greater exact estimate low high
//   paired CONFIDENCE N d…               coverage rank, then the four by normal approximation
//   cdf N z…, quantile N p…, holm N p…   as many numbers
//   geomean N ratio…                     one
//   bootstrap_median N                   N
//   least N M                            least p of N against M runs, and of N pairs
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "stats/stats.hpp"

namespace {

namespace stats = uringbench::stats;
using Values = std::vector<double>;

std::size_t read_size() {
  std::size_t size = 0;
  std::cin >> size;
  return size;
}

Values read_values() {
  Values values(read_size());
  // Not by >>, which refuses "inf" and numbers below the normal ones.
  for (double& value : values) {
    std::string word;
    std::cin >> word;
    value = std::stod(word);
  }
  return values;
}

void print(const Values& values) {
  for (const double value : values) std::printf("%.17g ", value);
  std::printf("\n");
}

void print(const stats::RankTest& test, const stats::Shift& shift, const stats::RankTest& normal) {
  print({test.statistic, test.p_two_sided, test.p_less, test.p_greater, test.exact ? 1.0 : 0.0,
         shift.estimate, shift.low, shift.high, shift.coverage, static_cast<double>(shift.rank),
         normal.statistic, normal.p_two_sided, normal.p_less, normal.p_greater});
}

void answer(const std::string& question) {
  if (question == "independent") {
    double confidence = 0;
    std::cin >> confidence;
    const Values x = read_values();
    const Values y = read_values();
    print(stats::mann_whitney(x, y), stats::shift_between(x, y, confidence),
          stats::mann_whitney_normal(x, y));
  } else if (question == "paired") {
    double confidence = 0;
    std::cin >> confidence;
    const Values differences = read_values();
    print(stats::signed_rank(differences), stats::shift_of_pairs(differences, confidence),
          stats::signed_rank_normal(differences));
  } else if (question == "cdf") {
    Values values = read_values();
    for (double& value : values) value = stats::normal_cdf(value);
    print(values);
  } else if (question == "quantile") {
    Values values = read_values();
    for (double& value : values) value = stats::normal_quantile(value);
    print(values);
  } else if (question == "holm") {
    print(stats::holm(read_values()));
  } else if (question == "geomean") {
    print({stats::geometric_mean(read_values()).value()});
  } else if (question == "bootstrap_median") {
    print(stats::bootstrap_median_distribution(read_size()));
  } else if (question == "least") {
    const std::size_t n = read_size();
    const std::size_t m = read_size();
    print({stats::least_p_independent(n, m), stats::least_p_paired(n)});
  } else {
    std::fprintf(stderr, "stats_dump: no such question: %s\n", question.c_str());
    std::exit(2);
  }
}

}  // namespace

int main() {
  std::string question;
  while (std::cin >> question) answer(question);
  return 0;
}
