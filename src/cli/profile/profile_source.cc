// SPDX-License-Identifier: MIT
#include "cli/profile/profile_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <string>
#include <system_error>
#include <utility>

#include "analysis/gates.h"
#include "analysis/run_checks.h"
#include "analysis/traces/attached_study.h"
#include "analysis/traces/trace_checks.h"
#include "analysis/traces/trace_folder.h"
#include "analysis/traces/trace_study.h"
#include "base/display_text.h"
#include "base/error.h"
#include "cli/profile/nsight_profile.h"
#include "report/traces.h"
#include "result/run_directory.h"

namespace paceline::cli {
namespace {

namespace fs = std::filesystem;
using analysis::traces::RankTrace;

bool is_folder(const fs::path& path) {
  std::error_code unknown;
  return fs::is_directory(path, unknown);
}

bool has_ending(const fs::path& path, std::string_view ending) {
  return !is_folder(path) && path.filename().string().ends_with(ending);
}

bool is_kernels(const fs::path& path) {
  return has_ending(path, ".csv") || has_ending(path, ".ncu-rep");
}

bool is_timeline(const fs::path& path) {
  return has_ending(path, ".sqlite") || has_ending(path, ".nsys-rep");
}

bool is_trace_name(const std::string& name) {
  return (name.ends_with(".json") || name.ends_with(".json.gz")) && name != result::kSummaryFile;
}

// A trace of PyTorch names its parts near its beginning.
bool begins_like_trace(const fs::path& file) {
  constexpr std::size_t kLooked = 65'536;
  std::ifstream in(file, std::ios::binary);
  std::string begin(kLooked, '\0');
  in.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  begin.resize(static_cast<std::size_t>(in.gcount()));
  return std::ranges::any_of(std::array{"\"traceEvents\"", "\"distributedInfo\"", "\"deviceProperties\""},
                             [&](const char* word) { return begin.find(word) != std::string::npos; });
}

bool has_traces(const fs::path& folder) {
  constexpr int kDeepest = 3;
  bool traces = false;
  std::error_code error;
  for (fs::recursive_directory_iterator it(folder, fs::directory_options::skip_permission_denied, error), end;
       it != end; it.increment(error)) {
    if (it.depth() >= kDeepest) it.disable_recursion_pending();
    const auto name = it->path().filename().string();
    if (name == result::kSummaryFile) return false;
    const bool candidate = !traces && is_trace_name(name) && it->is_regular_file(error);
    if (candidate) traces = name.ends_with(".gz") || begins_like_trace(it->path());
  }
  return traces;
}

bool is_traces(const fs::path& path) {
  std::error_code unknown;
  if (is_folder(path)) return has_traces(path);
  if (has_ending(path, ".json.gz")) return true;
  return is_trace_name(path.filename().string()) && fs::is_regular_file(path, unknown) &&
         begins_like_trace(path);
}

void refuse_baselines(const std::vector<std::string>& expressions) {
  for (const auto& expression : expressions)
    if (!analysis::parse_gate(expression).baseline.empty())
      throw Error(
          ErrorCode::kUsage,
          fmt::format("--expect '{}': recordings have no baseline; write: paceline compare BEFORE AFTER",
                      shown_value(expression)));
}

// Gates on the figures of the job, whose case has no name in a study.
std::vector<answer::Check> gates_on(result::CaseResult job, const std::vector<std::string>& expressions) {
  refuse_baselines(expressions);
  job.label = job.case_id = "job";
  result::RunResult run;
  run.cases.push_back(std::move(job));
  std::vector<answer::Check> checks;
  for (const auto& gate : analysis::decide_gates(expressions, run)) {
    auto& check = checks.emplace_back(analysis::check_of(gate));
    check.name = gate.expression;
    check.text = fmt::format("{}: {}", gate.verdict.words(), gate.detail);
  }
  return checks;
}

// How the job of these step files ended, if its run says that it was not done; else empty.
std::string early_end(const fs::path& folder) try {
  if (!fs::exists(folder / result::kSummaryFile)) return {};
  const auto run = result::read_run(folder).run;
  if (run.outcome == "ok" || run.cases.empty() ||
      !run.cases.front().benchmark.params.contains(result::kTraces))
    return {};
  const auto& reason = run.cases.front().reason;
  return fmt::format("the job {}; the figures are of the steps until then",
                     reason.empty() ? "was " + run.outcome : fmt::format("{} ({})", run.outcome, reason));
} catch (const Error&) {
  return {};  // the step files alone are read
}

answer::Answer answer_of_traces(const fs::path& path, const ProfileWishes& wishes) {
  const auto study = analysis::traces::read_traces(path);
  auto answer = report::answer_of(study, wishes.kernels);
  if (study.attached)
    if (auto end = early_end(path); !end.empty()) answer.remarks.push_back(std::move(end));
  for (auto& check : gates_on(study.job, wishes.expect)) answer.checks.push_back(std::move(check));
  return answer;
}

// Refuses what `profile --from` refuses, such as ranks of different runs.
compare::Profile side_of_ranks(compare::Side side, std::vector<RankTrace> ranks,
                               const std::vector<std::string>& remarks) {
  analysis::traces::require_one_run(ranks);
  auto profile = compare::profile_of(std::move(side), ranks);
  profile.remarks.insert(profile.remarks.end(), remarks.begin(), remarks.end());
  return profile;
}

compare::Profile side_of_steps(compare::Side side, const fs::path& path) {
  std::vector<std::string> left_out;
  auto ranks = analysis::traces::attached_in(path, left_out);
  if (auto end = early_end(path); !end.empty()) left_out.push_back(std::move(end));
  return side_of_ranks(std::move(side), std::move(ranks), left_out);
}

// Names --from as another command does.
compare::Profile side_of_traces(compare::Side side, const fs::path& path) try {
  auto found = analysis::traces::traces_in(path);
  return side_of_ranks(std::move(side), std::move(found.ranks), found.left_out);
} catch (const Error& error) {
  constexpr std::string_view kFlag = "--from ";
  std::string message = error.what();
  throw Error(error.code(), message.starts_with(kFlag) ? message.substr(kFlag.size()) : message);
}

template <auto kRead, auto kStudy>
answer::Answer answer_of_nsight(const fs::path& path, const ProfileWishes& wishes) {
  if (!wishes.expect.empty())
    throw Error(ErrorCode::kUsage,
                fmt::format("--expect '{}': {} has no figures of a training job; leave it out",
                            shown_value(wishes.expect.front()), shown_path(path.string())));
  return kStudy(kRead(path), path.string()).answer;
}

template <auto kRead>
compare::Profile side_of_nsight(compare::Side side, const fs::path& path) {
  return compare::profile_of(std::move(side), kRead(path));
}

constexpr NsightStudy (*kStudyKernels)(const nsight::NcuFile&, const std::string&) = study_of;
constexpr NsightStudy (*kStudyTimeline)(const nsight::NsysFile&, const std::string&) = study_of;

// The first that recognises a path reads it.
constexpr std::array kSources{
    ProfileSource{SourceKind::kSteps, "a folder of step files", analysis::traces::is_attached,
                  answer_of_traces, side_of_steps},
    ProfileSource{SourceKind::kKernels, "a file of Nsight Compute", is_kernels,
                  answer_of_nsight<read_kernels, kStudyKernels>, side_of_nsight<read_kernels>},
    ProfileSource{SourceKind::kTimeline, "a file of Nsight Systems", is_timeline,
                  answer_of_nsight<read_timeline, kStudyTimeline>, side_of_nsight<read_timeline>},
    ProfileSource{SourceKind::kTraces, "a trace of PyTorch", is_traces, answer_of_traces, side_of_traces}};

}  // namespace

const ProfileSource* profile_source(const fs::path& path) {
  const auto* const found =
      std::ranges::find_if(kSources, [&](const ProfileSource& one) { return one.recognises(path); });
  return found == kSources.end() ? nullptr : found;
}

answer::Answer answer_of_profile(const fs::path& from, const ProfileWishes& wishes) {
  const auto* const source = profile_source(from);
  return (source ? *source : kSources.back()).answer(from, wishes);
}

}  // namespace paceline::cli
