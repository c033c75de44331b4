// SPDX-License-Identifier: MIT
#pragma once
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plugin/engine.h"

// Checks that all engines for model files share: file, settings, options and inputs, with the same messages.
namespace paceline::plugin_support {

// The model file. Error(kUnsupported) for a built-in model, Error(kData) for a folder or a missing file.
std::string model_file(const plugin::ModelSpec& model, std::string_view engine,
                       std::span<const std::string_view> suffixes);

// Error(kUnsupported) for a layout other than contiguous and for precisions that are not among `precisions`.
void check_settings(const plugin::EngineSettings& settings, std::string_view engine,
                    std::span<const std::string_view> precisions);

// Error(kUsage) naming the first option that is not among `known`, and the known ones.
void check_options(const std::map<std::string, std::string>& options, std::string_view engine,
                   std::span<const std::string_view> known);
// Reads an option; Error(kUsage) names the value and the accepted ones. `fallback` where it is unset.
bool boolean_option(const std::map<std::string, std::string>& options, const std::string& name,
                    bool fallback);
int count_option(const std::map<std::string, std::string>& options, const std::string& name, int fallback);

// An input as the model file declares it; a dimension is a number, a symbol, or "?" where it is open.
struct DeclaredInput {
  std::string name;
  std::string type;  // float32, or the library's word for a type without a counterpart here
  std::vector<std::string> shape;
};
std::string describe(const DeclaredInput& input);  // "'ids' int64 [N,128]"
std::string describe(const TensorSpec& spec);      // "'ids' int64 [1,128]"
std::string dimension_text(std::int64_t size, std::string_view symbol);

// Error(kUsage) unless the caller's inputs are the model's: same names, types and fixed dimensions.
void check_inputs(std::string_view file, std::span<const DeclaredInput> declared,
                  std::span<const TensorSpec> given);

// Error(kData) for a model without outputs, Error(kUnsupported) where no output is a tensor of numbers.
void check_outputs(std::string_view file, std::size_t count, bool any_numbers);

// Error(kUsage) unless the tensor is what the model was loaded for, contiguous in host memory. With any_batch
// it may have a smaller batch, with any_shape a smaller size in any dimension.
void check_tensor(const TensorView& view, const TensorSpec& spec, const plugin::ModelSpec& model);

// A part of a library's message, what the user can do about it, and whether the engine cannot do it, so that
// nothing is wrong with the file.
struct Advice {
  std::string_view part, advice;
  bool unsupported = false;
};
inline constexpr bool kUnsupportedHere = true;
// Whether the first row whose part the reason contains says so.
bool advises_unsupported(std::string_view reason, std::span<const Advice> rows);
// "<reason>; <advice>" with the first row whose part the reason contains; else the reason alone.
std::string with_advice(std::string reason, std::span<const Advice> rows);
// Prefix of the library's reason if inputs, and not the file, may be at fault: Error(kUsage).
inline constexpr std::string_view kCannotRun =
    "the model cannot run on these inputs (--shapes, --input-values and --load-inputs give others)";
// Adds the length of a decoder's mask if it is not that of past and new tokens.
std::string cannot_run(std::span<const TensorSpec> inputs);
inline constexpr std::string_view kDamagedAdvice =
    "the file is damaged, cut short or something else; export or copy it again";
inline constexpr std::string_view kDataFileAdvice = "copy the model's data file beside it too";
inline constexpr std::string_view kOperatorAdvice =
    "this engine has no such operator; export the model without it, or with an opset that the engine knows";

}  // namespace paceline::plugin_support
