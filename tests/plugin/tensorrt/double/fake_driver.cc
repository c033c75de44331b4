// SPDX-License-Identifier: MIT
// Stands in for libcuda.so.1: two devices whose memory is the host's.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "fake_stream.h"

namespace {

constexpr int kNotWhileRecording = 900, kRecordingBroken = 901;

struct Graph {
  std::vector<std::function<void()>> work;
};

int live_allocations = 0;

int allocate(void** memory, std::size_t bytes) {
  *memory = std::malloc(bytes);
  ++live_allocations;
  return 0;
}

int release(void* memory) {
  std::free(memory);
  --live_allocations;
  return 0;
}

}  // namespace

extern "C" {

int fake_live_allocations() {
  return live_allocations;
}
int cuInit(unsigned) {
  return 0;
}
int cuDriverGetVersion(int* version) {
  *version = 13010;
  return 0;
}
int cuDeviceGetCount(int* count) {
  *count = 2;
  return 0;
}
int cuDeviceGetName(char* name, int length, int device) {
  std::snprintf(name, static_cast<std::size_t>(length), "double %d", device);
  return 0;
}
int cuDeviceGetAttribute(int* value, int attribute, int) {
  *value = attribute == 75 ? 9 : 0;
  return 0;
}
int cuDevicePrimaryCtxRetain(void** context, int) {
  static int primary;
  *context = &primary;
  return 0;
}
int cuCtxSetCurrent(void* context) {
  return context ? 0 : 201;
}
int cuStreamCreate(CUstream_st** stream, unsigned) {
  *stream = new CUstream_st();
  ++live_allocations;
  return 0;
}
int cuStreamSynchronize(CUstream_st* stream) {
  if (stream->recorded_from) {
    stream->broken = true;
    return kNotWhileRecording;
  }
  for (const auto& work : stream->work) work();
  stream->work.clear();
  return 0;
}
int cuStreamDestroy_v2(CUstream_st* stream) {
  delete stream;
  --live_allocations;
  return 0;
}
int cuEventCreate(float** event, unsigned) {
  *event = new float(0);
  ++live_allocations;
  return 0;
}
// A clock that goes on by a millisecond at every look.
int cuEventRecord(float* event, CUstream_st*) {
  static float now_ms = 0;
  *event = ++now_ms;
  return 0;
}
int cuEventElapsedTime(float* ms, const float* begin, const float* end) {
  *ms = *end - *begin;
  return 0;
}
int cuEventDestroy_v2(float* event) {
  delete event;
  --live_allocations;
  return 0;
}
int cuMemAlloc_v2(std::uint64_t* memory, std::size_t bytes) {
  void* address = nullptr;
  const int code = bytes > (std::size_t{1} << 40) ? 2 : allocate(&address, bytes);
  *memory = reinterpret_cast<std::uint64_t>(address);
  return code;
}
int cuMemFree_v2(std::uint64_t memory) {
  return release(reinterpret_cast<void*>(memory));
}
int cuMemAllocHost_v2(void** memory, std::size_t bytes) {
  return allocate(memory, bytes);
}
int cuMemFreeHost(void* memory) {
  return release(memory);
}
int cuMemcpyHtoDAsync_v2(std::uint64_t to, const void* from, std::size_t bytes, CUstream_st* stream) {
  stream->work.emplace_back([=] { std::memcpy(reinterpret_cast<void*>(to), from, bytes); });
  return 0;
}
int cuMemcpyDtoHAsync_v2(void* to, std::uint64_t from, std::size_t bytes, CUstream_st* stream) {
  stream->work.emplace_back([=] { std::memcpy(to, reinterpret_cast<const void*>(from), bytes); });
  return 0;
}
int cuStreamBeginCapture_v2(CUstream_st* stream, int) {
  stream->recorded_from = stream->work.size();
  stream->broken = false;
  return 0;
}
int cuStreamEndCapture(CUstream_st* stream, Graph** graph) {
  const auto from = stream->work.begin() + static_cast<std::ptrdiff_t>(stream->recorded_from.value());
  *graph = nullptr;
  if (!stream->broken) {
    *graph = new Graph{{from, stream->work.end()}};
    ++live_allocations;
  }
  stream->work.erase(from, stream->work.end());
  stream->recorded_from.reset();
  return stream->broken ? kRecordingBroken : 0;
}
int cuGraphInstantiateWithFlags(Graph** exec, const Graph* graph, unsigned long long) {
  *exec = new Graph(*graph);
  ++live_allocations;
  return 0;
}
int cuGraphLaunch(const Graph* exec, CUstream_st* stream) {
  stream->work.insert(stream->work.end(), exec->work.begin(), exec->work.end());
  return 0;
}
int cuGraphDestroy(Graph* graph) {
  delete graph;
  --live_allocations;
  return 0;
}
int cuGraphExecDestroy(Graph* exec) {
  return cuGraphDestroy(exec);
}
int cuGetErrorString(int code, const char** text) {
  *text = code == 2                  ? "out of memory"
          : code == kRecordingBroken ? "the recording is broken"
                                     : "a made-up error";
  return 0;
}

}  // extern "C"
