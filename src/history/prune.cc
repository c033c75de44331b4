// SPDX-License-Identifier: MIT
#include "history/prune.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <algorithm>

#include "base/display_text.h"
#include "base/handle.h"

namespace paceline::history {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kDoomed = ".pruned-";  // begins the name of a folder that is being deleted

std::uint64_t bytes_below(const fs::path& folder) {
  std::uint64_t sum = 0;
  std::error_code error;
  for (fs::recursive_directory_iterator it(folder, fs::directory_options::skip_permission_denied, error), end;
       !error && it != end; it.increment(error)) {
    std::error_code unknown;
    if (it->is_symlink(unknown) || !it->is_regular_file(unknown)) continue;
    if (const auto size = it->file_size(unknown); !unknown) sum += size;
  }
  return sum;
}

// A run holds a lock while it is written.
bool is_being_written(const fs::path& folder) {
  const FileDescriptor lock(
      ::open((folder / ".lock").c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  return lock && ::flock(lock.get(), LOCK_EX | LOCK_NB) != 0;
}

// Why it must not be deleted; empty: it is a run folder below `results`.
std::string not_deletable(const fs::path& results, const PrunedRun& run) {
  std::error_code error;
  const auto folder = fs::canonical(run.folder, error);
  if (error) return error.message();
  const auto relative = folder.lexically_relative(results);
  if (folder != run.folder.lexically_normal() || relative.empty() || relative == "." ||
      *relative.begin() == "..")
    return "it is not below " + shown_path(results.string());
  try {
    if (!fs::is_regular_file(folder / result::kSummaryFile)) return "it has no summary of a run";
    if (result::read_run(folder).run.run_id != run.run_id) return "it is another run than the index says";
  } catch (const Error& e) {
    return e.what();
  }
  return is_being_written(folder) ? "a run is being written there" : "";
}

// Removes folders that a killed deletion left.
void remove_leftovers_of_pruning(const fs::path& results) {
  std::error_code error;
  std::vector<fs::path> leftovers;
  for (const auto& entry : fs::directory_iterator(results, error))
    if (entry.path().filename().string().starts_with(kDoomed) && entry.is_directory() && !entry.is_symlink())
      leftovers.push_back(entry.path());
  for (const auto& folder : leftovers) fs::remove_all(folder, error);
}

void remove_run(const fs::path& results, const fs::path& folder) {
  const auto doomed = results / (std::string(kDoomed) + folder.filename().string());
  std::error_code error;
  fs::rename(folder, doomed, error);
  if (!error) fs::remove_all(doomed, error);
  if (error)
    throw Error(ErrorCode::kIo,
                fmt::format("cannot delete {}: {}", shown_path(folder.string()), error.message()));
  if (folder.parent_path() != results) fs::remove(folder.parent_path(), error);  // fails unless it is empty
}

}  // namespace

PrunePlan plan_prune(const Index& index, const PruneRules& rules) {
  PrunePlan plan;
  std::vector<PrunedRun> candidates;  // newest first
  std::size_t place = 0;
  for (const auto& one : index.runs(headline_metrics())) {
    if (one.gone || one.elsewhere) continue;
    const auto bytes = bytes_below(one.run.folder);
    plan.bytes += bytes, ++plan.kept;
    const bool stays = place++ < rules.keep_newest || !one.tags.empty() || !one.pins.empty() ||
                       is_being_written(one.run.folder);
    if (!stays) candidates.push_back({one.run.run_id, one.run.folder, bytes});
  }
  std::ranges::reverse(candidates);
  std::uint64_t left = plan.bytes;
  for (auto& one : candidates) {
    if (left <= rules.keep_bytes) break;
    left -= one.bytes, --plan.kept;
    plan.runs.push_back(std::move(one));
  }
  plan.fits = left <= rules.keep_bytes;
  return plan;
}

void prune(Index& index, const PrunePlan& plan) {
  remove_leftovers_of_pruning(index.folder());
  for (const auto& run : plan.runs) {
    if (const auto why = not_deletable(index.folder(), run); !why.empty())
      throw Error(ErrorCode::kData,
                  fmt::format("{} is not deleted: {}", shown_path(run.folder.string()), why));
    remove_run(index.folder(), run.folder);
    index.mark_gone(run.run_id);
  }
}

}  // namespace paceline::history
