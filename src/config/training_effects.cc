// SPDX-License-Identifier: MIT
#include "config/training_effects.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/fault.h"
#include "base/text.h"
#include "config/training_rules.h"
#include "config/value.h"
#include "config/vocabulary.h"

namespace paceline::config {
namespace {

// A case and the device that it runs on.
struct Where {
  const Case& item;
  std::string_view auto_device;

  [[nodiscard]] bool is(std::string_view name, std::string_view value) const {
    return value_text(item.settings.list(name).front()) == value;
  }
  [[nodiscard]] const Model* model() const { return find_model(item.settings.text("model")); }
};

bool uses_adamw(const Where& w) {
  return optimizer_of(w.item) == "adamw";
}
bool uses_sgd(const Where& w) {
  return optimizer_of(w.item) == "sgd";
}
bool no_cosine(const Where& w) {
  return !w.is("training.schedule", "cosine");
}
bool no_steps(const Where& w) {
  return !w.is("training.schedule", "step");
}
bool no_dropout(const Where& w) {
  return w.model() && w.model()->default_sequence_length == 0;
}
bool no_statistics(const Where& w) {
  return w.model() && w.model()->task != Task::kCnn;
}
bool no_images(const Where& w) {
  return w.model() && w.model()->item != "images";
}
bool synthetic(const Where& w) {
  return w.is("data.source", "synthetic");
}
bool one_batch(const Where& w) {
  return synthetic(w) && w.is("data.synthetic_fresh", "false");
}
bool no_workers(const Where& w) {
  return !one_batch(w) && w.is("data.workers", "0");
}
bool not_synthetic(const Where& w) {
  return !synthetic(w);
}
bool as_they_are(const Where& w) {
  return !w.is("data.source", "cifar100") && !w.is("data.source", "image_folder");
}
bool no_ddp(const Where& w) {
  return !runs_ddp(w.item);
}
bool one_rank(const Where& w) {
  return w.item.settings.integer("ranks") == 1;
}
bool no_group(const Where& w) {
  return one_rank(w) && no_ddp(w);
}
bool on_cpu(const Where& w) {
  return w.is("device", "cpu") || (w.is("device", "auto") && w.auto_device == "cpu");
}
bool no_checkpoints(const Where& w) {
  return !w.item.settings.has("checkpoint.dir");
}
bool not_profiled(const Where& w) {
  return w.is("profiling.enabled", "false");
}
bool fixed_steps(const Where& w) {
  return w.item.settings.has("benchmark.measure_steps");
}
bool fixed_length(const Where& w) {
  return fixed_steps(w) || w.item.settings.has("benchmark.measure_seconds");
}
bool fault_of_another_world(const Where& w) {
  const auto& s = w.item.settings;
  return s.has("inject") && parse_fault(s.text("inject")).rank >= s.integer("ranks");
}

// Options, the condition under which they change nothing, and the words for it.
struct IdleRow {
  std::string_view options;  // comma-separated
  bool (*idle)(const Where&);
  std::string_view why;
};
constexpr std::array kIdleRows{
    IdleRow{"training.momentum,training.nesterov", uses_adamw, "adamw has none"},
    IdleRow{"training.betas,training.eps", uses_sgd, "sgd has none"},
    IdleRow{"training.lr_total_steps,training.lr_final", no_cosine, "for training.schedule: cosine"},
    IdleRow{"training.lr_step_size,training.lr_gamma", no_steps, "for training.schedule: step"},
    IdleRow{"training.dropout", no_dropout, "the model has none"},
    IdleRow{"training.cudnn_benchmark", on_cpu, "the case runs on the CPU"},
    IdleRow{"benchmark.sync_cuda", on_cpu, "on the CPU a step is over when it returns"},
    IdleRow{"training.drift_check_every", one_rank, "one rank has nothing to drift from"},
    IdleRow{"layouts", no_images, "the model takes no images"},
    IdleRow{"data.path", synthetic, "synthetic data have no files"},
    IdleRow{"data.workers,data.prefetch,data.shuffle", one_batch,
            "synthetic data are one batch; data.synthetic_fresh: true makes every batch anew"},
    IdleRow{"data.prefetch", no_workers, "with data.workers: 0 batches are made in the step itself"},
    IdleRow{"data.synthetic_samples,data.synthetic_fresh", not_synthetic, "for data.source: synthetic"},
    IdleRow{"data.augment,eval.every_epochs", as_they_are, "for data.source: cifar100 and image_folder"},
    IdleRow{"ddp.bucket_cap_mb,ddp.gradient_as_bucket_view,ddp.static_graph,ddp.find_unused_parameters,"
            "ddp.broadcast_buffers,ddp.comm_hook",
            no_ddp, "the case runs without DDP"},
    IdleRow{"ddp.broadcast_buffers", no_statistics, "the model has no running statistics"},
    IdleRow{"backend,rdzv_timeout_s,group_timeout_s", no_group, "one rank meets nobody"},
    IdleRow{"checkpoint.keep,checkpoint.timeout_s", no_checkpoints, "no checkpoint.dir"},
    IdleRow{"stop.n_max", fixed_steps, "the number of steps is fixed"},
    IdleRow{"stop.n_min,stop.t_min_s,stop.t_max_s,stop.quantiles,stop.rel_halfwidth_p50,"
            "stop.rel_halfwidth_p90,stop.rel_halfwidth_p99,stop.check_growth",
            fixed_length, "how long is measured is fixed"},
    IdleRow{"profiling.steps,profiling.tool,profiling.trigger", not_profiled, "for profiling.enabled: true"},
    IdleRow{"inject", fault_of_another_world, "the case has no such rank"},
};

// Defaults appear as values are shown: 1e-8 as 1e-08.
std::string default_text(const Option& option) {
  std::vector<std::string> parts;
  for (auto& part : split(option.fallback, ','))
    parts.push_back(value_text(convert(option, {std::move(part), {}, false}).value.value()));
  return join(parts, ",");
}

bool asked_for(const std::string& name, const Case& item) {
  const Option& option = *find_option(name, kTraining);
  const std::string key(singular(option));
  if (!item.settings.has(key)) return false;
  return option.fallback.empty() || join(item.settings.texts(key), ",") != default_text(option);
}

// An option that was asked for, and why it changes nothing.
struct Idle {
  std::string option;
  std::string_view why;
};

std::vector<Idle> idle_options(const Case& item, std::string_view auto_device) {
  std::vector<Idle> idle;
  for (const IdleRow& row : kIdleRows)
    for (auto& name : split(row.options, ',')) {
      const bool told =
          std::any_of(idle.begin(), idle.end(), [&](const Idle& i) { return i.option == name; });
      if (!told && asked_for(name, item) && row.idle({item, auto_device}))
        idle.push_back({std::move(name), row.why});
    }
  return idle;
}

// Options in a row with the same reason share its words.
std::string words_of(const std::vector<Idle>& idle) {
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

void keep_common(std::vector<Idle>& all, const std::vector<Idle>& more) {
  std::erase_if(all, [&](const Idle& one) {
    return std::none_of(more.begin(), more.end(), [&](const Idle& i) { return i.option == one.option; });
  });
}

// Options without effect in all training cases of a workload that can run.
std::vector<Idle> idle_in_all(std::size_t workload, std::span<const Case> cases,
                              std::string_view auto_device) {
  std::optional<std::vector<Idle>> common;
  for (const Case& item : cases) {
    if (item.workload != workload || item.kind != WorkloadKind::kTraining || !item.not_available.empty())
      continue;
    auto idle = idle_options(item, auto_device);
    if (common)
      keep_common(*common, idle);
    else
      common = std::move(idle);
  }
  return common.value_or(std::vector<Idle>{});
}

// Whether the lengths that were asked for go unused, because the models have no tokens.
bool lengths_are_idle(const Workload& workload) {
  const auto models =
      workload.settings.has("models") ? workload.settings.texts("models") : std::vector<std::string>{};
  return workload.kind == WorkloadKind::kTraining && workload.settings.has("sequence_lengths") &&
         std::all_of(models.begin(), models.end(), [](const std::string& name) {
           const Model* model = find_model(name);
           return model && model->default_sequence_length == 0;
         });
}

}  // namespace

std::string without_effect(const Case& item, std::string_view auto_device) {
  return words_of(idle_options(item, auto_device));
}

std::vector<std::string> without_effect(const Plan& plan, std::span<const Case> cases,
                                        std::string_view auto_device) {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < plan.workloads.size(); ++i) {
    auto idle = idle_in_all(i, cases, auto_device);
    if (lengths_are_idle(plan.workloads[i]))
      idle.push_back({"sequence_lengths", "the model takes no tokens"});
    if (!idle.empty()) lines.push_back(words_of(idle));
  }
  return lines;
}

}  // namespace paceline::config
