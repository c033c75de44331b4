// SPDX-License-Identifier: MIT
// Rows of the `build` command.
#include <array>

#include "config/option_rows.h"

namespace paceline::config {
namespace {

constexpr std::array kBuildRows{
    Option{.name = "engine",
           .type = kChoice,
           .help = "Engine that will load the file: openvino (.blob), tensorrt (.plan) or aotinductor (.pt2; "
                   "needs a Python with PyTorch: PACELINE_PYTHON, else python3)."},
    Option{.name = "min_shapes",
           .flags = "--minShapes",
           .help = "Smallest input shapes, e.g. input:1x3x224x224,ids:1x16. Unset: opt_shapes."},
    Option{.name = "opt_shapes",
           .flags = "--optShapes,--shapes",
           .help = "Input shapes that the file is tuned for; ';' separates profiles. Unset: the model's own, "
                   "with --batch for an open batch dimension."},
    Option{.name = "max_shapes", .flags = "--maxShapes", .help = "Largest input shapes. Unset: opt_shapes."},
    Option{.name = "workspace",
           .flags = "--memPoolSize",
           .type = kBytes,
           .unit = "bytes",
           .range = {1 << 20},
           .help = "TensorRT: largest workspace of a layer, e.g. 4GiB, or trtexec's workspace:4096 (in MiB). "
                   "Unset: all device memory."},
    Option{.name = "dla",
           .flags = "--useDLACore",
           .type = kInteger,
           .range = {0, 15},
           .help = "TensorRT: DLA core to build for; layers that it cannot run use the GPU. Unset: the GPU "
                   "for all layers."},
    Option{.name = "device",
           .help = "TensorRT: GPU to build on, e.g. cuda:1; unset: the first. AOTInductor: device that the "
                   "package is for, cpu or cuda; unset: cpu."},
    Option{.name = "freezing",
           .type = kBoolean,
           .help = "AOTInductor: stores weights as constants, folded and laid out in advance, which is "
                   "faster. Unset: true."},
    Option{.name = "builds",
           .type = kInteger,
           .fallback = "1",
           .range = {1, 100},
           .help = "Number of builds, each in a separate process: FILE.plan, FILE.build2.plan, and so on. "
                   "infer with all of them measures how much builds vary."},
    Option{.name = "timing_cache",
           .flags = "--timingCacheFile",
           .written = true,
           .help = "TensorRT: file of kernel timings, read and updated, which makes the next build faster."},
    Option{
        .name = "engine_config",
        .flags = "--config,-c",
        .help =
            "JSON file with these options (`paceline schema engine-config`). Flags on the command line win."},
    Option{.name = "timeout_s",
           .type = kNumber,
           .fallback = "7200",
           .unit = "s",
           .range = {0.1, 604'800},
           .commands = kExport | kBuild,
           .help = "Longest time of a process that exports, calibrates or compiles. It is stopped then, and "
                   "nothing is written."},
    Option{.name = "log",
           .written = true,
           .help = "File for the library's messages. Unset: FILE.log beside the output."},
};

}  // namespace

std::span<const Option> build_rows() {
  return kBuildRows;
}

}  // namespace paceline::config
