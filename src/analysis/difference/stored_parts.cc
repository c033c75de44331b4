// SPDX-License-Identifier: MIT
#include "analysis/difference/stored_parts.h"

#include <filesystem>
#include <utility>

#include "analysis/difference/layer_parts.h"
#include "analysis/difference/step_parts.h"
#include "analysis/traces/trace_folder.h"
#include "base/host_times.h"
#include "result/stored_steps.h"

namespace paceline::analysis::difference {
namespace {

TimedParts without_parts(std::string why, std::string unit) {
  return {.unit_words = std::move(unit), .missing = std::move(why)};
}

// A file of this name in the folder of the case: names in results may lead elsewhere.
std::filesystem::path file_of_case(const result::StoredRun& stored, const result::CaseResult& one,
                                   const std::string& name) {
  return folder_of_case(stored, one.case_id) / std::filesystem::path(name).filename();
}

constexpr const char* kOnlyHost = "its layers have the times of the host's calls, not those of the device";

TimedParts stored_layers(const result::StoredRun& stored, const result::CaseResult& one) {
  const auto& profile = one.layer_profile;
  if (!profile.asked) return without_parts("its layers were not timed (--layer-profile)", "inference");
  if (profile.file.empty()) return without_parts(profile.reason, "inference");
  if (profile.source.find(kHostTimes) != std::string::npos) return without_parts(kOnlyHost, "inference");
  const auto file = file_of_case(stored, one, profile.file);
  if (!result::is_in_run(file)) return without_parts(profile.file + " is not in its folder", "inference");
  return layer_parts(one, result::read_layers_csv(file));
}

}  // namespace

TimedParts stored_parts(const result::StoredRun& stored, const result::CaseResult& one) {
  if (one.training()) return step_parts(result::read_rank_steps(stored, one));
  if (one.collective()) return size_parts(one, result::medians_by_size(stored, one));
  return stored_layers(stored, one);
}

TimedParts stored_exchange_parts(const result::StoredRun& stored, const result::CaseResult& one) {
  if (!one.training()) return without_parts("it trains nothing", "exchange");
  return bucket_parts(result::read_rank_steps(stored, one));
}

TimedParts stored_operator_parts(const result::StoredRun& stored, const result::CaseResult& one) {
  const auto& profile = one.operator_profile;
  if (!profile) return without_parts("no steps of it were profiled", "step");
  if (profile->trace.empty())
    return without_parts(profile->reason.empty() ? "it has no trace" : profile->reason, "step");
  const auto file = file_of_case(stored, one, profile->trace);
  if (!result::is_in_run(file)) return without_parts("its trace is not in its folder", "step");
  return trace_operator_parts(traces::traces_in(file).ranks);
}

}  // namespace paceline::analysis::difference
