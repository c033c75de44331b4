// SPDX-License-Identifier: MIT
#include "onnxruntime/library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <filesystem>

#include "base/error.h"

namespace paceline::ort_plugin {
namespace {
namespace fs = std::filesystem;

constexpr const char* kRoot = "ONNXRUNTIME_ROOT";
constexpr const char* kFix =
    ONNXRUNTIME_INSTALL ", or set ONNXRUNTIME_ROOT to a folder whose lib/ contains libonnxruntime.so.1";

// Its wheel has the library under its full version alone.
std::string library_of_wheel(const fs::path& root) {
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(root / "capi", none))
    if (entry.path().filename().string().starts_with("libonnxruntime.so.1")) return entry.path().string();
  return {};
}

std::string library_path() {
  const char* root = std::getenv(kRoot);
  if (!root || !*root) return ONNXRUNTIME_LIBRARY;
  for (const char* name : {"lib/libonnxruntime.so.1", "lib/libonnxruntime.so"})
    if (const auto file = fs::path(root) / name; fs::exists(file)) return file.string();
  if (auto file = library_of_wheel(root); !file.empty()) return file;
  throw Error(
      ErrorCode::kUnavailable,
      fmt::format("{} is '{}', which contains no lib/libonnxruntime.so.1; correct or unset it", kRoot, root));
}

const OrtApiBase* open_library() {
  const auto path = library_path();
  ::setenv("ORT_DISABLE_TELEMETRY", "1", 0);  // nothing uploads beside a measurement, unless the user set it
  void* handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    throw Error(ErrorCode::kUnavailable, fmt::format("cannot load ONNX Runtime: {}; {}", ::dlerror(), kFix));
  using GetBase = const OrtApiBase* (*)();
  const auto get = reinterpret_cast<GetBase>(::dlsym(handle, "OrtGetApiBase"));
  if (!get) throw Error(ErrorCode::kUnavailable, fmt::format("'{}' is no ONNX Runtime; {}", path, kFix));
  return get();
}

const OrtApiBase& api_base() {
  static const OrtApiBase& base = *open_library();
  return base;
}

Ort::Env* make_environment() {
  const OrtApi* api = api_base().GetApi(ORT_API_VERSION);
  if (!api)
    throw Error(ErrorCode::kUnavailable,
                fmt::format("ONNX Runtime {} is older than API {}, which this plug-in was built for; {}",
                            api_base().GetVersionString(), ORT_API_VERSION, kFix));
  Ort::InitApi(api);
  return new Ort::Env(ORT_LOGGING_LEVEL_WARNING, "paceline");
}

}  // namespace

Ort::Env& environment() {
  static Ort::Env& env = *make_environment();  // never destroyed: sessions may outlive static objects
  return env;
}

std::vector<std::pair<std::string, std::string>> library_versions() {
  environment();
  return {{"ONNX Runtime", api_base().GetVersionString()},
          {"ONNX Runtime API", std::to_string(ORT_API_VERSION)}};
}

}  // namespace paceline::ort_plugin
