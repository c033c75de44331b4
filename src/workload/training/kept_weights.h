// SPDX-License-Identifier: MIT
// Files of weights beside the checkpoints: the last ones, and those of the best evaluation.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "plugin/trainer.h"
#include "result/stored/rank_steps.h"

namespace paceline::workload {

// Which evaluation was the best so far; the content of checkpoint_best.json.
struct BestEvaluation {
  std::string plan_hash;
  std::int64_t epoch = 0, step = 0;
  double eval_accuracy = 0;
  Number eval_loss;
};

// Used by rank 0 alone. Each file appears complete or not at all. Throws Error(kIo) when the disk is full and
// the like, and what Trainer::save throws.
class KeptWeights {
 public:
  // The best up to step `begin`, where a training goes on, counts too. Files of another training get the
  // ending .old.
  KeptWeights(std::filesystem::path dir, std::string plan_hash, std::int64_t begin);

  // Writes checkpoint_best.safetensors if the accuracy is above all earlier ones.
  void offer(plugin::Trainer& trainer, const result::HeldOutFigures& seen, std::int64_t step);
  // Writes last.safetensors.
  void write_last(plugin::Trainer& trainer) const;
  // Names the files that this process wrote; empty before the first.
  [[nodiscard]] std::string words() const;

 private:
  void write(plugin::Trainer& trainer, const std::string& name) const;

  std::filesystem::path dir_;
  std::string plan_hash_;
  std::optional<BestEvaluation> best_;
  mutable bool wrote_last_ = false;
};

// Whether the trainer writes weights that other programs load.
bool writes_weights(const plugin::TrainerInfo& info);

}  // namespace paceline::workload
