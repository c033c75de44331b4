// SPDX-License-Identifier: MIT
// One process of several: it calibrates its clock, meets the others, and works as one of them.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cluster/meeting.h"
#include "pass/pass.h"
#include "plugin/registry.h"
#include "result/stored/case_result.h"
#include "workload/timed_repetition.h"

namespace paceline::workload {

class Rank {
 public:
  // Loads the plug-ins of the pass.
  Rank(const pass::PassSpec& spec, TaggedSink& sink);

  // How this process joins the others; a single rank gets a group only where `even_alone` asks for it.
  struct Membership {
    bool even_alone = false;
    bool deterministic = false;  // the group reduces in the same order every time
  };
  // Calibrates the clock, meets the other ranks where there are any, and runs `work` as one of them. Throws
  // what `work`, cluster::meet and work_as_member throw.
  void run(const Membership& membership, const std::function<void()>& work);

  [[nodiscard]] const pass::PassSpec& spec() const { return spec_; }
  [[nodiscard]] TaggedSink& sink() { return sink_; }
  [[nodiscard]] bool leads() const { return spec_.rank == 0; }
  // The plug-in that brings what the pass asks of this role.
  [[nodiscard]] const plugin::LoadedPlugin& plugin(plugin::Role role) const { return plugins_.at(role); }
  [[nodiscard]] plugin::RankGroup* group() { return group_.get(); }  // null: a single rank without a group
  [[nodiscard]] plugin::Store* store() { return met_.store.get(); }  // null likewise
  [[nodiscard]] std::vector<int> processes_of_host() const;          // of ranks, this one included
  [[nodiscard]] const std::string& heap() const { return heap_; }
  // Begun by run.
  [[nodiscard]] TimedRepetition& timed() { return *timed_; }
  [[nodiscard]] result::Repetition& repetition() { return timed_->figures; }
  // Adds the observers of every timed window; of the ranks on a host the first one runs the samplers.
  void observe();
  // Has the window report, and tells what the samplers of all ranks have read. Every rank takes part, with
  // samplers or without: hosts differ in what can be read.
  void report_window(double typical_ns);

 private:
  [[nodiscard]] const plugin::BackendEntry& backend() const;
  [[nodiscard]] bool first_of_host() const;
  void meet();

  const pass::PassSpec& spec_;
  TaggedSink& sink_;
  std::map<plugin::Role, plugin::LoadedPlugin> plugins_;
  std::optional<TimedRepetition> timed_;
  std::string heap_;
  cluster::Meeting met_;
  std::unique_ptr<plugin::RankGroup> group_;
};

}  // namespace paceline::workload
