// SPDX-License-Identifier: MIT
// Replays a search on a table of costs: a line per arm, a column per round, lower is better; "nan": no
// figure. Prints the number of looks and the line of the arm it ends with.
#include <fmt/format.h>

#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "unit/tune/simulated_arms.h"

namespace paceline::tune {
namespace {

std::vector<std::vector<double>> read_table(std::istream& in) {
  std::vector<std::vector<double>> table;
  for (std::string line; std::getline(in, line);) {
    auto& row = table.emplace_back();
    std::istringstream cells(line);
    for (std::string cell; std::getline(cells, cell, ',');) row.push_back(std::stod(cell));
  }
  return table;
}

Search searched(const std::vector<std::vector<double>>& table) {
  std::vector<std::string> keys;
  for (std::size_t i = 0; i < table.size(); ++i) keys.push_back(fmt::format("{:04}", i));
  Search search(keys);
  for (auto round = search.next(); !round.empty(); round = search.next()) {
    std::vector<Outcome> outcomes;
    for (const auto i : round) outcomes.push_back(simulated::measured(i, table[i].at(search.rounds())));
    search.take(outcomes);
  }
  return search;
}

}  // namespace
}  // namespace paceline::tune

int main() {
  const auto search = paceline::tune::searched(paceline::tune::read_table(std::cin));
  std::size_t looks = 0;
  for (const auto& arm : search.arms()) looks += arm.rounds;
  std::cout << looks << ' ' << search.best().value() << '\n';
}
