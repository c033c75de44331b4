// SPDX-License-Identifier: MIT
#include "support/device_layers.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "base/host_times.h"
#include "support/layer_medians.h"
#include "support/operator_names.h"

namespace paceline::plugin_support {
namespace {

using Layers = std::vector<plugin::Layer>;

constexpr std::size_t kNone = static_cast<std::size_t>(-1);
constexpr double kOverlaps = 1.001;  // of the busy time; clocks and rounding stay below

double ns_of(const ProfiledCall& call) {
  return static_cast<double>(call.end_ns - call.start_ns);
}

bool is_operator(const ProfiledCall& call) {
  return !call.on_device && !call.scope && !call.beside && !call.launches;
}

// Orders by thread and start; the longer one of two that start together is around the other.
bool is_earlier_on_thread(const ProfiledCall* a, const ProfiledCall* b) {
  return std::tuple(a->thread, a->start_ns, -a->end_ns) < std::tuple(b->thread, b->start_ns, -b->end_ns);
}

bool starts_earlier(const ProfiledCall* a, const ProfiledCall* b) {
  return a->start_ns < b->start_ns;
}

// Calls of the host: inferences, the operators that the model calls itself, and launches.
class HostCalls {
 public:
  explicit HostCalls(const std::vector<ProfiledCall>& calls) {
    std::vector<const ProfiledCall*> operators;
    for (const auto& call : calls) {
      if (call.scope) inferences_.push_back(&call);
      if (is_operator(call)) operators.push_back(&call);
      if (call.launches && call.launch != 0) launches_[call.launch] = &call;
    }
    std::sort(inferences_.begin(), inferences_.end(), starts_earlier);
    std::sort(operators.begin(), operators.end(), is_earlier_on_thread);
    for (const auto* call : operators) {
      const bool inside = !outermost_.empty() && outermost_.back()->thread == call->thread &&
                          call->start_ns < outermost_.back()->end_ns;
      if (!inside) outermost_.push_back(call);
      if (call->number != 0) outermost_of_[call->number] = outermost_.back();
    }
  }

  // In order of threads and starts.
  [[nodiscard]] const std::vector<const ProfiledCall*>& outermost() const { return outermost_; }
  [[nodiscard]] std::size_t inferences() const { return inferences_.size(); }
  [[nodiscard]] const std::map<std::uint64_t, const ProfiledCall*>& launches() const { return launches_; }

  // The inference at this time; kNone: it was outside of all.
  [[nodiscard]] std::size_t inference_at(std::int64_t ns) const {
    for (std::size_t i = inferences_.size(); i-- > 0;)
      if (inferences_[i]->start_ns <= ns) return ns <= inferences_[i]->end_ns ? i : kNone;
    return kNone;
  }
  // The outermost operator that started the work; null: none did.
  [[nodiscard]] const ProfiledCall* starter_of(const ProfiledCall& work) const {
    const auto by_number = outermost_of_.find(work.started_by);
    if (work.started_by != 0 && by_number != outermost_of_.end()) return by_number->second;
    const auto* launch = launch_of(work);
    return launch ? outermost_around(*launch) : nullptr;
  }
  [[nodiscard]] std::size_t inference_of(const ProfiledCall& work) const {
    if (const auto* starter = starter_of(work)) return inference_at(starter->start_ns);
    const auto* launch = launch_of(work);
    return inference_at(launch ? launch->start_ns : work.start_ns);
  }

 private:
  [[nodiscard]] const ProfiledCall* launch_of(const ProfiledCall& work) const {
    const auto found = launches_.find(work.launch);
    return work.launch == 0 || found == launches_.end() ? nullptr : found->second;
  }
  [[nodiscard]] const ProfiledCall* outermost_around(const ProfiledCall& call) const {
    const auto after =
        std::upper_bound(outermost_.begin(), outermost_.end(), &call, [](const auto* a, const auto* b) {
          return std::tuple(a->thread, a->start_ns) < std::tuple(b->thread, b->start_ns);
        });
    if (after == outermost_.begin()) return nullptr;
    const auto* before = *std::prev(after);
    return before->thread == call.thread && call.start_ns < before->end_ns ? before : nullptr;
  }

  std::vector<const ProfiledCall*> inferences_, outermost_;
  std::map<std::uint64_t, const ProfiledCall*> outermost_of_;  // by the number of any operator
  std::map<std::uint64_t, const ProfiledCall*> launches_;
};

// Operators of one inference, as layers without times, in order.
struct Operators {
  std::vector<const ProfiledCall*> calls;
  Layers layers;
};

void describe(Layers& layers, std::span<const OperatorFacts> facts) {
  const bool same = std::equal(layers.begin(), layers.end(), facts.begin(), facts.end(),
                               [](const auto& layer, const auto& fact) { return layer.type == fact.name; });
  if (!same) return;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    layers[i].precision = facts[i].precision;
    layers[i].model_layer = facts[i].layer;
  }
}

std::vector<Operators> operators_of(const HostCalls& host, std::span<const OperatorFacts> facts) {
  std::vector<Operators> all(host.inferences());
  for (const auto* call : host.outermost())
    if (const auto inference = host.inference_at(call->start_ns); inference != kNone)
      all[inference].calls.push_back(call);
  for (auto& one : all) {
    std::stable_sort(one.calls.begin(), one.calls.end(), starts_earlier);
    OperatorNames names;
    for (const auto* call : one.calls) one.layers.push_back({names.next(call->name), call->name, "", {}, {}});
    describe(one.layers, facts);
  }
  return all;
}

// Layers of one inference on the device, in order of their first work.
class InferenceOnDevice {
 public:
  explicit InferenceOnDevice(const Operators& operators) : operators_(&operators) {}

  void add(const ProfiledCall& work, const ProfiledCall* starter) {
    row_of(work, starter).time_ns.value() += ns_of(work);
    (starter ? started_ns_ : alone_ns_) += ns_of(work);
    work_.push_back(work);
  }
  [[nodiscard]] const Layers& layers() const { return layers_; }
  [[nodiscard]] double sum_ns() const { return started_ns_ + alone_ns_; }
  [[nodiscard]] double alone_ns() const { return alone_ns_; }
  [[nodiscard]] double busy_ns() const { return busy_time(work_); }

 private:
  plugin::Layer& row_of(const ProfiledCall& work, const ProfiledCall* starter) {
    if (!starter) {
      const auto count = ++alone_[work.name];
      auto name = count == 1 ? work.name : fmt::format("{} ({})", work.name, count);
      return layers_.emplace_back(
          plugin::Layer{std::move(name), std::string(kind_of_work(work.name)), "", 0.0, {}});
    }
    const auto [place, is_new] = places_.try_emplace(starter, layers_.size());
    if (!is_new) return layers_[place->second];
    const auto at = std::find(operators_->calls.begin(), operators_->calls.end(), starter);
    auto& layer =
        layers_.emplace_back(operators_->layers.at(static_cast<std::size_t>(at - operators_->calls.begin())));
    layer.time_ns = 0;
    return layer;
  }

  const Operators* operators_;
  Layers layers_;
  std::vector<ProfiledCall> work_;
  std::map<const ProfiledCall*, std::size_t> places_;
  std::map<std::string, int> alone_;
  double started_ns_ = 0, alone_ns_ = 0;
};

std::vector<InferenceOnDevice> on_device(const std::vector<ProfiledCall>& calls, const HostCalls& host,
                                         const std::vector<Operators>& operators) {
  std::vector<const ProfiledCall*> work;
  for (const auto& call : calls)
    if (call.on_device) work.push_back(&call);
  std::stable_sort(work.begin(), work.end(), starts_earlier);
  std::vector<InferenceOnDevice> inferences(operators.begin(), operators.end());
  for (const auto* one : work)
    if (const auto inference = host.inference_of(*one); inference != kNone)
      inferences[inference].add(*one, host.starter_of(*one));
  return inferences;
}

// Branches on two streams may swap: inferences get the order of the last. Throws where they have others.
void bring_into_order(std::vector<Layers>& inferences) {
  const auto last = inferences.back();
  std::map<std::string_view, std::size_t> places;
  for (std::size_t i = 0; i < last.size(); ++i) places[last[i].name] = i;
  for (auto& one : inferences) {
    const bool same =
        one.size() == last.size() &&
        std::all_of(one.begin(), one.end(), [&](const auto& layer) { return places.contains(layer.name); });
    if (!same) continue;
    Layers ordered(last.size());
    for (auto& layer : one) ordered[places.at(layer.name)] = std::move(layer);
    one = std::move(ordered);
  }
  refuse_other_layers(inferences);
}

bool starts_kernels(const std::string& call) {
  return call.find("LaunchKernel") != std::string::npos || call.find("GraphLaunch") != std::string::npos;
}

// A profiler's buffers may be full, and it may not see into CUDA graphs.
void check_launches(const std::vector<ProfiledCall>& calls, const HostCalls& host) {
  std::map<std::uint64_t, const ProfiledCall*> unseen;
  for (const auto& [number, call] : host.launches())
    if (starts_kernels(call->name) && host.inference_at(call->start_ns) != kNone) unseen[number] = call;
  for (const auto& call : calls)
    if (call.on_device) unseen.erase(call.launch);
  if (unseen.empty()) return;
  throw Error(
      ErrorCode::kUnsupported,
      fmt::format("the profiler saw no kernel of {} launches ({}), so that times of layers would lack "
                  "theirs",
                  unseen.size(), unseen.begin()->second->name));
}

std::string shares_text(const std::vector<InferenceOnDevice>& inferences) {
  double sum = 0, busy = 0, alone = 0;
  for (const auto& one : inferences) sum += one.sum_ns(), busy += one.busy_ns(), alone += one.alone_ns();
  std::string text;
  if (alone > 0 && alone < sum)
    text += fmt::format("; {:.1f} % are kernels and copies that no operator started", 100 * alone / sum);
  if (alone > 0 && alone == sum) text += "; no operator started them, so that each is a layer";
  if (sum > kOverlaps * busy)
    text += fmt::format("; streams overlap: layers add up to {:.1f} % more than the device's busy time",
                        100 * (sum / busy - 1));
  return text;
}

// Outermost operators with the times of their calls.
plugin::LayerTimes on_host(std::vector<Operators> operators) {
  std::vector<Layers> runs;
  for (auto& one : operators) {
    for (std::size_t i = 0; i < one.calls.size(); ++i) one.layers[i].time_ns = ns_of(*one.calls[i]);
    runs.push_back(std::move(one.layers));
  }
  bring_into_order(runs);
  if (runs.back().empty())
    throw Error(ErrorCode::kUnsupported, "the profiler saw neither operators nor kernels");
  return {with_median_times(std::move(runs)),
          fmt::format("PyTorch's profiler (Kineto): it saw no kernels (no CUPTI), so that {}", kHostTimes)};
}

}  // namespace

std::string_view kind_of_work(std::string_view name) {
  if (name.starts_with("Memcpy")) return "copy";
  return name.starts_with("Memset") ? "memset" : "kernel";
}

plugin::LayerTimes device_layers(std::vector<ProfiledCall> calls, std::span<const OperatorFacts> facts) {
  const HostCalls host(calls);
  if (host.inferences() == 0) throw Error(ErrorCode::kUnsupported, "the profiler saw no inference");
  auto operators = operators_of(host, facts);
  const auto inferences = on_device(calls, host, operators);
  const bool any = std::any_of(inferences.begin(), inferences.end(),
                               [](const auto& one) { return !one.layers().empty(); });
  if (!any && busy_time(calls) > 0)
    throw Error(ErrorCode::kUnsupported, "the profiler saw kernels, but none of an inference");
  if (!any) return on_host(std::move(operators));
  check_launches(calls, host);
  std::vector<Layers> runs;
  for (const auto& one : inferences) runs.push_back(one.layers());
  bring_into_order(runs);
  return {
      with_median_times(std::move(runs)),
      "PyTorch's profiler (Kineto): kernels and copies on the device, of the operators that started them" +
          shares_text(inferences)};
}

}  // namespace paceline::plugin_support
