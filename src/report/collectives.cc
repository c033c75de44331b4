// SPDX-License-Identifier: MIT
// Words what a report says about collectives: figures by size, the fit of latency and bandwidth, ranks, and
// rounds of messages between ranks.
#include "report/collectives.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/binary_size.h"
#include "base/text.h"
#include "base/units.h"
#include "report/case_cells.h"
#include "report/chart/collective_plots.h"
#include "report/subjects.h"
#include "result/collective_table.h"

namespace paceline::report {
namespace {

using result::CollectiveFigures;
using result::CollectiveResult;
using result::RoundFigures;
using result::SlowPart;
using result::SubsetFigures;

constexpr double kToUs = 1e-3;
constexpr int kExpectedColumn = 5;                                // beside the bus bandwidth
constexpr std::size_t kMatrixOnTerminal = 8, kMatrixOnPage = 32;  // ranks
constexpr std::size_t kSlowestShown = 12;

std::string us(const SubsetFigures& subset) {
  return subset.ns ? format_significant(*subset.ns * kToUs) : kNone;
}

std::string host_of(const CaseResult& one, std::int64_t rank) {
  return one.collective()->ranks.at(static_cast<std::size_t>(rank)).host;
}

Table matrix(const CaseResult& one, const RoundFigures& rounds) {
  const auto& ranks = one.collective()->ranks;
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
  return pairs && one.collective()->ranks.size() <= most ? matrix(one, rounds) : slowest(rounds);
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

Section rounds_section(const CaseResult& one, const RoundFigures& rounds, Form form) {
  Section section{.title = one.label + ": rounds", .table = table_of(one, rounds, form)};
  auto& sentences = form == Form::kPage ? section.paragraphs : section.notes;
  sentences = verdict_of(one, rounds);
  sentences.push_back(facts_of(rounds));
  return section;
}

bool has_sizes(const CaseResult& one) {
  return one.collective() && !one.collective()->sizes.empty();
}

std::string us(const Number& ns) {
  return ns ? format_significant(*ns * kToUs) : kNone;
}

// Only the compared place has an expected value.
std::string expected_cell(const result::CollectiveSizeFigures& size, const CollectiveFigures& f) {
  const auto& expected = size.expected_busbw_gb_per_s;
  if (!expected || !size.expected_share || &f != &size.out_of_place) return kNone;
  return fmt::format("{} ({})", format_percent(*size.expected_share), format_significant(*expected));
}

// A terminal has no room for two intervals; that of the bandwidth is as wide as that of the time.
void add_size(Table& table, const result::CollectiveSizeFigures& size, const CollectiveFigures& f,
              const char* place, Form form) {
  if (!f.n) return;
  const auto& busbw = f.sync_busbw_gb_per_s;
  table.add(exact_bytes(size.bytes), place, with_interval(f.sync_ns, kToUs), us(f.sync_p99_ns),
            form == Form::kTerminal ? significant_or_none(busbw.value) : with_interval(busbw),
            us(f.stream_ns), us(f.batch_ns), f.wrong ? std::to_string(*f.wrong) : kNone,
            std::to_string(*f.n));
  auto& cells = table.rows.back().cells;
  if (table.heads.size() > cells.size())
    cells.insert(cells.begin() + kExpectedColumn, expected_cell(size, f));
}

// Texts have no other place for the name of the case.
Table size_table(const CaseResult& one, Form form) {
  const auto& c = *one.collective();
  Table table{.heads = {form == Form::kPage ? "size" : one.label, "place", "p50 us", "p99 us", "busbw GB/s",
                        "stream us", "batch us", "wrong", "n"},
              .numbers_from = 2};
  if (std::any_of(c.sizes.begin(), c.sizes.end(),
                  [](const auto& size) { return !!size.expected_busbw_gb_per_s; }))
    table.heads.insert(table.heads.begin() + kExpectedColumn, "of expected");
  for (const auto& size : c.sizes) {
    add_size(table, size, size.out_of_place, "out", form);
    add_size(table, size, size.in_place, "in", form);
  }
  return table;
}

std::string link_sentence(const CollectiveResult& c) {
  if (c.link.empty()) return {};
  std::string text = "Fitted to the times out of place:";
  for (const auto& segment : c.link)
    text += fmt::format(
        "{} from {} to {}: {} us and {};", c.link.size() > 1 ? " a protocol" : "",
        exact_bytes(segment.from_bytes), exact_bytes(segment.to_bytes),
        with_interval(segment.alpha_ns, kToUs),
        segment.gb_per_s.value ? with_interval(segment.gb_per_s) + " GB/s" : segment.gb_per_s.value.reason());
  text.back() = '.';
  if (c.link_error)
    text += fmt::format(" Its error is {} (root mean square over the sizes).", format_percent(*c.link_error));
  return text;
}

std::string facts_of(const CollectiveResult& c) {
  std::string text = fmt::format("{} started {} over {}", plural(std::ssize(c.ranks), "rank"),
                                 launcher_words(c.launcher), c.backend);
  if (!c.wrong) return text + "; nothing was checked.";
  return text + (*c.wrong == 0 ? "; every size was checked, and no element was wrong."
                               : fmt::format("; {} elements were wrong.", *c.wrong));
}

Table rank_table(const CollectiveResult& c) {
  Table table{.heads = {"rank", "host", "process", "CPUs"}, .numbers_from = kNoNumbers};
  for (const auto& r : c.ranks)
    table.add(std::to_string(r.rank), r.host, std::to_string(r.process_id), r.cpus);
  return table;
}

std::string expected_sentence(const CollectiveResult& c) {
  return c.topology.empty()
             ? std::string()
             : "Of expected: share of the bus bandwidth (GB/s) that is expected of " + c.topology + ".";
}

constexpr const char* kReading =
    "p50, p99 and bus bandwidth: operations one by one after a barrier, each as long as its slowest rank; "
    "stream: back to back; batch: nccl-tests' way, all at once and the mean over ranks.";

// The texts show tables and notes alone.
Section section_of(const CaseResult& one, Form form) {
  const auto& c = *one.collective();
  Section section{.title = one.label, .table = size_table(one, form), .notes = c.notes};
  auto& sentences = form == Form::kPage ? section.paragraphs : section.notes;
  sentences.insert(sentences.begin(), {facts_of(c), link_sentence(c), kReading, expected_sentence(c)});
  std::erase(sentences, "");
  return section;
}

// The fastest size of the case that reaches most.
std::string chart_reading(const std::vector<ReportCase>& cases) {
  const ReportCase* best = nullptr;
  const result::CollectiveSizeFigures* at = nullptr;
  double most = 0;
  for (const auto& entry : cases)
    for (const auto& size : entry.one->collective()->sizes) {
      const auto& rate = size.out_of_place.sync_busbw_gb_per_s.value;
      if (rate && *rate > most) most = *rate, best = &entry, at = &size;
    }
  if (!best) return {};
  return fmt::format("{} reaches {} GB/s at {}; dotted: latency and bandwidth as fitted.", name_of(*best),
                     format_significant(most), exact_bytes(at->bytes));
}

Sections collective_sections(std::span<const ReportRun> runs, Form form) {
  Sections all;
  const auto swept = cases_with(runs, has_sizes);
  if (form == Form::kPage && !swept.empty())
    all.push_back({.chart = {"collective_bandwidth", "Bus bandwidth by size", chart_reading(swept),
                             "busbw_gb_per_s", collective_plots(swept)}});
  for (const auto& entry : swept) {
    all.push_back(section_of(*entry.one, form));
    if (const auto& rounds = entry.one->collective()->rounds)
      all.push_back(rounds_section(*entry.one, *rounds, form));
  }
  return all;
}

Sections collective_details(const ReportCase& entry) {
  const CaseResult& one = *entry.one;
  if (!has_sizes(one)) return {};
  return {{.title = "Ranks", .table = rank_table(*one.collective())}};
}

constexpr std::array kSweepCharts{ChartReason{"collective_bandwidth", "no case is a sweep of collectives"}};

}  // namespace

std::string render_collectives(std::span<const ReportRun> runs, const RenderOptions&) {
  return one_below_another(runs, result::collectives_csv);
}

constexpr Subject kCollectives{.id = "collectives",
                               .heading = "Collectives",
                               .of_runs = collective_sections,
                               .of_case = collective_details,
                               .charts = kSweepCharts};

}  // namespace paceline::report
