// SPDX-License-Identifier: MIT
#include "run/launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <thread>

#include "base/error.h"
#include "base/random.h"
#include "base/text.h"
#include "cluster/peer_failure.h"
#include "run/ranks.h"

namespace paceline::run {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kEnd = std::numeric_limits<std::size_t>::max();
constexpr std::string_view kEndWord = "end";
constexpr milliseconds kFirstPause{20}, kLongestPause{500};
constexpr milliseconds kLookAtLeader{1000};  // while our ranks work
constexpr int kLooksBehind = 5;  // so often before ranks that are still ending are left alone no more
constexpr double kGoodbyeS = 10;
constexpr std::array<std::string_view, 3> kBinding{"mpirun", "mpich", "srun"};

std::string pass_folder(std::size_t pass) {
  return fmt::format("pass_{}", pass);
}
std::string left_key(int rank) {
  return fmt::format("left/{}", rank);
}

// True while `busy` ran to its end, asking `question` now and then; its yes is an interrupt of `busy`.
template <class Busy, class Question>
void watch_while(std::atomic<bool>& stop, Busy busy, Question question) {
  std::atomic<bool> over{false};
  std::thread watcher([&] {
    for (int slept = 0; !over; ++slept) {
      std::this_thread::sleep_for(kFirstPause);
      if (slept % (kLookAtLeader / kFirstPause) == 0 && question()) stop = true;
    }
  });
  try {
    busy();
  } catch (...) {
    over = true;
    watcher.join();
    throw;
  }
  over = true;
  watcher.join();
}

}  // namespace

Launch::Launch(cluster::LaunchPlace place, plugin::Store& store, double timeout_s,
               const std::string& plan_hash)
    : place_(std::move(place)),
      store_(store),
      timeout_s_(timeout_s),
      self_(cluster::this_process(place_.rank, place_.world, plan_hash)) {
  cluster::roll_call(store_, self_, timeout_s_, place_.ranks);
}

std::uint64_t Launch::order_seed() const {
  return hash64(place_.identity);
}

std::optional<std::size_t> Launch::leader_at() {
  const auto text = store_.get("pass");
  if (!text) return std::nullopt;
  if (*text == kEndWord) return kEnd;
  const auto number = parse_int(*text);
  return number ? std::optional(static_cast<std::size_t>(*number)) : std::nullopt;
}

WorkerOutcome Launch::run_pass(std::size_t pass, WorkerRequest request, const std::atomic<bool>& interrupt,
                               const OnProgress& on_progress) {
  auto& train = request.spec.train;
  train.rendezvous = cluster::rendezvous_of(place_, train.rendezvous.timeout_s);
  train.rendezvous.serve = false;  // the store lives longer than a pass
  train.rendezvous.prefix += "/" + pass_folder(pass);
  train.launcher = place_.launcher;
  if (place_.attempt > 0) train.inject.clear(), train.checkpoint.resume = !train.checkpoint.dir.empty();
  if (place_.leads()) store_.set("pass", fmt::format("{}", pass));
  auto outcome = run_ours(request, pass, interrupt, on_progress);
  if (!outcome.ok) {
    tell(pass, outcome);
    failure_ = outcome;
  }
  return outcome;
}

WorkerOutcome Launch::run_ours(const WorkerRequest& request, std::size_t pass,
                               const std::atomic<bool>& interrupt, const OnProgress& on_progress) {
  RankShare share;
  share.first = place_.rank;
  share.count = static_cast<int>(std::min<std::int64_t>(place_.ranks, request.spec.world_size - place_.rank));
  share.host_first = place_.local_rank, share.host_ranks = place_.local_world;
  share.bound = std::find(kBinding.begin(), kBinding.end(), place_.launcher) != kBinding.end();
  if (place_.leads()) return run_ranks(request, share, interrupt, on_progress);
  WorkerOutcome outcome;
  std::atomic<bool> stop{false};
  int looks_behind = 0;
  watch_while(
      stop, [&] { outcome = run_ranks(request, share, stop, on_progress); },
      [&] {
        looks_behind = is_behind(pass) ? looks_behind + 1 : 0;
        return looks_behind >= kLooksBehind || interrupt;
      });
  if (outcome.reason_code == "interrupted" && !interrupt)
    outcome.reason_code = "peer", outcome.reason = "rank 0 has ended this pass, or is gone";
  return outcome;
}

// The leader is at a later pass, or gone.
bool Launch::is_behind(std::size_t pass) {
  try {
    const auto at = leader_at();
    return at && *at > pass;
  } catch (const Error&) {
    return true;
  }
}

// Before rank 0's worker gives up waiting for a reason.
void Launch::tell(std::size_t pass, const WorkerOutcome& outcome) {
  if (outcome.reason_code == "peer" || outcome.reason_code == "interrupted") return;
  cluster::tell_failure(store_, outcome.reason, pass_folder(pass) + "/");
}

std::optional<std::size_t> Launch::wait_for(std::size_t pass, const std::atomic<bool>& interrupt) {
  for (milliseconds pause = kFirstPause; !interrupt; pause = std::min(pause * 2, kLongestPause)) {
    const auto at = leader_at();
    if (at == kEnd) return std::nullopt;
    if (at && *at >= pass) return at;
    std::this_thread::sleep_for(pause);
  }
  return std::nullopt;
}

void Launch::finish() noexcept {
  try {
    if (!place_.leads()) {
      store_.set(left_key(place_.rank), "yes");
      return;
    }
    store_.set("pass", std::string(kEndWord));
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::duration<double>(kGoodbyeS);
    for (int rank = place_.ranks; rank < place_.world && std::chrono::steady_clock::now() < deadline;) {
      if (store_.get(left_key(rank)))
        rank += place_.ranks;
      else
        std::this_thread::sleep_for(kFirstPause);
    }
  } catch (const std::exception&) {
    return;  // the store went first; nothing is left to say
  }
}

}  // namespace paceline::run
