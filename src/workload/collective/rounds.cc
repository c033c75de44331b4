// SPDX-License-Identifier: MIT
#include "workload/collective/rounds.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/clock.h"
#include "base/error.h"
#include "base/text.h"
#include "pass/collective_records.h"
#include "pass/records.h"
#include "pass/sweep.h"
#include "result/figures/summarize_rounds.h"
#include "stats/quantile.h"
#include "workload/collective/collective_data.h"

namespace paceline::workload {
namespace {

using result::RoundTimes;

constexpr std::int64_t kRoundAttempts = 3;  // of which the first one alone suspects nobody, or all confirm

class RoundTimer {
 public:
  RoundTimer(Rank& rank, plugin::Communicator& communicator, const std::vector<int>& hosts)
      : rank_(rank),
        communicator_(communicator),
        hosts_(hosts),
        spec_(rank.spec()),
        sweep_(std::get<pass::CollectiveSpec>(spec_.task)),
        rounds_(planned_rounds(sweep_.rounds, hosts)) {}

  // All ranks decide alike, because they judge the same numbers.
  std::vector<RoundTimes> run() {
    std::vector<RoundTimes> all;
    for (std::int64_t attempt = 0; attempt < kRoundAttempts; ++attempt) {
      const auto times = measure(attempt);
      all.insert(all.end(), times.begin(), times.end());
      const auto suspected = stats::suspects(result::attempt_of(times), hosts_, sweep_.slow_factor);
      if (suspected.empty()) break;
      rounds_ = stats::with_suspects_apart(rounds_, suspected);
    }
    return all;
  }

 private:
  std::vector<RoundTimes> measure(std::int64_t attempt) {
    std::vector<RoundTimes> all;
    for (std::size_t at = 0; at < rounds_.size(); ++at) {
      rank_.sink().emit(
          pass::at_record(fmt::format("round {} of {}, attempt {}", at + 1, rounds_.size(), attempt + 1)));
      const auto times = measure_round(attempt, at);
      all.insert(all.end(), times.begin(), times.end());
      if (!rank_.leads()) continue;
      rank_.sink().emit(pass::round_times_record(times));
      report_progress(attempt, at, times);
    }
    return all;
  }

  // One column of times for each subset, and a last one of wrong elements. What a rank has no part in stays
  // 0, so that the maximum over the ranks is that of the slowest member.
  std::vector<RoundTimes> measure_round(std::int64_t attempt, std::size_t at) {
    const auto& round = rounds_[at];
    const auto n = static_cast<std::size_t>(sweep_.batch), column = n + 1;
    const auto subset = subset_of_this_rank(round);
    prepare(round, subset);
    std::vector<double> values(round.size() * column);
    const auto wrong = check();
    for (std::int64_t i = 0; i < sweep_.warmup; ++i) communicator_.start();
    communicator_.finish();
    for (std::size_t i = 0; i < n; ++i) {
      const double ns = time_one();
      if (subset < round.size()) values[subset * column + i] = ns;
    }
    if (subset < round.size()) values[subset * column + n] = wrong;
    rank_.group()->reduce_max(values);
    std::vector<RoundTimes> times;
    for (std::size_t s = 0; s < round.size(); ++s) {
      const auto* first = values.data() + s * column;
      times.push_back({attempt,
                       static_cast<std::int64_t>(at),
                       {round[s].begin(), round[s].end()},
                       {first, first + n},
                       static_cast<std::int64_t>(first[n])});
    }
    return times;
  }

  [[nodiscard]] std::size_t subset_of_this_rank(const stats::Round& round) const {
    const auto has_rank = [&](const stats::Subset& one) {
      return std::find(one.begin(), one.end(), spec_.rank) != one.end();
    };
    return static_cast<std::size_t>(std::find_if(round.begin(), round.end(), has_rank) - round.begin());
  }

  void prepare(const stats::Round& round, std::size_t subset) {
    const auto& c = sweep_;
    const auto size = pass::collective_size(Collective::kSendRecv, c.dtype, spec_.world_size, c.round_bytes);
    call_ = {Collective::kSendRecv, c.dtype, c.reduction, 0, size.send_count, size.receive_count, false};
    call_.send_to = call_.receive_from = static_cast<int>(spec_.rank);
    if (subset < round.size()) {
      const auto& members = round[subset];
      const auto self =
          static_cast<std::size_t>(std::find(members.begin(), members.end(), spec_.rank) - members.begin());
      call_.send_to = members[(self + 1) % members.size()];
      call_.receive_from = members[(self + members.size() - 1) % members.size()];
    }
    communicator_.prepare(call_);
  }

  double check() {
    if (sweep_.checks == 0) return 0;
    const RankOf self{spec_.rank, spec_.world_size};
    std::vector<std::byte> received(static_cast<std::size_t>(call_.receive_count) *
                                    dtype_size_bytes(call_.dtype));
    communicator_.write(sent_data(call_, self));
    communicator_.start();
    communicator_.finish();
    communicator_.read(received);
    return static_cast<double>(count_wrong(call_, self, received));
  }

  double time_one() {
    rank_.group()->barrier();
    const auto begin = clock_.now_ns();
    communicator_.start();
    communicator_.finish();
    return static_cast<double>(clock_.now_ns() - begin);
  }

  void report_progress(std::int64_t attempt, std::size_t at, const std::vector<RoundTimes>& times) {
    std::vector<double> medians;
    for (const auto& one : result::attempt_of(times)) medians.push_back(one.ns);
    pass::ProgressRecord record;
    record.phase = fmt::format("{}round {} of {}", attempt > 0 ? "retry: " : "", at + 1, rounds_.size());
    record.n = static_cast<std::int64_t>(times.front().ns.size());
    record.p50_ns = stats::median(medians);
    rank_.sink().emit(pass::progress_record(record));
  }

  Rank& rank_;
  plugin::Communicator& communicator_;
  const std::vector<int>& hosts_;
  const pass::PassSpec& spec_;
  const pass::CollectiveSpec& sweep_;
  std::vector<stats::Round> rounds_;
  plugin::CollectiveCall call_;
  SteadyClock clock_;
};

}  // namespace

std::vector<stats::Round> planned_rounds(const std::string& asked, const std::vector<int>& hosts) {
  const auto ranks = static_cast<int>(hosts.size());
  const auto size = asked == "pairs" ? 2 : parse_int(asked);
  if (size == 2) return stats::pair_rounds(ranks);
  if (size) return stats::subset_rounds(ranks, static_cast<int>(*size));
  auto rounds = stats::host_rounds(hosts);
  if (rounds.empty())
    throw Error(ErrorCode::kUnsupported,
                "rounds of hosts need two hosts, and all ranks are on one; use pairs");
  return rounds;
}

std::vector<RoundTimes> time_rounds(Rank& rank, plugin::Communicator& communicator,
                                    const std::vector<int>& hosts) {
  return RoundTimer(rank, communicator, hosts).run();
}

}  // namespace paceline::workload
