// SPDX-License-Identifier: MIT
// Runs passes from a script instead of in processes: tests of whatever decides which passes run when.
#pragma once
#include <atomic>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/ask_until.h"
#include "base/file.h"
#include "base/npy.h"
#include "process/pass_executor.h"
#include "support/step_files.h"

namespace paceline::testing {

// Records that a worker would have sent, and how it ended if it did not end well.
struct Played {
  std::vector<nlohmann::json> records;
  std::optional<process::Verdict> verdict;
  bool until_asked = false;                   // it works until it is asked to end
  std::int64_t fault_ns = 0, noticed_ns = 0;  // of ranks that failed
};

inline Played fails(std::string code, std::string reason = "it was told to") {
  return {{}, process::Verdict{std::move(code), std::move(reason)}};
}

// A repetition of `count` samples around `p50_ns`.
inline Played plays_samples(const pass::PassSpec& spec, std::int64_t p50_ns = 1'000'000, int count = 20) {
  std::vector<result::Sample> samples(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    auto& s = samples[static_cast<std::size_t>(i)];
    s.repetition = static_cast<std::int32_t>(spec.repetition);
    s.index = i;
    s.start_ns = i * 2 * p50_ns;
    s.host_ns = p50_ns + (i % 5 - 2) * p50_ns / 100;
  }
  result::Repetition repetition;
  repetition.index = spec.repetition;
  repetition.started_utc = "2026-11-21T01:45:00Z";
  repetition.n = count;
  repetition.converged = true;
  repetition.stop_reason = "converged";
  return {{pass::samples_record(samples), pass::repetition_record(repetition)}, {}};
}

inline Played plays_check() {
  result::Correctness correctness;
  correctness.checked = correctness.passed = true;
  correctness.reference = "eager fp32";
  correctness.samples = 64;
  return {{pass::check_record(correctness, {})}, {}};
}

// Every rank does the same `steps` of 10 ms, of which the first is warm-up.
inline std::vector<result::RankSteps> equal_steps(const pass::PassSpec& spec, std::int64_t steps = 11) {
  std::vector<result::RankSteps> tables;
  for (std::int64_t rank = 0; rank < spec.world_size; ++rank) {
    result::RankSteps table;
    table.rank.rank = rank;
    for (std::int64_t i = 0; i < steps; ++i) {
      result::StepRow row;
      row.step = i;
      row.phase = i == 0 ? result::StepPhase::kWarmup : result::StepPhase::kTimed;
      row.start_ns = i * 10'000'000;
      row.step_ns = 10'000'000;
      row.loss = 1;
      table.rows.push_back(row);
    }
    tables.push_back(std::move(table));
  }
  return tables;
}

// The tables as a worker leaves them, in a step file.
inline nlohmann::json steps_record(const pass::PassSpec& spec, const std::vector<result::RankSteps>& tables) {
  return pass::step_file_record(write_step_file(spec.table_file, tables, spec.repetition));
}

// Without tables where the pass names no file for them.
inline Played plays_tables(const pass::PassSpec& spec, const std::vector<result::RankSteps>& tables) {
  result::Repetition repetition;
  repetition.index = spec.repetition;
  repetition.payload.emplace<result::Training>();
  Played played{{pass::repetition_record(repetition)}, {}};
  if (!spec.table_file.empty()) played.records.push_back(steps_record(spec, tables));
  return played;
}

inline Played plays_steps(const pass::PassSpec& spec, std::int64_t steps = 11) {
  return plays_tables(spec, equal_steps(spec, steps));
}

// The inputs as files with nothing in them but a shape.
inline Played plays_inputs(const pass::PassSpec& spec) {
  const auto& to = std::get<pass::InputsTo>(spec.task);
  for (std::size_t i = 0; i < to.request.specs.size(); ++i) {
    const auto& one = to.request.specs[i];
    Tensor tensor(one);
    write_npy(to.prefix + "-" + std::to_string(i) + ".npy", tensor.view());
  }
  return {{pass::inputs_record({})}, {}};
}

class FakeExecutor : public process::PassExecutor {
 public:
  // Passes that the script does not play (no value) go well.
  using MayPlay = std::function<std::optional<Played>(const process::WorkerRequest&)>;
  explicit FakeExecutor(MayPlay script = {}) : script_(std::move(script)) {}

  process::WorkerOutcome run(const process::WorkerRequest& request, const std::atomic<bool>& interrupt,
                             const process::OnProgress& on_progress) override {
    requests.push_back(request);
    auto played = script_ ? script_(request) : std::nullopt;
    if (!played) played = plays_well(request.spec);
    process::RecordReader reader(request.record_file, on_progress, request.spec.case_id);
    if (played->until_asked)
      ask_until(deadline_in(20), {std::chrono::milliseconds(5), std::chrono::milliseconds(5)},
                [&] { return interrupt.load(); });
    if (!played->verdict && interrupt) played->verdict = process::Verdict{"interrupted", "interrupted"};
    if (!request.spec.inference.check_file.empty() && !played->verdict)
      waits_for_check(request.spec, reader, *played);
    for (auto record : played->records) {
      record["repetition"] = request.spec.repetition;
      record["rank"] = request.spec.rank;
      reader.add(record.dump() + "\n");
    }
    if (!played->verdict) reader.add(pass::done_record().dump() + "\n");
    auto outcome = process::worker_outcome(reader, reader.report(), played->verdict);
    outcome.fault_ns = played->fault_ns, outcome.noticed_ns = played->noticed_ns;
    return outcome;
  }

  std::vector<process::WorkerOutcome> run_in_turns(const std::vector<process::HeardRequest>& passes,
                                                   const std::atomic<bool>& interrupt) override {
    std::vector<std::string>& together = rounds.emplace_back();
    for (const auto& pass : passes) together.push_back(pass.request.spec.case_id);
    return PassExecutor::run_in_turns(passes, interrupt);
  }

  // "CASE timed 0" of each pass that was asked for, in order.
  [[nodiscard]] std::vector<std::string> order(bool timed_only = false) const {
    std::vector<std::string> words;
    for (const auto& r : requests)
      if (!timed_only || pass::traits_of(r.spec.kind).timed)
        words.push_back(r.spec.case_id + " " + pass::pass_kind_name(r.spec.kind) + " " +
                        std::to_string(r.spec.repetition));
    return words;
  }

  std::vector<process::WorkerRequest> requests;
  std::vector<std::vector<std::string>> rounds;  // cases that were to work in turns

 private:
  // Whoever hears of it runs the check.
  static void waits_for_check(const pass::PassSpec& spec, process::RecordReader& reader, Played& played) {
    reader.add(pass::phase_record(pass::kUncheckedPhase).dump() + "\n");
    if (std::filesystem::exists(spec.inference.check_file) && read_file(spec.inference.check_file) == "null")
      played = fails("data", "the check of its outputs failed");
  }
  static Played plays_well(const pass::PassSpec& spec) {
    switch (spec.kind) {
      case pass::PassKind::kInputs:
        return plays_inputs(spec);
      case pass::PassKind::kCheck:
        return plays_check();
      case pass::PassKind::kTimed:
        return plays_samples(spec);
      case pass::PassKind::kTrain:
        return plays_steps(spec);
      default:
        return {};
    }
  }

  MayPlay script_;
};

}  // namespace paceline::testing
