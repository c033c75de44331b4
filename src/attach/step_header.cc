// SPDX-License-Identifier: MIT
#include "attach/step_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <system_error>

namespace paceline::attach {

std::string header_problem(const StepHeader& header, std::uint64_t file_bytes) {
  if (file_bytes < kRecordsAt || std::memcmp(header.magic, kStepMagic, sizeof kStepMagic) != 0)
    return "it is no step file";
  if (header.version != kStepVersion)
    return fmt::format("it has version {} of step files; this paceline reads version {}", header.version,
                       kStepVersion);
  if (header.header_bytes != kHeaderBytes || header.name_bytes != kNameBytes ||
      header.name_slots != kNameSlots || header.record_bytes != kRecordBytes)
    return "the sizes in its header are not those of its version: it is damaged";
  if (header.capacity > (file_bytes - kRecordsAt) / kRecordBytes)
    return fmt::format("it is cut short: its header has room for {} records, the file for {}",
                       header.capacity, (file_bytes - kRecordsAt) / kRecordBytes);
  return "";
}

FilePlace place_of(const StepHeader& header) {
  return {.rank = header.rank,
          .world = header.world,
          .started_ns = header.realtime_ns,
          .steps = header.clock,
          .rank_known = header.rank_known != 0};
}

std::vector<std::filesystem::path> step_files(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  std::error_code problem;
  for (const auto& entry : std::filesystem::directory_iterator(folder, problem)) {
    const auto name = entry.path().filename().string();
    if (name.starts_with("rank") && name.ends_with(".steps")) files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

}  // namespace paceline::attach
