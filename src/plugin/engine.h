// SPDX-License-Identifier: MIT
// The interface of an engine, which runs models.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/declared_input.h"
#include "base/error.h"
#include "base/tensor.h"

namespace paceline::plugin {

// The model to run. Either `name` (built into the plug-in) or `file` is set.
struct ModelSpec {
  std::string name;          // e.g. "resnet50"
  std::string file;          // path of a model file in the engine's own format
  std::string weights_file;  // safetensors for built-in models; empty: seeded random weights
  std::uint64_t weights_seed = 0;
  std::vector<TensorSpec> inputs;  // names, dtypes and full shapes, batch included
  // With dynamic batching, bind also brings smaller batches, in dimension 0 of every input. An engine that
  // only runs the shapes above refuses those, and its batches are filled up.
  bool any_batch = false;
  // With new shapes, bind also brings smaller sizes in any dimension. An engine refuses those of dimensions
  // that its file fixes.
  bool any_shape = false;
};

// How to run the model. load throws Error(kUnsupported) with the reason for what the engine cannot do here.
struct EngineSettings {
  std::string precision = "fp32";              // fp32 tf32 fp16 bf16 amp_fp16 amp_bf16 int8
  std::string layout = "contiguous";           // contiguous | channels_last
  int threads = 1;                             // intra-op threads, always explicit
  std::map<std::string, std::string> options;  // as Plugin::options declares them, by the part after the dot
  // Nobody asked for a precision: that of the file runs, with the engine's own defaults for integer weights,
  // and `precision` is that of the rest. Else an engine sets what keeps it from rounding to fewer bits.
  bool precision_of_file = false;
};

// Report of the engine after load(): its library versions and its effective settings.
struct EngineInfo {
  std::string name;
  std::vector<std::pair<std::string, std::string>> versions;
  std::vector<std::pair<std::string, std::string>> settings;
  bool device_clock = false;  // device_ns() returns a time
};

// Share of the model's multiply-add work that ran in one precision; the shares of a model add up to 1.
struct PrecisionShare {
  std::string precision;  // of the arithmetic: fp32, bf16, fp16, int8, …
  double flops_share = 0;
  int operators = 0;  // convolutions and matrix products counted
  std::string
      weights{};  // their type where it is another: int4, int8, fp16, …; empty: the same, or not known
};

// One layer as the engine executed it, by the engine's name for it.
struct Layer {
  std::string name;
  std::string type;       // the engine's type: QLinearConv, FullyConnected, …
  std::string precision;  // as in PrecisionShare; empty: not known
  std::optional<double> time_ns;
  std::optional<double> flops;  // of its convolutions and matrix products; none: it has none, or not known
  std::string model_layer{};    // the model's name for it: "layer1.0.conv1"; empty: names do not tell
  std::string weights{};        // as in PrecisionShare
};

// Times of layers in order of execution. Each is the median over some inferences, so that one that was
// preempted does not count.
struct LayerTimes {
  std::vector<Layer> layers;
  std::string source;  // how they were measured, in words
};

struct ReadBack {
  std::vector<PrecisionShare> precisions;  // empty: not known to this engine
  std::string source;                      // how it was read, in words
  std::optional<std::int64_t>
      peak_tensor_bytes;        // high-water mark of the tensor allocator during one inference
  std::optional<double> flops;  // counted in that inference, whole batch; a multiply-add is two
  std::vector<Layer> layers{};  // in order of execution; empty: not known to this engine
  // Peak device memory of a caching allocator during that inference, its cache included.
  std::optional<std::int64_t> peak_reserved_bytes{};
  std::string note{};  // what may explain that outputs differ from the reference; empty: nothing is known
  // Operands and results of the operators whose FLOPs are counted, each once: what they move at least.
  std::optional<double> bytes{};
};

// How long the parts of an inference took on the device's clock: its inputs to the device, the model, its
// outputs to the host. Empty for what is not copied.
struct PartTimes {
  std::optional<double> inputs_ns{}, model_ns{}, outputs_ns{};
};

using Slot = int;  // one independent set of inputs and outputs; several slots would allow overlap

// Runs one model. It reads no clock, knows none of our file formats, and prints nothing. The caller calls
// load, then bind, then any number of times one or more enqueue and a synchronize; it may bind other data
// between these.
class PACELINE_EXPORT Engine {
 public:
  virtual ~Engine() = default;
  [[nodiscard]] virtual EngineInfo info() const = 0;
  // The inputs that a model file declares. Called without load. Throws Error(kUnsupported) if not known.
  [[nodiscard]] virtual std::vector<DeclaredInput> file_inputs(const std::string& file);
  // Builds or reads the model; may take minutes. Called once.
  virtual void load(const ModelSpec& model, const EngineSettings& settings) = 0;
  // Sets the inputs of a slot, in the order of ModelSpec::inputs. The data must live until the next bind.
  virtual void bind(Slot slot, std::span<const TensorView> inputs) = 0;
  // Starts one inference on the slot's inputs, copies included, and need not wait for it. Several may be
  // started before one synchronize; they run one after the other. An engine that cannot queue an inference
  // waits for the one before.
  virtual void enqueue(Slot slot) = 0;
  // Waits for all inferences of the slot and returns the outputs of the last, in host memory. They stay valid
  // until the slot's next enqueue or bind. Empty if the outputs stay on the device (option io: none): see
  // fetch_outputs.
  [[nodiscard]] virtual std::span<const TensorView> synchronize(Slot slot) = 0;
  // Runs one inference under observation and reports what executed. Never called in a timed pass.
  [[nodiscard]] virtual ReadBack read_back(Slot slot) = 0;
  // Runs one untimed inference and then `inferences` under the engine's profiler, on the slot's inputs.
  // Throws Error(kUnsupported) if the engine has no profiler. Never called in a timed pass.
  [[nodiscard]] virtual LayerTimes profile(Slot slot, int inferences);
  // Time of the slot's last inference on the device's clock, in ns: from the start of the model's first
  // operation to the end of its last, without copies of inputs and outputs. If several were started before
  // the last synchronize, from the start of the first one's model to the end of the last one's, with the
  // copies between them. Called after synchronize, outside the timed region.
  [[nodiscard]] virtual std::optional<double> device_ns(Slot) const { return std::nullopt; }
  // Copies the outputs of the slot's last inference to the host if synchronize left them on the device. They
  // stay valid as long as those of synchronize. Called after synchronize and device_ns, outside the timed
  // region.
  [[nodiscard]] virtual std::span<const TensorView> fetch_outputs(Slot) { return {}; }
  // Removes all data of inferences from the device's caches. Called outside the timed region.
  virtual void flush_caches() {
    throw Error(ErrorCode::kUnsupported,
                "engine '" + info().name + "' cannot empty the caches; use cache_mode: warm");
  }
  // Times of the parts of the slot's last inference. Called after synchronize, outside the timed region.
  [[nodiscard]] virtual PartTimes part_ns(Slot) const { return {}; }
};

inline std::vector<DeclaredInput> Engine::file_inputs(const std::string& file) {
  throw Error(ErrorCode::kUnsupported, "this engine cannot say which inputs '" + file + "' has");
}

inline LayerTimes Engine::profile(Slot, int) {
  throw Error(ErrorCode::kUnsupported, "this engine cannot time its layers");
}

}  // namespace paceline::plugin
