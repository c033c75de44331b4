// SPDX-License-Identifier: MIT
#include "attach/capture_mode.h"

#include <dlfcn.h>

#include <array>

namespace paceline::attach {
namespace {

constexpr std::array kRuntimes{"libcudart.so.13", "libcudart.so.12", "libcudart.so.11.0"};
using Exchange = int (*)(int*);  // cudaThreadExchangeStreamCaptureMode
Exchange exchange_mode = nullptr;

void relax_capture(bool relaxed) {
  constexpr int kRelaxed = 2;  // cudaStreamCaptureModeRelaxed
  thread_local int mode = 0;
  if (relaxed) mode = kRelaxed;
  exchange_mode(&mode);
}

}  // namespace

void (*find_capture_mode())(bool) {
  for (const char* name : kRuntimes) {
    void* const runtime = ::dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
    if (!runtime) continue;
    exchange_mode = reinterpret_cast<Exchange>(::dlsym(runtime, "cudaThreadExchangeStreamCaptureMode"));
    return exchange_mode ? relax_capture : nullptr;
  }
  return nullptr;
}

}  // namespace paceline::attach
