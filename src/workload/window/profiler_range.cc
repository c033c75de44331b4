// SPDX-License-Identifier: MIT
#include "workload/window/profiler_range.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include <array>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/error.h"

namespace paceline::workload {
namespace {

// Plug-ins load their libraries for themselves, so that they are found by name among all that are loaded.
std::string loaded_library(std::string_view part) {
  struct Search {
    std::string_view part;
    std::string path;
  } search{part, {}};
  ::dl_iterate_phdr(
      [](dl_phdr_info* one, std::size_t, void* into) {
        auto& found = *static_cast<Search*>(into);
        const std::string_view path = one->dlpi_name ? one->dlpi_name : "";
        if (path.substr(path.rfind('/') + 1).find(found.part) == std::string_view::npos) return 0;
        found.path = path;
        return 1;
      },
      &search);
  return search.path;
}

std::function<int()> call_of(void* library, const char* name) {
  auto* const found = reinterpret_cast<int (*)()>(::dlsym(library, name));
  return found ? std::function<int()>(found) : std::function<int()>();
}

struct Names {
  std::string_view library;
  const char *synchronize, *start, *stop;
};
constexpr std::array kLibraries{
    Names{"libcudart.so", "cudaDeviceSynchronize", "cudaProfilerStart", "cudaProfilerStop"},
    Names{"libcuda.so", "cuCtxSynchronize", "cuProfilerStart", "cuProfilerStop"}};

void check(int code, const char* what) {
  if (code != 0)
    throw Error(ErrorCode::kUnsupported, fmt::format("CUDA cannot {} the range that the profiler waits for "
                                                     "(code {}); the profile would be empty",
                                                     what, code));
}

}  // namespace

ProfilerCalls find_profiler_calls() {
  for (const auto& names : kLibraries) {
    const auto path = loaded_library(names.library);
    void* const library = path.empty() ? nullptr : ::dlopen(path.c_str(), RTLD_NOLOAD | RTLD_LAZY);
    if (!library) continue;
    ProfilerCalls calls{call_of(library, names.synchronize), call_of(library, names.start),
                        call_of(library, names.stop)};
    if (calls.synchronize && calls.start && calls.stop) return calls;
  }
  return {};
}

bool profiler_waits() {
  return std::getenv("PACELINE_CAPTURE") != nullptr;
}

void ProfilerRange::open() {
  if (!calls_.start)
    throw Error(ErrorCode::kUnsupported,
                "no library of CUDA is loaded in this process, so that the profiler has nothing to wait for; "
                "does the case run on a GPU?");
  check(calls_.synchronize(), "wait for");
  check(calls_.start(), "begin");
}

void ProfilerRange::close() {
  check(calls_.synchronize(), "wait for");
  check(calls_.stop(), "end");
}

}  // namespace paceline::workload
