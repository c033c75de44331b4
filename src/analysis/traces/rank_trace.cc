// SPDX-License-Identifier: MIT
#include "analysis/traces/rank_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "analysis/traces/intervals.h"
#include "base/error.h"
#include "base/text.h"

namespace paceline::analysis::traces {
namespace {

// What the name of an event says of it.
enum class Role : std::uint8_t {
  kOther,
  kStep,
  kLoader,
  kOptimizer,
  kAutograd,
  kReducer,       // DDP's own work on buckets
  kForwardScope,  // a scope around all of the pass
  kBackwardScope,
  kTogether,   // a collective that ends on all ranks together
  kRooted,     // communication that a rank can leave before others
  kHandsOver,  // hands communication to another thread or the device, or waits for it
};

struct Prefix {
  std::string_view text;
  Role role;
};
constexpr std::array<Prefix, 11> kPrefixes{{{"ProfilerStep#", Role::kStep},
                                            {"enumerate(DataLoader)", Role::kLoader},
                                            {"Optimizer.step#", Role::kOptimizer},
                                            {"## Backward ##", Role::kBackwardScope},
                                            {"autograd::engine::evaluate_function", Role::kAutograd},
                                            {"torch.distributed.ddp", Role::kReducer},
                                            {"torch::distributed::reducer", Role::kReducer},
                                            {"c10d::", Role::kHandsOver},
                                            {"_c10d_functional::", Role::kHandsOver},
                                            {"c10d_functional::", Role::kHandsOver},
                                            {"nccl:", Role::kHandsOver}}};
// The scopes of paceline's own traces: whole names, but for the number of a step.
constexpr std::string_view kOwnStep = "step ";
constexpr std::array<Prefix, 4> kOwnScopes{{{"data wait", Role::kLoader},
                                            {"forward", Role::kForwardScope},
                                            {"backward", Role::kBackwardScope},
                                            {"optimizer", Role::kOptimizer}}};
constexpr std::array<std::string_view, 5> kTransports{"gloo:", "mpi:", "ucc:", "ncclDevKernel", "ncclKernel"};
// In the words of c10d and of NCCL's kernels.
constexpr std::array<std::string_view, 11> kTogetherWords{
    "all_reduce",     "allreduce",     "AllReduce",  "all_gather", "allgather", "AllGather",
    "reduce_scatter", "ReduceScatter", "all_to_all", "alltoall",   "barrier"};

Role own_role_of(const std::string& name) {
  if (name.starts_with(kOwnStep)) return Role::kStep;
  const auto scope = std::ranges::find(kOwnScopes, name, &Prefix::text);
  return scope == kOwnScopes.end() ? Role::kOther : scope->role;
}

Role role_of(const std::string& name) {
  for (const auto& prefix : kPrefixes)
    if (name.starts_with(prefix.text)) return prefix.role;
  const auto begins = [&](std::string_view text) { return name.starts_with(text); };
  if (std::ranges::none_of(kTransports, begins)) return Role::kOther;
  const auto has = [&](std::string_view word) { return name.find(word) != std::string::npos; };
  return std::ranges::any_of(kTogetherWords, has) ? Role::kTogether : Role::kRooted;
}

bool is_communication(Role role) {
  return role == Role::kTogether || role == Role::kRooted;
}

// Names that are scopes are scopes only when somebody named them, and operators only as operators.
bool is_scope(Role role) {
  return role == Role::kStep || role == Role::kLoader || role == Role::kOptimizer ||
         role == Role::kForwardScope || role == Role::kBackwardScope;
}

// The number behind the prefix of a step.
std::optional<std::int64_t> step_number(const std::string& name) {
  const auto at = name.find_last_of("# ");
  if (at == std::string::npos) return std::nullopt;
  return parse_int(std::string_view(name).substr(at + 1));
}

// What belongs to one step while it is put together.
struct StepParts {
  TraceStep step;
  std::uint64_t thread = 0;
  Intervals loader, optimizer, backward, forward_scopes, backward_scopes;
  Intervals communication, together;
  std::array<Intervals, 3> kernels;  // that compute: of forward, backward, optimizer
  Intervals busy;                    // the device, with all it does
};

class RankReader {
 public:
  explicit RankReader(const Trace& trace) : trace_(trace) {
    std::ranges::transform(trace.names, std::back_inserter(roles_), role_of);
    if (std::ranges::find(roles_, Role::kStep) != roles_.end()) return;
    for (std::size_t i = 0; i < roles_.size(); ++i)
      if (const Role own = own_role_of(trace.names[i]); own != Role::kOther) roles_[i] = own;
  }
  RankTrace read();

 private:
  [[nodiscard]] Role role(const TraceEvent& e) const {
    const Role role = roles_[e.name];
    return is_scope(role) && e.kind != EventKind::kAnnotation && role != Role::kStep ? Role::kOther : role;
  }
  StepParts* step_at(std::int64_t time);
  void find_steps();
  void read_host();
  void read_backward();
  void read_device();
  void add_communication(StepParts& parts, const TraceEvent& e);
  void count_operators();
  void finish(StepParts& parts);
  void finish_on_host(StepParts& parts, const Intervals& exposed) const;
  void finish_on_device(StepParts& parts) const;

  const Trace& trace_;
  std::vector<Role> roles_;  // of the trace's names
  std::vector<StepParts> steps_;
  Intervals computing_, device_busy_;
  RankTrace result_;
};

StepParts* RankReader::step_at(std::int64_t time) {
  auto next = std::ranges::upper_bound(steps_, time, {}, [](const StepParts& p) { return p.step.begin; });
  if (next == steps_.begin()) return nullptr;
  --next;
  return time < next->step.begin + next->step.length ? &*next : nullptr;
}

void RankReader::find_steps() {
  for (const auto& e : trace_.events) {
    const bool host = e.kind == EventKind::kAnnotation || e.kind == EventKind::kOperator;
    const auto number =
        host && role(e) == Role::kStep ? step_number(trace_.name_of(e)) : std::optional<std::int64_t>();
    if (!number) continue;
    StepParts parts;
    parts.step.number = *number;
    parts.step.begin = e.begin;
    parts.step.length = e.end - e.begin;
    parts.thread = e.thread;
    steps_.push_back(std::move(parts));
  }
  if (steps_.empty())
    throw Error(ErrorCode::kData,
                fmt::format("{} has no steps: record it with torch.profiler.schedule and call prof.step() at "
                            "the end of each step, so that it has ProfilerStep#N",
                            trace_.file.string()));
}

void RankReader::add_communication(StepParts& parts, const TraceEvent& e) {
  parts.communication.push_back({e.begin, e.end});
  if (role(e) == Role::kTogether) parts.together.push_back({e.begin, e.end});
}

// Loaders, optimizers, scopes and gloo; the times in which the host computes.
void RankReader::read_host() {
  Intervals operators, handing_over;
  for (const auto& e : trace_.events) {
    if (e.kind != EventKind::kOperator && e.kind != EventKind::kAnnotation) continue;
    const Role is = role(e);
    if (is == Role::kHandsOver) {
      handing_over.push_back({e.begin, e.end});
      if (result_.communication == Communication::kNone) result_.communication = Communication::kLaunches;
    } else if (e.kind == EventKind::kOperator && !is_communication(is) && is != Role::kStep) {
      operators.push_back({e.begin, e.end});
    }
    StepParts* parts = step_at(e.begin);
    if (!parts) continue;
    if (is == Role::kLoader) parts->loader.push_back({e.begin, e.end});
    if (is == Role::kOptimizer) parts->optimizer.push_back({e.begin, e.end});
    if (is == Role::kForwardScope) parts->forward_scopes.push_back({e.begin, e.end});
    if (is == Role::kBackwardScope) parts->backward_scopes.push_back({e.begin, e.end});
    if (!is_communication(is)) continue;
    result_.communication = std::max(result_.communication, Communication::kHost);
    add_communication(*parts, e);
  }
  computing_ = without(merged(std::move(operators)), merged(std::move(handing_over)));
}

// The backward pass goes from an autograd function to the next one until the thread of the steps does
// something else.
void RankReader::read_backward() {
  std::unordered_map<std::uint64_t, std::int64_t> until;  // where the outermost operator of a thread ends
  StepParts* open = nullptr;
  for (const auto& e : trace_.events) {
    StepParts* parts = e.kind == EventKind::kOperator ? step_at(e.begin) : nullptr;
    if (!parts || e.begin < until[e.thread]) continue;
    until[e.thread] = e.end;
    const Role is = role(e);
    if (is == Role::kAutograd || (is == Role::kReducer && open == parts)) {
      if (open == parts)
        parts->backward.back().end = std::max(parts->backward.back().end, e.end);
      else
        parts->backward.push_back({e.begin, e.end});
      open = parts;
    } else if (e.thread == parts->thread && is == Role::kOther) {
      open = nullptr;
    }
  }
  for (auto& parts : steps_) {
    parts.backward = merged(parts.backward_scopes.empty() ? parts.backward : parts.backward_scopes);
    parts.optimizer = merged(parts.optimizer);
    parts.loader = merged(parts.loader);
    result_.has_backward |= !parts.backward.empty();
    result_.has_optimizer |= !parts.optimizer.empty();
    result_.has_loader |= !parts.loader.empty();
  }
}

// A kernel belongs to the step and the part of it that launched it: the device runs behind the host.
void RankReader::read_device() {
  std::unordered_map<std::int64_t, std::int64_t> launches;
  for (const auto& e : trace_.events)
    if (e.kind == EventKind::kLaunch && e.correlation >= 0) launches.emplace(e.correlation, e.begin);
  Intervals kernels;
  for (const auto& e : trace_.events) {
    if (e.kind != EventKind::kKernel && e.kind != EventKind::kCopy) continue;
    device_busy_.push_back({e.begin, e.end});
    const bool kernel = e.kind == EventKind::kKernel, communicates = is_communication(role(e));
    if (kernel && !communicates) kernels.push_back({e.begin, e.end});
    const auto launch = launches.find(e.correlation);
    const std::int64_t launched = launch == launches.end() ? e.begin : launch->second;
    StepParts* parts = step_at(launched);
    if (!parts || !kernel) continue;
    if (communicates && result_.communication != Communication::kDevice) {
      for (auto& other : steps_) other.communication.clear(), other.together.clear();
      result_.communication = Communication::kDevice;
    }
    if (communicates) add_communication(*parts, e);
    if (communicates) continue;
    const std::size_t part = contains(parts->backward, launched)    ? 1
                             : contains(parts->optimizer, launched) ? 2
                                                                    : 0;
    parts->kernels.at(part).push_back({e.begin, e.end});
  }
  result_.device = !kernels.empty();
  device_busy_ = merged(std::move(device_busy_));
  if (result_.device) computing_ = merged(std::move(kernels));
}

void RankReader::finish_on_host(StepParts& parts, const Intervals& exposed) const {
  TraceStep& step = parts.step;
  const Intervals whole{{step.begin, step.begin + step.length}};
  step.data_wait = length(parts.loader);
  step.optimizer = length(without(parts.optimizer, exposed));
  step.backward = length(without(parts.backward, exposed));
  Intervals forward = parts.forward_scopes.empty() ? whole : merged(parts.forward_scopes);
  if (parts.forward_scopes.empty() && !parts.backward.empty()) forward.back().end = parts.backward.back().end;
  for (const Intervals* other :
       std::initializer_list<const Intervals*>{&parts.loader, &parts.backward, &parts.optimizer, &exposed})
    forward = without(forward, *other);
  step.forward = length(forward);
}

void RankReader::finish_on_device(StepParts& parts) const {
  TraceStep& step = parts.step;
  const Intervals whole{{step.begin, step.begin + step.length}};
  step.data_wait = length(without(parts.loader, device_busy_));
  step.forward = length(merged(parts.kernels[0]));
  step.backward = length(merged(parts.kernels[1]));
  step.optimizer = length(merged(parts.kernels[2]));
  step.idle = length(without(whole, device_busy_));
}

void RankReader::finish(StepParts& parts) {
  const Intervals communication = merged(std::move(parts.communication));
  const Intervals exposed = without(communication, computing_);
  const Intervals together = merged(std::move(parts.together));
  const Intervals rooted = without(communication, together);
  parts.step.together = length(together);
  parts.step.communication = length(communication);
  parts.step.exposed = length(exposed);
  parts.step.exposed_together = length(without(exposed, rooted));
  result_.device ? finish_on_device(parts) : finish_on_host(parts, exposed);
  result_.steps.push_back(parts.step);
}

// Self times: an operator's time less that of the operators which it calls on its thread.
void RankReader::count_operators() {
  struct Open {
    std::int64_t end;
    std::uint32_t name;
  };
  const auto counted = result_.device ? EventKind::kKernel : EventKind::kOperator;
  std::unordered_map<std::uint64_t, std::vector<Open>> stacks;
  std::vector<TraceOperator> all(trace_.names.size());
  for (const auto& e : trace_.events) {
    if (e.kind != counted || !step_at(e.begin)) continue;
    auto& stack = stacks[e.thread];
    while (!stack.empty() && stack.back().end <= e.begin) stack.pop_back();
    if (!stack.empty() && !result_.device) all[stack.back().name].self_ns -= e.end - e.begin;
    stack.push_back({e.end, e.name});
    all[e.name].self_ns += e.end - e.begin;
    ++all[e.name].calls;
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].name = trace_.names[i];
    if (all[i].calls > 0) result_.operators.push_back(std::move(all[i]));
  }
  std::ranges::stable_sort(result_.operators, std::greater{}, &TraceOperator::self_ns);
}

RankTrace RankReader::read() {
  result_.file = trace_.file.filename().string();
  result_.rank = trace_.rank;
  result_.world = trace_.world;
  result_.host = trace_.host;
  result_.base_ns = trace_.base_ns;
  find_steps();
  read_host();
  read_backward();
  read_device();
  for (auto& parts : steps_) finish(parts);
  std::ranges::stable_sort(result_.steps, {}, &TraceStep::number);
  count_operators();
  return std::move(result_);
}

}  // namespace

RankTrace rank_trace(const Trace& trace) {
  return RankReader(trace).read();
}

}  // namespace paceline::analysis::traces
