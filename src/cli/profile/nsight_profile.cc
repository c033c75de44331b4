// SPDX-License-Identifier: MIT
#include "cli/profile/nsight_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "answer/text_layout.h"
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

void show(const NsightStudy& study, const Console& console) {
  if (console.json) console.result(study.json);
  print(console.text(), for_terminal(console.ascii ? answer::to_ascii(study.text) : study.text));
}

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

void from_csv(const fs::path& file, const Console& console) {
  show(study_of_ncu(read_foreign(file, Foreign::kNsightTable), file.string(), console.width), console);
}

void from_ncu_report(const fs::path& file, const Console& console) {
  const auto name = file.filename().string();
  const auto table =
      with_program("ncu", {"--import", file.string(), "--csv", "--page", "raw", "--print-units", "base"},
                   file, fmt::format("ncu --import {} --csv --page raw > kernels.csv", name));
  show(study_of_ncu(table, file.string(), console.width), console);
}

void from_sqlite(const fs::path& file, const Console& console) {
  show(study_of_nsys(file, file.string(), console.width), console);
}

void from_nsys_report(const fs::path& file, const Console& console) {
  const auto scratch = ScratchFolder::below_temp("nsys");
  const auto exported = scratch.path() / "export.sqlite";
  const auto said = with_program(
      "nsys", {"export", "--type", "sqlite", "--output", exported.string(), file.string()}, file,
      fmt::format("nsys export --type sqlite --output timeline.sqlite {}", file.filename().string()));
  require_export(exported, shown_path(file.string()), said);
  show(study_of_nsys(exported, file.string(), console.width), console);
}

struct Kind {
  std::string_view suffix;
  void (*show)(const fs::path&, const Console&);
};
constexpr std::array<Kind, 4> kKinds{{{".csv", from_csv},
                                      {".sqlite", from_sqlite},
                                      {".ncu-rep", from_ncu_report},
                                      {".nsys-rep", from_nsys_report}}};

template <class Study>
NsightStudy shown(const Study& study, std::size_t width) {
  return {
      json_without_controls(to_json(study).dump(2, ' ', false, nlohmann::json::error_handler_t::replace)) +
          "\n",
      text_of(study, width)};
}

}  // namespace

NsightStudy study_of_ncu(const std::string& table, const std::string& name, std::size_t width) {
  return shown(nsight::study_kernels(nsight::parse_ncu_csv(table, name), name), width);
}

NsightStudy study_of_nsys(const fs::path& file, const std::string& name, std::size_t width) {
  const auto study = nsight::study_timeline(nsight::read_nsys_file(file), name);
  auto whole = shown(study, width);
  for (const auto& device : study.devices) whole.nccl_kernels += device.nccl_kernels;
  return whole;
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

bool profile_of_nsight(const fs::path& from, const Console& console) {
  for (const auto& kind : kKinds)
    if (from.extension() == kind.suffix && !fs::is_directory(from)) {
      kind.show(from, console);
      return true;
    }
  return false;
}

}  // namespace paceline::cli
