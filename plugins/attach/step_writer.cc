// SPDX-License-Identifier: MIT
#include "attach/step_writer.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>

namespace paceline::attach {
namespace {

constexpr std::uint64_t kPageBytes = 4096;

std::int64_t clock_ns(clockid_t clock) {
  constexpr std::int64_t kNsPerS = 1'000'000'000;
  timespec now{};
  ::clock_gettime(clock, &now);
  return now.tv_sec * kNsPerS + now.tv_nsec;
}

std::string system_words(int code) {
  return std::strerror(code);
}

// FNV-1a; never 0, which stands for an empty slot.
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 14695981039346656037U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
  return hash == 0 ? 1 : hash;
}

// Leaves nearly all addresses to the job where these are limited (ulimit -v).
std::uint64_t most_records(const StepRoom& room) {
  constexpr rlim_t kShare = 64;  // of the addresses, one part
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return room.most;
  return std::min(room.most, std::max<std::uint64_t>(room.chunk, limit.rlim_cur / kShare / kRecordBytes));
}

void fill_sizes(StepHeader& header, std::uint64_t capacity) {
  std::memcpy(header.magic, kStepMagic, sizeof kStepMagic);
  header.version = kStepVersion;
  header.header_bytes = kHeaderBytes;
  header.name_bytes = kNameBytes;
  header.name_slots = kNameSlots;
  header.record_bytes = kRecordBytes;
  header.capacity = capacity;
  header.used = header.names = header.lost = 0;
  header.clock = header.trace_steps = header.trace_number = header.trace_after = 0;
  header.process = ::getpid();
  header.parent = ::getppid();
  header.realtime_ns = clock_ns(CLOCK_REALTIME);
  header.monotonic_ns = monotonic_ns();
  header.closed_ns = 0;
  ::gethostname(header.host, sizeof header.host - 1);
}

}  // namespace

std::int64_t monotonic_ns() {
  return clock_ns(CLOCK_MONOTONIC);
}

std::uint16_t thread_number() {
  static std::atomic<std::uint16_t> next{0};
  thread_local const std::uint16_t number = next.fetch_add(1, std::memory_order_relaxed);
  return number;
}

std::string StepWriter::open(const std::string& path, StepHeader header, StepRoom room) {
  room.most = most_records(room);
  room_ = room;
  unmap();
  file_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (file_ < 0) return path + ": " + system_words(errno);
  auto why = map_file(room);
  if (!why.empty()) {
    unmap();
    ::unlink(path.c_str());  // an empty one would look like a rank
    return path + ": " + why;
  }
  fill_sizes(header, capacity_);
  auto* const written = reinterpret_cast<StepHeader*>(map_);
  *written = header;
  header_.store(written, std::memory_order_release);
  return "";
}

void StepWriter::unmap() {
  if (map_) ::munmap(map_, step_file_bytes(mapped_));
  if (file_ >= 0) ::close(file_);
  map_ = nullptr;
  file_ = -1;
}

// Returns why the open file cannot be mapped, or has no room; empty if it can be written.
std::string StepWriter::map_file(StepRoom room) {
  capacity_ = 0;
  touched_ = 0;
  for (auto& hash : hashes_) hash = 0;
  void* const map = ::mmap(nullptr, step_file_bytes(room.most), PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
  if (map == MAP_FAILED) return "cannot be mapped: " + system_words(errno);
  map_ = static_cast<unsigned char*>(map);
  mapped_ = room.most;
  ::madvise(map_, step_file_bytes(room.most), MADV_DONTDUMP);
  return grow() ? "" : "no room on the disk, or within the limit of file sizes";
}

void StepWriter::close(std::string_view exception) {
  auto* header = header_.exchange(nullptr);
  if (!header && full_) header = reinterpret_cast<StepHeader*>(map_);
  full_ = false;
  if (!header) return;
  std::memcpy(header->exception, exception.data(), std::min(exception.size(), sizeof header->exception - 1));
  header->closed_ns = monotonic_ns();
}

StepRecord* StepWriter::records() const {
  return reinterpret_cast<StepRecord*>(map_ + kRecordsAt);
}

std::uint16_t StepWriter::name(std::string_view text) {
  const auto hash = hash_of(text);
  auto at = hash % kHashSlots;
  for (std::uint64_t found = 0; (found = hashes_[at].load(std::memory_order_acquire)) != 0;
       at = (at + 1) % kHashSlots)
    if (found == hash) return slots_[at].load(std::memory_order_relaxed);
  auto* const header = header_.load(std::memory_order_acquire);
  if (!header || __atomic_load_n(&header->names, __ATOMIC_RELAXED) == kNameSlots) return kNoName;
  const std::unique_lock lock(naming_, std::try_to_lock);  // one that a fork left locked holds nobody up
  if (!lock || header->names == kNameSlots) return kNoName;
  for (; hashes_[at].load(std::memory_order_relaxed) != 0; at = (at + 1) % kHashSlots)
    if (hashes_[at].load(std::memory_order_relaxed) == hash)
      return slots_[at].load(std::memory_order_relaxed);
  const auto slot = static_cast<std::uint16_t>(header->names);
  auto* const names = reinterpret_cast<StepName*>(map_ + kHeaderBytes);
  std::memcpy(names[slot].text, text.data(), std::min(text.size(), kNameBytes - 1));
  __atomic_store_n(&header->names, std::uint64_t{slot} + 1U, __ATOMIC_RELEASE);
  slots_[at].store(slot, std::memory_order_relaxed);
  hashes_[at].store(hash, std::memory_order_release);
  return slot;
}

void StepWriter::add(const StepRecord& record) {
  auto* const header = header_.load(std::memory_order_acquire);
  if (!header) return;
  const auto slot = __atomic_fetch_add(&header->used, 1U, __ATOMIC_RELAXED);
  if (slot >= capacity_.load(std::memory_order_relaxed)) {
    lose();
    return;
  }
  auto* const target = records() + slot;
  StepRecord unwritten = record;
  unwritten.kind = 0;
  std::memcpy(target, &unwritten, sizeof unwritten);
  __atomic_store_n(&target->kind, record.kind, __ATOMIC_RELEASE);
}

void StepWriter::lose() {
  if (auto* const header = header_.load(std::memory_order_acquire))
    __atomic_fetch_add(&header->lost, 1U, __ATOMIC_RELAXED);
}

bool StepWriter::wants_trace(std::uint64_t clock) {
  auto* const header = header_.load(std::memory_order_acquire);
  if (!header) return false;
  __atomic_store_n(&header->clock, clock, __ATOMIC_RELAXED);
  const auto after = __atomic_load_n(&header->trace_after, __ATOMIC_ACQUIRE);
  return after != 0 && clock >= after &&
         clock - after < __atomic_load_n(&header->trace_steps, __ATOMIC_RELAXED);
}

std::uint64_t StepWriter::trace_number() const {
  const auto* const header = header_.load(std::memory_order_acquire);
  return header ? __atomic_load_n(&header->trace_number, __ATOMIC_RELAXED) : 0;
}

double StepWriter::used() const {
  const auto* const header = header_.load(std::memory_order_acquire);
  return header ? static_cast<double>(__atomic_load_n(&header->used, __ATOMIC_RELAXED)) /
                      static_cast<double>(room_.most)
                : 0;
}

bool StepWriter::make_room() {
  auto* const header = header_.load(std::memory_order_acquire);
  if (!header) return false;
  auto used = __atomic_load_n(&header->used, __ATOMIC_RELAXED);
  const auto capacity = capacity_.load(std::memory_order_relaxed);
  // Slots beyond the room were counted as lost: later ones follow the room.
  if (used > capacity) __atomic_store_n(&header->used, used = capacity, __ATOMIC_RELAXED);
  if (used + room_.spare > capacity && !grow() && used + 1 >= capacity) {
    StepRecord full{};
    full.begin_ns = full.end_ns = monotonic_ns();
    full.name = kNoName;
    full.kind = static_cast<std::uint8_t>(StepKind::kOutOfRoom);
    records()[capacity - 1] = full;
    __atomic_store_n(&header->used, capacity + 1, __ATOMIC_RELAXED);
    header_.store(nullptr, std::memory_order_release);
    full_ = true;
    return false;
  }
  touch(touched_, std::min(used + room_.spare, capacity_.load(std::memory_order_relaxed)));
  return true;
}

bool StepWriter::is_place_for(std::uint64_t bytes) const {
  rlimit limit{};  // beyond it, the kernel ends the process by a signal
  return ::getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
         (limit.rlim_cur == RLIM_INFINITY || bytes <= limit.rlim_cur);
}

bool StepWriter::grow() {
  const auto before = capacity_.load(std::memory_order_relaxed);
  const auto after = std::min(before + room_.chunk, room_.most);
  if (after == before || !is_place_for(step_file_bytes(after))) return false;
  const auto begin = before == 0 ? 0 : step_file_bytes(before);
  const auto length = step_file_bytes(after) - begin;
  if (::posix_fallocate(file_, static_cast<off_t>(begin), static_cast<off_t>(length)) != 0) return false;
  if (before == 0) touch(0, 0);
  capacity_.store(after, std::memory_order_relaxed);
  if (auto* const header = header_.load(std::memory_order_acquire)) header->capacity = after;
  touch(touched_, std::min(touched_ + room_.spare, after));
  return true;
}

// Writes to the pages of these records, so that their first use in a step costs no page fault.
void StepWriter::touch(std::uint64_t from, std::uint64_t to) {
  if (to == 0) {  // header and names
    for (std::uint64_t at = 0; at < kRecordsAt; at += kPageBytes) map_[at] = 0;
    return;
  }
  for (auto at = step_file_bytes(from); at < step_file_bytes(to); at += kPageBytes)
    __atomic_fetch_or(map_ + at, static_cast<unsigned char>(0), __ATOMIC_RELAXED);
  touched_ = std::max(touched_, to);
}

}  // namespace paceline::attach
