// SPDX-License-Identifier: MIT
#include "torch/aoti_program.h"

#include <ATen/core/Tensor.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <torch/csrc/inductor/aoti_package/model_package_loader.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "torch/errors.h"

namespace paceline::torch_plugin {
namespace {

namespace fs = std::filesystem;
using Loader = torch::inductor::AOTIModelPackageLoader;

fs::path folder_of_this_plugin() {
  Dl_info info{};
  ::dladdr(reinterpret_cast<const void*>(&load_package), &info);
  return fs::path(info.dli_fname).parent_path();
}

// The code in a package needs "libtorch.so", whose own dependencies include all of CUDA. Our stand-in of that
// name leads to the CPU library alone; loaded first, it is the one that the loader finds.
void provide_libtorch() {
  const auto file = folder_of_this_plugin() / "torch_cpu_only" / "libtorch.so";
  if (!::dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL))
    throw Error(ErrorCode::kUnavailable,
                fmt::format("cannot load '{}': {}; reinstall paceline", file.string(), ::dlerror()));
}

std::set<std::string> cpu_flags() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("flags")) {
      const auto words = split(line.substr(line.find(':') + 1), ' ');
      return {words.begin(), words.end()};
    }
  return {};
}

// AOTInductor's name of an instruction set, and the flag in /proc/cpuinfo.
struct IsaRow {
  std::string_view name, flag;
};
constexpr IsaRow kIsas[] = {{"AVX2", "avx2"},
                            {"AVX512", "avx512f"},
                            {"AVX512_VNNI", "avx512_vnni"},
                            {"AVX512_BF16", "avx512_bf16"},
                            {"AMX_TILE", "amx_tile"}};

void check_isa(const std::string& file, const std::string& wanted) {
  const auto flags = cpu_flags();
  for (const auto& word : split(wanted, ' '))
    for (const auto& row : kIsas)
      if (word == row.name && !flags.contains(std::string(row.flag)))
        throw Error(ErrorCode::kUnsupported,
                    fmt::format("'{}' was compiled for {}, and this CPU has no {}; export it on this machine",
                                file, wanted, row.flag));
}

class PackageProgram : public Program {
 public:
  explicit PackageProgram(const std::string& file) : loader_(file, "model", true, 1, -1) {
    for (const auto& [key, value] : loader_.get_metadata()) metadata_.emplace_back(key, value);
    std::sort(metadata_.begin(), metadata_.end());
    for (const auto& [key, value] : metadata_)
      if (key == "AOTI_CPU_ISA") check_isa(file, value);
  }
  void run(std::span<const at::Tensor> inputs, std::vector<at::Tensor>& outputs) override {
    outputs = loader_.run({inputs.begin(), inputs.end()});
    if (outputs.empty()) throw Error(ErrorCode::kData, "the AOTInductor package returns no tensor");
  }
  std::int64_t parameter_count() const override { return 0; }  // constants of the package
  std::vector<std::pair<std::string, std::string>> settings() const override {
    std::vector<std::pair<std::string, std::string>> all{{"aotinductor_input_checks", "on"}};
    for (const auto& [key, value] : metadata_) all.emplace_back("aotinductor." + key, value);
    return all;
  }

 private:
  Loader loader_;
  std::vector<std::pair<std::string, std::string>> metadata_;
};

}  // namespace

std::unique_ptr<Program> load_package(const std::string& file) {
  check_file(file);
  ::setenv("AOTI_RUNTIME_CHECK_INPUTS", "1", /*overwrite=*/1);
  provide_libtorch();
  return translate_errors(ErrorCode::kData,
                          fmt::format("'{}' cannot be read as an AOTInductor package; make it with "
                                      "tools/export_aoti.py, with this version of PyTorch",
                                      file),
                          [&] { return std::make_unique<PackageProgram>(file); });
}

}  // namespace paceline::torch_plugin
