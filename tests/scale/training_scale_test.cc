// SPDX-License-Identifier: MIT
// Costs of simulated training runs of many ranks: collecting their steps, reading and analysing them, and the
// report. Every figure is of a separate process. PACELINE_SCALE_FOLDER keeps the run directories there.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>

#include "base/clock.h"
#include "base/file.h"
#include "base/scratch_folder.h"
#include "host/machine/memory.h"
#include "process/kept_records.h"
#include "report/format_table.h"
#include "run/case/case_identity.h"
#include "run/case/case_run.h"
#include "run/coordinator.h"
#include "run/ranks/launch.h"
#include "run/training/train_factory.h"
#include "support/fake_executor.h"
#include "support/fake_store.h"
#include "support/simulated_training.h"
#include "workload/training/rank_report.h"

namespace paceline::run {
namespace {

namespace fs = std::filesystem;

constexpr double kMB = 1e6;

struct Cost {
  double seconds = 0;
  double cpu_s = 0;
  double peak_mb = 0;  // beyond what the process held before
};

// Measures `work` in a separate process.
Cost cost_of(const std::function<void()>& work) {
  int ends[2];
  EXPECT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto before = host::process_memory().rss_bytes.value().value_or(0);
    host::reset_rss_peak();
    const SteadyClock clock;
    const auto begin = clock.now_ns();
    Cost cost;
    try {
      work();
      cost.seconds = static_cast<double>(clock.now_ns() - begin) * 1e-9;
      rusage used{};
      ::getrusage(RUSAGE_SELF, &used);
      for (const auto& time : {used.ru_utime, used.ru_stime})
        cost.cpu_s += static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
      const auto peak = host::process_memory().rss_peak_bytes.value().value_or(0);
      cost.peak_mb = static_cast<double>(peak - before) / kMB;
    } catch (const std::exception& e) {
      std::fprintf(stderr, "%s\n", e.what());
    }
    const auto written = ::write(ends[1], &cost, sizeof cost);
    ::_exit(cost.seconds > 0 && written == sizeof cost ? 0 : 1);
  }
  Cost cost;
  EXPECT_EQ(::read(ends[0], &cost, sizeof cost), static_cast<ssize_t>(sizeof cost));
  ::close(ends[0]), ::close(ends[1]);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  return cost;
}

// Rank 0 of a world whose other ranks send what it sends itself, under their own numbers.
class PeersLikeRank0 : public plugin::RankGroup {
 public:
  explicit PeersLikeRank0(int world) : world_(world) {}
  [[nodiscard]] int rank() const override { return 0; }
  [[nodiscard]] int world() const override { return world_; }
  void barrier() override {}
  void broadcast(std::span<std::byte>, int) override {}
  void reduce_max(std::span<double>) override {}
  std::vector<std::string> gather(const std::string& mine) override {
    std::vector<std::string> all(static_cast<std::size_t>(world_), mine);
    for (std::uint32_t rank = 1; rank < all.size(); ++rank) {
      auto& text = all[rank];
      if (text.starts_with('{')) {
        auto entry = nlohmann::json::parse(text);
        entry["about"]["rank"]["rank"] = rank;
        text = entry.dump();
      } else {
        std::memcpy(text.data(), &rank, sizeof rank);
      }
    }
    return all;
  }

 private:
  int world_;
};

RunSetup setup_of(std::int64_t ranks, Launch* launch = nullptr) {
  const auto plan = config::load_plan_text(
      fmt::format("kind: training\nmodel: tiny_cnn\nranks: {}\nbatch: 8\nthreads: 1\nrepetitions: 1\n"
                  "idle_wait_s: 0\n",
                  ranks),
      "scale.yaml");
  const EngineDirectory engines(
      {{"torch", "torch.so", {{plugin::Role::kTrainer, "cpu", "cpu"}}, {}, "", ""}});
  return {plan, config::expand(plan),     {}, false, false, engines, {},
          {},   nlohmann::json::object(), {}, launch};
}

class ManyRanks {
 public:
  ManyRanks(std::int64_t ranks, std::int64_t steps)
      : ranks_(ranks), steps_(steps), folder_(root() / fmt::format("run-{}x{}", ranks, steps)) {}

  // The coordinator's way, with passes that write what a simulator says.
  void measure() const {
    testing::FakeExecutor fake([&](const process::WorkerRequest& r) -> std::optional<testing::Played> {
      return testing::plays_tables(r.spec, testing::simulate({.ranks = ranks_, .steps = steps_}).ranks);
    });
    run(fake);
  }

  // Everything that --resume reads and computes of a repetition.
  void analyse() const {
    auto setup = setup_of(ranks_);
    CaseRun c;
    c.definition = setup.cases.front();
    c.base = train_pass(c.definition, {1, "cpu"});
    c.dir = scratch_.path();
    c.result = new_case_result(c.definition, "run");
    auto kept = process::read_kept_records(records(), c.definition.id);
    if (!kept.report) throw Error(ErrorCode::kData, kept.problem);
    apply_repetition(c, std::move(*kept.report));
    if (!c.result.complete) throw Error(ErrorCode::kData, c.result.reason);
  }

  void resume() const {
    testing::FakeExecutor none([](const process::WorkerRequest&) { return testing::fails("error"); });
    run(none, result::read_run(folder_));
    if (!none.requests.empty()) throw Error(ErrorCode::kData, "it was measured again");
  }

  void report() const {
    const auto stored = result::read_run(folder_);
    std::vector<report::ReportRun> runs(1);
    runs[0].result = stored.run;
    for (const auto& c : stored.run.cases)
      runs[0].samples[c.case_id] = result::read_case_samples(stored, c).samples;
    write_file_atomic(page(), report::find_format("html").render(runs, {}));
  }

  void collect() const {
    const auto mine = testing::simulate({.ranks = 1, .steps = steps_}).ranks.front();
    PeersLikeRank0 group(static_cast<int>(ranks_));
    if (!workload::collect_steps(&group, mine, {}, scratch_.path() / "collected.steps.bin"))
      throw Error(ErrorCode::kInternal, "rank 0 has written nothing");
  }

  [[nodiscard]] fs::path records() const { return folder_ / "passes" / "timed-0.jsonl"; }
  [[nodiscard]] fs::path page() const { return folder_ / "report.html"; }
  [[nodiscard]] double step_file_mb() const {
    return static_cast<double>(fs::file_size(process::table_of(records()))) / kMB;
  }

 private:
  [[nodiscard]] fs::path root() const {
    const char* asked = std::getenv("PACELINE_SCALE_FOLDER");
    return asked ? fs::path(asked) : scratch_.path();
  }
  // As the first process of a launch: its ranks are on as many hosts, so that this one's memory need not do.
  void run(testing::FakeExecutor& fake, result::StoredRun previous = {}) const {
    test::FakeStore store;
    const auto ranks = static_cast<int>(ranks_);
    cluster::LaunchPlace place;
    place.launcher = "by hand";
    place.ranks = place.world = ranks;
    Launch launch(place, store, 60, "plan");
    auto setup = setup_of(ranks_, &launch);
    setup.previous = std::move(previous);
    result::RunDirectory directory(folder_, result::CaseFiles::kBesideSummary);
    RunObserver observer;
    const std::atomic<bool> interrupt{false};
    const auto done = run_plan(std::move(setup), directory, observer, interrupt, fake);
    const auto& only = done.cases.front();
    if (!only.complete) throw Error(ErrorCode::kData, fmt::format("{}: {}", done.outcome, only.reason));
  }

  std::int64_t ranks_, steps_;
  ScratchFolder scratch_ = ScratchFolder::below_temp("paceline-scale");
  fs::path folder_;
};

void expect_within_bounds(std::int64_t ranks, std::int64_t steps) {
  const ManyRanks world(ranks, steps);
  cost_of([&] { world.measure(); });
  const auto collected = cost_of([&] { world.collect(); });
  const auto analysed = cost_of([&] { world.analyse(); });
  const auto resumed = cost_of([&] { world.resume(); });
  const auto reported = cost_of([&] { world.report(); });
  const double page_mb = static_cast<double>(fs::file_size(world.page())) / kMB;
  std::printf("%lld ranks x %lld steps: step file %.0f MB\n", static_cast<long long>(ranks),
              static_cast<long long>(steps), world.step_file_mb());
  const auto show = [](const char* what, const Cost& cost) {
    std::printf("  %-30s %6.2f s (%.2f s of CPU) %6.0f MB\n", what, cost.seconds, cost.cpu_s, cost.peak_mb);
  };
  show("rank 0 collects and writes", collected);
  show("reading and analysis", analysed);
  show("--resume, files included", resumed);
  show("report.html", reported);
  std::printf("  %-30s %6.1f MB\n", "size of report.html", page_mb);
  EXPECT_LE(collected.peak_mb, 200 + world.step_file_mb());
  EXPECT_LE(analysed.peak_mb, 1000);
  EXPECT_LE(page_mb, 20);
}

TEST(TrainingScale, SixtyFourRanksOfTenThousandSteps) {
  expect_within_bounds(64, 10'000);
}

TEST(TrainingScale, AThousandRanksOfAThousandSteps) {
  expect_within_bounds(1024, 1'000);
}

TEST(TrainingScale, FourThousandRanks) {
  expect_within_bounds(4096, 250);
}

}  // namespace
}  // namespace paceline::run
