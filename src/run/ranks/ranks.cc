// SPDX-License-Identifier: MIT
#include "run/ranks/ranks.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

#include "base/clock.h"
#include "base/device.h"
#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "cluster/roll_call.h"
#include "host/machine/cpu_choice.h"
#include "host/machine/gpu_locality.h"
#include "process/spawn.h"
#include "run/ranks/rank_process.h"

namespace paceline::run {
namespace {

using process::RankShare;

constexpr int kEndingPollMs = 20;
constexpr std::int64_t kPeersNs = 1'900'000'000;  // for the others to say what they saw; then they are killed
constexpr std::int64_t kStepGraceNs = 10'000'000'000;  // to end at one step, and to tell what was measured
constexpr std::int64_t kCheckpointGraceNs = 30'000'000'000;

// A socket that listens on a free port of this host.
struct Listener {
  FileDescriptor socket;
  int port = 0;
};

Listener listen_here() {
  Listener here{FileDescriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0))};
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* plain = reinterpret_cast<sockaddr*>(&address);
  if (!here.socket || ::bind(here.socket.get(), plain, size) != 0 ||
      ::listen(here.socket.get(), SOMAXCONN) != 0 || ::getsockname(here.socket.get(), plain, &size) != 0)
    throw Error(ErrorCode::kInternal,
                fmt::format("cannot listen on 127.0.0.1 for the ranks: {}", std::strerror(errno)));
  here.port = ntohs(address.sin_port);
  return here;
}

// Preferred CPUs of each rank on this host, by rank. Which devices other processes' ranks see is not known:
// then no rank prefers any, or two would take the same.
std::vector<std::vector<int>> preferred_cpus(const RankShare& share, const std::string& device) {
  std::vector<std::vector<int>> near(static_cast<std::size_t>(share.cpus_ranks));
  if (!is_cuda(device) || share.cpus_ranks != share.count) return near;
  const auto places = host::gpu_places();
  for (int i = 0; i < share.count; ++i)
    near[static_cast<std::size_t>(i)] = host::cpus_near_rank(places, share.local_first + i);
  return near;
}

// CPUs of each of our ranks; empty lists: not enough for each to have its own.
std::vector<std::vector<int>> cpus_of_ranks(const RankShare& share, const pass::PassSpec& spec) {
  const auto each = static_cast<std::size_t>(std::max(1, spec.settings.threads));
  const auto cpus =
      host::choose_cpus_near(preferred_cpus(share, spec.ranks.device), static_cast<long long>(each));
  std::vector<std::vector<int>> all(static_cast<std::size_t>(share.count));
  if (cpus.size() < each * static_cast<std::size_t>(share.cpus_ranks)) return all;
  auto next = cpus.begin() + static_cast<std::ptrdiff_t>(each) * share.cpus_first;
  for (auto& mine : all) {
    mine.assign(next, next + static_cast<std::ptrdiff_t>(each));
    next += static_cast<std::ptrdiff_t>(each);
  }
  return all;
}

std::filesystem::path log_of(const std::filesystem::path& log, int rank) {
  return rank == 0 ? log : log.parent_path() / fmt::format("log_rank{}.txt", rank);
}

process::WorkerRequest request_of(const process::WorkerRequest& all, int rank, int local_rank,
                                  const std::vector<int>& cpus, const Listener& listener) {
  process::WorkerRequest mine = all;
  mine.log = log_of(all.log, rank);
  if (mine.log != "/dev/null") check_own_name(mine.log);
  if (rank != 0) mine.record_file.clear(), mine.front = {};
  mine.spec.rank = rank;
  mine.spec.pin_cpus = cpus;
  auto& ranks = mine.spec.ranks;
  if (is_cuda(ranks.device)) ranks.device = device_name({DeviceKind::kCuda, local_rank});
  auto& where = ranks.rendezvous;
  if (listener.socket) {
    where.address = "127.0.0.1", where.port = listener.port, where.serve = rank == 0;
    where.listen_fd = rank == 0 ? process::kExtraFd : -1;
  }
  return mine;
}

// Passes that save nothing have the defaults.
pass::CheckpointSpec checkpoint_of(const pass::PassSpec& spec) {
  const auto* train = std::get_if<pass::TrainSpec>(&spec.task);
  return train ? train->checkpoint : pass::CheckpointSpec{};
}

// All of ours, until the last has ended.
class Ranks {
 public:
  Ranks(const process::WorkerRequest& request, const RankShare& share, const std::atomic<bool>& interrupt,
        const process::OnProgress& on_progress)
      : on_progress_(on_progress),
        world_(request.spec.world_size),
        group_timeout_s_(request.spec.ranks.group_timeout_s),
        checkpoint_timeout_s_(checkpoint_of(request.spec).timeout_s),
        grace_ns_(checkpoint_of(request.spec).dir.empty() ? kStepGraceNs : kCheckpointGraceNs) {
    Listener listener;
    if (request.spec.ranks.rendezvous.port == 0) listener = listen_here();
    std::vector<std::vector<int>> cpus(static_cast<std::size_t>(share.count));
    if (!request.spec.pin_cpus.empty()) {
      cpus = cpus_of_ranks(share, request.spec);
      if (cpus.front().empty()) warn_of_sharing(request, share, on_progress);
    }
    for (int i = 0; i < share.count && (i == 0 || !interrupt); ++i) {
      const auto mine = request_of(request, share.first + i, share.local_first + i,
                                   cpus[static_cast<std::size_t>(i)], listener);
      processes_.push_back(
          std::make_unique<RankProcess>(mine, mine.spec.rank == 0 ? listener.socket.get() : -1, on_progress));
    }
  }

  // Why it did not go well; nullopt when every rank did its work.
  std::optional<process::Verdict> watch(double timeout_s, const std::atomic<bool>& interrupt) {
    begin_ns_ = clock_.now_ns();
    while (any_running()) {
      wait_for_news();
      const auto now = clock_.now_ns();
      for (auto& one : processes_) one->look(now);
      report_late_checkpoints(now);
      if (!verdict_) judge(now, timeout_s, interrupt);
      if (ending() && now > kill_at_ns_) kill_all();
    }
    if (!verdict_ && first_failure()) verdict_ = first_verdict();
    if (!verdict_ && processes_.front()->report().get<pass::TrainingReport>().interrupted)
      verdict_ = interrupt ? process::Verdict{"interrupted", "interrupted"} : asked_to_end();
    return verdict_;
  }

  void add_times(process::WorkerOutcome& outcome) const {
    for (const auto& one : processes_) {
      if (one->rank() == failed_rank_) outcome.fault_ns = one->fault_ns();
      const bool first = outcome.noticed_ns == 0 || one->failed_ns() < outcome.noticed_ns;
      if (one->failed_ns() > 0 && first) outcome.noticed_ns = one->failed_ns();
    }
  }

  // Rank 0, or our lowest.
  [[nodiscard]] RankProcess& lowest_rank() { return *processes_.front(); }

 private:
  static void warn_of_sharing(const process::WorkerRequest& request, const RankShare& share,
                              const process::OnProgress& tell) {
    if (!tell) return;
    const int threads = std::max(1, request.spec.settings.threads);
    const auto cpus = host::allowed_cpus().size();
    pass::ProgressRecord notice;
    notice.notice =
        fmt::format("{} {} of {} {} on {} {}: ", share.cpus_ranks, share.cpus_ranks == 1 ? "rank" : "ranks",
                    threads, threads == 1 ? "thread" : "threads", cpus, cpus == 1 ? "CPU" : "CPUs");
    notice.notice += share.cpus_ranks == 1 ? "its threads take turns; use fewer, or let its launcher give it "
                                             "more CPUs (srun -c, mpirun --bind-to none)"
                                           : "they share CPUs, so their times are not those of ranks on "
                                             "separate cores; use fewer ranks or threads";
    tell(notice);
  }

  // It is no hung rank, and the others wait for it longer than in a collective.
  void report_late_checkpoints(std::int64_t now) {
    for (auto& one : processes_) {
      const auto seconds = one->late_with_checkpoint(now, group_timeout_s_);
      if (!seconds || !on_progress_ || world_ == 1) continue;
      pass::ProgressRecord notice;
      notice.notice = fmt::format(
          "rank {} has been writing a checkpoint for {:.0f} s; the others wait up to checkpoint.timeout_s = "
          "{:g} s",
          one->rank(), *seconds, checkpoint_timeout_s_);
      on_progress_(notice);
    }
  }

  [[nodiscard]] bool any_running() const {
    return std::any_of(processes_.begin(), processes_.end(), [](const auto& one) { return one->running(); });
  }
  [[nodiscard]] bool ending() const { return kill_at_ns_ > 0; }
  [[nodiscard]] const RankProcess* first_failure() const {
    const auto failed = std::find_if(processes_.begin(), processes_.end(),
                                     [](const auto& one) { return one->failure().has_value(); });
    return failed == processes_.end() ? nullptr : failed->get();
  }

  void wait_for_news() const {
    std::vector<const process::RunningWorker*> workers;
    for (const auto& one : processes_) workers.push_back(&one->worker());
    process::RunningWorker::wait_for_news(workers, ending() ? kEndingPollMs : process::kQuietPollMs);
  }

  void judge(std::int64_t now, double timeout_s, const std::atomic<bool>& interrupt) {
    if (interrupt) {
      verdict_ = {"interrupted", "interrupted"};
      const bool train = std::all_of(processes_.begin(), processes_.end(),
                                     [](const auto& one) { return !one->running() || one->trains(); });
      for (auto& one : processes_) one->signal(train ? SIGTERM : SIGKILL);
      kill_at_ns_ = now + grace_ns_;
    } else if (now > under_way_since_ns() + static_cast<std::int64_t>(timeout_s * 1e9)) {
      const bool one = under_way_since_ns() > begin_ns_;
      verdict_ = {"timeout", fmt::format("no result within timeout_s = {:g} s{}; {}", timeout_s,
                                         one ? " of one size" : "", positions())};
      kill_at_ns_ = now;
    } else if (!ending() && first_failure()) {
      kill_at_ns_ = now + kPeersNs;
    }
  }

  // For a pass that measures one thing after the other: when the last of them began on any rank.
  [[nodiscard]] std::int64_t under_way_since_ns() const {
    auto since = begin_ns_;
    for (const auto& one : processes_) since = std::max(since, one->at_since_ns());
    return since;
  }

  // Before the first kill it is still known who ran.
  void kill_all() {
    if (!verdict_) verdict_ = first_verdict();
    for (auto& one : processes_) one->signal(SIGKILL);
  }

  [[nodiscard]] std::string positions() const {
    std::vector<std::string> all;
    for (const auto& one : processes_)
      if (one->running()) all.push_back(fmt::format("rank {} was {}", one->rank(), one->position()));
    return join(all, ", ");
  }

  [[nodiscard]] std::string name(const RankProcess& one) const {
    return fmt::format("rank {} on {}", one.rank(), cluster::host_name());
  }

  // The first that failed by itself; else one that has said nothing while the others miss a peer.
  [[nodiscard]] std::optional<process::Verdict> first_verdict() {
    std::vector<const RankProcess*> failed;
    for (const auto& one : processes_)
      if (one->failure()) failed.push_back(one.get());
    if (failed.empty()) return std::nullopt;
    const auto& first = **std::min_element(failed.begin(), failed.end(), [](const auto* a, const auto* b) {
      return failure_order(*a) < failure_order(*b);
    });
    const auto silent = std::find_if(processes_.begin(), processes_.end(),
                                     [](const auto& one) { return one->running() && !one->failure(); });
    if (is_victim(first) && silent != processes_.end())
      return verdict_on(
          **silent, "hung",
          fmt::format("no answer to the other ranks, {}; {}", (*silent)->position(), (*silent)->state()));
    return verdict_on(first, first.failure()->code, first.failure()->reason);
  }

  // Not by us: somebody ended one rank, and the others ended with it.
  [[nodiscard]] process::Verdict asked_to_end() {
    constexpr const char* kWords =
        "asked to end from outside (SIGTERM or SIGHUP), and all ranks ended with it";
    const auto asked =
        std::find_if(processes_.begin(), processes_.end(), [](const std::unique_ptr<RankProcess>& one) {
          return one->report().get<pass::TrainingReport>().asked_to_end;
        });
    if (asked == processes_.end()) return {"killed", fmt::format("a rank elsewhere was {}", kWords)};
    return verdict_on(**asked, "killed", kWords);
  }

  static bool is_victim(const RankProcess& one) { return one.failure()->code == "peer"; }
  // Smallest first.
  static std::tuple<bool, std::int64_t, bool> failure_order(const RankProcess& failed) {
    return {is_victim(failed), failed.failed_ns(), !failed.killed()};
  }

  [[nodiscard]] process::Verdict verdict_on(const RankProcess& one, const std::string& code,
                                            const std::string& reason) {
    failed_rank_ = one.rank();
    if (world_ == 1 || code == "peer") return {code, reason};
    const auto step = code == "hung" ? std::string() : one.last_step();
    return {code, fmt::format("{}: {}{}", name(one), reason, step)};
  }

  SteadyClock clock_;
  const process::OnProgress& on_progress_;
  std::int64_t world_;
  double group_timeout_s_, checkpoint_timeout_s_;
  std::int64_t grace_ns_;
  std::vector<std::unique_ptr<RankProcess>> processes_;
  std::optional<process::Verdict> verdict_;
  int failed_rank_ = -1;  // rank
  std::int64_t begin_ns_ = 0;
  std::int64_t kill_at_ns_ = 0;
};

}  // namespace

process::WorkerOutcome run_ranks(const process::WorkerRequest& request, const std::atomic<bool>& interrupt,
                                 const process::OnProgress& on_progress) {
  auto share = request.share;
  if (share.count == 0) share.count = static_cast<int>(request.spec.world_size);
  if (share.cpus_ranks == 0) share.cpus_ranks = share.count;
  Ranks ranks(request, share, interrupt, on_progress);
  const auto verdict = ranks.watch(request.timeout_s, interrupt);
  auto& lowest_rank = ranks.lowest_rank();
  auto outcome = process::worker_outcome(lowest_rank.worker().reader(), lowest_rank.report(), verdict);
  ranks.add_times(outcome);
  return outcome;
}

}  // namespace paceline::run
