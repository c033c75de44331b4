// SPDX-License-Identifier: MIT
#include "plugin/tensorrt/double_test.h"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>

#include "base/file.h"

namespace paceline::tensorrt_test {
namespace {

constexpr const char* kDriver = "libcuda.so.1";
constexpr const char* kTensorRt = DOUBLE_VERSION == 10 ? "libnvinfer.so.10" : "libnvinfer.so.11";

// Zero of a library that nothing has loaded.
template <typename Result>
Result ask(const char* library, const char* name) {
  void* handle = ::dlopen(library, RTLD_NOW | RTLD_NOLOAD);
  const auto function = reinterpret_cast<Result (*)()>(handle ? ::dlsym(handle, name) : nullptr);
  if (handle && !function) ADD_FAILURE() << library << " has no " << name;
  return function ? function() : Result();
}

}  // namespace

int DoubleState::live_allocations() {
  return ask<int>(kDriver, "fake_live_allocations");
}
int DoubleState::copies() {
  return ask<int>(kDriver, "fake_copies");
}
int DoubleState::enqueued() {
  return ask<int>(kTensorRt, "fake_enqueued");
}
int DoubleState::profilers() {
  return ask<int>(kTensorRt, "fake_profilers");
}
double DoubleState::host_ms() {
  return ask<double>(kDriver, "fake_host_ms");
}
void DoubleState::lose_waits(bool lost) {
  ask<void>(kDriver, lost ? "fake_lose_waits" : "fake_keep_waits");
}
std::string DoubleState::misuse() {
  const char* words = ask<const char*>(kDriver, "fake_misuse");
  return words ? words : "the double's driver is not loaded";
}
void DoubleState::reset() {
  ask<void>(kDriver, "fake_reset");
}

// A library that is loaded already is found by its name wherever it lies.
Double::Double() {
  ::setenv("TENSORRT_ROOT", DOUBLE_ROOT, 1);
  if (!::dlopen(DOUBLE_ROOT "/lib/libcuda.so.1", RTLD_NOW | RTLD_LOCAL)) ADD_FAILURE() << ::dlerror();
  DoubleState::reset();
}

void Double::TearDown() {
  EXPECT_EQ(DoubleState::misuse(), "");
  EXPECT_EQ(is_device_lost_ ? 0 : DoubleState::live_allocations(), 0);
}

std::string Double::write(const std::string& name, const std::string& text) {
  write_file_atomic(folder_.file(name), text);
  return folder_.file(name);
}

std::string Double::read(const std::string& name) {
  return std::filesystem::exists(folder_.file(name)) ? read_file(folder_.file(name)) : "";
}

plugin::BuildSettings Double::settings() {
  plugin::BuildSettings settings;
  settings.profiles = {{{"x", {1, 4}, {2, 4}, {8, 4}}}};
  return settings;
}

plugin::BuildReport Double::build(const std::string& lines, const plugin::BuildSettings& settings) {
  static const plugin::LoadedPlugin loaded{PLUGIN_FILE};
  return loaded.make<plugin::Role::kBuilder>(ENGINE)->build(write("m.onnx", lines), settings,
                                                            folder_.file("m.plan"));
}

std::unique_ptr<plugin::Engine> Double::load(const Shape& shape, const model_files_test::Settings& settings) {
  return model_files_test::load(folder_.file("m.plan"), {{"x", DType::kFloat32, shape}}, settings);
}

std::string value_of(const std::vector<std::pair<std::string, std::string>>& settings,
                     const std::string& name) {
  for (const auto& [key, value] : settings)
    if (key == name) return value;
  return "(no setting)";
}

}  // namespace paceline::tensorrt_test
