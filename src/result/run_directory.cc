// SPDX-License-Identifier: MIT
#include "result/run_directory.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <algorithm>
#include <ctime>
#include <random>

#include "base/bounded_json.h"
#include "base/csv_cell.h"
#include "base/error.h"
#include "base/file.h"
#include "base/foreign_text.h"
#include "base/reading.h"
#include "base/sha256.h"
#include "result/collective_table.h"
#include "result/figures/summarize.h"
#include "result/judged/noise_rules.h"
#include "result/judged/reference.h"
#include "result/metric_table.h"
#include "result/stored/case_fields.h"
#include "result/stored/result_json.h"

namespace paceline::result {
namespace fs = std::filesystem;
namespace {

std::string csv_number(const std::optional<double>& value) {
  return value ? fmt::format("{:.9g}", *value) : std::string();
}

// Files that a killed run was writing: NAME.part, NAME.part<process id>.
bool is_leftover(const fs::path& file) {
  std::string name = file.filename().string();
  name.erase(name.find_last_not_of("0123456789") + 1);
  return name.ends_with(".part");
}

void remove_leftovers(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> leftovers;
  for (fs::recursive_directory_iterator it(folder, error), end; it != end && !error; it.increment(error))
    if (is_leftover(it->path()) && it->is_regular_file(error)) leftovers.push_back(it->path());
  for (const auto& file : leftovers) fs::remove(file, error);
}

// A folder that is a link would lead what is written into it elsewhere.
void refuse_linked_folders_below(const fs::path& folder) {
  std::error_code error;
  for (fs::recursive_directory_iterator it(folder, error), end; it != end && !error; it.increment(error))
    if (it->is_symlink() && it->is_directory(error)) check_own_name(it->path());
}

fs::path own_folder(const fs::path& run, const std::string& case_id) {
  return run / "cases" / case_id;
}

// The newest run below a folder: run ids sort by time.
fs::path newest_run(const fs::path& folder) {
  fs::path best;
  std::error_code error;
  for (fs::recursive_directory_iterator it(folder, fs::directory_options::skip_permission_denied, error), end;
       it != end; it.increment(error)) {
    if (it.depth() > 2) it.disable_recursion_pending();
    if (it->path().filename() == kSummaryFile &&
        (best.empty() || best.parent_path().filename() < it->path().parent_path().filename()))
      best = it->path();
  }
  return best;
}

// Empty where the case has no samples.
fs::path samples_file(const StoredRun& stored, const CaseResult& c) {
  if (c.samples.file.empty()) return {};
  return folder_of_case(stored, c.case_id) / fs::path(c.samples.file).filename();
}

// How the file of a case differs from what the summary says of it, in words; empty: it does not.
std::string difference_of(const CaseResult& c, const fs::path& file) {
  try {
    const auto text = read_stored(file, Foreign::kResult);  // as this program wrote it, or reformatted since
    if (text == json_text(c.unknown) || json_or_discarded(text) == c.unknown) return {};
  } catch (const Error& e) {
    return e.what();
  }
  return fmt::format(
      "'{}' and run_summary.json disagree about the same case: one of them was changed after the run",
      file.string());
}

// The summary of a run that did not end may be seconds older than the results of its cases, never newer. A
// result that cannot be read leaves what the summary says.
void take_results_of_cases(StoredRun& stored) {
  for (auto& c : stored.run.cases) {
    const fs::path file = folder_of_case(stored, c.case_id) / "result.json";
    if (!fs::exists(file)) continue;
    try {
      auto result =
          case_from_json(parse_json(read_stored(file, Foreign::kResult), file.string()), file.string());
      if (result.case_id == c.case_id) c = std::move(result);
    } catch (const Error&) {
      continue;
    }
  }
}

}  // namespace

std::string new_run_id() {
  std::random_device device;
  return fmt::format("{:%Y%m%dT%H%M%SZ}-{:04x}", fmt::gmtime(std::time(nullptr)), device() & 0xffffU);
}

fs::path make_run_folder(const fs::path& run, const fs::path& below) {
  make_directories(run);
  refuse_linked_folders_below(run);
  make_directories(run / below);
  return run / below;
}

RunDirectory::RunDirectory(fs::path folder, CaseFiles files) : folder_(std::move(folder)), files_(files) {
  make_run_folder(folder_);
  const fs::path lock = folder_ / ".lock";
  check_own_name(lock);
  lock_ = FileDescriptor(::open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (!lock_)
    throw Error(ErrorCode::kIo, fmt::format("cannot write into '{}': {}; choose another with --output-dir",
                                            folder_.string(), std::strerror(errno)));
  if (::flock(lock_.get(), LOCK_EX | LOCK_NB) != 0)
    throw Error(
        ErrorCode::kUsage,
        fmt::format("another paceline is writing into '{}'; wait for it or choose another --output-dir",
                    folder_.string()));
  remove_leftovers(folder_);
}

fs::path RunDirectory::case_dir(const std::string& case_id) const {
  fs::path dir = own_folder(folder_, case_id);
  if (files_ == CaseFiles::kBesideSummary && !fs::exists(dir)) return folder_;
  make_directories(dir);
  return dir;
}

SamplesFile RunDirectory::write_case(const CaseResult& result, const std::vector<Sample>& samples) const {
  CaseResult copy = result;
  const fs::path dir = case_dir(result.case_id);
  if (!samples.empty()) {
    const std::string csv = samples_to_csv(samples);
    replace_file(dir / "samples.csv", csv);
    copy.samples = {"samples.csv", "csv", sample_columns(samples), sha256_hex(csv)};
  }
  replace_file(dir / "result.json", json_text(to_json(copy)));
  return copy.samples;
}

void RunDirectory::write_summary(const RunResult& run) const {
  replace_file(summary_path(), json_text(to_json(run)));
  replace_file(folder_ / "summary.csv", summary_csv(run));
  if (std::ranges::any_of(run.cases, [](const auto& one) { return one.collective() != nullptr; }))
    replace_file(folder_ / "collectives.csv", collectives_csv(run));
}

std::string summary_csv(const RunResult& run) {
  std::string out =
      "run_id,case_id,outcome,reason,grade,model,engine,precision,layout,batch,threads,world_size,"
      "repetitions,run_outcome,speedup_verdict,speedup_reason";
  for (const auto& m : metrics()) out += fmt::format(",{0},{0}_ci_low,{0}_ci_high", m.name);
  out += ",outputs,outputs_because\n";
  for (const auto& c : run.cases) {
    out += fmt::format(
        "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}", csv_cell(run.run_id), csv_cell(c.case_id),
        name_of(c.outcome), csv_cell(c.reason), grade_letter(c.grade), csv_cell(c.benchmark.model),
        csv_cell(c.benchmark.engine), csv_cell(c.benchmark.precision), csv_cell(c.benchmark.layout),
        c.benchmark.batch_per_rank, c.benchmark.threads, c.benchmark.world_size, c.repetitions.size(),
        csv_cell(run.outcome), csv_cell(std::string(c.speedup.verdict.words())),
        csv_cell(c.speedup.no_size.empty() ? no_claim_reason(c) : c.speedup.no_size));
    for (const auto& m : metrics()) {
      const MetricValue v = c.outcome == Outcome::kOk ? m.get(c) : MetricValue{};
      out += fmt::format(",{},{},{}", csv_number(v.value), csv_number(v.ci_low), csv_number(v.ci_high));
    }
    const auto remark = check_remark(c);
    out += fmt::format(",{},{}\n", remark.word(), csv_cell(remark.why));
  }
  return out;
}

StoredRun read_run(const fs::path& path) {
  fs::path file = path;
  if (fs::is_directory(path)) file = fs::exists(path / kSummaryFile) ? path / kSummaryFile : newest_run(path);
  if (file.empty() || !fs::exists(file))
    throw Error(ErrorCode::kData, fmt::format("'{}' contains no run (no run_summary.json); give a run "
                                              "directory, e.g. results/quickstart/<run_id>",
                                              path.string()));
  auto json = parse_json(read_stored(file, Foreign::kResult), file.string());
  if (!json.is_object() || !json.contains("run_id") || !json.contains("cases"))
    throw Error(ErrorCode::kData,
                fmt::format("'{}' is no result of a run: it has no run_id and no cases", file.string()));
  StoredRun stored{file.parent_path(), run_from_json(std::move(json), file.string())};
  stored.run.folder = stored.folder.string();
  if (stored.run.outcome == kUnfinished) take_results_of_cases(stored);
  for (auto& c : stored.run.cases)
    if (c.outcome == Outcome::kOk && c.repetitions.empty()) mark_not_measured(c);
  return stored;
}

// A stored id must not be used as a path.
fs::path folder_of_case(const StoredRun& stored, const std::string& case_id) {
  const fs::path own = own_folder(stored.folder, fs::path(case_id).filename().string());
  return fs::exists(own) ? own : stored.folder;
}

CaseSamples read_case_samples(const StoredRun& stored, const CaseResult& c) {
  const auto file = samples_file(stored, c);
  if (file.empty()) return {};
  if (!fs::exists(file)) return {{}, "no samples.csv"};
  if (!c.samples.sha256.empty() && sha256_file(file) != c.samples.sha256)
    return {{},
            "a samples.csv that is not the one in run_summary.json (it was changed, or the run was killed "
            "while it wrote)"};
  return {read_samples_csv(file), {}};
}

std::vector<std::string> changed_results(const StoredRun& stored) {
  std::vector<std::string> sentences;
  if (stored.run.outcome == kUnfinished) return sentences;
  for (const auto& c : stored.run.cases) {
    const fs::path file = folder_of_case(stored, c.case_id) / "result.json";
    if (!fs::exists(file)) continue;
    if (auto difference = difference_of(c, file); !difference.empty())
      sentences.push_back(difference + "; what is shown here follows run_summary.json");
  }
  return sentences;
}

bool is_in_run(const fs::path& file) {
  constexpr int kDeepest = 3;  // cases/<case_id>/passes
  std::error_code unknown;
  auto above = fs::canonical(file, unknown).parent_path();
  for (int depth = 0; !unknown && depth <= kDeepest; ++depth, above = above.parent_path()) {
    std::error_code absent;
    if (fs::exists(above / kSummaryFile, absent)) return true;
  }
  return false;
}

}  // namespace paceline::result
