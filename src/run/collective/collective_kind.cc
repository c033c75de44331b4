// SPDX-License-Identifier: MIT
#include "run/collective/collective_kind.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/file.h"
#include "config/bandwidth_limit.h"
#include "config/topologies.h"
#include "host/affinity.h"
#include "result/summarize_collective.h"
#include "result/summarize_rounds.h"
#include "run/case/case_identity.h"
#include "run/case/case_run.h"
#include "run/collective/collective_factory.h"
#include "run/ranks/rank_home.h"

namespace paceline::run {
namespace {

constexpr double kBytesOfGb = 1e9;

// The first size whose results were wrong, in words; empty: none was.
std::string wrong_words(const std::vector<result::CollectiveResult>& collectives) {
  for (const auto& c : collectives)
    for (const auto& size : c.sizes)
      for (const auto* f : {&size.out_of_place, &size.in_place})
        if (f->wrong && *f->wrong > 0)
          return fmt::format("accuracy: {} elements of {} of {} bytes ({}) were not as they must be",
                             *f->wrong, c.operation, size.bytes,
                             f == &size.in_place ? "in place" : "out of place");
  for (const auto& c : collectives)
    for (const auto& rounds : c.rounds)
      if (rounds.wrong && *rounds.wrong > 0)
        return fmt::format(
            "accuracy: {} elements of a message of {} bytes between two ranks were not as they must be",
            *rounds.wrong, rounds.bytes);
  return {};
}

void summarize_rounds(const CaseRun& run, result::CollectiveResult& collective) {
  if (run.round_times.empty()) return;
  const auto spec = collective_spec(run.definition.settings);
  collective.rounds = {result::summarize_rounds(
      run.round_times, collective.ranks, {spec.rounds, spec.round_bytes, spec.slow_factor, spec.checks > 0})};
}

// What stands in the table about a run like this one.
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
    size.expected_share = expected && measured ? result::Number(*measured / *expected)
                                               : result::Number::missing(expected ? measured.reason() : why);
  }
}

// The name of the first GPU here.
std::string gpu_of(const nlohmann::json& environment) {
  const auto name = environment.value("/nvidia/gpus/0/name"_json_pointer, nlohmann::json());
  return name.is_string() ? name.get<std::string>() : std::string();
}

class CollectiveRules : public KindRules {
 public:
  void identify(const config::Case& c, std::map<std::string, std::string>& params) const override {
    if (c.settings.text("device") == "cuda") params["device"] = "cuda";
  }
  // The samples of a case are those of its largest size.
  [[nodiscard]] double items_per_iteration(const config::Case& c) const override {
    const auto bytes = largest_bytes(c);
    return bytes > 0 ? static_cast<double>(bytes) / kBytesOfGb : 1;
  }
  [[nodiscard]] std::string item(const config::Case& c) const override {
    return largest_bytes(c) > 0 ? "GB" : "barriers";
  }
  [[nodiscard]] RankHome rank_home(const config::Case& c, const EngineDirectory& engines) const override {
    return find_rank_home(c, engines, plugin::Role::kCommunicator,
                          [](const pass::RankSpec& ranks) { return ranks.backend; });
  }
  std::vector<result::Sample> take(CaseRun& run, result::Repetition& repetition,
                                   pass::PassReport& report) const override {
    run.collective_times[repetition.index] = report.collective_times;
    if (!report.round_times.empty()) run.round_times[repetition.index] = report.round_times;
    return result::largest_size_samples(report.collective_times, static_cast<std::int32_t>(repetition.index));
  }
  void summarize(CaseRun& run) const override {
    run.result.collective.clear();
    if (run.result.repetitions.empty()) return;
    run.result.collective = run.result.repetitions.back().collective;
    for (auto& collective : run.result.collective) {
      for (const auto& text : run.definition.settings.texts("min_busbw")) {
        const auto limit = config::parse_bandwidth_limit(text);
        collective.least_busbw.push_back({limit.bytes, limit.gb_per_s});
      }
      result::summarize_collective(collective, run.collective_times,
                                   run.definition.settings.number("confidence"));
      summarize_rounds(run, collective);
      expect(run, collective);
      if (run.base.ranks.device == "cpu")
        collective.notes.emplace_back("ranks are CPU processes: their bandwidth does not speak for GPUs");
    }
    if (const auto wrong = wrong_words(run.result.collective); !wrong.empty())
      end_case(run, "accuracy", wrong);
  }
  void write_files(const CaseRun& run) const override {
    write_file_atomic(run.dir / "collective_times.csv", result::collective_times_csv(run.collective_times));
    if (!run.round_times.empty())
      write_file_atomic(run.dir / "rounds.csv", result::rounds_csv(run.round_times));
  }
};

class CollectiveInRun : public KindInRun {
 public:
  explicit CollectiveInRun(const KindTools& tools) : tools_(tools) {}

  void open(CaseRun& c) override {
    const auto home = collective_rules().rank_home(c.definition, tools_.setup.engines);
    c.base = pass_of(c.definition, home);
    identify_device(c.result.benchmark, home.ranks.device);
    if (home.ranks.device == "cuda" && tools_.setup.environment.is_object())
      c.gpu = gpu_of(tools_.setup.environment);
    if (auto problem = rank_obstacle(c.base, home.plugin, tools_.setup.launch); !problem.empty())
      end_case(c, "unavailable", problem);
  }

  [[nodiscard]] std::optional<pass::PassSpec> pass_of_ranks(const config::Case& c,
                                                            bool extra) const override {
    if (extra) return std::nullopt;
    return pass_of(c, collective_rules().rank_home(c, tools_.setup.engines));
  }

 private:
  [[nodiscard]] pass::PassSpec pass_of(const config::Case& c, const RankHome& home) const {
    const auto& setup = tools_.setup;
    const auto cores = static_cast<int>(host::allowed_cpus().size());
    auto pass =
        collective_pass(c, home.ranks.device, threads_per_rank(setup.cases, cores, ranks_of(setup.launch)));
    pass.plugin_file = home.plugin.file.string();
    if (c.settings.flag("pin")) pass.pin_cpus = host::choose_cpus(pass.settings.threads);
    return pass;
  }

  KindTools tools_;
};

}  // namespace

const KindRules& collective_rules() {
  static const CollectiveRules kRules;
  return kRules;
}

std::unique_ptr<KindInRun> make_collective(const KindTools& tools) {
  return std::make_unique<CollectiveInRun>(tools);
}

}  // namespace paceline::run
