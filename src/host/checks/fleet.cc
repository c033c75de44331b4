// SPDX-License-Identifier: MIT
#include "host/checks/fleet.h"

#include <algorithm>
#include <optional>
#include <unordered_set>

#include "host/checks/load_figures.h"

namespace paceline::host {
namespace {

constexpr const char* kSlowHost =
    "paceline validate --load there again when nothing else runs; look at clocks, cooling and power";

// Names of all machines, each once, in the order of their first appearance.
template <class Items, class Name>
std::vector<std::string> names_in(const std::vector<Machine>& machines, Items items, Name name) {
  std::vector<std::string> names;
  std::unordered_set<std::string> known;
  for (const auto& machine : machines)
    for (const auto& one : machine.*items)
      if (auto text = std::invoke(name, one); known.insert(text).second) names.push_back(std::move(text));
  return names;
}

// A fact of every machine; empty where a machine's version of Paceline does not know it.
std::vector<Fact> fact_of_all(const std::vector<Machine>& machines, const std::string& name) {
  std::vector<Fact> facts;
  for (const auto& machine : machines) {
    const auto* known = find_fact(machine, name);
    const auto fact = known ? std::optional(*known) : absent_fact(name);
    if (!fact) return {};
    facts.push_back(*fact);
  }
  return facts;
}

// The one that most others are like.
const Fact& most_frequent(const std::vector<Fact>& facts, std::size_t& count) {
  const auto like = [&](const Fact& fact) {
    return static_cast<std::size_t>(
        std::ranges::count_if(facts, [&](const Fact& other) { return !judge(other, fact); }));
  };
  const auto best = std::ranges::max_element(facts, {}, like);
  count = like(*best);
  return *best;
}

// FAIL, where any of them is worse than another.
Verdict worst_of(const std::vector<Fact>& facts, const Fact& usual) {
  for (const auto& fact : facts)
    if (judge(fact, usual) == Verdict::kNo || judge(usual, fact) == Verdict::kNo) return Verdict::kNo;
  return Verdict::kReservedly;
}

void add_outlier(FleetDifference& difference, std::size_t machine, Verdict verdict) {
  difference.outliers.push_back(machine);
  difference.verdicts.push_back(verdict);
  difference.status = std::max(difference.status, verdict);
}

FleetDifference difference_of(const std::vector<Fact>& facts, const Fact& usual, bool majority) {
  FleetDifference difference{facts.front().name,
                             {},
                             majority ? shown_value(usual) : "",
                             {},
                             {},
                             majority ? Verdict::kReservedly : worst_of(facts, usual),
                             std::string(rule_of(usual.name).fix)};
  for (std::size_t i = 0; i < facts.size(); ++i) {
    difference.values.push_back(shown_value(facts[i]));
    const auto verdict = judge(facts[i], usual);
    if (majority && verdict) add_outlier(difference, i, *verdict);
  }
  return difference;
}

void compare_facts(const std::vector<Fact>& facts, FleetView& view) {
  std::size_t count = 0;
  const auto& usual = most_frequent(facts, count);
  if (count == facts.size())
    view.alike.emplace_back(usual.name, shown_value(usual));
  else
    view.differences.push_back(difference_of(facts, usual, 2 * count > facts.size()));
}

using Figures = std::vector<const LoadFigure*>;

// Null where a machine has none.
Figures figure_of_all(const std::vector<Machine>& machines, const std::string& name) {
  Figures figures;
  for (const auto& machine : machines) {
    const auto found = std::ranges::find(machine.load, name, &LoadFigure::name);
    figures.push_back(found == machine.load.end() ? nullptr : &*found);
  }
  return figures;
}

// Takes the faster one of two.
const LoadFigure& in_the_middle(Figures figures) {
  std::erase(figures, nullptr);
  std::ranges::sort(figures, {}, &LoadFigure::median);
  return *figures[figures.size() / 2];
}

// Whether more than half of all machines have the figure and are not slower than the middle.
bool has_majority(const Figures& figures, const LoadFigure& middle) {
  const auto alike = std::ranges::count_if(
      figures, [&](const LoadFigure* figure) { return figure && !is_slower(*figure, middle); });
  return 2 * alike > std::ssize(figures);
}

void compare_figures(const std::vector<Machine>& machines, const std::string& name, FleetView& view) {
  const auto figures = figure_of_all(machines, name);
  const auto& middle = in_the_middle(figures);
  const bool majority = has_majority(figures, middle);
  FleetDifference difference{name,     {}, majority ? shown_figure(middle) : "", {}, {}, Verdict::kReservedly,
                             kSlowHost};
  bool alike = true;
  for (std::size_t i = 0; i < figures.size(); ++i) {
    const bool slow = figures[i] && is_slower(*figures[i], middle);
    difference.values.push_back(figures[i] ? shown_figure(*figures[i]) : "not measured");
    if (figures[i] && !slow) continue;
    alike = false;
    const auto verdict = slow ? slow_status(machines[i], *figures[i]) : Verdict::kNo;
    if (majority)
      add_outlier(difference, i, verdict);
    else if (slow)
      difference.status = std::max(difference.status, verdict);
  }
  if (!alike) view.differences.push_back(std::move(difference));
}

}  // namespace

FleetView compare_fleet(const std::vector<Machine>& machines) {
  FleetView view;
  if (machines.empty()) return view;
  for (const auto& name : names_in(machines, &Machine::facts, &Fact::name))
    if (const auto facts = fact_of_all(machines, name); !facts.empty()) compare_facts(facts, view);
  for (const auto& name : names_in(machines, &Machine::load, &LoadFigure::name))
    compare_figures(machines, name, view);
  std::stable_partition(view.differences.begin(), view.differences.end(),
                        [](const auto& one) { return one.status == Verdict::kNo; });
  return view;
}

Machine usual_machine(const std::vector<Machine>& machines) {
  Machine usual{machines.front().paceline, {}, machines.front().taken_utc, {}, {}};
  for (const auto& machine : machines) usual.host += (usual.host.empty() ? "" : ",") + machine.host;
  for (const auto& name : names_in(machines, &Machine::facts, &Fact::name)) {
    const auto facts = fact_of_all(machines, name);
    std::size_t count = 0;
    if (facts.empty()) continue;
    if (const auto& fact = most_frequent(facts, count); 2 * count > facts.size()) usual.facts.push_back(fact);
  }
  for (const auto& name : names_in(machines, &Machine::load, &LoadFigure::name)) {
    const auto figures = figure_of_all(machines, name);
    if (const auto& middle = in_the_middle(figures); has_majority(figures, middle))
      usual.load.push_back(middle);
  }
  return usual;
}

}  // namespace paceline::host
