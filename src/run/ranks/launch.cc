// SPDX-License-Identifier: MIT
#include "run/ranks/launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <thread>

#include "base/ask_until.h"
#include "base/bounded_json.h"
#include "base/display_text.h"
#include "base/error.h"
#include "base/sha256.h"
#include "cluster/cpu_share.h"
#include "cluster/generation.h"
#include "cluster/peer_failure.h"
#include "cluster/plan_print.h"
#include "host/machine/affinity.h"
#include "host/machine/environment.h"
#include "host/system_files.h"

namespace paceline::run {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kEnd = std::numeric_limits<std::size_t>::max();
constexpr std::string_view kEndWord = "end";
constexpr Pauses kPauses{milliseconds(20), milliseconds(500)};
constexpr Pauses kGoodbyePauses{milliseconds(20), milliseconds(20)};
constexpr milliseconds kWatchPause{20};
constexpr milliseconds kReadNotes{50};
constexpr milliseconds kLookAtLeader{1000};  // while our ranks work
constexpr int kChecksBeforeGivingUp = 5;  // ranks that the leader has left may still be ending by themselves
constexpr double kGoodbyeS = 10;
constexpr double kRollCallS = 2.5;  // of processes that look at the leader once a second
constexpr double kSignalS = 2;      // a launcher signals all processes of a job, but not at one moment

std::string pass_folder(std::size_t pass) {
  return fmt::format("pass_{}", pass);
}
std::string left_key(int rank) {
  return fmt::format("left/{}", rank);
}
std::string here_key(std::size_t pass, int rank) {
  return fmt::format("{}/here/{}", pass_folder(pass), rank);
}

// Two hosts may have one name, and containers of one machine several.
cluster::Member member_at(const cluster::LaunchPlace& place, const std::string& plan) {
  auto self = cluster::this_process(place.rank, place.world, sha256_hex(plan));
  self.plan = plan, self.print = cluster::plan_print(plan);
  self.machine =
      self.host + " " + host::SystemFiles{}.read_trimmed("proc/sys/kernel/random/boot_id").value_or("");
  self.attempt = place.attempt;
  self.cpus = host::current_affinity();
  self.variables = host::recorded_variables(own_environment());
  return self;
}

// Ranks that somebody asked to end may be the first to hear of an interrupt of all.
process::WorkerOutcome run_leading(process::PassExecutor& processes, const process::WorkerRequest& request,
                                   const std::atomic<bool>& interrupt,
                                   const process::OnProgress& on_progress) {
  auto outcome = processes.run(request, interrupt, on_progress);
  if (outcome.reason_code != "killed" || !outcome.report.get<pass::TrainingReport>().interrupted)
    return outcome;
  if (ask_until(deadline_in(kSignalS), kGoodbyePauses, [&] { return interrupt.load(); }))
    outcome.reason_code = outcome.reason = "interrupted";
  return outcome;
}

}  // namespace

Launch::Launch(cluster::LaunchPlace place, plugin::Store& store, double timeout_s, const std::string& plan,
               const std::atomic<bool>* interrupt, cluster::StartNotes* notes, const std::string& obstacle)
    : place_(std::move(place)), store_(store, "") {
  std::optional<cluster::GenerationLeader> leader;  // answers until all are here
  if (place_.agent_store) {
    if (place_.leads()) leader.emplace(store, place_.world);
    const auto generation =
        leader ? leader->generation() : cluster::join_generation(store, place_.rank, timeout_s, interrupt);
    place_.attempt = std::max(place_.attempt, generation.number);
    folder_ = "/" + generation.folder();
    store_ = cluster::PrefixedStore(store, generation.folder() + "/");
  }
  if (!obstacle.empty()) refuse(obstacle);
  call_roll(member_at(place_, plan), timeout_s, interrupt, notes);
  for (const auto& member : roster_) place_.attempt = std::max(place_.attempt, member.attempt);
}

void Launch::call_roll(const cluster::Member& self, double timeout_s, const std::atomic<bool>* interrupt,
                       cluster::StartNotes* notes) {
  const auto read = [&](const std::stop_token& over) {
    for (; !over.stop_requested(); std::this_thread::sleep_for(kReadNotes))
      if (const auto note = notes->next_note()) cluster::refuse_to_come(store_, *note);
  };
  const auto reader = notes ? std::jthread(read) : std::jthread();
  roster_ = cluster::roll_call(store_, self, timeout_s, place_.ranks, interrupt);
}

// Rank 0, whose process serves the store, waits a little for those who are to read it.
void Launch::refuse(const std::string& obstacle) {
  const auto self = cluster::this_process(place_.rank, place_.world, {});
  cluster::refuse_to_come(store_, fmt::format("{} cannot start: {}", cluster::words(self), obstacle));
  int rank = place_.ranks;
  const auto all_here = [&] {
    while (rank < place_.world && cluster::registered(store_, rank)) rank += place_.ranks;
    return rank >= place_.world;
  };
  if (place_.serves()) ask_until(deadline_in(kGoodbyeS), kPauses, all_here);
}

nlohmann::json Launch::described() const {
  auto processes = nlohmann::json::array();
  const cluster::Member* last = nullptr;
  for (const auto& m : roster_) {
    if (last && last->host == m.host && last->machine == m.machine && last->variables == m.variables)
      processes.back().at("ranks").push_back(m.rank);
    else
      processes.push_back({{"host", m.host}, {"ranks", {m.rank}}, {"variables", m.variables}});
    last = &m;
  }
  return {{"launcher", place_.launcher}, {"world", place_.world}, {"hosts", std::move(processes)}};
}

int Launch::ranks_on_our_cpus(std::int64_t world) const {
  return cluster::share_of_cpus(roster_, place_.rank, static_cast<int>(world)).ranks;
}

std::string text_of(const LaunchedPass& pass) {
  return nlohmann::json{{"number", pass.number},
                        {"case", pass.case_id},
                        {"repetition", pass.repetition},
                        {"timed", pass.timed},
                        {"calls_roll", pass.calls_roll}}
      .dump();
}

std::optional<LaunchedPass> Launch::leader_at() {
  const auto text = store_.get("pass");
  if (!text) return std::nullopt;
  if (*text == kEndWord) return LaunchedPass{kEnd};
  try {
    const auto at = parsed_json(*text);
    const LaunchedPass pass{at.at("number"), at.at("case"), at.at("repetition"), at.at("timed"),
                            at.at("calls_roll")};
    answer(pass);
    return pass;
  } catch (const nlohmann::json::exception& e) {
    throw Error(ErrorCode::kInternal,
                fmt::format("rank 0 announces '{}', which is no pass: {}", *text, plain_reason(e)));
  }
}

process::WorkerOutcome Launch::run_pass(process::PassExecutor& processes, process::WorkerRequest request,
                                        const std::atomic<bool>& interrupt,
                                        const process::OnProgress& on_progress) {
  const auto& spec = request.spec;
  if (place_.leads()) request.number = announced_++;
  const auto pass = request.number;
  auto& ranks = request.spec.ranks;
  ranks.rendezvous = cluster::rendezvous_of(place_, ranks.rendezvous.timeout_s);
  ranks.rendezvous.serve = false;  // the store lives longer than a pass
  ranks.rendezvous.prefix += folder_ + "/" + pass_folder(pass);
  ranks.launcher = place_.launcher;
  if (auto* train = std::get_if<pass::TrainSpec>(&request.spec.task); train && place_.attempt > 0)
    train->inject.clear(), train->checkpoint.resume = !train->checkpoint.dir.empty();
  request.share = share_of(request.spec.world_size);
  const LaunchedPass at{pass, spec.case_id, spec.repetition, pass::traits_of(spec.kind).timed};
  if (place_.leads()) store_.set("pass", text_of(at));
  auto outcome = start(processes, request, interrupt, on_progress);
  if (outcome.ok) return outcome;
  if (place_.leads() && outcome.reason_code == "peer") name_silent_processes(at, outcome);
  if (outcome.reason_code != "peer" && outcome.reason_code != "interrupted") tell(pass, outcome.reason);
  if (request.spec.kind != pass::PassKind::kTrainProfile) failure_ = outcome;
  return outcome;
}

// Every look of a follower at the leader comes by here.
void Launch::answer(const LaunchedPass& pass) {
  if (!place_.leads() && pass.calls_roll) store_.set(here_key(pass.number, place_.rank), "yes");
}

// Where nobody told why a peer is gone, its process may have died with its ranks: it is the one that does not
// answer.
void Launch::name_silent_processes(LaunchedPass at, process::WorkerOutcome& outcome) {
  cluster::PrefixedStore of_pass(store_, pass_folder(at.number) + "/");
  if (!cluster::reported_failure(of_pass, 0).empty()) return;
  try {
    at.calls_roll = true;
    store_.set("pass", text_of(at));
    std::set<int> silent;
    for (int rank = place_.ranks; rank < place_.world; rank += place_.ranks) silent.insert(rank);
    ask_until(deadline_in(kRollCallS), kGoodbyePauses, [&] {
      std::erase_if(silent, [&](int rank) {
        return store_.get(here_key(at.number, rank)) || store_.get(left_key(rank));
      });
      return silent.empty();
    });
    if (silent.empty()) return;
    std::string names;
    for (const int rank : silent)
      names += (names.empty() ? "" : ", ") + cluster::words(roster_.at(static_cast<std::size_t>(rank)));
    outcome.reason = fmt::format("{} {} gone: killed or stopped, or the host or network is down ({})", names,
                                 silent.size() == 1 ? "is" : "are", outcome.reason);
    silent_ = std::move(silent);
  } catch (const Error&) {  // NOLINT(bugprone-empty-catch): the store went first; what is known stays
  }
}

process::WorkerOutcome Launch::start(process::PassExecutor& processes, const process::WorkerRequest& request,
                                     const std::atomic<bool>& interrupt,
                                     const process::OnProgress& on_progress) {
  try {
    return place_.leads() ? run_leading(processes, request, interrupt, on_progress)
                          : run_following(processes, request, interrupt, on_progress);
  } catch (const Error& e) {  // no process could be started
    tell(request.number, fmt::format("rank {} on {}: {}", place_.rank, cluster::host_name(), e.what()));
    throw;
  }
}

process::RankShare Launch::share_of(std::int64_t world) const {
  const auto cpus = cluster::share_of_cpus(roster_, place_.rank, static_cast<int>(world));
  const auto count = static_cast<int>(std::min<std::int64_t>(place_.ranks, world - place_.rank));
  return {place_.rank, count, place_.local_rank, cpus.before, cpus.ranks};
}

process::WorkerOutcome Launch::run_following(process::PassExecutor& processes,
                                             const process::WorkerRequest& request,
                                             const std::atomic<bool>& interrupt,
                                             const process::OnProgress& on_progress) {
  std::atomic<bool> stop{false};
  const std::jthread watcher([&](const std::stop_token& over) {
    for (int slept = 0, behind = 0; !over.stop_requested(); ++slept) {
      std::this_thread::sleep_for(kWatchPause);
      if (slept % (kLookAtLeader / kWatchPause) != 0) continue;
      behind = is_behind(request.number) ? behind + 1 : 0;
      if (behind >= kChecksBeforeGivingUp || interrupt) stop = true;
    }
  });
  auto outcome = processes.run(request, stop, on_progress);
  const bool ended =
      outcome.report.get<pass::TrainingReport>().interrupted || outcome.reason_code == "interrupted";
  if (ended && !interrupt)
    outcome.reason_code = "peer", outcome.reason = "rank 0 has ended this pass, or is gone";
  return outcome;
}

// The leader is at a later pass, or gone.
bool Launch::is_behind(std::size_t pass) {
  try {
    const auto at = leader_at();
    return at && at->number > pass;
  } catch (const Error&) {
    return true;
  }
}

// Before the others give up waiting: for our ranks, or for a reason.
void Launch::tell(std::size_t pass, const std::string& reason) {
  cluster::PrefixedStore of_pass(store_, pass_folder(pass) + "/");
  cluster::refuse_to_come(of_pass, reason);
  cluster::report_failure(of_pass, reason);
}

std::optional<LaunchedPass> Launch::wait_for(std::size_t number, const std::atomic<bool>& interrupt) {
  std::optional<LaunchedPass> at;
  ask_until(Deadline::max(), kPauses, [&] {
    if (!interrupt) at = leader_at();
    return interrupt || (at && at->number >= number);
  });
  return interrupt || at->number == kEnd ? std::nullopt : at;
}

void Launch::finish() noexcept {
  try {
    if (!place_.leads()) {
      store_.set(left_key(place_.rank), "yes");
      return;
    }
    store_.set("pass", std::string(kEndWord));
    int rank = place_.ranks;
    ask_until(deadline_in(kGoodbyeS), kGoodbyePauses, [&] {
      while (rank < place_.world && (silent_.contains(rank) || store_.get(left_key(rank))))
        rank += place_.ranks;
      return rank >= place_.world;
    });
  } catch (const std::exception&) {
    return;  // the store went first; nothing is left to say
  }
}

}  // namespace paceline::run
