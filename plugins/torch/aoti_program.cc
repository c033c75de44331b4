// SPDX-License-Identifier: MIT
#include "torch/aoti_program.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <torch/csrc/inductor/aoti_package/model_package_loader.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "base/bounded_json.h"
#include "base/error.h"
#include "base/json.h"
#include "base/model_content.h"
#include "base/text.h"
#include "torch/errors.h"

namespace paceline::torch_plugin {
namespace {

namespace fs = std::filesystem;
using Loader = torch::inductor::AOTIModelPackageLoader;
using Metadata = std::map<std::string, std::string>;

constexpr const char* kModel = "model";  // the only one of a package
// Written by aotinductor_build.py.
constexpr const char *kInputsKey = "PACELINE_INPUTS", *kPrecisionKey = "PACELINE_PRECISION";

fs::path folder_of(const void* symbol) {
  Dl_info info{};
  ::dladdr(symbol, &info);
  return fs::path(info.dli_fname).parent_path();
}

// The code in a package needs "libtorch.so", whose own dependencies include all of CUDA. On the CPU our
// stand-in of that name leads to the CPU library alone; loaded first, it is the one that the loader finds.
void provide_libtorch(const at::Device& device) {
  const auto folder = device.is_cpu()
                          ? folder_of(reinterpret_cast<const void*>(&load_package)) / "torch_cpu_only"
                          : folder_of(reinterpret_cast<const void*>(&at::get_num_threads));
  const auto file = folder / "libtorch.so";
  if (!::dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL))
    throw Error(ErrorCode::kUnavailable, fmt::format("cannot load '{}': {}; reinstall {}", file.string(),
                                                     ::dlerror(), device.is_cpu() ? "paceline" : "PyTorch"));
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

std::string value_of(const Metadata& metadata, const std::string& key) {
  const auto it = metadata.find(key);
  return it == metadata.end() ? "" : it->second;
}

[[noreturn]] void refuse(const std::string& file, const std::string& what) {
  throw Error(ErrorCode::kUnsupported, fmt::format("'{}' was compiled for {}", file, what));
}

void check_isa(const std::string& file, const std::string& wanted) {
  const auto flags = cpu_flags();
  for (const auto& word : split(wanted, ' '))
    for (const auto& row : kIsas)
      if (word == row.name && !flags.contains(std::string(row.flag)))
        refuse(file, fmt::format("{}, and this CPU has no {}; build it on this machine", wanted, row.flag));
}

// Code for a GPU runs on devices of the same major capability from its own minor one on.
void check_capability(const std::string& file, const std::string& text, int have) {
  const auto wanted = parse_int(text).value_or(0);
  if (wanted == 0 || (wanted / 10 == have / 10 && wanted <= have)) return;
  refuse(file, fmt::format("compute capability {}.{}, and this device has {}.{}; build it on this device",
                           wanted / 10, wanted % 10, have / 10, have % 10));
}

void check_use(const std::string& file, const Metadata& metadata, const PackageUse& use) {
  const auto device = value_of(metadata, "AOTI_DEVICE_KEY"), precision = value_of(metadata, kPrecisionKey);
  const auto here = c10::DeviceTypeName(use.device.type(), /*lower_case=*/true);
  if (!device.empty() && device != here)
    refuse(file, fmt::format("{0}, and this case runs on {1}; use --device {0}, or build it for this device "
                             "(paceline build --engine aotinductor --device {1})",
                             device, here));
  if (!precision.empty() && precision != use.precision)
    refuse(file, fmt::format("{0}, and {1} is asked for; use --precision {0}, or build it in {1}", precision,
                             use.precision));
  if (use.device.is_cpu())
    check_isa(file, value_of(metadata, "AOTI_CPU_ISA"));
  else
    check_capability(file, value_of(metadata, "AOTI_COMPUTE_CAPABILITY"), use.capability);
}

// Reads a package's description of itself; nothing of it is loaded.
Metadata metadata_of(const std::string& file) {
  check_file(file);
  if (is_exported_program(file))
    throw Error(
        ErrorCode::kData,
        fmt::format("'{0}' is a program of torch.export, without compiled code; compile it: python3 -c "
                    "\"import torch; torch._inductor.aoti_compile_and_package(torch.export.load('{0}'), "
                    "package_path='compiled.pt2')\"",
                    file));
  return translate_errors(
      ErrorCode::kData,
      fmt::format("'{}' cannot be read as an AOTInductor package; make it with paceline build "
                  "--engine aotinductor, with this version of PyTorch",
                  file),
      [&] {
        const auto read = Loader::load_metadata_from_package(file, kModel);
        return Metadata(read.begin(), read.end());
      });
}

class PackageProgram : public Program {
 public:
  PackageProgram(const std::string& file, Metadata metadata, const at::Device& device)
      : loader_(file, kModel, /*run_single_threaded=*/true, 1, device.index()),
        metadata_(std::move(metadata)),
        device_(device) {}
  void run(std::span<const at::Tensor> inputs, std::vector<at::Tensor>& outputs) override {
    outputs = loader_.run({inputs.begin(), inputs.end()}, stream());
    if (outputs.empty()) throw Error(ErrorCode::kData, "the AOTInductor package returns no tensor");
  }
  std::int64_t parameter_count() const override { return 0; }  // constants of the package
  bool countable() const override { return false; }  // its code calls kernels without the dispatcher
  std::vector<std::pair<std::string, std::string>> settings() const override {
    std::vector<std::pair<std::string, std::string>> all{{"aotinductor_input_checks", "on"}};
    for (const auto& [key, value] : metadata_)
      if (key != kInputsKey) all.emplace_back("aotinductor." + key, value);
    return all;
  }

 private:
  [[nodiscard]] void* stream() const {
    if (device_.is_cpu()) return nullptr;
    return c10::impl::VirtualGuardImpl(device_.type()).getStream(device_).native_handle();
  }

  Loader loader_;
  Metadata metadata_;
  at::Device device_;
};

}  // namespace

std::unique_ptr<Program> load_package(const plugin::ModelSpec& model, const PackageUse& use) {
  if (!model.name.empty())
    throw Error(
        ErrorCode::kUnsupported,
        fmt::format(
            "aotinductor reads packages: make one with paceline build --engine aotinductor --model {0} "
            "--batch {1} --out {0}.pt2, and pass it with --model {0}.pt2",
            model.name, model.inputs.empty() ? 1 : model.inputs.front().shape.at(0)));
  auto metadata = metadata_of(model.file);
  check_use(model.file, metadata, use);
  ::setenv("AOTI_RUNTIME_CHECK_INPUTS", "1", /*overwrite=*/1);
  provide_libtorch(use.device);
  if (!use.device.is_cpu()) at::globalContext().lazyInitDevice(use.device.type());  // packages do not
  return translate_errors(
      ErrorCode::kData, fmt::format("the AOTInductor package '{}' cannot be loaded", model.file),
      [&] { return std::make_unique<PackageProgram>(model.file, std::move(metadata), use.device); });
}

std::vector<DeclaredInput> package_inputs(const std::string& file) {
  const auto text = value_of(metadata_of(file), kInputsKey);
  if (text.empty())
    throw Error(
        ErrorCode::kUnsupported,
        fmt::format(
            "'{}' was not made by paceline build, and does not say which inputs it has; give --shapes",
            file));
  return translate_errors(ErrorCode::kData, fmt::format("the inputs that '{}' names cannot be read", file),
                          [&] {
                            std::vector<DeclaredInput> inputs;
                            for (const auto& input : parsed_json(text))
                              inputs.push_back({input.at("name").get<std::string>(),
                                                parse_dtype(input.at("dtype").get<std::string>()),
                                                input.at("shape").get<Shape>()});
                            return inputs;
                          });
}

}  // namespace paceline::torch_plugin
