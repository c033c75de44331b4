// SPDX-License-Identifier: MIT
#include "host/checks/disk_speed.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "base/clock.h"
#include "base/handle.h"
#include "base/random.h"
#include "base/units.h"

namespace paceline::host {
namespace {

constexpr std::int64_t kBlockBytes = 4 << 20, kMostBlocks = 16;
constexpr double kBudgetS = 0.2;  // of writing, and of reading

// A file without a name goes with the process. Not every file system has those: then one loses its name.
FileDescriptor nameless_file(const std::filesystem::path& folder) {
  if (FileDescriptor file(::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600)); file) return file;
  auto name = (folder / ".paceline-disk-XXXXXX").string();
  FileDescriptor file(::mkostemp(name.data(), O_CLOEXEC));
  if (file) ::unlink(name.c_str());
  return file;
}

// Neither compresses nor repeats within a file.
void fill(std::vector<std::uint64_t>& block, std::uint64_t key) {
  for (std::size_t i = 0; i < block.size(); ++i) block[i] = mix64(key * block.size() + i);
}

bool write_all(int fd, const char* bytes, std::int64_t size) {
  while (size > 0) {
    const auto done = ::write(fd, bytes, static_cast<std::size_t>(size));
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return false;
    bytes += done, size -= done;
  }
  return true;
}

// Until they are on the disk. False with errno.
bool write_blocks(int fd, const std::vector<std::uint64_t>& blocks, std::int64_t count) {
  return write_all(fd, reinterpret_cast<const char*>(blocks.data()), count * kBlockBytes) &&
         ::fdatasync(fd) == 0;
}

double seconds_since(std::int64_t start_ns) {
  return static_cast<double>(SteadyClock().now_ns() - start_ns) * 1e-9;
}

// Whether most of the file is still in memory.
bool is_in_memory(int fd, std::int64_t size) {
  const auto bytes = static_cast<std::size_t>(size);
  void* mapped = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, fd, 0);
  if (mapped == MAP_FAILED) return true;
  std::vector<unsigned char> pages(bytes / static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)));
  const bool known = ::mincore(mapped, bytes, pages.data()) == 0;
  ::munmap(mapped, bytes);
  const auto resident = std::ranges::count_if(pages, [](unsigned char page) { return (page & 1U) != 0; });
  return !known || 2 * resident > std::ssize(pages);
}

Number read_speed(int fd, std::int64_t size) {
  (void)::posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
  if (is_in_memory(fd, size)) return Number::missing("its file system keeps files in memory");
  std::vector<char> block(kBlockBytes);
  const auto start = SteadyClock().now_ns();
  std::int64_t done = 0;
  while (done < size && seconds_since(start) < kBudgetS) {
    const auto got = ::pread(fd, block.data(), block.size(), done);
    if (got <= 0)
      return Number::missing(got < 0 ? std::strerror(errno) : "the file is shorter than was written");
    done += got;
  }
  return static_cast<double>(done) / seconds_since(start);
}

}  // namespace

DiskSpeed measure_disk(const std::filesystem::path& folder, std::int64_t room_bytes) {
  const auto refused = [] {
    DiskSpeed none;
    none.refusal = std::strerror(errno);
    return none;
  };
  const auto file = nameless_file(folder);
  if (!file) return refused();
  const auto most = std::clamp<std::int64_t>(room_bytes / 4 / kBlockBytes, 1, kMostBlocks);
  std::vector<std::uint64_t> block(kBlockBytes / sizeof(std::uint64_t));
  fill(block, 0);
  auto start = SteadyClock().now_ns();
  if (!write_blocks(file.get(), block, 1)) return refused();
  const double first_s = std::max(seconds_since(start), 1e-6);
  DiskSpeed speed;
  speed.write_per_s = kBlockBytes / first_s;
  // The first one says how many fit into the time.
  const auto more = std::min(most - 1, static_cast<std::int64_t>(kBudgetS / first_s));
  if (more > 0) {
    block.resize(block.size() * static_cast<std::size_t>(more));
    fill(block, 1);
    start = SteadyClock().now_ns();
    if (!write_blocks(file.get(), block, more)) return refused();
    speed.write_per_s = static_cast<double>(more * kBlockBytes) / seconds_since(start);
  }
  speed.read_per_s = read_speed(file.get(), (1 + std::max<std::int64_t>(more, 0)) * kBlockBytes);
  return speed;
}

std::string in_words(const DiskSpeed& speed) {
  const auto rate = [](const Number& number) {
    return number ? format_bytes(*number) + "/s" : fmt::format("not measured: {}", number.reason());
  };
  return fmt::format("writes {}, reads {}", rate(speed.write_per_s), rate(speed.read_per_s));
}

}  // namespace paceline::host
