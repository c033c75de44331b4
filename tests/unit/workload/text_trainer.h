// SPDX-License-Identifier: MIT
#pragma once
#include <fstream>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "plugin/trainer.h"

namespace paceline::test {

// Has one text as its whole state.
class TextTrainer : public plugin::Trainer {
 public:
  explicit TextTrainer(std::string text = {}) : state(std::move(text)) {}
  [[nodiscard]] plugin::TrainerInfo info() const override { return {}; }
  void load(const plugin::ModelSpec&, const plugin::TrainSettings&, plugin::RankGroup*) override {}
  [[nodiscard]] std::vector<TensorSpec> batch_specs() const override { return {}; }
  std::optional<plugin::StepOutcome> step(std::span<const TensorView>, double,
                                          plugin::StepRecorder&) override {
    return plugin::StepOutcome();
  }
  plugin::StepOutcome evaluate(std::span<const TensorView>) override { return {}; }
  [[nodiscard]] std::string fingerprint() const override { return state; }
  void save(const std::string& file, bool shared) override {
    std::ofstream out(file, std::ios::binary);
    out << (shared ? "shared " : "own ") << state << std::flush;
    if (!out) throw Error(ErrorCode::kIo, "cannot write '" + file + "'");
  }
  void restore(const std::string& shared_file, const std::string& rank_file) override {
    state = read_file(shared_file) + " | " + read_file(rank_file);
  }
  std::string state;
};

}  // namespace paceline::test
