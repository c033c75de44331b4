// SPDX-License-Identifier: MIT
#include "run/training/rank_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "base/units.h"
#include "config/training/training_rules.h"
#include "config/vocabulary.h"
#include "run/case/case_settings.h"
#include "run/ranks/rank_settings.h"

namespace paceline::run {
namespace {

using config::Case;

// Beside parameters and gradients: numbers that the optimizer keeps for each parameter.
std::int64_t optimizer_numbers(const Case& c) {
  if (config::optimizer_of(c) != "sgd") return 2;
  return c.settings.number("training.momentum") > 0 ? 1 : 0;
}

// The last layer of a model whose number of classes can be chosen.
struct Head {
  std::string_view model;
  std::int64_t width, classes;
};
constexpr std::array kHeads{Head{"resnet50", 2048, 1000}, Head{"vit_b_16", 768, 1000},
                            Head{"tiny_cnn", 2048, 10}};

const Head* head_of(const Case& c) {
  const auto* head = std::ranges::find(kHeads, c.settings.text("model"), &Head::model);
  return head == kHeads.end() || !c.settings.has("training.num_classes") ? nullptr : head;
}

// Classes beyond the model's own; negative: it has fewer.
std::int64_t further_classes(const Case& c) {
  const auto* head = head_of(c);
  return head ? c.settings.integer("training.num_classes") - head->classes : 0;
}

std::int64_t parameters_of(const Case& c, const config::Model& model) {
  const auto* head = head_of(c);
  return head ? model.parameters + further_classes(c) * (head->width + 1) : model.parameters;
}

bool keeps_buckets(const Case& c) {
  return config::runs_ddp(c) && !c.settings.flag("ddp.gradient_as_bucket_view");
}

// Inputs of a micro-batch.
std::int64_t batch_bytes(const Case& c) {
  std::int64_t bytes = 0;
  for (const auto& input : config::case_inputs(c))
    bytes += element_count(input.shape) * static_cast<std::int64_t>(dtype_size_bytes(input.dtype));
  return bytes;
}

// As the loader holds them: those of a step, and those that its workers make ahead.
std::int64_t batches_held(const Case& c) {
  const auto& s = c.settings;
  const bool one_batch = s.text("data.source") == "synthetic" && !s.flag("data.synthetic_fresh");
  return s.integer("training.accumulation_steps") +
         (one_batch ? 0 : s.integer("data.workers") * s.integer("data.prefetch"));
}

// All that these ranks may ever get; missing where the system does not tell.
Count most_bytes(const host::MemoryInfo& memory) {
  if (!memory.total_bytes) return memory.cgroup_limit_bytes;
  const auto machine = *memory.total_bytes + (memory.swap_total_bytes ? *memory.swap_total_bytes : 0);
  return memory.cgroup_limit_bytes ? std::min(machine, *memory.cgroup_limit_bytes) : machine;
}

std::string needs(const Case& c, std::int64_t ranks, double bytes) {
  const auto who = fmt::format("{} {} of {}", ranks, ranks == 1 ? "rank" : "ranks", c.settings.text("model"));
  return fmt::format("{} {} at least {} of memory ({} each)", who, ranks == 1 ? "needs" : "need",
                     format_bytes(bytes), format_bytes(bytes / static_cast<double>(ranks)));
}

std::string parts_words(const RankMemory& least) {
  auto words = fmt::format("parameters, gradients and optimizer state {}, inputs {}",
                           format_bytes(least.state), format_bytes(least.data));
  return least.activations > 0 ? words + ", activations " + format_bytes(least.activations) : words;
}

}  // namespace

RankMemory least_memory(const Case& c) {
  RankMemory least{kRankProcessBytes, 0, 0};
  const auto* model = config::find_model(c.settings.text("model"));
  if (model == nullptr) return least;
  const std::int64_t numbers = 2 + optimizer_numbers(c) + (keeps_buckets(c) ? 1 : 0);
  least.state = static_cast<double>(numbers * 4 * parameters_of(c, *model));
  least.data = static_cast<double>(batch_bytes(c)) * static_cast<double>(batches_held(c));
  return least;
}

RankMemory least_device_memory(const Case& c) {
  auto least = least_memory(c);
  const auto* model = config::find_model(c.settings.text("model"));
  if (model == nullptr) return {};
  const auto precision = asked_precision(c.settings);
  const double each = precision == "fp32" || precision == "tf32" ? 4 : 2;
  const auto length = c.settings.has("sequence_length") ? c.settings.integer("sequence_length") : 0;
  least.process = 0;
  least.data = static_cast<double>(batch_bytes(c));
  least.activations =
      each * static_cast<double>(c.settings.integer("batch")) *
      static_cast<double>(model->live_numbers(length) + std::max<std::int64_t>(0, further_classes(c)));
  return least;
}

std::string device_shortage(const Case& c, std::int64_t ranks, const RankDevices& devices) {
  const auto least = least_device_memory(c);
  const auto sharing = devices.count > 0 ? (ranks + devices.count - 1) / devices.count : 1;
  if (!devices.bytes || least.bytes() * static_cast<double>(sharing) <= static_cast<double>(*devices.bytes))
    return {};
  const auto who = sharing == 1 ? "a rank" : fmt::format("each of {} ranks that share a device", sharing);
  return fmt::format(
      "out of memory: {} needs at least {} on its device ({}), and the largest here has {}; use a smaller "
      "batch, with training.accumulation_steps for the same global batch",
      who, format_bytes(least.bytes()), parts_words(least),
      format_bytes(static_cast<double>(*devices.bytes)));
}

std::string device_memory_words(const Case& c, const RankDevices& devices) {
  const auto least = least_device_memory(c);
  const auto has = devices.bytes ? " of " + format_bytes(static_cast<double>(*devices.bytes)) : "";
  return fmt::format("at least {} per rank on a device{} ({})", format_bytes(least.bytes()), has,
                     parts_words(least));
}

MemoryVerdict judge_memory(const Case& c, std::int64_t ranks, const host::MemoryInfo& memory) {
  const double bytes = least_memory(c).bytes() * static_cast<double>(ranks);
  const auto most = most_bytes(memory);
  const auto free = host::usable_bytes(memory);
  if (most && bytes > static_cast<double>(*most))
    return {fmt::format("{}, and this machine has {}; use fewer ranks, a smaller model or a smaller batch",
                        needs(c, ranks, bytes), format_bytes(static_cast<double>(*most))),
            {}};
  if (free && bytes > static_cast<double>(*free))
    return {{},
            fmt::format("{}, and {} are free: ranks may be killed, or swap; use fewer ranks, a smaller model "
                        "or a smaller batch",
                        needs(c, ranks, bytes), format_bytes(static_cast<double>(*free)))};
  return {};
}

}  // namespace paceline::run
