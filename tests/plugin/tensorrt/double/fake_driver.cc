// SPDX-License-Identifier: MIT
// Stands in for libcuda.so.1: two devices whose memory is the host's. Calls check what the real ones check:
// the context of the calling thread, handles, addresses, and whether they are allowed while a stream is
// recorded.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "fake_device.h"

using fake::Context;
using fake::Event;
using fake::Graph;
using fake::Moment;
using fake::Work;

namespace {

constexpr int kDevices = 2;
constexpr unsigned kDisableTiming = 2;
constexpr std::size_t kMemory = std::size_t{1} << 40;

bool initialised = false;
Context primary[kDevices] = {{0}, {1}};
int copies = 0;               // that were enqueued
bool waits_are_lost = false;  // cuStreamSynchronize returns at once
thread_local Context* current = nullptr;
thread_local std::vector<CUstream_st*> recorded;  // by this thread

using Guard = std::scoped_lock<std::recursive_mutex>;

int ready() {
  if (!initialised) return fake::kNotInitialized;
  return current ? current->error : fake::kInvalidContext;
}

// For what may not be done while this thread records a stream, and breaks the recording.
int ready_unrecorded() {
  for (auto* stream : recorded) stream->broken = true;
  return recorded.empty() ? ready() : fake::kNotWhileRecording;
}

// For a call that enqueues: streams take work of their own context only.
int ready_for(const CUstream_st* stream) {
  if (const int code = ready(); code != 0) return code;
  return fake::is_stream(stream) && stream->context == current ? 0 : fake::kInvalidHandle;
}

int check_device(int device) {
  if (!initialised) return fake::kNotInitialized;
  return device >= 0 && device < kDevices ? 0 : fake::kInvalidDevice;
}

// A copy's end in memory of the device.
bool fits(std::uint64_t address, std::size_t bytes) {
  const auto place = fake::place_of(address);
  return place && place->on_device && bytes <= place->bytes;
}

bool is_device(const void* address) {
  const auto place = fake::place_of(reinterpret_cast<std::uint64_t>(address));
  return place && place->on_device;
}

std::vector<std::uint64_t> blocks_of(std::initializer_list<std::uint64_t> addresses) {
  std::vector<std::uint64_t> blocks;
  for (const auto address : addresses)
    if (const auto place = fake::place_of(address)) blocks.push_back(place->block);
  return blocks;
}

Work make_copy(void* to, const void* from, std::size_t bytes, std::vector<std::uint64_t> uses) {
  ++copies;
  const auto run = [=] {
    std::memcpy(to, from, bytes);
    return 0;
  };
  return {fake::kCopyMs, run, std::move(uses)};
}

bool is_reached(const Event& event) {
  return !event.moment || event.moment->reached;
}

int timing_problem(const Event& event) {
  if (!event.timed || !event.moment || event.context != current) return fake::kInvalidHandle;
  if (event.moment->in_graph) return fake::kRecordedEvent;
  return event.moment->reached ? 0 : fake::kNotReady;
}

}  // namespace

extern "C" {

// For tests.
int fake_live_allocations() {
  return fake::live();
}
int fake_copies() {
  return copies;
}
const char* fake_misuse() {
  return fake::first_misuse().c_str();
}
double fake_host_ms() {
  return fake::host_ms();
}
void fake_lose_waits() {
  waits_are_lost = true;
}
void fake_keep_waits() {
  waits_are_lost = false;
}
void fake_reset() {
  fake::forget();
  for (auto& context : primary) context.error = 0;
  current = nullptr;
}

// For the double of TensorRT, which runs its kernels on the same devices.
void fake_host_works(double ms) {
  const Guard guard(fake::lock());
  fake::host_ms() += ms;
}
int fake_launch(CUstream_st* stream, const Work* kernel) {
  const Guard guard(fake::lock());
  const int code = ready_for(stream);
  if (code == 0) fake::push(*stream, *kernel);
  return code;
}
// The bytes behind an address, as the device (or the host) reaches it; null where it cannot.
void* fake_reach(std::uint64_t address, std::size_t bytes, bool from_device) {
  const Guard guard(fake::lock());
  const auto place = fake::place_of(address);
  if (!place) return from_device ? nullptr : reinterpret_cast<void*>(address);
  const bool reached = bytes <= place->bytes && (from_device || !place->on_device);
  return reached ? fake::host_memory(address) : nullptr;
}
std::uint64_t fake_block(std::uint64_t address) {
  const Guard guard(fake::lock());
  const auto place = fake::place_of(address);
  return place ? place->block : 0;
}
void fake_break_recording(CUstream_st* stream) {
  stream->broken = true;
}
bool fake_is_recorded(const CUstream_st* stream) {
  return stream->recording.has_value();
}
void fake_report_misuse(const char* words) {
  fake::misuse(words);
}

int cuInit(unsigned) {
  initialised = true;
  return 0;
}
int cuDriverGetVersion(int* version) {
  *version = 13010;
  return 0;
}
int cuDeviceGetCount(int* count) {
  *count = kDevices;
  return initialised ? 0 : fake::kNotInitialized;
}
int cuDeviceGetName(char* name, int length, int device) {
  std::snprintf(name, static_cast<std::size_t>(length), "double %d", device);
  return check_device(device);
}
int cuDeviceGetAttribute(int* value, int attribute, int device) {
  *value = attribute == 75 ? 9 : 0;
  return check_device(device);
}
int cuDevicePrimaryCtxRetain(Context** context, int device) {
  const int code = check_device(device);
  if (code == 0) *context = &primary[device];
  return code;
}
int cuCtxSetCurrent(Context* context) {
  current = context;
  return initialised ? 0 : fake::kNotInitialized;
}
int cuCtxGetCurrent(Context** context) {
  *context = current;
  return initialised ? 0 : fake::kNotInitialized;
}
int cuCtxGetDevice(int* device) {
  if (!current) return fake::kInvalidContext;
  *device = current->device;
  return 0;
}

int cuStreamCreate(CUstream_st** stream, unsigned) {
  const Guard guard(fake::lock());
  if (const int code = ready(); code != 0) return code;
  *stream = new CUstream_st{current};
  fake::add_stream(*stream);
  ++fake::live();
  return 0;
}
int cuStreamSynchronize(CUstream_st* stream) {
  const Guard guard(fake::lock());
  if (const int code = ready(); code != 0) return code;
  if (!fake::is_stream(stream)) return fake::kInvalidHandle;
  if (stream->recording) {
    stream->broken = true;
    return fake::kNotWhileRecording;
  }
  if (!waits_are_lost) fake::run_all(*stream);
  return stream->context->error;
}
int cuStreamWaitEvent(CUstream_st* stream, const Event* event, unsigned) {
  const Guard guard(fake::lock());
  if (const int code = ready(); code != 0) return code;
  if (!fake::is_stream(stream)) return fake::kInvalidHandle;
  const auto moment = event->moment;
  if (!moment) return 0;
  if (stream->recording && !moment->in_graph) {
    stream->broken = true;
    return fake::kOtherRecording;
  }
  const auto run = [stream, moment] {
    fake::run_until(*moment);
    stream->now_ms = std::max(stream->now_ms, moment->at_ms);
    return 0;
  };
  fake::push(*stream, {0, run});
  return 0;
}
// Lets work that it was given go on.
int cuStreamDestroy_v2(CUstream_st* stream) {
  const Guard guard(fake::lock());
  if (const int code = ready(); code != 0) return code;
  if (!fake::is_stream(stream)) return fake::kInvalidHandle;
  fake::run_all(*stream);
  fake::remove_stream(stream);
  delete stream;
  --fake::live();
  return 0;
}

int cuEventCreate(Event** event, unsigned flags) {
  const Guard guard(fake::lock());
  if (const int code = ready(); code != 0) return code;
  *event = new Event{current, (flags & kDisableTiming) == 0};
  ++fake::live();
  return 0;
}
int cuEventRecord(Event* event, CUstream_st* stream) {
  const Guard guard(fake::lock());
  if (const int code = ready_for(stream); code != 0) return code;
  if (event->context != stream->context) return fake::kInvalidHandle;
  const auto moment = std::make_shared<Moment>();
  moment->stream = stream;
  moment->in_graph = stream->recording.has_value();
  event->moment = moment;
  const auto run = [moment] {
    moment->at_ms = moment->stream->now_ms;
    moment->reached = true;
    return 0;
  };
  fake::push(*stream, {0, run});
  return 0;
}
int cuEventQuery(const Event* event) {
  const Guard guard(fake::lock());
  if (const int code = ready(); code != 0) return code;
  return is_reached(*event) ? 0 : fake::kNotReady;
}
int cuEventElapsedTime(float* ms, const Event* begin, const Event* end) {
  const Guard guard(fake::lock());
  if (const int code = ready(); code != 0) return code;
  for (const auto* event : {begin, end})
    if (const int code = timing_problem(*event); code != 0) return code;
  *ms = static_cast<float>(end->moment->at_ms - begin->moment->at_ms);
  return 0;
}
int cuEventDestroy_v2(Event* event) {
  const Guard guard(fake::lock());
  if (const int code = ready(); code != 0) return code;
  delete event;
  --fake::live();
  return 0;
}

int cuMemAlloc_v2(std::uint64_t* memory, std::size_t bytes) {
  const Guard guard(fake::lock());
  if (const int code = ready_unrecorded(); code != 0) return code;
  if (bytes > kMemory) return fake::kOutOfMemory;
  if (bytes == 0) return fake::kInvalidValue;
  *memory = fake::allocate(bytes, true);
  return 0;
}
int cuMemFree_v2(std::uint64_t memory) {
  const Guard guard(fake::lock());
  const int code = ready();
  return code != 0 ? code : fake::release(memory, true);
}
int cuMemAllocHost_v2(void** memory, std::size_t bytes) {
  const Guard guard(fake::lock());
  if (const int code = ready_unrecorded(); code != 0) return code;
  if (bytes > kMemory) return fake::kOutOfMemory;
  if (bytes == 0) return fake::kInvalidValue;
  *memory = reinterpret_cast<void*>(fake::allocate(bytes, false));
  return 0;
}
int cuMemFreeHost(void* memory) {
  const Guard guard(fake::lock());
  const int code = ready();
  return code != 0 ? code : fake::release(reinterpret_cast<std::uint64_t>(memory), false);
}

// Pageable memory is read before the call returns.
int cuMemcpyHtoDAsync_v2(std::uint64_t to, const void* from, std::size_t bytes, CUstream_st* stream) {
  const Guard guard(fake::lock());
  if (const int code = ready_for(stream); code != 0) return code;
  if (bytes == 0) return 0;
  if (!fits(to, bytes) || is_device(from)) return fake::kInvalidValue;
  const auto uses = blocks_of({to, reinterpret_cast<std::uint64_t>(from)});
  if (uses.size() == 2) {
    fake::push(*stream, make_copy(fake::host_memory(to), from, bytes, uses));
    return 0;
  }
  const auto* first = static_cast<const std::byte*>(from);
  const auto staged = std::make_shared<std::vector<std::byte>>(first, first + bytes);
  auto work = make_copy(fake::host_memory(to), staged->data(), bytes, uses);
  work.run = [staged, run = work.run] { return run(); };
  fake::push(*stream, std::move(work));
  return 0;
}
// To pageable memory it returns when all is there.
int cuMemcpyDtoHAsync_v2(void* to, std::uint64_t from, std::size_t bytes, CUstream_st* stream) {
  const Guard guard(fake::lock());
  if (const int code = ready_for(stream); code != 0) return code;
  if (bytes == 0) return 0;
  if (!fits(from, bytes) || is_device(to)) return fake::kInvalidValue;
  const auto uses = blocks_of({from, reinterpret_cast<std::uint64_t>(to)});
  fake::push(*stream, make_copy(to, fake::host_memory(from), bytes, uses));
  if (uses.size() < 2 && !stream->recording) fake::run_all(*stream);
  return stream->context->error;
}

int cuStreamBeginCapture_v2(CUstream_st* stream, int) {
  const Guard guard(fake::lock());
  if (const int code = ready_for(stream); code != 0) return code;
  if (stream->recording) return fake::kIllegalState;
  stream->recording.emplace();
  stream->broken = false;
  recorded.push_back(stream);
  return 0;
}
int cuStreamEndCapture(CUstream_st* stream, Graph** graph) {
  const Guard guard(fake::lock());
  *graph = nullptr;
  if (!stream->recording) return fake::kIllegalState;
  const auto work = std::move(*stream->recording);
  stream->recording.reset();
  recorded.erase(std::find(recorded.begin(), recorded.end(), stream));
  if (stream->broken) return fake::kRecordingBroken;
  *graph = new Graph{work};
  ++fake::live();
  return 0;
}
int cuGraphInstantiateWithFlags(Graph** exec, const Graph* graph, unsigned long long) {
  const Guard guard(fake::lock());
  if (const int code = ready(); code != 0) return code;
  *exec = new Graph(*graph);
  ++fake::live();
  return 0;
}
int cuGraphLaunch(const Graph* exec, CUstream_st* stream) {
  const Guard guard(fake::lock());
  if (const int code = ready_for(stream); code != 0) return code;
  for (const auto& work : exec->work) fake::push(*stream, work);
  return 0;
}
int cuGraphDestroy(Graph* graph) {
  const Guard guard(fake::lock());
  delete graph;
  --fake::live();
  return 0;
}
int cuGraphExecDestroy(Graph* exec) {
  return cuGraphDestroy(exec);
}
int cuGetErrorString(int code, const char** text) {
  *text = code == fake::kOutOfMemory       ? "out of memory"
          : code == fake::kRecordingBroken ? "the recording is broken"
          : code == fake::kNotReady        ? "not ready"
          : code == fake::kInvalidContext  ? "invalid device context"
          : code == fake::kIllegalAddress  ? "an illegal memory access"
          : code == 719                    ? "unspecified launch failure"
                                           : "a made-up error";
  return 0;
}

}  // extern "C"
