// SPDX-License-Identifier: MIT
// Runs engines side by side, each on its own thread.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "measure/lane_crew.h"
#include "workload/inference/pass_parts.h"

namespace paceline::workload {

// Joins the inputs of up to max_requests requests to the input of one inference. A single request is handed
// over where it lies; several are copied side by side, as every server that forms batches must.
class BatchInput {
 public:
  // Request i brings batch i of `source`, modulo `batches`.
  BatchInput(Inputs& source, std::int64_t batches, std::int64_t max_requests);
  // The inputs of `requests` requests. `filled_up`: a whole batch, whose other rows stay as they were.
  std::span<const TensorView> gather(std::int64_t requests, bool filled_up);

 private:
  std::vector<std::vector<TensorView>> requests_;  // what each request brings
  std::vector<Tensor> together_;                   // empty: one request at a time
  std::vector<std::vector<TensorView>> views_;     // of `together_`, by the number of requests
};

// Costs of a request beside the inference.
struct Copies {
  std::int64_t input_ns = 0, output_ns = 0;
};

// Engines side by side in one process. Each is loaded and used by its lane's own thread, with its own weights
// and threads, so that N instances in a process cost here what they cost when serving. In the server scenario
// every request brings its input and takes its outputs away; in the others the inputs stay where they are.
class Lanes {
 public:
  Lanes(const pass::PassSpec& spec, TaggedSink& sink);
  [[nodiscard]] measure::LaneCrew& crew() { return crew_; }
  [[nodiscard]] double load_ns() const { return first_.load_ns; }  // of lane 0
  [[nodiscard]] const result::Memory& memory() const { return first_.memory; }
  // Makes one call on the lane's thread; in the server scenario it is a full batch.
  void infer(int lane);
  // Serves `requests` requests in one inference on the lane's thread.
  Copies serve(int lane, std::int64_t requests);
  // Writes to each request what the copies took.
  template <class R>
  void serve(int lane, std::span<R> requests) {
    const Copies copies = serve(lane, static_cast<std::int64_t>(requests.size()));
    for (auto& request : requests) {
      request.input_ns = copies.input_ns;
      request.output_ns = copies.output_ns;
    }
  }
  // Runs each batch size once on every lane, which shows whether the engine accepts it and keeps later runs
  // from being the first.
  void try_batch_sizes();
  // "dynamic", or "padded to N: why"; empty where requests are served one at a time.
  [[nodiscard]] const std::string& batching() const { return batching_; }
  // Compares the last outputs of every lane that has run; the worst of them is returned.
  [[nodiscard]] result::Correctness check(double typical_ns = 0);

 private:
  struct Lane {
    plugin::Engine* engine = nullptr;
    std::unique_ptr<BatchInput> input;
    std::span<const TensorView> outputs;
    std::vector<std::vector<std::byte>> taken;  // where the outputs of requests go
    std::int64_t served = 0;                    // requests of the last inference
    bool on_host = false;                       // whether its outputs are on the host without being fetched
  };
  void load(int lane, TaggedSink& sink);
  void try_batch_sizes(int lane);
  void take_outputs(Lane& lane) const;
  [[nodiscard]] std::int64_t rows_run(const Lane& lane) const;
  [[nodiscard]] result::Correctness check(const Lane& lane) const;
  result::Correctness ask_again(int lane, double typical_ns);

  pass::PassSpec spec_;  // the model at full batch
  bool server_;
  Inputs inputs_;
  LoadedEngine first_;
  std::vector<std::unique_ptr<plugin::Engine>> others_;
  std::vector<Lane> lanes_;
  bool padded_ = false;  // the engine runs full batches only
  std::string batching_;
  measure::LaneCrew crew_;
};

}  // namespace paceline::workload
