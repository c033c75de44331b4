// SPDX-License-Identifier: MIT
// Settles the input shapes of a workload, from what is written and what its model files declare.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/error.h"
#include "base/lower_case.h"
#include "base/model_content.h"
#include "base/npy.h"
#include "base/pretrained_model.h"
#include "base/reading.h"
#include "base/text.h"
#include "config/engine_of_model.h"
#include "config/inference/given_inputs.h"
#include "config/inference/inference_in_plan.h"
#include "config/inference/input_values.h"
#include "config/new_shapes.h"
#include "config/precision_table.h"
#include "config/shapes.h"
#include "config/vocabulary.h"

namespace paceline::config {
namespace {

class InputSettler {
 public:
  explicit InputSettler(WorkloadDraft& draft)
      : draft_(draft), settings_(draft.settings), names_(draft.names), remarks_(draft.remarks) {}

  void run() {
    settle_models();
    for (const auto& model : settings_.texts("models"))
      if (const auto* built_in = find_model(model)) check_new_shapes(*built_in);
  }

 private:
  void settle_models() {
    std::string first;
    std::optional<SettledShapes> settled;
    for (const auto& model : settings_.texts("models")) {
      if (const auto* built_in = find_model(model);
          built_in && (!check_built_in(*built_in) || !check_given(model, inputs_of(*built_in))))
        return;
      if (find_model(model) || find_family(model)) continue;
      const auto mine = settle(model);
      if (!mine || !check_given(model, mine->inputs) || !settle_values(model, *mine)) return;
      if (settled && input_shapes_text(settled->inputs) != input_shapes_text(mine->inputs))
        return settle_differing(first, *settled, model, *mine);
      if (!settled) settled = mine, first = model;
    }
    if (settled) store(*settled);
    if (!values_.empty()) store_values();
  }

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
        fmt::format("models '{}' and '{}' have different inputs ({} and {}); give each a separate workload",
                    one, other, input_shapes_text(its.inputs), input_shapes_text(others.inputs)));
  }

  std::optional<SettledShapes> settle(const std::string& model) try {
    std::vector<InputShape> shapes;
    if (settings_.has("shapes")) shapes = parse_input_shapes(settings_.text("shapes"));
    const auto known = declared_inputs(model, shapes);
    auto declared = known.value_or(std::vector<DeclaredInput>{});
    if (!all_declared(shapes, declared)) declared.clear();
    if (!known && !settings_.has("shapes")) return needs_shapes(model);
    if (shapes.empty() && declared.empty()) check_no_batch();
    ShapeHints hints{first_output_shape(model, declared), arrays_for(declared)};
    if (place_of(blamed_for_shapes()).line != 0)
      hints.shapes_option = "shapes: ", hints.batch_option = "batch: ";
    declared_ = declared;
    return settle_shapes(shapes, declared, batches(), hints);
  } catch (const Error& error) {
    auto reason = fmt::format("model '{}': {}", model, error.what());
    const bool no_tensor = error.code() == ErrorCode::kUnsupported && model_suffix(model) == ".onnx";
    if (no_tensor || no_mistake(error.code())) throw Error(error.code(), reason);
    report(blamed_for_shapes(), std::move(reason));
    return std::nullopt;
  }
  [[nodiscard]] std::string_view blamed_for_shapes() const {
    return settings_.has("shapes") ? "shapes" : "models";
  }

  // The arrays of load_inputs by the inputs that they are for. What cannot be read is refused where it is
  // used.
  [[nodiscard]] std::vector<TensorSpec> arrays_for(const std::vector<DeclaredInput>& declared) const try {
    std::vector<TensorSpec> arrays;
    for (const auto& text : settings_.texts("load_inputs")) {
      const auto [name, file] = name_and_file(text);
      if (!file.ends_with(".npy") && !file.ends_with(".npz")) continue;
      auto specs = read_npy_or_npz_specs(file);
      const auto known = [&](const TensorSpec& spec) {
        return std::ranges::count(declared, spec.name, &DeclaredInput::name) != 0;
      };
      const bool alone = specs.size() == 1 && declared.size() == 1 && !known(specs.front());
      if (specs.size() == 1 && !name.empty()) specs.front().name = name;
      if (alone && name.empty()) specs.front().name = declared.front().name;
      arrays.insert(arrays.end(), specs.begin(), specs.end());
    }
    return arrays;
  } catch (const Error&) {
    return {};
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
    if (const auto why = no_model_file(model); why && find_file_type(model)) {
      report("models", fmt::format("model '{}' {}", model, *why));
      return std::nullopt;
    }
    report("models",
           fmt::format("model '{}' needs shapes for its inputs, e.g. shapes: 'input:1x3x224x224'", model));
    return std::nullopt;
  }

  void check_no_batch() const {
    for (const auto batch : batches())
      if (batch != 1)
        throw Error(
            ErrorCode::kConfig,
            fmt::format("batch {} is asked for, and the model takes no inputs; leave the batch out", batch));
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

  // The first engine asked for that reads such files, or may, as one of the user's. If none does, the one
  // that the name implies, and the cases say why they cannot run.
  [[nodiscard]] std::string reader_among_engines(const std::string& model) const {
    const auto engines = settings_.texts("engines");
    if (engines.empty()) return {};
    const auto& readers = find_file_type(model)->readers;
    const auto reader = std::ranges::find_if(engines, [&](const auto& engine) {
      return std::ranges::count(readers, engine) > 0 || (engine != kEngineOfModel && !find_engine(engine));
    });
    return reader == engines.end() ? engine_of_model(model) : *reader;
  }

  // Where shapes are written, no process is started to read a file that only its engine can read, and a file
  // that cannot be read is left for the engine to refuse.
  [[nodiscard]] std::optional<std::vector<DeclaredInput>> declared_inputs(
      const std::string& model, const std::vector<InputShape>& shapes) const try {
    const bool written = !shapes.empty();
    if (!names_.extra || !names_.extra->declared_inputs || !find_file_type(model)) return std::nullopt;
    if (!std::filesystem::exists(model)) {
      if (written) return std::nullopt;
      throw Error(ErrorCode::kUsage, "the file does not exist");
    }
    const bool cheap = model_suffix(model) == ".onnx" && std::filesystem::is_regular_file(model);
    if (written && !cheap && !may_have_no_batch(shapes)) return std::nullopt;
    check_regular_file(model);
    return names_.extra->declared_inputs(model, reader_among_engines(model),
                                         settings_.texts("load_libraries"));
  } catch (const Error& error) {
    if (shapes.empty() || error.code() != ErrorCode::kData) throw;
    return std::nullopt;
  }

  [[nodiscard]] std::vector<std::int64_t> batches() const {
    std::vector<std::int64_t> sizes;
    if (!written("batch_sizes")) return sizes;
    for (const auto& value : settings_.list("batch_sizes")) sizes.push_back(std::get<std::int64_t>(value));
    return sizes;
  }

  // Which integers are generated: those that are written, else below what the file says that they index, else
  // 1, which is said. Of one number alone 1 means too much. False: a mistake was found.
  bool settle_values(const std::string& model, const SettledShapes& settled) try {
    std::vector<std::string> ones, asked, examples;
    for (const auto& input : settled.inputs) {
      const auto dtype = input.dtype.value_or(DType::kFloat32);
      const auto found = written_values(input.name);
      if (found) check_values(*found, dtype);
      const bool whole = needs_values(dtype);
      if (found || (!whole && declared_.empty())) continue;
      if (const auto known = known_values(model, input, settled)) {
        if (generates()) add_values(*known);  // a forgotten array is not made up
      } else if (whole && input.shape.empty()) {
        asked.push_back(fmt::format("'{}' ({})", input.name, dtype_name(dtype)));
        examples.push_back(
            input_values_text({input.name, example_value(input.name), example_value(input.name)}));
      } else if (whole && dtype_size_bytes(dtype) > 1) {
        ones.push_back(input.name);
      }
    }
    std::vector<std::string> names;
    for (const auto& input : settled.inputs) names.push_back(input.name);
    check_named_values(names);
    if (generates()) say(model, ones, asked, examples);
    return asked.empty() || !generates();
  } catch (const Error& error) {
    report("input_values", fmt::format("model '{}': {}", model, error.what()));
    return false;
  }

  void say(const std::string& model, const std::vector<std::string>& ones,
           const std::vector<std::string>& asked, const std::vector<std::string>& examples) {
    const std::string option = values_option();
    if (!asked.empty())
      report("models", fmt::format("model '{}' needs a value for the integer input {}; give it, e.g. {}{}",
                                   model, join(asked, ", "), option, join(examples, ",")));
    for (const auto& name : ones) {
      add_values({name, 1, 1});
      if (lower_case(name).find("mask") == std::string::npos)  // ones hide nothing
        remarks_.push_back(
            fmt::format("model '{}': '{}' is filled with 1, because the file does not define its range; set "
                        "one with {}{}:FROM..TO",
                        model, name, option, name));
    }
  }

  static double example_value(const std::string& name) {
    const auto word = lower_case(name);
    return word == "sr" || word.find("rate") != std::string::npos ? 16000 : 1;
  }

  // Whether inputs are made up, and not the user's own.
  [[nodiscard]] bool generates() const {
    return settings_.texts("load_inputs").empty() && !settings_.has("image_dir");
  }

  [[nodiscard]] std::optional<InputValues> written_values(const std::string& name) const {
    if (!settings_.has("input_values")) return std::nullopt;
    for (const auto& text : settings_.texts("input_values"))
      if (auto values = parse_input_values(text); values.name == name) return values;
    return std::nullopt;
  }

  // The user's arrays. False: one cannot be an input.
  bool check_given(const std::string& model, const std::vector<InputShape>& inputs) {
    const auto why = unfit_inputs(settings_.texts("load_inputs"), inputs);
    if (!why.empty()) report("load_inputs", fmt::format("model '{}': {}", model, why));
    return why.empty();
  }

  // Values that are written for a built-in model. False: a mistake was found.
  bool check_built_in(const Model& model) try {
    std::vector<std::string> names;
    for (const auto& input : model.inputs) {
      names.emplace_back(input.name);
      if (const auto values = written_values(names.back())) check_values(*values, input.dtype);
    }
    check_named_values(names);
    return true;
  } catch (const Error& error) {
    report("input_values", fmt::format("model '{}': {}", model.name, error.what()));
    return false;
  }

  void check_named_values(const std::vector<std::string>& names) const {
    if (!settings_.has("input_values")) return;
    for (const auto& text : settings_.texts("input_values"))
      if (const auto name = parse_input_values(text).name; std::ranges::count(names, name) == 0)
        throw Error(ErrorCode::kConfig,
                    fmt::format("input_values '{}' matches no input of the model; its inputs are {}", text,
                                join(names, ", ")));
  }

  // Values that the file declares. A file that only its engine can read was not read if shapes are written.
  std::optional<InputValues> known_values(const std::string& model, const InputShape& input,
                                          const SettledShapes& settled) {
    if (declared_.empty() && std::exchange(asked_, model) != model) declared_ = read_again(model);
    const auto found = std::ranges::find(declared_, input.name, &DeclaredInput::name);
    const auto values = found == declared_.end() ? std::nullopt : declared_values(*found, settled.inputs);
    return values || !input.shape.empty() ? values : compared_number(model, input);
  }

  // A file that asks whether a number is 16000 takes it to be that.
  [[nodiscard]] std::optional<InputValues> compared_number(const std::string& model,
                                                           const InputShape& input) const {
    if (!names_.extra || !names_.extra->compared_numbers) return std::nullopt;
    const auto numbers = names_.extra->compared_numbers(model);
    const auto found = numbers.find(input.name);
    if (found == numbers.end()) return std::nullopt;
    const auto number = static_cast<double>(found->second);
    remarks_.push_back(
        fmt::format("model '{}': '{}' is {}, with which the file compares it; set another one "
                    "with {}{}:VALUE",
                    model, input.name, number, values_option(), input.name));
    return InputValues{input.name, number, number};
  }

  [[nodiscard]] std::string values_option() const {
    return place_of("models").line == 0 ? "--input-values " : "input_values: ";
  }

  [[nodiscard]] std::vector<DeclaredInput> read_again(const std::string& model) const try {
    return declared_inputs(model, {}).value_or(std::vector<DeclaredInput>{});
  } catch (const Error&) {
    return {};  // the engine refuses it
  }

  // Files that share a workload share its inputs.
  void add_values(const InputValues& values) {
    const auto found = std::ranges::find(values_, values.name, &InputValues::name);
    if (found == values_.end())
      values_.push_back(values);
    else if (!values.below_batch)
      found->to = std::min(found->to, values.to), found->from = std::min(found->from, found->to);
  }

  void store_values() {
    std::vector<Value> all;
    if (settings_.has("input_values"))
      for (const auto& text : settings_.texts("input_values")) all.emplace_back(text);
    for (const auto& values : values_) all.emplace_back(input_values_text(values));
    settings_.set_list("input_values", std::move(all));
  }

  // A file keeps its own precision where none is asked for.
  void take_precision_of_files() {
    const auto models = settings_.texts("models");
    const auto is_file = [](const std::string& model) { return !find_model(model) && find_file_type(model); };
    if (!written("precisions") && std::all_of(models.begin(), models.end(), is_file))
      settings_.set_list("precisions", {Value(std::string(kPrecisionOfFile))});
  }

  [[nodiscard]] std::int64_t smallest(const char* axis, std::int64_t unset) const {
    const auto sizes = settings_.numbers(axis);
    return sizes.empty() ? unset : static_cast<std::int64_t>(std::ranges::min(sizes));
  }

  // Each case completes those of a built-in model for itself, at no smaller batch and length.
  void check_new_shapes(const Model& model) try {
    if (settings_.has("new_shapes"))
      complete_new_shapes(parse_new_shapes(settings_.texts("new_shapes")), model,
                          smallest("sequence_lengths", model.default_sequence_length),
                          smallest("batch_sizes", 1));
  } catch (const Error& error) {
    report("new_shapes", fmt::format("model '{}': {}", model.name, error.what()));
  }

  void store_new_shapes(const std::vector<InputShape>& loaded) try {
    if (!settings_.has("new_shapes")) return;
    const auto shapes = complete_new_shapes(parse_new_shapes(settings_.texts("new_shapes")), loaded,
                                            declared_, smallest("batch_sizes", 1));
    std::vector<Value> texts;
    for (auto& text : new_shape_texts(shapes)) texts.emplace_back(std::move(text));
    settings_.set_list("new_shapes", std::move(texts));
  } catch (const Error& error) {
    report("new_shapes", error.what());
  }

  void store(const SettledShapes& settled) {
    settings_.set("shapes", input_shapes_text(settled.inputs));
    take_precision_of_files();
    if (!written("batch_sizes")) {
      std::vector<Value> sizes(settled.batches.begin(), settled.batches.end());
      settings_.set_list("batch_sizes", std::move(sizes));
    }
    store_new_shapes(settled.inputs);
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

  [[nodiscard]] bool written(std::string_view name) const { return draft_.written(name) != nullptr; }
  [[nodiscard]] Place place_of(std::string_view name) const { return draft_.place_of(name); }
  void report(std::string_view name, const std::string& message) { draft_.report(name, message); }

  WorkloadDraft& draft_;
  Settings& settings_;
  const NameSpace& names_;
  std::vector<std::string>& remarks_;
  std::vector<DeclaredInput> declared_;  // by the model that was settled last
  std::vector<InputValues> values_;      // of inputs for which nothing is written
  std::string asked_;                    // the model that was read again
};

}  // namespace

void settle_inputs(WorkloadDraft& draft) {
  if (draft.settings.has("models")) InputSettler(draft).run();
}

}  // namespace paceline::config
