// SPDX-License-Identifier: MIT
// Finds runs by what the kernel knows of their processes, so that none has to announce itself.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "base/bounded_json.h"
#include "base/display_text.h"
#include "base/foreign_text.h"
#include "base/text.h"
#include "monitor/source.h"

namespace paceline::monitor {
namespace {

using host::SystemFiles;
namespace fs = std::filesystem;

bool is_number(const std::string& name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) { return c >= '0' && c <= '9'; });
}

class RunSource : public Source {
 public:
  explicit RunSource(SystemFiles files) : files_(std::move(files)) {}
  void read(Snapshot& into) override {
    for (const auto& process : own_processes())
      for (const auto& folder : run_folders(process)) add_run(folder, into);
    for (const auto& run : into.runs) add_figures(run, into);
  }

 private:
  // Names of processes are read once each, and all again at times: one may have become another program.
  std::vector<std::string> own_processes() {
    constexpr int kAllAgainEvery = 10;
    std::map<std::string, bool> now;
    const bool again = reads_++ % kAllAgainEvery == 0;
    std::vector<std::string> ours;
    for (const auto& name : files_.list("proc")) {
      if (!is_number(name)) continue;
      const auto known = again ? known_.end() : known_.find(name);
      const bool own =
          known != known_.end()
              ? known->second
              : files_.read_trimmed(fmt::format("proc/{}/comm", name)).value_or("") == "paceline";
      now.emplace(name, own);
      if (own) ours.push_back(name);
    }
    known_ = std::move(now);
    return ours;
  }

  [[nodiscard]] std::vector<fs::path> run_folders(const std::string& process) const {
    std::vector<fs::path> found;
    const auto folder = fmt::format("proc/{}/fd", process);
    for (const auto& descriptor : files_.list(folder)) {
      const fs::path target = files_.link_target(folder + "/" + descriptor).value_or("");
      if (target.filename() == ".lock" && target.is_absolute()) found.push_back(target.parent_path());
    }
    return found;
  }

  void add_run(const fs::path& folder, Snapshot& into) const {
    const auto text = files_.read((folder / "live.json").relative_path().string());
    if (!text || text->size() > limit_of(Foreign::kLive).bytes || into.runs.size() == kMostLiveRuns) return;
    const auto live = json_or_discarded(*text);
    if (!live.is_object() ||
        std::ranges::find(into.runs, folder.string(), &LiveRun::folder) != into.runs.end())
      return;
    auto run = read_live_file(live);
    run.folder = folder.string();
    into.runs.push_back(std::move(run));
  }

  static void add_figures(const LiveRun& run, Snapshot& into) {
    const Labels labels{{"run", fs::path(run.folder).filename().string()},
                        {"experiment", run.experiment},
                        {"case", run.label}};
    const auto add = [&](const char* name, const char* help, std::optional<double> value) {
      if (value) into.add(name, help, labels, *value);
    };
    add("paceline_run_pass", "Number of the timed pass under way; 0: none.", static_cast<double>(run.number));
    add("paceline_run_passes", "Timed passes of the run.", static_cast<double>(run.of));
    add("paceline_run_left_seconds", "Estimated time to the end of the run.", run.seconds_left);
    if (run.p50_ns)
      add("paceline_run_p50_seconds", "Median time of an inference or a step so far.", *run.p50_ns * 1e-9);
    add("paceline_run_per_second", "Inferences or steps per second so far.", run.per_s);
    add("paceline_run_samples_per_second", "Throughput of training, all ranks.", run.samples_per_s);
    if (run.slowest)
      add("paceline_run_slowest_rank", "The rank that computes longest.",
          static_cast<double>(run.slowest->rank));
  }

  SystemFiles files_;
  std::map<std::string, bool> known_;  // process id -> whether it is this tool
  int reads_ = 0;
};

}  // namespace

std::unique_ptr<Source> run_source(const SystemFiles& files) {
  return std::make_unique<RunSource>(files);
}

}  // namespace paceline::monitor
