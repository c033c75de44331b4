// SPDX-License-Identifier: MIT
#include "run/collective/collective_results.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "base/device.h"
#include "base/error.h"
#include "base/file.h"
#include "base/units.h"
#include "config/collective/bandwidth_limit.h"
#include "config/collective/topologies.h"
#include "pass/sweep.h"
#include "process/kept_records.h"
#include "result/figures/summarize_collective.h"
#include "result/figures/summarize_rounds.h"
#include "result/judged/reasons.h"
#include "run/case/case_identity.h"
#include "run/case/case_run.h"
#include "run/collective/collective_factory.h"
#include "run/collective/nccl_tests_variables.h"
#include "run/collective/sweep_here.h"
#include "run/ranks/rank_home.h"

namespace paceline::run {
namespace {

using pass::SweepStep;

constexpr double kBytesOfGb = 1e9;

// The first size whose results were wrong, in words; empty: none was.
std::string wrong_words(const result::CollectiveResult& c) {
  for (const auto& size : c.sizes)
    for (const auto* f : {&size.out_of_place, &size.in_place})
      if (f->wrong && *f->wrong > 0)
        return fmt::format("accuracy: {} elements of {} of {} bytes ({}) were not as they must be", *f->wrong,
                           c.operation, size.bytes, f == &size.in_place ? "in place" : "out of place");
  if (c.rounds && c.rounds->wrong && *c.rounds->wrong > 0)
    return fmt::format(
        "accuracy: {} elements of a message of {} bytes between two ranks were not as they must be",
        *c.rounds->wrong, c.rounds->bytes);
  return {};
}

result::TimesOfRepetitions times_of(const CaseRun& run) {
  result::TimesOfRepetitions times;
  for (const auto& [repetition, report] : run.reported)
    times[repetition] = std::get<pass::SweepReport>(report).times;
  return times;
}

result::RoundsOfRepetitions rounds_of(const CaseRun& run) {
  result::RoundsOfRepetitions all;
  for (const auto& [repetition, report] : run.reported)
    if (const auto& rounds = std::get<pass::SweepReport>(report).rounds; !rounds.empty())
      all[repetition] = rounds;
  return all;
}

void summarize_rounds(const CaseRun& run, result::CollectiveResult& collective) {
  const auto rounds = rounds_of(run);
  if (rounds.empty()) return;
  const auto spec = collective_spec(run.definition.settings);
  collective.rounds = result::summarize_rounds(
      rounds, collective.ranks, {spec.rounds, spec.round_bytes, spec.slow_factor, spec.checks > 0});
}

// Fills in the bandwidth that the table expects of a run like this one.
void expect(const CaseRun& run, result::CollectiveResult& c) {
  const auto& s = run.definition.settings;
  const auto text_of = [&](const char* name) { return s.has(name) ? s.text(name) : std::string(); };
  const auto hosts = result::hosts_of(c.ranks);
  const bool one_host = std::all_of(hosts.begin(), hosts.end(), [](int host) { return host == 0; });
  std::vector<config::Topology> table;
  std::string why = "no row of the table of topologies fits this run; --topology names one";
  try {
    table = config::read_topologies(text_of("expected"));
  } catch (const Error& e) {
    why = e.what();
  }
  const auto* found = config::find_topology(table, text_of("topology"),
                                            {c.operation, run.gpu, one_host, std::ssize(c.ranks)});
  const auto& o = found ? found->operations : std::vector<std::string>();
  if (found && std::find(o.begin(), o.end(), c.operation) == o.end())
    why = fmt::format("{} has no figures of {}", found->name, c.operation), found = nullptr;
  if (!found) c.notes.push_back("no expected value: " + why);
  if (found) c.topology = config::words_of(*found);
  for (auto& size : c.sizes) {
    const auto expected = found ? config::expected_gb_per_s(*found, size.bytes) : std::nullopt;
    if (found && !expected) why = found->name + " has no figure of so few bytes";
    const auto& measured = size.out_of_place.sync_busbw_gb_per_s.value;
    size.expected_busbw_gb_per_s = {expected, why};
    size.expected_share = expected && measured ? Number(*measured / *expected)
                                               : Number::missing(expected ? measured.reason() : why);
  }
}

// Everything that follows from the times of the case's repetitions.
void fill_figures(CaseRun& run, result::CollectiveResult& collective) {
  const auto& s = run.definition.settings;
  for (const auto& text : s.texts("min_busbw")) {
    const auto limit = config::parse_bandwidth_limit(text);
    collective.least_busbw.push_back({limit.bytes, limit.gb_per_s});
  }
  result::summarize_collective(collective, times_of(run), s.number("confidence"));
  summarize_rounds(run, collective);
  expect(run, collective);
  for (auto& words : size_remarks(run.definition)) collective.notes.push_back(std::move(words));
  if (is_cpu(run.base.ranks.device))
    collective.notes.emplace_back("ranks are CPU processes: their bandwidth does not speak for GPUs");
}

std::vector<SweepStep> steps_of(const CaseRun& run) {
  return pass::sweep_steps(collective_spec(run.definition.settings),
                           run.definition.settings.integer("ranks"));
}

// Whether the other place of the size that was measured last comes next.
bool is_half_measured(const std::vector<SweepStep>& steps,
                      const std::vector<result::CollectiveTimes>& times) {
  return !times.empty() && times.size() < steps.size() &&
         steps[times.size()].size.bytes == times.back().bytes;
}

std::int64_t count_sizes(const std::vector<SweepStep>& steps) {
  return std::count_if(steps.begin(), steps.end(), [](const SweepStep& step) { return !step.in_place; });
}

// Where a sweep stopped, and what of it is there.
std::string progress_words(const CaseRun& run, const pass::PassReport& report) {
  const auto& sweep = report.get<pass::SweepReport>();
  const auto steps = steps_of(run);
  const auto all = count_sizes(steps);
  auto done = std::span(steps).first(std::min(steps.size(), sweep.times.size()));
  const auto measured =
      count_sizes({done.begin(), done.end()}) - (is_half_measured(steps, sweep.times) ? 1 : 0);
  const auto where = report.at.empty() ? "before the first size" : "at " + report.at;
  return done.size() == steps.size()
             ? fmt::format("it was {}; all {} of the sweep are kept", where, plural(all, "size"))
         : measured == 0
             ? fmt::format("it was {}; no size was measured before", where)
             : fmt::format("it was {}; {} of {} are measured and kept", where, measured, plural(all, "size"));
}

class CollectiveRules : public KindRules {
 public:
  [[nodiscard]] std::string device(const config::Case& c) const override {
    return is_cuda(c.settings.text("device")) ? "cuda" : "cpu";
  }
  // The samples of a case are those of its largest size.
  [[nodiscard]] double items_per_iteration(const config::Case& c) const override {
    const auto bytes = largest_bytes(c);
    return bytes > 0 ? static_cast<double>(bytes) / kBytesOfGb : 1;
  }
  [[nodiscard]] std::string item(const config::Case& c) const override {
    return largest_bytes(c) > 0 ? "GB" : "barriers";
  }
  [[nodiscard]] double seconds(const config::Case& c, const Pace&) const override { return sweep_seconds(c); }
  [[nodiscard]] Outlook outlook(const config::Case& c, const EngineDirectory& engines,
                                int hosts) const override {
    const auto sweep = judge_sweep_here(c, rank_home(c, engines).ranks.device, hosts);
    return {.refused = sweep.refusal,
            .memory = memory_words(sweep),
            .memory_figures = memory_json(sweep),
            .remarks = size_remarks(c)};
  }
  void check_environment(const Environment& environment) const override {
    check_nccl_tests_variables(environment);
  }
  [[nodiscard]] std::string not_in_process(const config::Case&) const override {
    return "ranks of collectives are separate processes; leave it out";
  }
  [[nodiscard]] RankHome rank_home(const config::Case& c, const EngineDirectory& engines) const override {
    return find_rank_home(c, engines, plugin::Role::kCommunicator,
                          [](const pass::RankSpec& ranks) { return ranks.backend; });
  }
  std::vector<result::Sample> take(CaseRun& run, result::Repetition& repetition,
                                   pass::PassReport& report) const override {
    if (run.result.repetitions.empty()) run.reported.clear();  // parts of those that did not end
    const auto& sweep = report.get<pass::SweepReport>();
    run.reported[repetition.index] = sweep;
    if (sweep.known) repetition.payload = *sweep.known;
    return result::largest_size_samples(sweep.times, static_cast<std::int32_t>(repetition.index));
  }
  void summarize(CaseRun& run) const override {
    if (run.result.repetitions.empty()) return;
    run.result.payload = run.result.repetitions.back().payload;
    auto* collective = run.result.collective();
    if (!collective) return;
    fill_figures(run, *collective);
    if (const auto wrong = wrong_words(*collective); !wrong.empty()) end_case(run, "accuracy", wrong);
  }
  // Repetitions that completed have the better intervals; else the case has the sizes of this one.
  std::string keep_unfinished(CaseRun& run, std::int64_t repetition,
                              const pass::PassReport& report) const override {
    const auto& sweep = report.get<pass::SweepReport>();
    if (!sweep.known) return {};
    if (sweep.times.empty() && result::reason_of(report.error_code).skips) return {};
    auto words = progress_words(run, report);
    if (!run.result.repetitions.empty()) {
      const auto file =
          process::unfinished_records_of(run.record_file(pass::PassKind::kCollective, repetition));
      return fmt::format("{} in passes/{}", words, file.filename().string());
    }
    const bool adds = !sweep.times.empty();
    if (!adds && run.result.collective()) words += "; sizes that were measured earlier are kept";
    run.interrupted = words;
    if (!adds) return words;
    run.reported = {{repetition, pass::SweepReport{.times = sweep.times}}};
    run.result.payload = *sweep.known;
    auto& collective = *run.result.collective();
    fill_figures(run, collective);
    collective.notes.insert(collective.notes.begin(), "the sweep did not end: " + words);
    take_description(run, report);
    write_files(run);
    return words;
  }
  [[nodiscard]] std::optional<result::CaseResult> last_part(const CaseRun& run,
                                                            const pass::PassReport& report) const override {
    const auto& sweep = report.get<pass::SweepReport>();
    const auto& times = sweep.times;
    if (!sweep.known || times.empty() || !sweep.rounds.empty() || is_half_measured(steps_of(run), times))
      return std::nullopt;
    const auto first = std::find_if(times.begin(), times.end(),
                                    [&](const auto& t) { return t.bytes == times.back().bytes; });
    auto part = run.result;
    part.payload = *sweep.known;
    try {
      result::summarize_collective(*part.collective(), {{0, {first, times.end()}}},
                                   run.definition.settings.number("confidence"));
    } catch (const Error&) {
      return std::nullopt;  // said when the pass has ended
    }
    return part;
  }
  void write_files(const CaseRun& run) const override {
    replace_file(run.dir / "collective_times.csv", result::collective_times_csv(times_of(run)));
    if (const auto rounds = rounds_of(run); !rounds.empty())
      replace_file(run.dir / "rounds.csv", result::rounds_csv(rounds));
  }
};

}  // namespace

const KindRules& collective_rules() {
  static const CollectiveRules kRules;
  return kRules;
}

}  // namespace paceline::run
