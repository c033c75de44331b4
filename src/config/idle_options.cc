// SPDX-License-Identifier: MIT
#include "config/idle_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/device.h"
#include "base/fault.h"
#include "config/training/training_rules.h"
#include "config/value.h"
#include "config/vocabulary.h"

namespace paceline::config {
namespace {

// A case, the device that it runs on, and the option that is asked about.
struct Where {
  const Case& item;
  std::string_view auto_device;
  const Option& option;

  [[nodiscard]] bool is(std::string_view name, std::string_view value) const {
    return value_text(item.settings.list(name).front()) == value;
  }
  [[nodiscard]] const Model* model() const { return find_model(item.settings.text("model")); }
};

bool synthetic(const Where& w) {
  return w.is("data.source", "synthetic");
}
bool one_rank(const Where& w) {
  return w.item.settings.integer("ranks") == 1;
}
bool on_cpu(const Where& w) {
  return w.is("device", "cpu") || (w.is("device", "auto") && is_cpu(w.auto_device));
}
bool fixed_steps(const Where& w) {
  return w.item.settings.has("benchmark.measure_steps") || w.item.settings.has("iterations");
}

// When the options whose rows name it change nothing, and the words for it.
struct IdleRow {
  Idle idle;
  bool (*holds)(const Where&);
  std::string_view why;
};
constexpr std::array kIdleRows{
    IdleRow{Idle::kAdamw, [](const Where& w) { return optimizer_of(w.item) != "sgd"; },
            "adam and adamw have none"},
    IdleRow{Idle::kSgd, [](const Where& w) { return optimizer_of(w.item) == "sgd"; }, "sgd has none"},
    IdleRow{Idle::kNoCosine, [](const Where& w) { return !w.is("training.schedule", "cosine"); },
            "for training.schedule: cosine"},
    IdleRow{Idle::kNoStepSchedule, [](const Where& w) { return !w.is("training.schedule", "step"); },
            "for training.schedule: step"},
    IdleRow{Idle::kNoDropout,
            [](const Where& w) { return w.model() && w.model()->default_sequence_length == 0; },
            "the model has none"},
    IdleRow{Idle::kCpuChoosesNothing, on_cpu, "the case runs on the CPU"},
    IdleRow{Idle::kCpuIsInStep, on_cpu, "on the CPU a step is over when it returns"},
    IdleRow{Idle::kOneRank, one_rank, "one rank has nothing to drift from"},
    IdleRow{Idle::kNoImages, [](const Where& w) { return w.model() && w.model()->item != "images"; },
            "the model takes no images"},
    IdleRow{Idle::kNoFiles, synthetic, "synthetic data have no files"},
    IdleRow{Idle::kOneBatch,
            [](const Where& w) { return synthetic(w) && w.is("data.synthetic_fresh", "false"); },
            "synthetic data are one batch; data.synthetic_fresh: true makes a new batch for every step"},
    IdleRow{Idle::kNoWorkers, [](const Where& w) { return w.is("data.workers", "0"); },
            "with data.workers: 0 batches are made in the step itself"},
    IdleRow{Idle::kNotSynthetic, [](const Where& w) { return !synthetic(w); }, "for data.source: synthetic"},
    IdleRow{Idle::kNotAugmented,
            [](const Where& w) {
              return !w.is("data.source", "cifar10") && !w.is("data.source", "cifar100") &&
                     !w.is("data.source", "image_folder");
            },
            "for data.source: cifar10, cifar100 and image_folder"},
    IdleRow{Idle::kNoDdp, [](const Where& w) { return !runs_ddp(w.item); }, "the case runs without DDP"},
    IdleRow{Idle::kNoStatistics, [](const Where& w) { return w.model() && w.model()->task != Task::kCnn; },
            "the model has no running statistics"},
    IdleRow{
        Idle::kNoGroup,
        [](const Where& w) { return w.item.settings.has("ddp.enabled") && one_rank(w) && !runs_ddp(w.item); },
        "one rank meets nobody"},
    IdleRow{Idle::kNoCheckpoints, [](const Where& w) { return !w.item.settings.has("checkpoint.dir"); },
            "no checkpoint.dir"},
    IdleRow{Idle::kFixedSteps, fixed_steps, "a fixed number is timed"},
    IdleRow{Idle::kFixedLength,
            [](const Where& w) { return fixed_steps(w) || w.item.settings.has("benchmark.measure_seconds"); },
            "how long is measured is fixed"},
    IdleRow{Idle::kNotProfiled, [](const Where& w) { return w.is("profiling.enabled", "false"); },
            "for profiling.enabled: true"},
    IdleRow{Idle::kNoSuchRank,
            [](const Where& w) {
              const auto& s = w.item.settings;
              return s.has("inject") && parse_fault(s.text("inject")).rank >= s.integer("ranks");
            },
            "the case has no such rank"},
    IdleRow{Idle::kWithoutOwner, [](const Where& w) { return !has_owner(w.item.settings, w.option); }, "for"},
    IdleRow{Idle::kNotInt8, [](const Where& w) { return !w.is("precision", "int8"); }, "for precision int8"},
};
static_assert(kIdleRows.size() == static_cast<std::size_t>(Idle::kNotInt8));  // a row each

// An option that was asked for, and why it changes nothing.
struct IdleOption {
  std::string option;
  std::string why;
};

std::string reason(const IdleRow& row, const Option& option) {
  return row.idle == Idle::kWithoutOwner
             ? fmt::format("{} {} {}", row.why, option.owner.option, option.owner.name)
             : std::string(row.why);
}

std::vector<IdleOption> idle_options(const Case& item, std::string_view auto_device) {
  std::vector<IdleOption> idle;
  const auto told = [&](const Option& option) {
    return std::any_of(idle.begin(), idle.end(),
                       [&](const IdleOption& i) { return i.option == option.name; });
  };
  for (const IdleRow& row : kIdleRows)
    for (const Option* option : options_of(kind_bit(item.kind))) {
      const bool named = std::find(option->idle.begin(), option->idle.end(), row.idle) != option->idle.end();
      const bool asked_for = named && !is_default(*option, item.settings.list(singular(*option)));
      if (asked_for && !told(*option) && row.holds({item, auto_device, *option}))
        idle.push_back({std::string(option->name), reason(row, *option)});
    }
  return idle;
}

// Options in a row with the same reason share its words.
std::string words_of(const std::vector<IdleOption>& idle) {
  std::string words;
  for (std::size_t i = 0; i < idle.size(); ++i) {
    words += idle[i].option;
    const bool last = i + 1 == idle.size();
    if (!last && idle[i + 1].why == idle[i].why)
      words += ", ";
    else
      words += fmt::format(" ({}){}", idle[i].why, last ? "" : "; ");
  }
  return words;
}

void keep_common(std::vector<IdleOption>& all, const std::vector<IdleOption>& more) {
  std::erase_if(all, [&](const IdleOption& one) {
    return std::none_of(more.begin(), more.end(),
                        [&](const IdleOption& i) { return i.option == one.option; });
  });
}

// Options without effect in all cases of a workload that can run.
std::vector<IdleOption> idle_in_all(std::size_t workload, std::span<const Case> cases,
                                    std::string_view auto_device) {
  std::optional<std::vector<IdleOption>> common;
  for (const Case& item : cases) {
    if (item.workload != workload || !item.not_available.empty()) continue;
    auto idle = idle_options(item, auto_device);
    if (common)
      keep_common(*common, idle);
    else
      common = std::move(idle);
  }
  return common.value_or(std::vector<IdleOption>{});
}

// Whether the lengths that were asked for go unused, because the models have no tokens.
bool lengths_are_idle(const Workload& workload) {
  const auto models =
      workload.settings.has("models") ? workload.settings.texts("models") : std::vector<std::string>{};
  return workload.settings.has("sequence_lengths") &&
         std::all_of(models.begin(), models.end(), [](const std::string& name) {
           const Model* model = find_model(name);
           return model && model->default_sequence_length == 0;
         });
}

}  // namespace

std::string without_effect(const Case& item, std::string_view auto_device) {
  return words_of(idle_options(item, auto_device));
}

std::vector<std::string> without_effect(const Plan& plan, std::span<const Case> cases, WorkloadKind kind,
                                        std::string_view auto_device) {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < plan.workloads.size(); ++i) {
    if (plan.workloads[i].kind != kind) continue;
    auto idle = idle_in_all(i, cases, auto_device);
    if (lengths_are_idle(plan.workloads[i]))
      idle.push_back({"sequence_lengths", "the model takes no tokens"});
    if (!idle.empty()) lines.push_back(words_of(idle));
  }
  return lines;
}

}  // namespace paceline::config
