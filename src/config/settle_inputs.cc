// SPDX-License-Identifier: MIT
// Settles the input shapes of a workload, from what is written and what its model files declare.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/pretrained_model.h"
#include "base/reading.h"
#include "config/engine_of_model.h"
#include "config/plan.h"
#include "config/precision_table.h"
#include "config/settings_builder.h"
#include "config/shapes.h"
#include "config/vocabulary.h"

namespace paceline::config {
namespace {

class InputSettler {
 public:
  InputSettler(Settings& settings, std::span<const RawSetting> raw, Place where, const NameSpace& names,
               std::vector<Diagnostic>& problems)
      : settings_(settings), raw_(raw), where_(std::move(where)), names_(names), problems_(problems) {}

  void run() {
    std::string first;
    std::optional<SettledShapes> settled;
    for (const auto& model : settings_.texts("models")) {
      if (find_model(model) || find_family(model)) continue;
      const auto mine = settle(model);
      if (!mine) return;
      if (settled && input_shapes_text(settled->inputs) != input_shapes_text(mine->inputs))
        return settle_differing(first, *settled, model, *mine);
      if (!settled) settled = mine, first = model;
    }
    if (settled) store(*settled);
  }

 private:
  // Files with different inputs: the written shapes must do for all; each engine reports what does not fit.
  void settle_differing(const std::string& one, const SettledShapes& its, const std::string& other,
                        const SettledShapes& others) {
    if (settings_.has("shapes")) {
      try {
        return store(settle_shapes(parse_input_shapes(settings_.text("shapes")), {}, batches()));
      } catch (const Error&) {  // the difference explains more
      }
    }
    report(
        "models",
        fmt::format("models '{}' and '{}' have different inputs ({} and {}); give each a workload of its own",
                    one, other, input_shapes_text(its.inputs), input_shapes_text(others.inputs)));
  }

  std::optional<SettledShapes> settle(const std::string& model) try {
    std::vector<InputShape> shapes;
    if (settings_.has("shapes")) shapes = parse_input_shapes(settings_.text("shapes"));
    auto declared = declared_inputs(model, shapes);
    if (!all_declared(shapes, declared)) declared.clear();
    if (shapes.empty() && declared.empty()) return needs_shapes(model);
    return settle_shapes(shapes, declared, batches(), first_output_shape(model, declared));
  } catch (const Error& error) {
    auto reason = fmt::format("model '{}': {}", model, error.what());
    if (no_mistake(error.code())) throw Error(error.code(), reason);
    report(settings_.has("shapes") ? "shapes" : "models", std::move(reason));
    return std::nullopt;
  }

  // Errors that are not mistakes of the plan: a library is missing, or the process that reads the file hung,
  // crashed or ran out of memory.
  static bool no_mistake(ErrorCode code) {
    return code == ErrorCode::kUnavailable || code == ErrorCode::kTimeout || code == ErrorCode::kInternal;
  }

  [[nodiscard]] std::optional<Shape> first_output_shape(const std::string& model,
                                                        const std::vector<DeclaredInput>& declared) const {
    if (declared.empty() || !names_.extra || !names_.extra->first_output_shape) return std::nullopt;
    return names_.extra->first_output_shape(model);
  }

  // An unknown input name is left for the engine to refuse, so that one bad file of a list fails one case.
  static bool all_declared(const std::vector<InputShape>& shapes,
                           const std::vector<DeclaredInput>& declared) {
    return std::all_of(shapes.begin(), shapes.end(), [&](const InputShape& shape) {
      return std::any_of(declared.begin(), declared.end(),
                         [&](const DeclaredInput& input) { return input.name == shape.name; });
    });
  }

  std::nullopt_t needs_shapes(const std::string& model) {
    const bool was_read = model.ends_with(".onnx") && names_.extra && names_.extra->declared_inputs;
    report("models", was_read
                         ? fmt::format("model '{}': no inputs were found in it; it is damaged, cut short "
                                       "or no ONNX file, or it takes none; export or copy it again",
                                       model)
                         : fmt::format("model '{}' needs shapes for its inputs, e.g. shapes: "
                                       "'input:1x3x224x224'",
                                       model));
    return std::nullopt;
  }

  // Sizes without a batch, as in a stored plan: only the file tells that it has none.
  [[nodiscard]] bool may_have_no_batch(const std::vector<InputShape>& shapes) const {
    return batches() == std::vector<std::int64_t>{1} &&
           std::none_of(shapes.begin(), shapes.end(), [](const InputShape& input) {
             const auto& shape = input.shape;
             return std::find(shape.begin(), shape.end(), kBatchSize) != shape.end() ||
                    (!shape.empty() && shape.front() == 1);
           });
  }

  // Where shapes are written, no process is started to read a file that only its engine can read, and a file
  // that cannot be read is left for the engine to refuse.
  [[nodiscard]] std::vector<DeclaredInput> declared_inputs(const std::string& model,
                                                           const std::vector<InputShape>& shapes) const {
    const bool written = !shapes.empty();
    if (!names_.extra || !names_.extra->declared_inputs || !find_file_type(model)) return {};
    if (!std::filesystem::exists(model)) {
      if (written) return {};
      throw Error(ErrorCode::kUsage, "the file does not exist");
    }
    const bool cheap = model.ends_with(".onnx") && std::filesystem::is_regular_file(model);
    if (written && !cheap && !may_have_no_batch(shapes)) return {};
    check_regular_file(model);
    const auto engines = settings_.texts("engines");
    const bool own = !engines.empty() && engines.front() == kEngineOfModel;
    return names_.extra->declared_inputs(model, own               ? engine_of_model(model)
                                                : engines.empty() ? std::string()
                                                                  : engines.front());
  }

  [[nodiscard]] std::vector<std::int64_t> batches() const {
    std::vector<std::int64_t> sizes;
    if (!written("batch_sizes")) return sizes;
    for (const auto& value : settings_.list("batch_sizes")) sizes.push_back(std::get<std::int64_t>(value));
    return sizes;
  }

  // A file keeps its own precision where none is asked for.
  void take_precision_of_files() {
    const auto models = settings_.texts("models");
    const auto is_file = [](const std::string& model) { return !find_model(model) && find_file_type(model); };
    if (!written("precisions") && std::all_of(models.begin(), models.end(), is_file))
      settings_.set_list("precisions", {Value(std::string(kPrecisionOfFile))});
  }

  void store(const SettledShapes& settled) {
    settings_.set("shapes", input_shapes_text(settled.inputs));
    take_precision_of_files();
    if (!written("batch_sizes")) {
      std::vector<Value> sizes(settled.batches.begin(), settled.batches.end());
      settings_.set_list("batch_sizes", std::move(sizes));
    }
    if (most_requests() < 2) return;
    for (const auto& input : settled.inputs)
      if (batch_dimension(input) != std::optional<std::size_t>(0))
        report("server.max_batch", fmt::format("server.max_batch puts requests together along dimension 0 of "
                                               "every input, and '{}' is {}; leave server.max_batch out",
                                               input.name, input_shapes_text({input})));
  }

  [[nodiscard]] std::int64_t most_requests() const {
    std::int64_t most = 1;
    for (const auto& value : settings_.list("server.max_batch"))
      most = std::max(most, std::get<std::int64_t>(value));
    return most;
  }

  [[nodiscard]] const RawSetting* written(std::string_view name) const {
    const auto found =
        std::find_if(raw_.rbegin(), raw_.rend(), [&](const RawSetting& r) { return r.name == name; });
    return found == raw_.rend() ? nullptr : &*found;
  }

  void report(std::string_view name, std::string message) {
    const auto* setting = written(name);
    const auto place = !setting                  ? where_
                       : setting->values.empty() ? setting->place
                                                 : setting->values.front().place;
    problems_.push_back(diagnostic(place, std::move(message)));
  }

  Settings& settings_;
  std::span<const RawSetting> raw_;
  Place where_;
  const NameSpace& names_;
  std::vector<Diagnostic>& problems_;
};

}  // namespace

void settle_inputs(Settings& settings, std::span<const RawSetting> raw, const Place& where,
                   const NameSpace& names, std::vector<Diagnostic>& problems) {
  if (settings.has("models")) InputSettler(settings, raw, where, names, problems).run();
}

}  // namespace paceline::config
