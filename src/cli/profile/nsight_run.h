// SPDX-License-Identifier: MIT
// `profile --tool`: nsys or ncu around the process that is timed, and what they wrote, read back.
#pragma once
#include <exception>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/context.h"
#include "config/case.h"
#include "config/flag_set.h"
#include "config/settings.h"
#include "nsight/tool_command.h"
#include "process/worker.h"
#include "result/stored/run_result.h"
#include "run/case/plugin_choice.h"

namespace paceline::cli {

// The flags with few iterations, one repetition, and nothing beside the timed pass, where the user did not
// say otherwise. Error(kUsage) for what --tool cannot follow.
config::FlagSet with_tool(config::FlagSet flags);

// Error(kUsage) for a case that the tool cannot watch. No effect without --tool.
void check_tool(const config::Settings& options, const std::vector<config::Case>& cases,
                const run::EngineDirectory& engines);

class NsightRun {
 public:
  // Finds the program, and asks it what it knows. Throws Error(kUnavailable) with what to do elsewhere.
  NsightRun(const config::Settings& options, const std::string& command_line);

  // Program under which a timed pass is started.
  process::Front front_of(const process::WorkerRequest& request);
  // Exports and reads what was recorded of the cases that were measured; a JSON file is written beside each
  // table, from which the page draws.
  void collect(const result::RunResult& run, const Console& console);
  // Prints it. Throws Error(kData) where the tool wrote nothing, or what cannot be read.
  void tell(const Console& console) const;

 private:
  struct Watched {
    std::string case_id;
    std::filesystem::path folder, log;
    bool on_gpu = false, nccl = false;
  };
  void read_one(const Watched& one, std::size_t width);
  [[nodiscard]] nsight::ToolRequest request_in(const std::filesystem::path& folder) const;

  nsight::ToolRequest request_;
  std::vector<Watched> watched_;
  std::string text_;
  std::exception_ptr problem_;  // the first
};

}  // namespace paceline::cli
