// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

// The double's devices. Work that is enqueued runs when the host waits for it, in the order of its stream,
// and a virtual clock goes on by what each piece takes: what reads too early reads old data or "not ready",
// and an event has the time of its place in the stream. Addresses of device memory fault when the host reads
// them.
namespace fake {

// CUDA's own numbers.
enum Code : int {
  kSuccess = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kNotInitialized = 3,
  kInvalidDevice = 101,
  kInvalidContext = 201,
  kInvalidHandle = 400,
  kIllegalState = 401,
  kNotReady = 600,
  kIllegalAddress = 700,
  kNotWhileRecording = 900,
  kRecordingBroken = 901,
  kOtherRecording = 905,
  kRecordedEvent = 907,
};

inline constexpr double kCopyMs = 0.5;  // of a copy of any size

// Work on a stream: a copy, a kernel, a mark of an event.
struct Work {
  double ms = 0;
  std::function<int()> run;           // the code is that of the context from then on
  std::vector<std::uint64_t> uses{};  // memory that must be there until it has run
};

}  // namespace fake

struct CUstream_st;

namespace fake {

// The primary context of a device. An error of work that has run is reported by every later call.
struct Context {
  int device = 0;
  int error = 0;
};

// One recording of an event.
struct Moment {
  CUstream_st* stream = nullptr;
  double at_ms = 0;
  bool reached = false, in_graph = false;
};

struct Event {
  Context* context = nullptr;
  bool timed = true;
  std::shared_ptr<Moment> moment{};  // of its last recording
};

struct Graph {
  std::vector<Work> work;
};

struct Queued {
  Work work;
  double from_ms;  // when the host enqueued it
};

struct Block {
  std::size_t bytes = 0;
  bool on_device = false;
};

// A block that holds an address, and what is left of it from there.
struct Place {
  std::uint64_t block = 0;
  std::size_t bytes = 0;
  bool on_device = false;
};

std::recursive_mutex& lock();  // held in every call

// Empty for memory that the driver does not know.
std::optional<Place> place_of(std::uint64_t address);
std::uint64_t allocate(std::size_t bytes, bool on_device);
int release(std::uint64_t address, bool on_device);
void* host_memory(std::uint64_t address);  // what lies behind an address

void push(CUstream_st& stream, Work work);
void run_all(CUstream_st& stream);                // the host waits
double& host_ms();                                // the host's clock: it goes on when the host waits or works
void run_until(const Moment& moment);             // its stream
void misuse(const std::string& words);            // what a real driver would take without a word
[[nodiscard]] bool is_used(std::uint64_t block);  // by work that has not run
void add_stream(CUstream_st* stream);
void remove_stream(CUstream_st* stream);
[[nodiscard]] bool is_stream(const CUstream_st* stream);
const std::string& first_misuse();
int& live();  // streams, events, graphs, memory
void forget();

}  // namespace fake

struct CUstream_st {
  fake::Context* context = nullptr;
  std::deque<fake::Queued> work{};
  double now_ms = 0;                                   // when its last work ended
  std::optional<std::vector<fake::Work>> recording{};  // takes the work instead
  bool broken = false;                                 // what was recorded is of no use
};
