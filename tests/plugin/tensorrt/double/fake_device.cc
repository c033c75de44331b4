// SPDX-License-Identifier: MIT
#include "fake_device.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>

namespace fake {
namespace {

// No address of a process has this bit.
constexpr std::uint64_t kDeviceBit = std::uint64_t{1} << 63;
constexpr int kGarbage = 0xFF;  // not a number, in every float type

struct State {
  std::recursive_mutex lock;
  std::map<std::uint64_t, Block> memory;  // by address
  std::set<CUstream_st*> streams;
  double host_ms = 0;
  std::string misuse;
  int live = 0;
};

State& state() {
  static State& only = *new State();
  return only;
}

void run_first(CUstream_st& stream) {
  const Queued next = std::move(stream.work.front());
  stream.work.pop_front();
  if (stream.context->error != 0) return;  // nothing runs after an error
  stream.now_ms = std::max(stream.now_ms, next.from_ms) + next.work.ms;
  if (const int code = next.work.run(); code != 0) stream.context->error = code;
}

}  // namespace

std::recursive_mutex& lock() {
  return state().lock;
}

std::optional<Place> place_of(std::uint64_t address) {
  auto it = state().memory.upper_bound(address);
  if (it == state().memory.begin()) return std::nullopt;
  --it;
  const auto offset = address - it->first;
  if (offset >= it->second.bytes) return std::nullopt;
  return Place{it->first, it->second.bytes - offset, it->second.on_device};
}

std::uint64_t allocate(std::size_t bytes, bool on_device) {
  void* memory = std::malloc(bytes);
  std::memset(memory, kGarbage, bytes);
  const auto address = reinterpret_cast<std::uint64_t>(memory) | (on_device ? kDeviceBit : 0);
  state().memory[address] = {bytes, on_device};
  ++state().live;
  return address;
}

int release(std::uint64_t address, bool on_device) {
  const auto it = state().memory.find(address);
  if (it == state().memory.end() || it->second.on_device != on_device) return kInvalidValue;
  if (is_used(address)) {
    misuse("memory is freed while work that uses it has not run");
    return kSuccess;  // and kept, for that work
  }
  std::free(host_memory(address));
  state().memory.erase(it);
  --state().live;
  return kSuccess;
}

void* host_memory(std::uint64_t address) {
  return reinterpret_cast<void*>(address & ~kDeviceBit);
}

void push(CUstream_st& stream, Work work) {
  if (stream.recording)
    stream.recording->push_back(std::move(work));
  else
    stream.work.push_back({std::move(work), state().host_ms});
}

void run_all(CUstream_st& stream) {
  while (!stream.work.empty()) run_first(stream);
  state().host_ms = std::max(state().host_ms, stream.now_ms);
}

double& host_ms() {
  return state().host_ms;
}

void run_until(const Moment& moment) {
  while (!moment.reached && is_stream(moment.stream) && !moment.stream->work.empty())
    run_first(*moment.stream);
}

void misuse(const std::string& words) {
  if (state().misuse.empty()) state().misuse = words;
}

bool is_used(std::uint64_t block) {
  const auto in = [&](const Queued& queued) {
    const auto& uses = queued.work.uses;
    return std::find(uses.begin(), uses.end(), block) != uses.end();
  };
  return std::any_of(state().streams.begin(), state().streams.end(), [&](const CUstream_st* stream) {
    return stream->context->error == 0 && std::any_of(stream->work.begin(), stream->work.end(), in);
  });
}

void add_stream(CUstream_st* stream) {
  state().streams.insert(stream);
}

void remove_stream(CUstream_st* stream) {
  state().streams.erase(stream);
}

bool is_stream(const CUstream_st* stream) {
  return state().streams.count(const_cast<CUstream_st*>(stream)) > 0;
}

const std::string& first_misuse() {
  return state().misuse;
}

int& live() {
  return state().live;
}

void forget() {
  state().misuse.clear();
  state().live = 0;
}

}  // namespace fake
