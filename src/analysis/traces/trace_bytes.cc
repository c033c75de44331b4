// SPDX-License-Identifier: MIT
#include "analysis/traces/trace_bytes.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "base/display_text.h"
#include "base/error.h"
#include "base/units.h"

namespace paceline::analysis::traces {
namespace {

[[noreturn]] void cannot_read(const std::string& name, const std::string& why) {
  throw Error(ErrorCode::kIo, fmt::format("cannot read the trace {}: {}", shown_value(name), why));
}

}  // namespace

TraceBytes::TraceBytes(const std::filesystem::path& file, std::string name, std::int64_t most)
    : name_(std::move(name)), most_(most), buffer_(1 << 18) {
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) cannot_read(name_, std::generic_category().message(errno));
  struct stat about {};
  if (::fstat(descriptor, &about) != 0 || !S_ISREG(about.st_mode)) {
    ::close(descriptor);
    cannot_read(name_, "it is no regular file");
  }
  file_.reset(gzdopen(descriptor, "rb"));
  if (!file_) {
    ::close(descriptor);
    cannot_read(name_, "not enough memory");
  }
  at_ = end_ = buffer_.data();
}

bool TraceBytes::damaged() const {
  int code = Z_OK;
  gzerror(file_.get(), &code);
  return code != Z_OK && code != Z_BUF_ERROR;
}

int TraceBytes::fill() {
  before_ += end_ - buffer_.data();
  const int count = gzread(file_.get(), buffer_.data(), static_cast<unsigned>(buffer_.size()));
  at_ = end_ = buffer_.data();
  int code = Z_OK;
  gzerror(file_.get(), &code);
  if (code == Z_ERRNO) cannot_read(name_, std::generic_category().message(errno));
  if (count <= 0) return kEnd;
  end_ = at_ + count;
  const std::int64_t unpacked = before_ + count;
  if (unpacked > most_)
    throw Error(ErrorCode::kData, fmt::format("{} has more than {}, the most that is read of a trace", name_,
                                              format_bytes(static_cast<double>(most_))));
  if (unpacked > kAlwaysUnpacked && unpacked / kMostUnpacked > gzoffset(file_.get()))
    throw Error(
        ErrorCode::kData,
        fmt::format("{} unpacks to more than {} times its size ({} from {}): no profiler writes such a "
                    "file, and it is not read on",
                    name_, kMostUnpacked, format_bytes(static_cast<double>(unpacked)),
                    format_bytes(static_cast<double>(gzoffset(file_.get())))));
  return static_cast<unsigned char>(*at_);
}

}  // namespace paceline::analysis::traces
