// SPDX-License-Identifier: MIT
#include "config/training/training_rules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>

#include "base/data_source.h"
#include "base/device.h"
#include "base/fault.h"
#include "base/text.h"
#include "config/option_table.h"
#include "config/vocabulary.h"

namespace paceline::config {
namespace fs = std::filesystem;
namespace {

const DataSource& source_of(const Settings& s) {
  return *std::find_if(kDataSources.begin(), kDataSources.end(),
                       [&](const DataSource& row) { return row.name == s.text("data.source"); });
}

double largest(const Settings& s, std::string_view name) {
  const auto values = s.numbers(name);
  return values.empty() ? 1 : *std::max_element(values.begin(), values.end());
}

void check_optimizer(WorkloadDraft& d) {
  const Settings& s = d.settings;
  const auto betas = s.has("training.betas") ? s.numbers("training.betas") : std::vector{0.9, 0.999};
  if (betas.size() != 2 || std::max(betas.front(), betas.back()) >= 1)
    d.report("training.betas", fmt::format("training.betas are two numbers below 1, not {}: [0.9, 0.999]",
                                           fmt::join(betas, ", ")));
  if (s.has("training.momentum") && s.number("training.momentum") >= 1)
    d.report("training.momentum", "training.momentum is below 1, e.g. 0.9");
  if (d.is("training.nesterov", "true") && d.is("training.momentum", "0"))
    d.report("training.nesterov", "training.nesterov needs a momentum", {"training.momentum", "0.9"});
}

// Shortens a path for a message.
std::string shown(const std::string& path) {
  return path.size() <= 300 ? path : path.substr(0, 297) + "...";
}

bool ends_as(const std::string& path, std::string_view endings) {
  const auto all = split(endings, ',');
  return std::any_of(all.begin(), all.end(), [&](const auto& ending) { return path.ends_with(ending); });
}

bool has_folders(const std::string& path) {
  std::error_code error;
  for (fs::directory_iterator at(path, error); !error && at != fs::directory_iterator(); at.increment(error))
    if (std::error_code unknown; at->is_directory(unknown)) return true;
  return static_cast<bool>(error);  // reading it will report the error
}

// Whether a published archive is fetched into the missing path: not where it names a file.
bool is_fetched_to(const std::string& path, const DataSource& source) {
  return source.path == DataSource::Path::kEither && !ends_as(path, ".gz,.tgz,.bin");
}

// Problem with a path for data; empty if nothing shows from outside.
std::string path_problem(const std::string& path, const DataSource& source) {
  std::error_code error;
  const auto status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found)
    return is_fetched_to(path, source) ? "" : "does not exist; check the path";
  if (error) return fmt::format("cannot be read: {}", error.message());
  const bool folder = fs::is_directory(status);
  if (!folder && !fs::is_regular_file(status)) return "is neither a file nor a folder";
  if (source.path == DataSource::Path::kFile && folder)
    return fmt::format("is a folder; {} takes a file", source.name);
  if (source.path == DataSource::Path::kFolder && !folder)
    return fmt::format("is a file; {} takes a folder", source.name);
  if (!source.endings.empty() && !ends_as(path, source.endings))
    return fmt::format("must end in one of {}, which define what it contains",
                       join(split(source.endings, ','), ", "));
  if (::access(path.c_str(), folder ? R_OK | X_OK : R_OK) != 0)
    return "may not be read; check its permissions";
  if (source.one_folder_per_class && !has_folders(path))
    return fmt::format("contains no folders; {} takes one folder of pictures per class", source.name);
  return {};
}

void check_data(WorkloadDraft& d) {
  const Settings& s = d.settings;
  if (!s.has("data.source")) return;
  const DataSource& source = source_of(s);
  if (source.path == DataSource::Path::kNone) return;
  if (!s.has("data.path")) {
    if (source.path != DataSource::Path::kEither)
      d.report("data.source",
               fmt::format("data.source: {} needs data.path, the file or folder", source.name));
    return;
  }
  const auto& path = s.text("data.path");
  if (const auto problem = path_problem(path, source); !problem.empty())
    return d.report("data.path", fmt::format("data.path '{}' {}", shown(path), problem));
  if (std::error_code unknown; !fs::exists(path, unknown))
    d.remarks.push_back(
        fmt::format("data.path '{}' does not exist: {} is fetched into it", shown(path), source.name));
}

// Every step takes whole batches, so an epoch must hold one batch per rank.
void check_epoch(WorkloadDraft& d) {
  const Settings& s = d.settings;
  if (!d.is("data.source", "synthetic") || !s.has("data.synthetic_samples")) return;
  const double ranks = d.is("training.scaling", "strong") ? 1 : largest(s, "gpu_counts");
  const double step = largest(s, "batch_sizes") * ranks * largest(s, "training.accumulation_steps");
  if (step > s.number("data.synthetic_samples"))
    d.report(
        "batch_sizes",
        fmt::format("a step of the largest case takes {:.0f} samples (batch x ranks x accumulation), and an "
                    "epoch has {:.0f}; raise data.synthetic_samples, or make the batch smaller",
                    step, s.number("data.synthetic_samples")));
}

// Strong scaling divides every batch among every number of ranks.
void check_scaling(WorkloadDraft& d) {
  const Settings& s = d.settings;
  if (!d.is("training.scaling", "strong") || !s.has("batch_sizes") || !s.has("gpu_counts")) return;
  for (const double batch : s.numbers("batch_sizes"))
    for (const double ranks : s.numbers("gpu_counts"))
      if (std::fmod(batch, ranks) != 0) {
        d.report("training.scaling",
                 fmt::format("a batch of {:.0f} cannot be divided among {:.0f} ranks; strong scaling "
                             "needs batches that are multiples of every number of ranks",
                             batch, ranks));
        return;
      }
}

// nullopt when it depends on measurements, data or a checkpoint. The first step is never timed.
std::optional<std::int64_t> planned_steps(const WorkloadDraft& d) {
  const Settings& s = d.settings;
  const bool fixed = s.has("benchmark.measure_steps") && s.has("benchmark.warmup_steps") &&
                     !s.has("training.epochs") && !d.is("checkpoint.resume", "true");
  if (!fixed) return std::nullopt;
  return std::max<std::int64_t>(1, s.integer("benchmark.warmup_steps")) +
         s.integer("benchmark.measure_steps");
}

// A fault that cannot occur would be a test that cannot fail.
void check_fault(WorkloadDraft& d) try {
  const Settings& s = d.settings;
  if (!s.has("inject")) return;
  const auto& text = s.text("inject");
  const Fault fault = parse_fault(text);
  const auto ranks = static_cast<std::int64_t>(largest(s, "gpu_counts"));
  if (s.has("gpu_counts") && fault.rank >= ranks)
    d.report("inject", fmt::format("inject '{}': there is no rank {}; {}", text, fault.rank,
                                   ranks == 1 ? std::string("the only one is rank 0")
                                              : fmt::format("ranks go from 0 to {}", ranks - 1)));
  if (const auto steps = planned_steps(d); steps && fault.step >= *steps)
    d.report("inject", fmt::format("inject '{}': there is no step {}; untimed and timed steps go from "
                                   "0 to {} (benchmark.warmup_steps, benchmark.measure_steps)",
                                   text, fault.step, *steps - 1));
  if (fault.kind == Fault::Kind::kSlowSave && !s.has("checkpoint.dir"))
    d.report("inject", fmt::format("inject '{}': no checkpoint is written without checkpoint.dir", text));
} catch (const Error& e) {
  d.report("inject", e.what());
}

// Models of users are measured, and only built-in ones are trained.
void check_model_files(WorkloadDraft& d) {
  if (!d.settings.has("models")) return;
  for (const auto& model : d.settings.texts("models"))
    if (ends_as(model, ".pt,.pth,.pt2,.ts"))
      return d.report(
          "models",
          fmt::format("model '{0}' is a file, and training takes built-in models. If it is a ResNet-50 or "
                      "ViT-B/16 of torchvision, write safetensors.torch.save_file(model.state_dict(), "
                      "'w.safetensors') in Python, then use --model resnet50 --weights w.safetensors. "
                      "Inference of the file: paceline infer --model {0}",
                      shown(model)));
}

}  // namespace

void check_training(WorkloadDraft& d) {
  // Without a source the path would have no effect.
  if (d.written("data.path") && !d.written("data.source"))
    d.report("data.path", "data.path names data, and data.source is synthetic unless it is written",
             {"data.source", "image_folder"});
  for (const auto check :
       {check_model_files, check_optimizer, check_data, check_epoch, check_scaling, check_fault})
    check(d);
}

std::string_view ddp_for(std::string_view asked, std::int64_t ranks) {
  if (ranks > 1) return asked == "false" ? "apart" : "on";
  return asked == "true" ? "on" : "off";
}

bool runs_ddp(const Case& item) {
  return ddp_for(item.settings.text("ddp.enabled"), item.settings.integer("ranks")) == "on";
}

std::string optimizer_of(const Case& item) {
  const auto& asked = item.settings.text("training.optimizer");
  if (asked != "auto") return asked;
  const Model* model = find_model(item.settings.text("model"));
  return model && model->task == Task::kTransformer ? "adamw" : "sgd";
}

std::vector<std::string> training_reasons(const Case& item) {
  const Settings& s = item.settings;
  std::vector<std::string> reasons;
  const Model* model = find_model(s.text("model"));
  if (!model || model->internal || !model->folder.empty()) {
    reasons.push_back(
        fmt::format("'{}' cannot be trained: training takes the built-in models", s.text("model")));
    return reasons;
  }
  if (s.has("sequence_length") && s.integer("sequence_length") > model->max_sequence_length)
    reasons.push_back(fmt::format("{} takes at most {} tokens, and sequence_length is {}", model->name,
                                  model->max_sequence_length, s.integer("sequence_length")));
  if (s.has("training.num_classes") && model->item != "images")
    reasons.push_back(
        fmt::format("training.num_classes is for image models, and {} predicts tokens", model->name));
  const DataSource& source = source_of(s);
  if (!source.item.empty() && source.item != model->item)
    reasons.push_back(fmt::format("data.source '{}' has {}, and {} takes {}", source.name, source.item,
                                  model->name, model->item));
  if (ddp_for(s.text("ddp.enabled"), s.integer("ranks")) == "apart" && s.has("checkpoint.dir"))
    reasons.emplace_back(
        "'ddp.enabled: false' with several ranks trains one model per rank, and a checkpoint contains one");
  return reasons;
}

}  // namespace paceline::config
