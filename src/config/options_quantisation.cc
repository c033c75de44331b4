// SPDX-License-Identifier: MIT
// Rows of how int8 files are made.
#include <array>

#include "config/option_rows.h"

namespace paceline::config {
namespace {

constexpr std::array<Choice, 3> kActivations{{{"auto"}, {"uint8"}, {"int8"}}};
constexpr std::array<Choice, 3> kMethods{{{"minmax"}, {"percentile"}, {"entropy"}}};

constexpr std::array kQuantisationRows{
    aside({.name = "quantisation.activations",
           .type = kChoice,
           .fallback = "auto",
           .choices = kActivations,
           .idle = {Idle::kNotInt8},
           .help = "uint8 with int32 bias, which ONNX Runtime and OpenVINO run as int8; int8 with float "
                   "bias, which TensorRT does; auto: by engine."}),
    aside({.name = "quantisation.method",
           .type = kChoice,
           .fallback = "percentile",
           .choices = kMethods,
           .idle = {Idle::kNotInt8},
           .help = "Range of an activation: all values seen, all but the farthest, or the one that loses "
                   "least information."}),
    aside({.name = "quantisation.percentile",
           .type = kNumber,
           .fallback = "99.99",
           .unit = "%",
           .range = {50, 100},
           .idle = {Idle::kNotInt8},
           .help = "Share of an activation's values that its range holds, for the method percentile."}),
    aside({.name = "quantisation.samples",
           .type = kInteger,
           .fallback = "32",
           .unit = "inputs",
           .range = {1, 100'000},
           .idle = {Idle::kNotInt8},
           .help = "Calibration inputs."}),
    aside({.name = "quantisation.exclude",
           .form = kList,
           .idle = {Idle::kNotInt8},
           .help = "Layers that stay in float: names with * and ?, and the words first and last."}),
    aside(
        {.name = "calib_images",
         .idle = {Idle::kNotInt8},
         .help = "Folder of JPEG or PNG files to calibrate with; without it and calib_data, random inputs."}),
    aside({.name = "calib_data",
           .form = kList,
           .excludes = "calib_images",
           .idle = {Idle::kNotInt8},
           .help = ".npy, .npz or .bin files to calibrate with (input:x.npy names the input)."}),
    aside({.name = "calib_cache",
           .flags = "--calib",
           .idle = {Idle::kNotInt8},
           .help = "Calibration as JSON: read where it fits the model and the data, else written; in a "
                   "folder, a file for each model. FILE.trt is TensorRT's form."}),
    aside({.name = "int8_sensitivity",
           .type = kBoolean,
           .fallback = "false",
           .idle = {Idle::kNotInt8},
           .help = "Measures what each layer alone costs in 8 bits, and which to exclude."}),
};

}  // namespace

std::span<const Option> quantisation_rows() {
  return kQuantisationRows;
}

}  // namespace paceline::config
