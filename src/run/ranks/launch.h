// SPDX-License-Identifier: MIT
#pragma once
#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/json.h"
#include "cluster/launch_place.h"
#include "cluster/prefixed_store.h"
#include "cluster/roll_call.h"
#include "cluster/start_notes.h"
#include "plugin/rank_group.h"
#include "process/pass_executor.h"

// One process of a launch that a launcher, or a person on each host, has started. The one with rank 0 leads:
// it walks through the plan, and says on the store which pass it is at. The others follow.
namespace paceline::run {

// A pass of all processes, as the leader announces it.
struct LaunchedPass {
  std::size_t number = 0;  // counted by the leader
  std::string case_id{};
  std::int64_t repetition = 0;
  bool timed = true;        // else the extra pass of the case, after the timed ones
  bool calls_roll = false;  // the leader misses a rank: who is there answers
};
// Its form on the store.
std::string text_of(const LaunchedPass& pass);

class Launch {
 public:
  // Calls the roll of all processes, whose `plan` must be equal line by line: throws what cluster::roll_call
  // and join_generation throw. `store` is that of rendezvous_of(place), and outlives this. With an
  // `obstacle`, for which rank 0 cannot start, the others are told, and PeerFailure is thrown here as there;
  // so it is when a process says so in `notes`, which may be null.
  Launch(cluster::LaunchPlace place, plugin::Store& store, double timeout_s, const std::string& plan,
         const std::atomic<bool>* interrupt = nullptr, cluster::StartNotes* notes = nullptr,
         const std::string& obstacle = "");

  [[nodiscard]] const cluster::LaunchPlace& place() const { return place_; }
  [[nodiscard]] int hosts() const { return (place_.world + place_.local_world - 1) / place_.local_world; }
  // Counts among the first `world` ranks those that may use CPUs of this process's ranks, these included.
  [[nodiscard]] int ranks_on_our_cpus(std::int64_t world) const;
  // Who started the ranks, and which processes they have on which hosts, with the variables of their shells.
  [[nodiscard]] nlohmann::json described() const;
  // Called by the leader; the others may ask.
  void name_run(const std::string& run_id) { store_.set("run", run_id); }
  [[nodiscard]] std::string run_name() { return store_.get("run").value_or("run"); }

  // Has `processes` start our ranks of a pass. The leader's call numbers it, and makes the others start
  // theirs; a follower's request has that number. A follower's ranks are ended when the leader has gone on
  // without them. Ranks of ours that fail by themselves are named on the store.
  process::WorkerOutcome run_pass(process::PassExecutor& processes, process::WorkerRequest request,
                                  const std::atomic<bool>& interrupt, const process::OnProgress& on_progress);
  [[nodiscard]] bool takes_part(std::int64_t world) const { return place_.rank < world; }
  // The last outcome of ours that was no success; a profile's does not count.
  [[nodiscard]] const std::optional<process::WorkerOutcome>& failure() const { return failure_; }

  // A follower waits until the leader is at pass `number` or beyond, without using the CPU. Where it is then;
  // nullopt: at the end, or `interrupt`. Throws Error(kUnavailable) when the leader is gone.
  std::optional<LaunchedPass> wait_for(std::size_t number, const std::atomic<bool>& interrupt);

  // The leader says that it is at the end, and waits a little for the others, who say that they leave.
  void finish() noexcept;

 private:
  process::WorkerOutcome run_following(process::PassExecutor& processes,
                                       const process::WorkerRequest& request,
                                       const std::atomic<bool>& interrupt,
                                       const process::OnProgress& on_progress);
  process::WorkerOutcome start(process::PassExecutor& processes, const process::WorkerRequest& request,
                               const std::atomic<bool>& interrupt, const process::OnProgress& on_progress);
  [[nodiscard]] process::RankShare share_of(std::int64_t world) const;
  [[nodiscard]] std::optional<LaunchedPass> leader_at();
  [[nodiscard]] bool is_behind(std::size_t pass);
  void refuse(const std::string& obstacle);
  void call_roll(const cluster::Member& self, double timeout_s, const std::atomic<bool>* interrupt,
                 cluster::StartNotes* notes);
  void tell(std::size_t pass, const std::string& reason);
  void answer(const LaunchedPass& pass);
  void name_silent_processes(LaunchedPass at, process::WorkerOutcome& outcome);

  cluster::LaunchPlace place_;    // attempt: the most that anybody counted
  cluster::PrefixedStore store_;  // of this start of the ranks: an agent's store holds what earlier ones left
  std::string folder_;            // of its keys; empty: the store began with this start
  std::vector<cluster::Member> roster_;  // by rank
  std::size_t announced_ = 0;            // passes, by the leader
  std::optional<process::WorkerOutcome> failure_;
  std::set<int> silent_;  // first ranks of processes that answered no roll call; known to the leader
};

}  // namespace paceline::run
