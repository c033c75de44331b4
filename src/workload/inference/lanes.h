// SPDX-License-Identifier: MIT
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "measure/lane_crew.h"
#include "workload/inference/pass_parts.h"

namespace paceline::workload {

// Engines side by side in one process. Each is loaded and used by its lane's own thread, with weights and
// threads of its own: what serving N instances in a process costs, it costs here.
class Lanes {
 public:
  Lanes(const PassSpec& spec, TaggedSink& sink);
  [[nodiscard]] measure::LaneCrew& crew() { return crew_; }
  [[nodiscard]] double load_ns() const { return first_.load_ns; }  // of lane 0
  [[nodiscard]] const result::Memory& memory() const { return first_.memory; }
  // One inference, on the lane's thread.
  void infer(int lane);
  // Compares the last outputs of every lane; the worst of them is returned.
  [[nodiscard]] result::Correctness check(const PassSpec& spec) const;

 private:
  struct Lane {
    plugin::Engine* engine = nullptr;
    std::vector<TensorView> inputs;
    std::span<const TensorView> outputs;
  };
  void load(int lane, const PassSpec& spec, TaggedSink& sink);

  Inputs inputs_;
  LoadedEngine first_;
  std::vector<std::unique_ptr<plugin::Engine>> others_;
  std::vector<Lane> lanes_;
  measure::LaneCrew crew_;
};

}  // namespace paceline::workload
