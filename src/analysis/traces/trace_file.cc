// SPDX-License-Identifier: MIT
#include "analysis/traces/trace_file.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <istream>
#include <memory>
#include <nlohmann/json.hpp>
#include <regex>
#include <streambuf>
#include <string_view>
#include <unordered_map>

#include "base/error.h"
#include "base/text.h"

namespace paceline::analysis::traces {
namespace {

// Bytes of a file, unpacked where gzip packed it.
class UnpackedBytes : public std::streambuf {
 public:
  explicit UnpackedBytes(const std::filesystem::path& file)
      : file_(gzopen(file.c_str(), "rb"), gzclose), buffer_(1 << 18) {
    if (!file_) throw Error(ErrorCode::kIo, fmt::format("cannot read the trace {}", file.string()));
  }
  [[nodiscard]] bool ended() { return underflow() == traits_type::eof(); }
  [[nodiscard]] bool damaged() const {
    int code = Z_OK;
    gzerror(file_.get(), &code);
    return code != Z_OK && code != Z_BUF_ERROR;
  }

 protected:
  int_type underflow() override {
    if (gptr() < egptr()) return traits_type::to_int_type(*gptr());
    const int count = gzread(file_.get(), buffer_.data(), static_cast<unsigned>(buffer_.size()));
    if (count <= 0) return traits_type::eof();
    setg(buffer_.data(), buffer_.data(), buffer_.data() + count);
    return traits_type::to_int_type(*gptr());
  }

 private:
  std::unique_ptr<gzFile_s, int (*)(gzFile)> file_;
  std::vector<char> buffer_;
};

struct Category {
  std::string_view name;
  EventKind kind;
};
// Kineto's words; the ones with capitals are those of PyTorch up to 1.11.
constexpr std::array<Category, 14> kCategories{{{"cpu_op", EventKind::kOperator},
                                                {"Operator", EventKind::kOperator},
                                                {"user_annotation", EventKind::kAnnotation},
                                                {"kernel", EventKind::kKernel},
                                                {"Kernel", EventKind::kKernel},
                                                {"gpu_memcpy", EventKind::kCopy},
                                                {"Memcpy", EventKind::kCopy},
                                                {"gpu_memset", EventKind::kCopy},
                                                {"Memset", EventKind::kCopy},
                                                {"cuda_runtime", EventKind::kLaunch},
                                                {"cuda_driver", EventKind::kLaunch},
                                                {"Runtime", EventKind::kLaunch},
                                                {"xpu_runtime", EventKind::kLaunch},
                                                {"privateuse1_runtime", EventKind::kLaunch}}};

// What the parser has heard of the event that it is in.
struct RawEvent {
  std::string name, category, phase;
  std::optional<double> begin_us, duration_us;
  std::uint64_t process = 0, thread = 0;
  std::int64_t correlation = -1;
};

// Takes a trace from the parser's calls. Depths: 1 the file, 2 traceEvents or distributedInfo, 3 an event,
// 4 its args.
class TraceBuilder : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit TraceBuilder(Trace& trace) : trace_(trace) {}
  bool has_events = false;
  std::size_t error_at = 0;
  std::string error;

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t value) override { return number(static_cast<double>(value), value); }
  bool number_unsigned(number_unsigned_t value) override {
    return number(static_cast<double>(value), static_cast<std::int64_t>(value));
  }
  bool number_float(number_float_t value, const string_t&) override {
    return number(value, std::abs(value) < 9e18 ? static_cast<std::int64_t>(value) : 0);
  }
  bool string(string_t& value) override;
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override {
    if (++depth_ == 3 && in_events_) event_ = {};
    return true;
  }
  bool key(string_t& value) override {
    if (depth_ == 1) section_ = value;
    key_.swap(value);
    if (depth_ == 3) field_ = key_;
    return true;
  }
  bool end_object() override {
    if (depth_-- == 3 && in_events_) keep();
    return true;
  }
  bool start_array(std::size_t) override {
    if (++depth_ == 2 && section_ == "traceEvents") has_events = in_events_ = true;
    return true;
  }
  bool end_array() override {
    if (depth_-- == 2) in_events_ = false;
    return true;
  }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception& e) override {
    error_at = position;
    error = e.what();
    return false;
  }

 private:
  bool number(double value, std::int64_t whole);
  void keep();
  std::uint32_t index_of(const std::string& name) {
    const auto [at, is_new] = names_.try_emplace(name, static_cast<std::uint32_t>(trace_.names.size()));
    if (is_new) trace_.names.push_back(name);
    return at->second;
  }

  Trace& trace_;
  int depth_ = 0;
  bool in_events_ = false;
  std::string section_, field_, key_;  // the last keys: of the file, of an event, of all
  RawEvent event_;
  std::unordered_map<std::string, std::uint32_t> names_;
};

bool TraceBuilder::string(string_t& value) {
  if (depth_ == 1 && key_ == "host_name") trace_.host = value;
  if (!in_events_ || depth_ != 3) return true;
  if (key_ == "ph") event_.phase.swap(value);
  if (key_ == "cat") event_.category.swap(value);
  if (key_ == "name") event_.name.swap(value);
  if (key_ == "pid") event_.process = std::hash<std::string>{}(value);
  if (key_ == "tid") event_.thread = std::hash<std::string>{}(value);
  return true;
}

bool TraceBuilder::number(double value, std::int64_t whole) {
  if (depth_ == 1 && key_ == "baseTimeNanoseconds") trace_.base_ns = whole;
  if (depth_ == 2 && section_ == "distributedInfo") {
    if (key_ == "rank") trace_.rank = whole;
    if (key_ == "world_size") trace_.world = whole;
  }
  if (!in_events_) return true;
  if (depth_ == 4 && field_ == "args" && key_ == "correlation") event_.correlation = whole;
  if (depth_ != 3) return true;
  if (key_ == "ts") event_.begin_us = value;
  if (key_ == "dur") event_.duration_us = value;
  if (key_ == "pid") event_.process = static_cast<std::uint64_t>(whole);
  if (key_ == "tid") event_.thread = static_cast<std::uint64_t>(whole);
  return true;
}

void TraceBuilder::keep() {
  if (event_.phase != "X" || !event_.begin_us || !event_.duration_us) return;
  const auto row = std::ranges::find(kCategories, event_.category, &Category::name);
  if (row == kCategories.end()) return;
  const auto begin = std::llround(*event_.begin_us * 1000);
  trace_.events.push_back({.begin = begin,
                           .end = begin + std::llround(std::max(0.0, *event_.duration_us) * 1000),
                           .correlation = event_.correlation,
                           .thread = event_.process * 1000003 + event_.thread,
                           .name = index_of(event_.name),
                           .kind = row->kind});
}

[[noreturn]] void refuse(const std::filesystem::path& file, const TraceBuilder& builder,
                         UnpackedBytes& bytes) {
  const std::string name = file.string();
  if (bytes.damaged())
    throw Error(ErrorCode::kData, fmt::format("{} is damaged: gzip cannot unpack it beyond byte {} of the "
                                              "trace; copy it again",
                                              name, builder.error_at));
  if (bytes.ended())
    throw Error(ErrorCode::kData,
                fmt::format("{} ends too early, at byte {}: the trace was cut off; copy it again, or "
                            "wait until the profiler has written all of it",
                            name, builder.error_at - 1));
  throw Error(ErrorCode::kData,
              fmt::format("{} is not JSON: byte {} is not expected there; --from takes the files that "
                          "export_chrome_trace writes",
                          name, builder.error_at));
}

}  // namespace

std::optional<std::int64_t> rank_in_name(const std::string& name) {
  static const std::regex named(R"(rank[_\-. ]?(\d{1,9}))", std::regex::icase);
  static const std::regex part(R"((?:^|[._\-])(\d{1,5})(?=\.))");
  std::smatch match;
  if (!std::regex_search(name, match, named) && !std::regex_search(name, match, part)) return std::nullopt;
  return parse_int(match[1].str());
}

std::optional<Trace> read_trace(const std::filesystem::path& file) {
  Trace trace;
  trace.file = file;
  UnpackedBytes bytes(file);
  std::istream in(&bytes);
  TraceBuilder builder(trace);
  if (!nlohmann::json::sax_parse(in, &builder)) refuse(file, builder, bytes);
  if (!builder.has_events) return std::nullopt;
  if (!trace.rank) trace.rank = rank_in_name(file.filename().string());
  std::ranges::sort(trace.events, [](const TraceEvent& a, const TraceEvent& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
  });
  return trace;
}

}  // namespace paceline::analysis::traces
