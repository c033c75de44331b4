// SPDX-License-Identifier: MIT
// The index over the runs of one folder: an SQLite file that can be made again from them at any time.
#pragma once
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/handle.h"
#include "history/database.h"
#include "history/entry.h"
#include "history/marks.h"

namespace paceline::history {

inline constexpr const char* kIndexFile = "paceline.db";

// A run as the index knows it.
struct Indexed {
  RunEntry run;            // its cases have the figures that were asked for
  bool gone = false;       // its folder is no longer there
  bool elsewhere = false;  // imported: not below the folder of runs
  std::vector<std::string> tags, pins;
};

// A value of a case in an earlier run.
struct Earlier {
  std::string run_id, folder;
  double value = 0;
};

// How many folders were read, how many runs have gone, and what could not be read, a line each.
struct Updated {
  std::size_t added = 0, gone = 0;
  std::vector<std::string> unreadable;
};

// One process at a time uses it; another waits. A read-only folder has an index in memory.
class Index {
 public:
  // Throws Damaged for a file that is no index; with_index repairs it.
  explicit Index(const std::filesystem::path& results);

  // Adds a run, or replaces what is known of it, in one transaction.
  void add(const RunEntry& run);
  // Reads run folders that are new or have changed, and marks runs whose folder is gone.
  Updated update();
  // Forgets everything and reads all folders again.
  Updated rebuild();

  // All runs, newest first, with figures of these metrics; with all of them if none is named.
  [[nodiscard]] std::vector<Indexed> runs(std::span<const std::string> metrics) const;
  // Values of a case on a machine before `run`, newest first.
  [[nodiscard]] std::vector<Earlier> earlier(const std::string& key, const std::string& metric,
                                             const RunEntry& run, std::int64_t most) const;

  [[nodiscard]] const Marks& marks() const { return marks_; }
  // Writes them; throws Error(kIo) in a read-only folder.
  void set_marks(Marks marks);
  void mark_gone(const std::string& run_id);
  [[nodiscard]] const std::filesystem::path& folder() const { return results_; }
  [[nodiscard]] bool writable() const { return writable_; }  // false: it is in memory

 private:
  void make_tables() const;
  void insert(const RunEntry& run) const;
  [[nodiscard]] std::vector<Indexed> runs_without_cases() const;
  [[nodiscard]] std::string stored_folder(const std::string& folder) const;
  [[nodiscard]] std::filesystem::path folder_of(const std::string& stored) const;

  std::filesystem::path results_;
  bool writable_;
  FileDescriptor lock_;
  std::optional<Database> database_;
  Marks marks_;
};

using Warn = std::function<void(const std::string&)>;

// Calls `use` with the index of a folder of runs. A damaged index is renamed with one warning, and made
// again.
void with_index(const std::filesystem::path& results, const Warn& warn,
                const std::function<void(Index&)>& use);

// Folders of runs below one, sorted by name; itself, if it is a run. `depth`: levels of folders between.
std::vector<std::filesystem::path> run_folders(const std::filesystem::path& below, int depth = 1);

}  // namespace paceline::history
