// SPDX-License-Identifier: MIT
#include "workload/training/kept_weights.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "base/archive.h"
#include "base/bounded_json.h"
#include "base/error.h"
#include "base/file.h"
#include "base/foreign_text.h"
#include "base/handle.h"
#include "base/reading.h"
#include "base/saved_weights.h"
#include "base/units.h"

namespace paceline::workload {
namespace fs = std::filesystem;

PACELINE_FIELDS(BestEvaluation, plan_hash, epoch, step, eval_accuracy, eval_loss);

namespace {

constexpr std::string_view kLast = "last", kBest = "checkpoint_best";

// A file that is missing or damaged is no reason to refuse a training: nothing was better then.
std::optional<BestEvaluation> read_best(const fs::path& file, const std::string& plan_hash) try {
  std::error_code ignored;
  if (!fs::exists(file, ignored)) return std::nullopt;
  const auto json = json_or_discarded(read_stored(file, Foreign::kCheckpoint));
  BestEvaluation best;
  const auto name = file.string();
  archive::Reader reader(json, name.c_str());
  fields(reader, best);
  return best.plan_hash == plan_hash ? std::optional(best) : std::nullopt;
} catch (const Error&) {
  return std::nullopt;
}

void sync_file(const fs::path& path) {
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file || (::fsync(file.get()) != 0 && errno != EINVAL))
    throw Error(ErrorCode::kIo,
                fmt::format("cannot write weights '{}': {}", path.string(), std::strerror(errno)));
}

}  // namespace

KeptWeights::KeptWeights(fs::path dir, std::string plan_hash, std::int64_t begin)
    : dir_(std::move(dir)), plan_hash_(std::move(plan_hash)) {
  const auto about = dir_ / fmt::format("{}.json", kBest),
             weights = dir_ / fmt::format("{}{}", kBest, kWeightsEnding);
  std::error_code ignored;
  if (begin > 0 && fs::exists(weights, ignored)) best_ = read_best(about, plan_hash_);
  if (best_ && best_->step > begin) best_.reset();
  if (best_) return;
  for (const auto& file : {about, weights})  // of another training: nobody may take them for this one's
    if (fs::exists(file, ignored)) fs::rename(file, fs::path(file) += ".old", ignored);
}

// Beside the file under another name first, which has the ending by which the trainer knows what to write.
void KeptWeights::write(plugin::Trainer& trainer, const std::string& name) const {
  const auto target = dir_ / (name + std::string(kWeightsEnding));
  const auto part = dir_ / fmt::format("{}.part{}", name, kWeightsEnding);
  std::error_code error;
  try {
    trainer.save(part.string(), true);
    sync_file(part);
    fs::rename(part, target, error);
    if (error)
      throw Error(ErrorCode::kIo,
                  fmt::format("cannot write weights '{}': {}", target.string(), error.message()));
  } catch (...) {
    fs::remove(part, error);
    throw;
  }
}

void KeptWeights::offer(plugin::Trainer& trainer, const result::HeldOutFigures& seen, std::int64_t step) {
  if (!seen.accuracy || (best_ && *seen.accuracy <= best_->eval_accuracy)) return;
  write(trainer, std::string(kBest));
  best_ = BestEvaluation{plan_hash_, seen.epoch, step, *seen.accuracy, seen.loss};
  replace_file(dir_ / fmt::format("{}.json", kBest), archive::Writer::write(*best_).dump(2) + "\n");
}

void KeptWeights::write_last(plugin::Trainer& trainer) const {
  write(trainer, std::string(kLast));
  wrote_last_ = true;
}

std::string KeptWeights::words() const {
  if (!wrote_last_) return {};
  auto words = fmt::format("weights: {}{} in '{}'", kLast, kWeightsEnding, dir_.string());
  if (best_)
    words += fmt::format(", and {}{} of epoch {} (held-out accuracy {})", kBest, kWeightsEnding, best_->epoch,
                         format_percent(best_->eval_accuracy));
  return words;
}

bool writes_weights(const plugin::TrainerInfo& info) {
  return std::ranges::any_of(info.settings, [](const auto& row) { return row.first == kWeightsSetting; });
}

}  // namespace paceline::workload
