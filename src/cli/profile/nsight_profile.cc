// SPDX-License-Identifier: MIT
#include "cli/profile/nsight_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/display_text.h"
#include "base/error.h"
#include "base/file.h"
#include "base/foreign_text.h"
#include "base/scratch_folder.h"
#include "base/text.h"
#include "cli/interrupts.h"
#include "nsight/kernels.h"
#include "nsight/ncu_csv.h"
#include "nsight/nsys_file.h"
#include "nsight/timeline.h"
#include "process/tool_process.h"

namespace paceline::cli {
namespace {

namespace fs = std::filesystem;

// Runs the program that reads a report, and returns what it printed. Throws Error(kUnavailable) with the line
// to type where the program is.
std::string with_program(const std::string& program, std::vector<std::string> arguments,
                         const fs::path& report, const std::string& elsewhere) {
  const auto path = process::find_program(program);
  if (path.empty())
    throw Error(ErrorCode::kUnavailable, fmt::format("{}: {} is not on the PATH, which reads such files; "
                                                     "where it is, type: {}; then profile --from that file",
                                                     shown_path(report.string()), program, elsewhere));
  const auto scratch = ScratchFolder::below_temp("nsight");
  arguments.insert(arguments.begin(), path.string());
  const InterruptGuard interrupts;
  return output_of_tool(arguments, scratch.path() / "log", shown_path(report.string()));
}

nsight::NcuFile from_ncu_report(const fs::path& file) {
  const auto name = file.filename().string();
  const auto table =
      with_program("ncu", {"--import", file.string(), "--csv", "--page", "raw", "--print-units", "base"},
                   file, fmt::format("ncu --import {} --csv --page raw > kernels.csv", name));
  return nsight::parse_ncu_csv(table, file.string());
}

nsight::NsysFile from_nsys_report(const fs::path& file) {
  const auto scratch = ScratchFolder::below_temp("nsys");
  const auto exported = scratch.path() / "export.sqlite";
  const auto said = with_program(
      "nsys", {"export", "--type", "sqlite", "--output", exported.string(), file.string()}, file,
      fmt::format("nsys export --type sqlite --output timeline.sqlite {}", file.filename().string()));
  require_export(exported, shown_path(file.string()), said);
  return nsight::read_nsys_file(exported);
}

}  // namespace

nsight::NcuFile read_kernels(const fs::path& file) {
  if (file.extension() == ".ncu-rep") return from_ncu_report(file);
  return nsight::parse_ncu_csv(read_foreign(file, Foreign::kNsightTable), file.string());
}

nsight::NsysFile read_timeline(const fs::path& file) {
  return file.extension() == ".nsys-rep" ? from_nsys_report(file) : nsight::read_nsys_file(file);
}

NsightStudy study_of(const nsight::NcuFile& file, const std::string& name) {
  return {nsight::answer_of(nsight::study_kernels(file, name))};
}

NsightStudy study_of(const nsight::NsysFile& file, const std::string& name) {
  const auto study = nsight::study_timeline(file, name);
  NsightStudy whole{nsight::answer_of(study)};
  for (const auto& device : study.devices) whole.nccl_kernels += device.nccl_kernels;
  return whole;
}

NsightStudy study_of_ncu(const std::string& table, const std::string& name) {
  return study_of(nsight::parse_ncu_csv(table, name), name);
}

NsightStudy study_of_nsys(const fs::path& file, const std::string& name) {
  return study_of(nsight::read_nsys_file(file), name);
}

void require_export(const fs::path& table, const std::string& report, const std::string& said) {
  constexpr std::size_t kShown = 500;
  std::error_code absent;
  const auto size = fs::file_size(table, absent);
  if (!absent && size > 0) return;
  const auto words = trim(std::string_view(said).substr(said.size() - std::min(said.size(), kShown)));
  throw Error(
      ErrorCode::kData,
      fmt::format("{}: nsys export ended well and wrote no table; it says: {}; try by hand: nsys export "
                  "--type sqlite {}, else record again",
                  report, words.empty() ? "nothing" : on_one_line(words), report));
}

void require_nccl(const NsightStudy& study, const std::string& name) {
  if (study.nccl_kernels == 0)
    throw Error(
        ErrorCode::kData,
        fmt::format("{}: the ranks exchanged over NCCL, and it has no kernel of NCCL: the record is not "
                    "whole, and its shares are wrong",
                    name));
}

std::string output_of_tool(const std::vector<std::string>& argv, const fs::path& log,
                           const std::string& subject) {
  const auto problem = process::run_tool({argv, {{"LC_ALL", "C"}}, log, {}}, InterruptGuard::flag());
  constexpr std::size_t kTail = 500;
  if (!problem.empty())
    throw Error(ErrorCode::kData,
                fmt::format("{}: {} ended with {}: {}", subject, fs::path(argv.front()).filename().string(),
                            problem, on_one_line(file_tail(log, kTail))));
  return read_foreign(log, Foreign::kNsightTable);
}

}  // namespace paceline::cli
