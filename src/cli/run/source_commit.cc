// SPDX-License-Identifier: MIT
#include "cli/run/source_commit.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>
#include <vector>

#include "base/error.h"
#include "base/reading.h"
#include "base/scratch_folder.h"
#include "base/text.h"
#include "cli/interrupts.h"
#include "process/tool_process.h"

namespace paceline::cli {
namespace fs = std::filesystem;
using Json = nlohmann::json;
namespace {

constexpr double kGitTimeoutS = 2;                // of each question
constexpr std::uint64_t kMostBytes = 4 << 20;     // of an answer
constexpr const char* kNotFound = "exit code 1";  // of `git config`

struct Answer {
  std::string problem;  // empty: there is none
  std::string text;
};

// Variables that would have git speak of another repository than the folder's.
constexpr std::array<const char*, 9> kOfGit{"GIT_DIR",        "GIT_WORK_TREE",    "GIT_INDEX_FILE",
                                            "GIT_COMMON_DIR", "GIT_NAMESPACE",    "GIT_OBJECT_DIRECTORY",
                                            "GIT_PREFIX",     "GIT_CONFIG_COUNT", "GIT_CONFIG_PARAMETERS"};

// The beginning of a command that starts without them.
std::vector<std::string> without_variables() {
  std::vector<std::string> argv{process::find_program("env").string()};
  if (argv.front().empty()) return {};
  for (const auto* name : kOfGit) argv.insert(argv.end(), {"-u", name});
  return argv;
}

// One folder. Its configuration may name programs, so git neither starts one nor writes or fetches anything.
class Git {
 public:
  Git(fs::path program, fs::path folder)
      : program_(std::move(program)),
        folder_(std::move(folder)),
        scratch_(ScratchFolder::below_temp("paceline-git")) {}

  [[nodiscard]] Answer ask(const std::vector<std::string>& words) const {
    std::vector<std::string> argv = without_variables();
    for (const auto& word :
         {program_.string(), std::string("-C"), folder_.string(), std::string("-c"),
          std::string("core.fsmonitor=false"), std::string("-c"), std::string("core.hooksPath=/dev/null")})
      argv.push_back(word);
    process::ToolProcess tool{std::move(argv),
                              {{"LC_ALL", "C"},
                               {"GIT_OPTIONAL_LOCKS", "0"},
                               {"GIT_ALLOW_PROTOCOL", "none"},
                               {"GIT_NO_LAZY_FETCH", "1"}},
                              scratch_.path() / "log",
                              {}};
    tool.argv.insert(tool.argv.end(), words.begin(), words.end());
    tool.timeout_s = kGitTimeoutS;
    tool.output = scratch_.path() / "answer";
    tool.most_bytes = kMostBytes;
    auto problem = process::run_tool(tool, InterruptGuard::flag());
    if (process::prints_too_much(tool)) return {"it printed too much", ""};
    return {std::move(problem), read_limited(tool.output, kMostBytes)};
  }

 private:
  fs::path program_, folder_;
  ScratchFolder scratch_;
};

bool is_commit(const std::string& text) {
  const auto is_hex = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  return (text.size() == 40 || text.size() == 64) && std::ranges::all_of(text, is_hex);
}

// Comparing a file starts the filter that attributes name for it; those of the repository itself are not
// trusted.
bool has_own_filters(const Git& git) {
  const auto filters = git.ask({"config", "--show-scope", "--get-regexp", "^filter\\."});
  if (filters.problem == kNotFound) return false;
  if (!filters.problem.empty()) return true;
  const auto lines = split(filters.text, '\n');
  return std::ranges::any_of(lines, [](const std::string& line) {
    return line.starts_with("local") || line.starts_with("worktree");
  });
}

// Fills in "modified": whether a file that git follows differs from the commit.
void add_modified(const Git& git, Json& sources) {
  Answer status{"its configuration has filters, which are not run", ""};
  if (!has_own_filters(git))
    status = git.ask({"status", "--porcelain", "--untracked-files=no", "--ignore-submodules=dirty"});
  sources["modified"] = status.problem.empty() ? Json(!trim(status.text).empty()) : Json();
  if (!status.problem.empty()) sources["modified_reason"] = status.problem;
}

Json commit_of(const fs::path& program, const fs::path& folder) {
  const Git git(program, folder);
  const auto head = git.ask({"rev-parse", "--verify", "--quiet", "HEAD"});
  const std::string commit(trim(head.text));
  if (!head.problem.empty() || !is_commit(commit)) return {};
  Json sources{{"commit", commit}};
  add_modified(git, sources);
  return sources;
}

}  // namespace

Json source_commit(const std::string& plan_file) {
  const auto program = process::find_program("git");
  if (program.empty()) return {};
  std::error_code error;
  std::vector<fs::path> folders{fs::current_path(error)};
  if (fs::is_regular_file(plan_file, error)) folders.push_back(fs::absolute(plan_file).parent_path());
  try {
    for (const auto& folder : folders)
      if (auto sources = commit_of(program, folder); !sources.is_null()) return sources;
  } catch (const Error&) {  // no temporary folder, no process: a run does not need the commit
  }
  return {};
}

}  // namespace paceline::cli
