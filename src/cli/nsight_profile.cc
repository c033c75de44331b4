// SPDX-License-Identifier: MIT
#include "cli/nsight_profile.h"

#include <fmt/format.h>

#include <array>
#include <string>
#include <vector>

#include "base/display_text.h"
#include "base/error.h"
#include "base/file.h"
#include "base/scratch_folder.h"
#include "cli/interrupts.h"
#include "nsight/kernels.h"
#include "nsight/ncu_csv.h"
#include "nsight/nsys_file.h"
#include "nsight/timeline.h"
#include "process/tool_process.h"
#include "report/text_layout.h"

namespace paceline::cli {
namespace {

namespace fs = std::filesystem;

template <class Study>
void show(const Study& study, const Console& console) {
  if (console.json)
    console.result(to_json(study).dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  const auto text = text_of(study, console.width);
  print(console.text(), for_terminal(console.ascii ? report::to_ascii(text) : text));
}

void show_ncu(const std::string& text, const fs::path& name, const Console& console) {
  show(nsight::study_kernels(nsight::parse_ncu_csv(text, name.string()), name.string()), console);
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
  const process::ToolProcess run{std::move(arguments), {{"LC_ALL", "C"}}, scratch.path() / "log", {}};
  const InterruptGuard interrupts;
  const auto problem = process::run_tool(run, InterruptGuard::flag());
  constexpr std::size_t kTail = 500;
  if (!problem.empty())
    throw Error(ErrorCode::kData, fmt::format("{}: {} ended with {}: {}", shown_path(report.string()),
                                              program, problem, on_one_line(file_tail(run.log, kTail))));
  return read_file(run.log);
}

void from_csv(const fs::path& file, const Console& console) {
  show_ncu(read_file(file), file, console);
}

void from_ncu_report(const fs::path& file, const Console& console) {
  const auto name = file.filename().string();
  show_ncu(with_program("ncu", {"--import", file.string(), "--csv", "--page", "raw", "--print-units", "base"},
                        file, fmt::format("ncu --import {} --csv --page raw > kernels.csv", name)),
           file, console);
}

void from_sqlite(const fs::path& file, const Console& console) {
  show(nsight::study_timeline(nsight::read_nsys_file(file), file.string()), console);
}

void from_nsys_report(const fs::path& file, const Console& console) {
  const auto scratch = ScratchFolder::below_temp("nsys");
  const auto exported = scratch.path() / "export.sqlite";
  with_program(
      "nsys", {"export", "--type", "sqlite", "--output", exported.string(), file.string()}, file,
      fmt::format("nsys export --type sqlite --output timeline.sqlite {}", file.filename().string()));
  show(nsight::study_timeline(nsight::read_nsys_file(exported), file.string()), console);
}

struct Kind {
  std::string_view suffix;
  void (*show)(const fs::path&, const Console&);
};
constexpr std::array<Kind, 4> kKinds{{{".csv", from_csv},
                                      {".sqlite", from_sqlite},
                                      {".ncu-rep", from_ncu_report},
                                      {".nsys-rep", from_nsys_report}}};

}  // namespace

bool profile_of_nsight(const fs::path& from, const Console& console) {
  for (const auto& kind : kKinds)
    if (from.extension() == kind.suffix && !fs::is_directory(from)) {
      kind.show(from, console);
      return true;
    }
  return false;
}

}  // namespace paceline::cli
