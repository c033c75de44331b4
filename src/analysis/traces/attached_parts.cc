// SPDX-License-Identifier: MIT
#include "analysis/traces/attached_parts.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

namespace paceline::analysis::traces {
namespace {

using attach::StepKind;
using attach::StepRecord;

using Call = std::pair<std::uint16_t, std::uint64_t>;  // slot of a name, with bytes
using Calls = std::set<Call>;

// Collectives of a whole file, told by where they were seen.
struct SeenCalls {
  Calls unwaited;     // that something went on beside, once: Join's notices that a rank goes on
  Calls in_forward;   // that began in a forward pass
  Calls of_sharding;  // that began in a scope of FSDP2
};

// Puts one step together from its records, in the order of their begin.
class RoundBuilder {
 public:
  RoundBuilder(const attach::StepFile& file, const ScopeRoles& roles, const Round& round,
               std::uint16_t thread)
      : file_(file), roles_(roles), thread_(thread), cursor_(round.span.begin) {
    made_.round = round;
    made_.parts.step.number = round.number;
    made_.parts.step.begin = round.span.begin;
    made_.parts.step.length = round.span.end - round.span.begin;
    made_.parts.host = round.span;
  }

  void add(const StepRecord& record) {
    const auto kind = static_cast<StepKind>(record.kind);
    if (kind == StepKind::kBackward) return add_backward(record);
    if (kind == StepKind::kCommunication) return add_exchange(record);
    if (kind != StepKind::kScope) return;
    const auto role = roles_(record);
    const Interval span{record.begin_ns, record.end_ns};
    if (role == ScopeRole::kCompiles) compiling_.push_back(span);
    if (role == ScopeRole::kWaits) waits_.push_back(span);
    if (role == ScopeRole::kWaits || role == ScopeRole::kShards) sharding_.push_back(span);
    if (record.thread != thread_) return;
    if (role == ScopeRole::kLoader) add_load(span);
    if (role == ScopeRole::kOptimizer) close_pass(), made_.parts.optimizer.push_back(span);
    if (role == ScopeRole::kForward) add_pass(span);
  }

  void add_seen(SeenCalls& seen) const {
    const auto& exchanges = made_.parts.exchanges;
    for (std::size_t i = 0; i < exchanges.size(); ++i) {
      const bool overlaps = i + 1 < exchanges.size() && exchanges[i + 1].begin < exchanges[i].end;
      if (begins_in(sharding_, exchanges[i]))
        seen.of_sharding.insert(calls_of_exchanges_[i]);
      else if (roles_.sharded() && overlaps)
        seen.unwaited.insert(calls_of_exchanges_[i]);
      if (!begins_in(passes_, exchanges[i])) continue;
      seen.in_forward.insert(calls_of_exchanges_[i]);
      if ((overlaps && is_of_one_number(i)) || outlives_its_scope(exchanges[i]))
        seen.unwaited.insert(calls_of_exchanges_[i]);
    }
  }
  RoundParts take(const SeenCalls& seen) {
    close_pass();
    finish(seen);
    return std::move(made_);
  }
  [[nodiscard]] Communication communication() const { return communication_; }

 private:
  // Waits for a batch, and what is before it that nothing is seen in.
  void add_load(const Interval& span) {
    close_pass();
    note_pause(span.begin);
    made_.parts.loader.push_back(span);
    ++made_.loads;
    cursor_ = std::max(cursor_, span.end);
  }
  void add_pass(const Interval& span) {
    if (made_.loads == 0) note_pause(span.begin);
    if (!open_) open_ = span.begin;
    passes_.push_back(span);
    ++made_.passes;
    closed_ = std::max(closed_, span.end);
    cursor_ = std::max(cursor_, span.end);
  }
  void add_backward(const StepRecord& record) {
    if (open_) made_.parts.forward_scopes.push_back({*open_, record.begin_ns});
    open_.reset();
    const auto returned = static_cast<std::int64_t>(record.value);
    const bool known = returned >= record.end_ns && returned <= made_.round.span.end;
    computed_.push_back({record.begin_ns, record.end_ns});
    made_.parts.backward.push_back({record.begin_ns, known ? returned : record.end_ns});
    if (known) calls_.push_back(made_.parts.backward.back());
    ++made_.backwards;
    cursor_ = std::max(cursor_, made_.parts.backward.back().end);
  }
  void add_exchange(const StepRecord& record) {
    const bool queued = (record.flags & attach::kQueued) != 0;
    communication_ = std::max(communication_, queued ? Communication::kLaunches : Communication::kHost);
    if (queued) return;
    if ((record.flags & attach::kIntegers) == 0) buckets_.push_back(record.begin_ns);
    made_.parts.exchanges.push_back(
        {.kind = kind_of_call(file_.name_of(record)), .begin = record.begin_ns, .end = record.end_ns});
    calls_of_exchanges_.emplace_back(record.name, record.value);
  }
  // Ends a forward pass that no backward pass follows.
  void close_pass() {
    if (!open_) return;
    made_.parts.forward_scopes.push_back({*open_, closed_});
    ++made_.idle_passes;
    open_.reset();
  }
  void note_pause(std::int64_t until) {
    if (made_.backwards == 0) made_.pause_ns = std::max(made_.pause_ns, until - cursor_);
  }

  // DDP hands its last bucket over when the last gradient is ready: what the call takes from then on is no
  // work of the pass. A thread of gloo may begin with it when the pass has ended.
  void end_at_last_bucket() {
    for (std::size_t i = 0; i < computed_.size(); ++i) {
      auto& one = computed_[i];
      const auto next = std::ranges::lower_bound(buckets_, one.end);
      const bool last_is_behind = next != buckets_.end() && *next < made_.parts.backward[i].end;
      if (!last_is_behind && next != buckets_.begin() && *(next - 1) > one.begin) one.end = *(next - 1);
    }
  }

  // DDP waits for its buckets before the call returns; a busy machine lets gloo's thread note their end
  // later.
  void end_within_calls() {
    for (auto& one : made_.parts.exchanges)
      for (const auto& call : calls_)
        if (call.begin <= one.begin && one.begin < call.end) one.end = std::min(one.end, call.end);
  }

  // An exchange that goes on behind the scope in which it began was not waited for there.
  [[nodiscard]] bool outlives_its_scope(const Exchange& one) const {
    return std::ranges::any_of(passes_, [&](const Interval& scope) {
      return scope.begin <= one.begin && one.begin < scope.end && scope.end < one.end;
    });
  }

  // A closure computes the loss within the optimizer's scope: without scopes of forward passes, what is
  // before the end of its last backward pass is seen in no part.
  void cut_closures() {
    if (!passes_.empty()) return;
    for (auto& scope : made_.parts.optimizer)
      for (const auto& pass : made_.parts.backward)
        if (scope.begin <= pass.begin && pass.end <= scope.end) scope.begin = pass.end;
  }

  static bool begins_in(const Intervals& scopes, const Exchange& one) {
    return std::ranges::any_of(
        scopes, [&](const Interval& scope) { return scope.begin <= one.begin && one.begin < scope.end; });
  }

  [[nodiscard]] bool is_of_one_number(std::size_t at) const {
    constexpr std::uint64_t kOneNumber = 8;  // bytes
    return made_.parts.exchanges[at].kind == CallKind::kAllReduce &&
           calls_of_exchanges_[at].second <= kOneNumber;
  }

  [[nodiscard]] bool is_notice(std::size_t at, const SeenCalls& seen) const {
    return is_of_one_number(at) && begins_in(passes_, made_.parts.exchanges[at]) &&
           seen.unwaited.contains(calls_of_exchanges_[at]);
  }

  // Whether the model exchanges it, as layers that are split by tensors do: they wait for the result at once.
  // Other exchanges hide behind a backward pass: DDP's buckets, what FSDP fetches ahead.
  [[nodiscard]] bool is_of_the_model(std::size_t at, const SeenCalls& seen) const {
    const auto& call = calls_of_exchanges_[at];
    if (seen.unwaited.contains(call)) return false;
    return roles_.sharded() ? roles_.fsdp2() && !seen.of_sharding.contains(call)
                            : seen.in_forward.contains(call);
  }

  // Without FSDP a forward pass waits for what it exchanges: buffers, statistics of batches. Where parameters
  // are fetched ahead, only some scopes wait, and what the model itself exchanges. An optimizer that computes
  // the loss itself has passes inside.
  void finish(const SeenCalls& seen) {
    auto& parts = made_.parts;
    if (!roles_.sharded() && !passes_.empty()) end_within_calls();
    Intervals exchanges, in_passes, of_model;
    for (std::size_t i = 0; i < parts.exchanges.size(); ++i) {
      const auto& one = parts.exchanges[i];
      exchanges.push_back({one.begin, one.end});
      if (!is_notice(i, seen) && !outlives_its_scope(one)) in_passes.push_back(exchanges.back());
      if (is_of_the_model(i, seen)) of_model.push_back(exchanges.back());
    }
    exchanges = merged(std::move(exchanges));
    Intervals waits = common(exchanges, merged(std::move(waits_)));
    waits.insert(waits.end(), of_model.begin(), of_model.end());
    waits = merged(std::move(waits));
    parts.loader = merged(std::move(parts.loader));
    if (!roles_.sharded()) end_at_last_bucket();
    cut_closures();
    computed_ = without(merged(std::move(computed_)), waits);
    parts.backward = without(merged(std::move(parts.backward)), waits);
    const auto passes = merged(std::move(parts.forward_scopes));
    parts.forward_scopes = without(passes, roles_.sharded() ? waits : merged(std::move(in_passes)));
    parts.optimizer =
        without(without(merged(std::move(parts.optimizer)), parts.backward), parts.forward_scopes);
    made_.forward_ns = length(passes);
    made_.compiling_ns = length(merged(std::move(compiling_)));
    Intervals computing = parts.loader;
    computing.insert(computing.end(), computed_.begin(), computed_.end());
    computing.insert(computing.end(), parts.forward_scopes.begin(), parts.forward_scopes.end());
    made_.computing = merged(std::move(computing));
  }

  const attach::StepFile& file_;
  const ScopeRoles& roles_;
  std::uint16_t thread_;
  std::vector<Call> calls_of_exchanges_;
  RoundParts made_;
  Intervals waits_, sharding_, compiling_, passes_;
  Intervals calls_;                    // of the backward pass that are known to have returned
  Intervals computed_;                 // backward passes until the gradients were ready
  std::vector<std::int64_t> buckets_;  // when exchanges of gradients began
  std::optional<std::int64_t> open_;   // since when a forward pass goes on
  std::int64_t closed_ = 0;            // when its last scope ended
  std::int64_t cursor_;                // until when something was seen
  Communication communication_ = Communication::kNone;
};

}  // namespace

RankRounds parts_of_rounds(const attach::StepFile& file, const ScopeRoles& roles, const Rounds& rounds) {
  RankRounds all;
  SeenCalls seen;
  std::vector<RoundBuilder> builders;
  auto record = file.records.begin();
  for (const auto& round : rounds.all) {
    while (record != file.records.end() && record->begin_ns < round.span.begin) ++record;
    if (!round.watched) continue;
    auto& builder = builders.emplace_back(file, roles, round, rounds.thread);
    for (; record != file.records.end() && record->begin_ns < round.span.end; ++record) builder.add(*record);
    builder.add_seen(seen);
  }
  for (auto& builder : builders) {
    auto& made = all.all.emplace_back(builder.take(seen));
    all.has_loader |= !made.parts.loader.empty();
    all.has_forward |= !made.parts.forward_scopes.empty();
    all.has_backward |= !made.parts.backward.empty();
    all.has_optimizer |= !made.parts.optimizer.empty();
    all.communication = std::max(all.communication, builder.communication());
  }
  return all;
}

}  // namespace paceline::analysis::traces
