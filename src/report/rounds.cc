// SPDX-License-Identifier: MIT
#include "report/rounds.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/binary_size.h"
#include "base/text.h"
#include "base/units.h"
#include "report/case_cells.h"

namespace paceline::report {
namespace {

using result::CaseResult;
using result::RoundFigures;
using result::SlowPart;
using result::SubsetFigures;

constexpr double kNsToUs = 1e-3;
constexpr std::size_t kMatrixOnTerminal = 8, kMatrixOnPage = 32;  // ranks
constexpr std::size_t kSlowestShown = 12;

std::string us(const SubsetFigures& subset) {
  return subset.ns ? format_significant(*subset.ns * kNsToUs) : kNone;
}

std::string host_of(const CaseResult& one, std::int64_t rank) {
  return one.collective->ranks.at(static_cast<std::size_t>(rank)).host;
}

Table matrix(const CaseResult& one, const RoundFigures& rounds) {
  const auto& ranks = one.collective->ranks;
  Table table{.heads = {"p50 us", "host"}, .numbers_from = 2};
  for (const auto& rank : ranks) table.heads.push_back(std::to_string(rank.rank));
  for (const auto& rank : ranks) {
    std::vector<Cell> cells{"rank " + std::to_string(rank.rank), rank.host};
    cells.resize(2 + ranks.size(), kNone);
    for (const auto& subset : rounds.subsets)
      for (std::size_t i = 0; i < 2; ++i)
        if (subset.members[i] == rank.rank)
          cells[2 + static_cast<std::size_t>(subset.members[1 - i])] = us(subset);
    table.add(std::move(cells));
  }
  return table;
}

Table slowest(const RoundFigures& rounds) {
  auto subsets = rounds.subsets;
  const auto shown = std::min(kSlowestShown, subsets.size());
  std::partial_sort(subsets.begin(), subsets.begin() + static_cast<std::ptrdiff_t>(shown), subsets.end(),
                    [](const auto& a, const auto& b) { return a.times > b.times; });
  Table table{.heads = {"slowest ranks together", "p50 us", "GB/s", "times the median"}};
  for (std::size_t i = 0; i < shown; ++i)
    table.add(fmt::format("{}", fmt::join(subsets[i].members, " ")), us(subsets[i]),
              significant_or_none(subsets[i].gb_per_s), format_significant(subsets[i].times));
  return table;
}

Table table_of(const CaseResult& one, const RoundFigures& rounds, Form form) {
  const bool pairs = std::all_of(rounds.subsets.begin(), rounds.subsets.end(),
                                 [](const auto& subset) { return subset.members.size() == 2; });
  const auto most = form == Form::kTerminal ? kMatrixOnTerminal : kMatrixOnPage;
  return pairs && one.collective->ranks.size() <= most ? matrix(one, rounds) : slowest(rounds);
}

std::string name_of(const CaseResult& one, const SlowPart& part) {
  const auto rank = [&](std::size_t i) {
    return fmt::format("rank {} ({})", part.ranks[i], host_of(one, part.ranks[i]));
  };
  if (part.what == "rank") return rank(0);
  if (part.what == "link") return fmt::format("the link between {} and {}", rank(0), rank(1));
  const auto ranks = fmt::format("ranks {}", fmt::join(part.ranks, ", "));
  if (part.what == "host") return fmt::format("host {} ({})", part.hosts.front(), ranks);
  return fmt::format("the link between hosts {} ({})", fmt::join(part.hosts, " and "), ranks);
}

std::string slow_sentence(const CaseResult& one, const SlowPart& part) {
  const bool fastest = part.what == "rank" || part.what == "host";
  return fmt::format("Slow: {}. {} {} times as long as {}{}.", name_of(one, part),
                     fastest ? "Even the fastest exchange takes" : "An exchange takes",
                     format_significant(part.factor), fastest ? "that of others" : "between others",
                     part.across_only ? ", and with ranks of its own host as long" : "");
}

std::string facts_of(const RoundFigures& rounds) {
  const bool of_ranks = rounds.of != "pairs" && rounds.of != "hosts";
  return fmt::format("Rounds of {}{}: {} each way, {} and {}{}.", of_ranks ? rounds.of + " ranks" : rounds.of,
                     rounds.of == "hosts" ? ", rank by rank" : "", exact_bytes(rounds.bytes),
                     plural(rounds.rounds, "round"), plural(rounds.attempts, "attempt"),
                     !rounds.wrong        ? "; nothing was checked"
                     : *rounds.wrong == 0 ? "; no element was wrong"
                                          : fmt::format("; {} elements were wrong", *rounds.wrong));
}

std::vector<std::string> verdict_of(const CaseResult& one, const RoundFigures& rounds) {
  std::vector<std::string> sentences;
  if (!rounds.no_verdict.empty()) return {"No verdict: " + rounds.no_verdict + "."};
  for (const auto& part : rounds.slow) sentences.push_back(slow_sentence(one, part));
  if (sentences.empty())
    sentences.push_back(
        fmt::format("No rank, host or link is slow: none takes {} times as long as the others, beyond "
                    "their spread and in every attempt.",
                    format_significant(rounds.slow_factor)));
  std::vector<std::string> names;
  for (const auto& part : rounds.cleared) names.push_back(name_of(one, part));
  if (!names.empty())
    sentences.push_back(
        fmt::format("Suspected at first, and not confirmed by retries: {}.", fmt::join(names, ", ")));
  return sentences;
}

}  // namespace

Section rounds_section(const CaseResult& one, const RoundFigures& rounds, Form form) {
  Section section{.title = one.label + ": rounds", .table = table_of(one, rounds, form)};
  auto& sentences = form == Form::kPage ? section.paragraphs : section.notes;
  sentences = verdict_of(one, rounds);
  sentences.push_back(facts_of(rounds));
  return section;
}

}  // namespace paceline::report
