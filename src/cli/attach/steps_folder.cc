// SPDX-License-Identifier: MIT
#include "cli/attach/steps_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "attach/step_header.h"
#include "base/display_text.h"
#include "base/error.h"
#include "base/own_environment.h"
#include "cli/run/run_history.h"
#include "cluster/launch_place.h"
#include "result/run_directory.h"

namespace paceline::cli {
namespace {

namespace fs = std::filesystem;

constexpr auto kLock = ".lock";

bool is_one_of_a_launch() {
  try {
    const auto place = cluster::claimed_place(own_environment());
    return place && place->world > 1;
  } catch (const Error&) {
    return true;  // variables of a launcher that do not fit together
  }
}

// The nth name for a folder.
fs::path numbered(const fs::path& folder, int n) {
  if (n == 1) return folder;
  const auto plain = (folder / "").parent_path();  // without a slash at its end
  return fmt::format("{}-{}", plain.string(), n);
}

}  // namespace

StepsFolder::StepsFolder(const config::Settings& options) : run_id_(result::new_run_id()) {
  options.has("output") ? take_named(options.text("output")) : take_new();
  path_ = fs::absolute(path_);
}

StepsFolder::~StepsFolder() {
  std::error_code not_empty;
  if (made_) fs::remove(path_, not_empty);
}

// No other job has it, not even one that starts in the same second; the run is named as it.
void StepsFolder::take_new() {
  const auto jobs = fs::path(kResults) / "attach";
  std::error_code problem;
  fs::create_directories(jobs, problem);
  bool made = false;
  while (!problem && !(made = fs::create_directory(jobs / run_id_, problem))) run_id_ = result::new_run_id();
  path_ = jobs / run_id_;
  if (problem)
    problem_ = problem.message();
  else
    take(path_);
  made_ = made;
}

void StepsFolder::take_named(const fs::path& wish) {
  constexpr int kMostNames = 1000;
  for (int n = 1; n <= kMostNames; ++n) {
    if (!take(numbered(wish, n))) continue;
    if (n > 1)
      remark_ = fmt::format("{} has the steps of another job, and those of this one go to {}",
                            shown_path(wish.string()), shown_path(path_.string()));
    return;
  }
  problem_ = fmt::format("there are {} jobs beside it", kMostNames);
}

// False if another job has it: two in one folder would be taken for one. A lock file is left where a launch
// goes on, or was ended by a signal and begins again.
bool StepsFolder::take(const fs::path& path) {
  const bool shared = is_one_of_a_launch();
  const bool goes_on = shared && fs::exists(path / kLock);
  if (!goes_on && !attach::step_files(path).empty()) return false;
  std::error_code problem;
  path_ = path;
  made_ = fs::create_directories(path, problem);
  if (!problem && ::access(path.c_str(), W_OK | X_OK) != 0)
    problem = std::error_code(errno, std::generic_category());
  if (problem) {
    problem_ = problem.message();
    return true;
  }
  lock_ = FileDescriptor(::open((path / kLock).c_str(), O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0600));
  return !lock_ || ::flock(lock_.get(), (shared ? LOCK_SH : LOCK_EX) | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}

}  // namespace paceline::cli
