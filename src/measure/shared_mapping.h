// SPDX-License-Identifier: MIT
// Memory that processes share through a memory file, and how they wait for a change in it.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/handle.h"

namespace paceline::measure {

// A shared mapping of a part of a file.
class SharedMapping {
 public:
  SharedMapping() = default;
  SharedMapping(int fd, std::size_t offset, std::size_t bytes);  // throws Error(kInternal)
  SharedMapping(SharedMapping&& other) noexcept;
  SharedMapping& operator=(SharedMapping&& other) noexcept;
  SharedMapping(const SharedMapping&) = delete;
  SharedMapping& operator=(const SharedMapping&) = delete;
  ~SharedMapping();
  [[nodiscard]] void* data() const { return data_; }

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

// A new memory file of this size, closed in programs that are started. Throws Error(kInternal).
FileDescriptor shared_memory_file(const char* name, std::size_t bytes);

// Sleeps while the word has this value; may return early. Waiters may be other processes.
void sleep_while(std::atomic<std::uint32_t>& word, std::uint32_t value);
void wake_all(std::atomic<std::uint32_t>& word);

}  // namespace paceline::measure
