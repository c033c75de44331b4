// SPDX-License-Identifier: MIT
#include "cli/report/report_source.h"

#include <fmt/format.h>

#include <filesystem>
#include <map>

#include "analysis/verdict.h"
#include "base/bounded_json.h"
#include "base/display_text.h"
#include "base/error.h"
#include "base/file.h"
#include "base/foreign_text.h"
#include "base/json.h"
#include "base/text.h"
#include "base/units.h"
#include "monitor/course.h"
#include "result/stored_steps.h"

namespace paceline::cli {
namespace {

// A file of steps that is damaged costs the pictures of them alone.
void add_steps(report::ReportRun& run, const result::StoredRun& stored, const result::CaseResult& one) {
  try {
    auto view = report::step_view(result::read_rank_steps(stored, one));
    if (!view.empty()) run.steps[one.case_id] = std::move(view);
  } catch (const Error& error) {
    run.result.warnings.push_back(
        fmt::format("{}: the steps of its ranks cannot be drawn: {}", one.label, error.what()));
  }
}

// Warns about a damaged file of readings, too.
void add_sampled(report::ReportRun& run, const result::StoredRun& stored, const result::CaseResult& one) {
  const auto file = result::folder_of_case(stored, one.case_id) / "sampled.csv";
  if (one.sampled.empty() || !std::filesystem::exists(file)) return;
  try {
    run.sampled[one.case_id] = result::read_sampled_csv(file);
  } catch (const Error& error) {
    run.result.warnings.push_back(
        fmt::format("{}: what its samplers read cannot be drawn: {}", one.label, error.what()));
  }
}

// Adds the recording of --monitor.
void add_machine(report::ReportRun& run, const result::StoredRun& stored) {
  std::vector<monitor::Recording> recordings;
  for (const auto& file : monitor::recordings_of_run(stored.folder)) try {
      recordings.push_back(monitor::read_recording(file));
    } catch (const Error& error) {
      run.result.warnings.push_back(fmt::format("what the machine did cannot be drawn: {}", error.what()));
    }
  run.machine = monitor::course_of(recordings, stored.run.run_id);
}

// Adds what profile --tool ncu kept. Kernels without arithmetic or traffic have no place in a roofline.
void add_kernels(report::ReportRun& run, const result::StoredRun& stored, const result::CaseResult& one) {
  const auto file = result::folder_of_case(stored, one.case_id) / "ncu.json";
  std::error_code missing;
  if (!std::filesystem::is_regular_file(file, missing)) return;
  const auto cannot = [&](const std::string& why) {
    run.result.warnings.push_back(
        fmt::format("{}: the kernels in ncu.json cannot be drawn: {}", one.label, why));
  };
  try {
    const auto study = parsed_json(read_foreign(file, Foreign::kResult));
    for (const auto& k : study.at("kernels")) {
      const auto &flops = k.at("flops_per_s"), &bytes = k.at("dram_bytes_per_s");
      if (flops.is_number() && bytes.is_number() && flops > 0 && bytes > 0)
        run.kernels[one.case_id].push_back({k.at("name").get<std::string>(), flops.get<double>(),
                                            bytes.get<double>(), k.at("share").get<double>()});
    }
  } catch (const nlohmann::json::exception& error) {
    cannot(plain_reason(error));
  } catch (const Error& error) {
    cannot(error.what());
  }
}

}  // namespace

report::ReportRun report_run(const result::StoredRun& stored, bool pictures) {
  report::ReportRun run{stored.run};
  // A run that was killed has no sentence yet.
  if (run.result.sentence.empty()) run.result.sentence = join(analysis::headline(run.result), "\n");
  std::map<std::string, std::int64_t> lacking;  // numbers of cases by what they lack
  for (const auto& one : stored.run.cases) {
    auto read = result::read_case_samples(stored, one);
    run.samples[one.case_id] = std::move(read.samples);
    if (!read.lacking.empty()) ++lacking[read.lacking];
    if (pictures) add_steps(run, stored, one), add_sampled(run, stored, one), add_kernels(run, stored, one);
  }
  add_machine(run, stored);
  for (const auto& [what, cases] : lacking)
    run.result.warnings.push_back(
        fmt::format("{} with {}: per-sample charts are left out", plural(cases, "case"), what));
  return run;
}

}  // namespace paceline::cli
