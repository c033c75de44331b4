// SPDX-License-Identifier: MIT
#include "tensorrt/library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "base/error.h"

namespace paceline::tensorrt_plugin {
namespace {
namespace fs = std::filesystem;

constexpr const char* kRoot = "TENSORRT_ROOT";
constexpr const char* kFix =
    "install it (pip install tensorrt), or set TENSORRT_ROOT to the folder that contains its lib/";

struct Product {
  std::string_view title, file, parser;
  int headers;  // major version of the headers for its interface
};
constexpr int kHeaders = NV_TENSORRT_MAJOR;
constexpr std::array kProducts{
    Product{"TensorRT", "libnvinfer.so.8", "libnvonnxparser.so.8", 8},
    Product{"TensorRT", "libnvinfer.so.10", "libnvonnxparser.so.10", 10},
    Product{"TensorRT", "libnvinfer.so.11", "libnvonnxparser.so.11", 11},
    Product{"TensorRT-RTX", "libtensorrt_rtx.so.1", "libtensorrt_onnxparser_rtx.so.1", 11},
};
// Folders of archives, of packages of the distribution, of wheels.
constexpr std::array<const char*, 5> kFolders{"lib", "lib64", "", "tensorrt_libs", "tensorrt_rtx_libs"};

struct Candidate {
  const Product* product;
  std::string file;
};

std::string given_root() {
  const char* root = std::getenv(kRoot);
  return root ? root : "";
}

void add_below(const fs::path& root, std::vector<Candidate>& found) {
  for (const auto& product : kProducts)
    for (const char* folder : kFolders)
      if (const auto file = root / folder / product.file; fs::exists(file))
        found.push_back({&product, file.string()});
}

// The libraries to try, best first. A root that is given is the only place; else the one that this plug-in
// was built with, and what the system finds by name.
std::vector<Candidate> candidates() {
  std::vector<Candidate> found;
  const std::string built_with = TENSORRT_BUILD_ROOT, given = given_root();
  if (!given.empty() || !built_with.empty()) add_below(given.empty() ? built_with : given, found);
  if (given.empty())
    for (const auto& product : kProducts) found.push_back({&product, std::string(product.file)});
  return found;
}

[[noreturn]] void refuse(const std::string& message) {
  throw Error(ErrorCode::kUnavailable, message);
}

// Reports what the loader said about libraries that exist, and headers that do not fit.
[[noreturn]] void report_nothing(const std::string& reasons) {
  const auto root = given_root();
  const auto where = root.empty() ? "" : fmt::format(" in {} '{}'", kRoot, root);
  refuse(fmt::format("no library of TensorRT {}{}: {}{}", kHeaders, where, reasons, kFix));
}

template <typename Function>
Function find(void* handle, const char* name) {
  const auto function = reinterpret_cast<Function>(::dlsym(handle, name));
  if (!function) refuse(fmt::format("a TensorRT library without {}; {}", name, kFix));
  return function;
}

int number(void* handle, const char* name) {
  return find<int (*)()>(handle, name)();
}

}  // namespace

Library::Library() {
  std::string reasons;
  for (const auto& [product, file] : candidates()) {
    if (product->headers == kHeaders) handle_ = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_) {
      describe(product->title, (fs::path(file).parent_path() / product->parser).string());
      return;
    }
    if (product->headers == kHeaders)
      reasons += fmt::format("{}; ", ::dlerror());
    else if (fs::exists(file))
      reasons +=
          fmt::format("'{}' needs a plug-in built with headers of TensorRT {}; ", file, product->headers);
  }
  report_nothing(reasons);
}

void Library::describe(std::string_view title, std::string parser_file) {
  title_ = title;
  parser_file_ = std::move(parser_file);
  major_ = number(handle_, "getInferLibMajorVersion");
  version_ = fmt::format("{}.{}.{}", major_, number(handle_, "getInferLibMinorVersion"),
                         number(handle_, "getInferLibPatchVersion"));
}

// The library compares this number with its own. Its interface is the same for every release of a major
// version, so it gets its own number back.
std::unique_ptr<nvinfer1::IBuilder> Library::make_builder(nvinfer1::ILogger& logger) const {
  const auto make = find<void* (*)(void*, int)>(handle_, "createInferBuilder_INTERNAL");
  return std::unique_ptr<nvinfer1::IBuilder>(
      static_cast<nvinfer1::IBuilder*>(make(&logger, number(handle_, "getInferLibVersion"))));
}

std::unique_ptr<nvinfer1::IRuntime> Library::make_runtime(nvinfer1::ILogger& logger) const {
  const auto make = find<void* (*)(void*, int)>(handle_, "createInferRuntime_INTERNAL");
  return std::unique_ptr<nvinfer1::IRuntime>(
      static_cast<nvinfer1::IRuntime*>(make(&logger, number(handle_, "getInferLibVersion"))));
}

std::unique_ptr<nvonnxparser::IParser> Library::make_parser(nvinfer1::INetworkDefinition& network,
                                                            nvinfer1::ILogger& logger) const {
  void* handle = ::dlopen(parser_file_.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) refuse(fmt::format("cannot load the ONNX parser of {}: {}; {}", title_, ::dlerror(), kFix));
  const auto make = find<void* (*)(void*, void*, int)>(handle, "createNvOnnxParser_INTERNAL");
  return std::unique_ptr<nvonnxparser::IParser>(
      static_cast<nvonnxparser::IParser*>(make(&network, &logger, NV_ONNX_PARSER_VERSION)));
}

const Library& library() {
  static const Library& opened = *new Library();
  return opened;
}

std::vector<std::pair<std::string, std::string>> library_versions() {
  return {{library().title(), library().version()}};
}

}  // namespace paceline::tensorrt_plugin
