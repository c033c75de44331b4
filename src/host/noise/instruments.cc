// SPDX-License-Identifier: MIT
#include "host/noise/instruments.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <vector>

#include "base/text.h"

namespace paceline::host {
namespace {

constexpr int kMostAncestors = 64;

// The loader's variables, then those of CUPTI, NVTX, Nsight, our own, VTune and OpenMP.
constexpr std::array kToolVariables{ToolVariable{"LD_PRELOAD", ""},
                                    ToolVariable{"LD_AUDIT", ""},
                                    ToolVariable{"CUDA_INJECTION64_PATH", "a library injected into CUDA"},
                                    ToolVariable{"NVTX_INJECTION64_PATH", "a library injected into NVTX"},
                                    ToolVariable{"NSYS_PROFILING_SESSION_ID", "nsys (Nsight Systems)"},
                                    ToolVariable{"NV_COMPUTE_PROFILER_PERFWORKS_DIR", "ncu (Nsight Compute)"},
                                    ToolVariable{"PACELINE_PROFILER", "a profiler that paceline started"},
                                    ToolVariable{"INTEL_LIBITTNOTIFY64", "VTune"},
                                    ToolVariable{"OMP_TOOL_LIBRARIES", "an OpenMP tool"}};

// A program whose children are watched, too. `verb`: words of its command line of which one must be there; a
// counting `perf stat` changes nothing.
struct Watcher {
  std::string_view program, tool, verbs{};
};
constexpr std::array kWatchers{Watcher{"ncu", "ncu (Nsight Compute)"},
                               Watcher{"nv-nsight-cu-cl", "ncu (Nsight Compute)"},
                               Watcher{"nsys", "nsys (Nsight Systems)"},
                               Watcher{"nsys-launcher", "nsys (Nsight Systems)"},
                               Watcher{"compute-sanitiz", "compute-sanitizer"},
                               Watcher{"cuda-memcheck", "cuda-memcheck"},
                               Watcher{"nvprof", "nvprof"},
                               Watcher{"vtune", "VTune"},
                               Watcher{"heaptrack", "heaptrack"},
                               Watcher{"uftrace", "uftrace"},
                               Watcher{"perf", "perf", "record trace top mem c2c sched lock kmem"}};

// Libraries that tools map into the processes which they watch. LibTorch maps CUPTI itself, so that it is no
// sign.
struct InjectedLibrary {
  std::string_view name, tool;
};
constexpr std::array kInjectedLibraries{
    InjectedLibrary{"/vgpreload_", "valgrind"},
    InjectedLibrary{"/libcuda-injection", "ncu (Nsight Compute)"},
    InjectedLibrary{"/libInterceptorInjection", "ncu (Nsight Compute)"},
    InjectedLibrary{"/libTreeLauncherTargetInjection", "a tool of Nsight"},
    InjectedLibrary{"/libToolsInjection", "nsys (Nsight Systems)"},
    InjectedLibrary{"/libsanitizer-collection", "compute-sanitizer"},
    InjectedLibrary{"/libcuinj64", "nvprof"},
    InjectedLibrary{"/librrpreload", "rr"},
    InjectedLibrary{"/libheaptrack_preload", "heaptrack"},
    InjectedLibrary{"/libmcount", "uftrace"}};

// Sanitizers count where they were preloaded: a program that was built with one has it on purpose.
constexpr std::array<std::string_view, 5> kSanitizers{"asan.so", "tsan.so", "ubsan.so", "lsan.so",
                                                      "clang_rt."};

std::optional<std::string> own_variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value ? std::optional<std::string>(value) : std::nullopt;
}

std::string name_of(const SystemFiles& files, long long process) {
  return files.read_trimmed(fmt::format("proc/{}/comm", process)).value_or("a program");
}

std::string tracer(const SystemFiles& files) {
  const auto status = files.read("proc/self/status");
  const auto id = status ? find_int_field(*status, "TracerPid") : std::nullopt;
  if (!id || *id == 0) return {};
  return fmt::format("{}, which traces it (pid {})", name_of(files, *id), *id);
}

bool has_verb(const SystemFiles& files, long long process, std::string_view verbs) {
  if (verbs.empty()) return true;
  const auto known = split(std::string(verbs), ' ');
  const auto words = split(files.read(fmt::format("proc/{}/cmdline", process)).value_or(""), '\0');
  return std::any_of(words.begin(), words.end(), [&](const auto& word) {
    return std::find(known.begin(), known.end(), word) != known.end();
  });
}

// "PPid:" of a status file; 0: there is none.
long long parent_of(const SystemFiles& files, const std::string& process) {
  const auto status = files.read("proc/" + process + "/status");
  return status ? find_int_field(*status, "PPid").value_or(0) : 0;
}

std::string ancestor(const SystemFiles& files) {
  auto process = parent_of(files, "self");
  for (int step = 0; process > 1 && step < kMostAncestors; ++step) {
    const auto name = name_of(files, process);
    for (const auto& watcher : kWatchers)
      if (name == watcher.program && has_verb(files, process, watcher.verbs))
        return std::string(watcher.tool);
    process = parent_of(files, fmt::format("{}", process));
  }
  return {};
}

std::string injected(const SystemFiles& files) {
  const auto maps = files.read("proc/self/maps").value_or("");
  for (const auto& library : kInjectedLibraries)
    if (maps.find(library.name) != std::string::npos) return std::string(library.tool);
  return {};
}

std::string by_variable(const InstrumentSource& source) {
  const auto value_of = [&](const std::string& name) {
    return (source.variable ? source.variable(name) : own_variable(name)).value_or("");
  };
  for (const auto& variable : kToolVariables)
    if (!variable.tool.empty())
      if (const auto value = value_of(variable.name); !value.empty())
        return fmt::format("{} ({}={})", variable.tool, variable.name, value);
  const auto preload = value_of("LD_PRELOAD");
  for (const auto& library : kSanitizers)
    if (preload.find(library) != std::string::npos)
      return fmt::format("a sanitizer (LD_PRELOAD={})", preload);
  return {};
}

}  // namespace

std::span<const ToolVariable> tool_variables() {
  return kToolVariables;
}

std::string instrument_here(const InstrumentSource& source) {
  for (auto found : {tracer(source.files), ancestor(source.files), injected(source.files)})
    if (!found.empty()) return found;
  return by_variable(source);
}

}  // namespace paceline::host
