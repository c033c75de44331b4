// SPDX-License-Identifier: MIT
#pragma once
#include <dlfcn.h>

#include "fake_device.h"

// How the double of TensorRT reaches the double of the driver: by name, in the library that is loaded.
namespace fake {

template <typename Function>
Function* driver_call(const char* name) {
  static void* const library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  return reinterpret_cast<Function*>(library ? ::dlsym(library, name) : nullptr);
}

// As the CUDA runtime does, which TensorRT uses: a thread without a context gets that of device 0.
inline Context* runtime_context() {
  Context* context = nullptr;
  driver_call<int(unsigned)>("cuInit")(0);
  driver_call<int(Context**)>("cuCtxGetCurrent")(&context);
  if (context) return context;
  driver_call<int(Context**, int)>("cuDevicePrimaryCtxRetain")(&context, 0);
  driver_call<int(Context*)>("cuCtxSetCurrent")(context);
  return context;
}

inline int launch(CUstream_st* stream, const Work& kernel) {
  return driver_call<int(CUstream_st*, const Work*)>("fake_launch")(stream, &kernel);
}
inline int wait_for(CUstream_st* stream) {
  return driver_call<int(CUstream_st*)>("cuStreamSynchronize")(stream);
}
inline bool is_recorded(const CUstream_st* stream) {
  return driver_call<bool(const CUstream_st*)>("fake_is_recorded")(stream);
}
inline void break_recording(CUstream_st* stream) {
  driver_call<void(CUstream_st*)>("fake_break_recording")(stream);
}
// Null where the device, or the host, cannot reach so many bytes there.
inline void* reach(const void* address, std::size_t bytes, bool from_device) {
  return driver_call<void*(std::uint64_t, std::size_t, bool)>("fake_reach")(
      reinterpret_cast<std::uint64_t>(address), bytes, from_device);
}
inline std::uint64_t block_of(const void* address) {
  return driver_call<std::uint64_t(std::uint64_t)>("fake_block")(reinterpret_cast<std::uint64_t>(address));
}
inline void report_misuse(const char* words) {
  driver_call<void(const char*)>("fake_report_misuse")(words);
}

}  // namespace fake
