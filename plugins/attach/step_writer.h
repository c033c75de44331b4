// SPDX-License-Identifier: MIT
#pragma once
#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

#include "attach/step_record.h"

// Writer of a step file, without PyTorch. No function throws: whatever fails ends the recording, never the
// job.
namespace paceline::attach {

std::int64_t monotonic_ns();

// Records of a file at most, and those by which it grows: room is asked for before it is written to, because
// a mapped page without a place on the disk would end the process by a signal.
struct StepRoom {
  std::uint64_t most = std::uint64_t{1} << 22, chunk = std::uint64_t{1} << 15, spare = std::uint64_t{1} << 12;
};

class StepWriter {
 public:
  StepWriter() = default;
  StepWriter(const StepWriter&) = delete;
  StepWriter& operator=(const StepWriter&) = delete;

  // Makes a file, and maps it. The header's fields of size, clock and process are filled in here. Returns why
  // it could not be made; empty if it was.
  std::string open(const std::string& path, StepHeader header, StepRoom room = {});
  // Gives the file up in a forked child, whose parent goes on writing it.
  void abandon() {
    header_.store(nullptr, std::memory_order_release);
    full_ = false;
  }
  // Marks an orderly end, with the type of the exception that led to it. Later records are left out.
  void close(std::string_view exception = {});
  [[nodiscard]] bool is_open() const { return header_.load(std::memory_order_acquire) != nullptr; }

  // Slot of a name; kNoName if the table is full. Safe in any thread, without a lock for names that it knows.
  std::uint16_t name(std::string_view text);
  // Appends a record; it counts as lost if the file has no room. Safe in any thread.
  void add(const StepRecord& record);
  void lose();

  // Makes room for what comes before the next call. False: the file is full, and its last record says so.
  bool make_room();
  // Writes down the count of steps. True if whoever watches wants the next step to be traced.
  bool wants_trace(std::uint64_t clock);
  [[nodiscard]] std::uint64_t trace_number() const;
  // Share of the most room that is used, of 1.
  [[nodiscard]] double used() const;

 private:
  std::string map_file(StepRoom room);
  void unmap();
  bool grow();
  bool is_place_for(std::uint64_t bytes) const;
  void touch(std::uint64_t from, std::uint64_t to);
  [[nodiscard]] StepRecord* records() const;

  static constexpr std::size_t kHashSlots = 2048;
  std::atomic<StepHeader*> header_{nullptr};
  unsigned char* map_ = nullptr;
  int file_ = -1;
  bool full_ = false;
  StepRoom room_;
  std::uint64_t mapped_ = 0;  // records that the mapping has addresses for
  std::atomic<std::uint64_t> capacity_{0};
  std::uint64_t touched_ = 0;  // records whose pages were written to
  std::atomic<std::uint64_t> hashes_[kHashSlots] = {};
  std::atomic<std::uint16_t> slots_[kHashSlots] = {};
  std::mutex naming_;
};

// Number of the calling thread within the process, from 0 in the order of first calls.
std::uint16_t thread_number();

}  // namespace paceline::attach
