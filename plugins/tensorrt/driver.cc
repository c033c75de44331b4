// SPDX-License-Identifier: MIT
#include "tensorrt/driver.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <new>

#include "base/error.h"

namespace paceline::tensorrt_plugin {
namespace {

constexpr const char* kLibrary = "libcuda.so.1";
constexpr int kOutOfMemory = 2;
constexpr std::array kNoDevice{3, 35, 100, 803};  // not initialised, old driver, no device, wrong driver

template <typename Function>
void bind(void* handle, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(handle, name));
  if (!function)
    throw Error(ErrorCode::kUnavailable,
                fmt::format("the NVIDIA driver has no {}; it is too old for TensorRT: update it", name));
}

const Driver& initialised_driver() {
  static const Driver opened = open_driver(kLibrary);
  const char* text = nullptr;
  if (const int code = opened.init(0); code != 0) {
    (void)opened.error_text(code, &text);
    throw Error(ErrorCode::kUnavailable,
                fmt::format("the NVIDIA driver does not start: {}", text ? text : "it does not say why"));
  }
  return opened;
}

}  // namespace

Driver open_driver(const char* library) {
  void* handle = ::dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    throw Error(ErrorCode::kUnavailable,
                fmt::format("TensorRT runs on NVIDIA GPUs, and there is no driver here: {}", ::dlerror()));
  Driver d{};
  bind(handle, "cuInit", d.init);
  bind(handle, "cuDriverGetVersion", d.version);
  bind(handle, "cuDeviceGetCount", d.device_count);
  bind(handle, "cuDeviceGetName", d.device_name);
  bind(handle, "cuDeviceGetAttribute", d.device_attribute);
  bind(handle, "cuDevicePrimaryCtxRetain", d.retain_context);
  bind(handle, "cuCtxSetCurrent", d.set_context);
  bind(handle, "cuStreamCreate", d.make_stream);
  bind(handle, "cuStreamSynchronize", d.wait_for_stream);
  bind(handle, "cuStreamWaitEvent", d.follow_event);
  bind(handle, "cuStreamDestroy_v2", d.free_stream);
  bind(handle, "cuEventCreate", d.make_event);
  bind(handle, "cuEventRecord", d.record_event);
  bind(handle, "cuEventElapsedTime", d.elapsed_ms);
  bind(handle, "cuEventDestroy_v2", d.free_event);
  bind(handle, "cuMemAlloc_v2", d.allocate);
  bind(handle, "cuMemFree_v2", d.release);
  bind(handle, "cuMemAllocHost_v2", d.allocate_pinned);
  bind(handle, "cuMemFreeHost", d.release_pinned);
  bind(handle, "cuMemcpyHtoDAsync_v2", d.copy_to_device);
  bind(handle, "cuMemcpyDtoHAsync_v2", d.copy_to_host);
  bind(handle, "cuStreamBeginCapture_v2", d.begin_capture);
  bind(handle, "cuStreamEndCapture", d.end_capture);
  bind(handle, "cuGraphInstantiateWithFlags", d.instantiate_graph);
  bind(handle, "cuGraphLaunch", d.launch_graph);
  bind(handle, "cuGraphExecDestroy", d.free_graph_exec);
  bind(handle, "cuGraphDestroy", d.free_graph);
  bind(handle, "cuGetErrorString", d.error_text);
  return d;
}

const Driver& driver() {
  static const Driver& ready = initialised_driver();
  return ready;
}

std::string error_words(int code) {
  const char* text = nullptr;
  (void)driver().error_text(code, &text);
  return fmt::format("CUDA error {} ({})", code, text ? text : "unknown");
}

void check(int code, std::string_view what) {
  if (code == 0) return;
  if (code == kOutOfMemory) throw std::bad_alloc();
  const bool absent = std::find(kNoDevice.begin(), kNoDevice.end(), code) != kNoDevice.end();
  throw Error(absent ? ErrorCode::kUnavailable : ErrorCode::kInternal,
              fmt::format("{}: {}", what, error_words(code)));
}

}  // namespace paceline::tensorrt_plugin
