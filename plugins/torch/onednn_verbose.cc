// SPDX-License-Identifier: MIT
#include "torch/onednn_verbose.h"

#include <ATen/native/verbose_wrapper.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <map>
#include <optional>

#include "base/text.h"

namespace paceline::torch_plugin {
namespace {

// "mb8_g1ic3oc64_ih224oh112kh7sh2dh0ph3_iw…" -> {mb: 8, g: 1, ic: 3, …}
std::map<std::string, double> parse_extents(std::string_view text) {
  std::map<std::string, double> extents;
  for (std::size_t i = 0; i < text.size();) {
    const auto letters = text.find_first_of("0123456789", i);
    if (letters == std::string_view::npos) break;
    const auto digits = std::min(text.find_first_not_of("0123456789", letters), text.size());
    auto key = text.substr(i, letters - i);
    key.remove_prefix(std::min(key.find_first_not_of('_'), key.size()));
    extents[std::string(key)] = parse_double(text.substr(letters, digits - letters)).value_or(0);
    i = digits;
  }
  return extents;
}

double product_of(const std::map<std::string, double>& extents, std::initializer_list<const char*> keys) {
  double product = 1;
  for (const auto* key : keys)
    if (const auto at = extents.find(key); at != extents.end()) product *= at->second;
  return product;
}

double convolution_flops(std::string_view shape) {
  const auto extents = parse_extents(shape);
  const double groups = product_of(extents, {"g"});
  return 2 * product_of(extents, {"mb", "oc", "od", "oh", "ow", "ic", "kd", "kh", "kw"}) / groups;
}

// "src:bf16::blocked:acdb::f0 wei:…" and its older spelling "src_bf16::…" -> "bf16"
std::string source_type(std::string_view memory) {
  const auto type = memory.substr(memory.find("src") + 4);
  const auto name = std::string(type.substr(0, type.find(':')));
  static const std::map<std::string, std::string> ours = {
      {"f32", "fp32"}, {"f16", "fp16"}, {"s8", "int8"}, {"u8", "int8"}};
  const auto at = ours.find(name);
  return at == ours.end() ? name : at->second;
}

// Fields count from the word "exec", so that a time stamp or a version in front makes no difference.
std::optional<LoggedConvolution> parse_convolution(std::string_view line) {
  const auto start = line.find("exec,cpu,convolution,");
  if (!line.starts_with("onednn_verbose") || start == std::string_view::npos) return {};
  const auto fields = split(line.substr(start), ',');
  constexpr std::size_t kMemory = 5, kShape = 8, kTime = 9;
  if (fields.size() <= kShape) return {};
  const auto ms = fields.size() > kTime ? parse_double(trim(fields[kTime])) : std::nullopt;
  return LoggedConvolution{source_type(fields[kMemory]), fields[kShape], convolution_flops(fields[kShape]),
                           ms.value_or(0) * 1e6};
}

}  // namespace

OnednnLog::OnednnLog() : buffer_(::memfd_create("onednn_log", MFD_CLOEXEC)) {
  std::fflush(stdout);
  stdout_copy_ = ::dup(STDOUT_FILENO);
  if (buffer_ < 0 || stdout_copy_ < 0) return;
  ::dup2(buffer_, STDOUT_FILENO);
  torch::verbose::_mkldnn_set_verbose(1);
}

OnednnLog::~OnednnLog() {
  restore();
  if (buffer_ >= 0) ::close(buffer_);
}

void OnednnLog::restore() {
  if (stdout_copy_ < 0) return;
  torch::verbose::_mkldnn_set_verbose(0);
  std::fflush(stdout);
  ::dup2(stdout_copy_, STDOUT_FILENO);
  ::close(stdout_copy_);
  stdout_copy_ = -1;
}

std::string OnednnLog::take() {
  restore();
  std::string text;
  char chunk[1 << 14];
  for (ssize_t offset = 0, n = 0; (n = ::pread(buffer_, chunk, sizeof chunk, offset)) > 0; offset += n)
    text.append(chunk, static_cast<std::size_t>(n));
  return text;
}

std::vector<LoggedConvolution> logged_convolutions(std::string_view onednn_log) {
  std::vector<LoggedConvolution> found;
  for (const auto& line : split(onednn_log, '\n'))
    if (auto one = parse_convolution(line)) found.push_back(std::move(*one));
  return found;
}

WorkByPrecision convolutions_in(std::string_view onednn_log) {
  WorkByPrecision work;
  for (const auto& one : logged_convolutions(onednn_log)) {
    work[one.precision].flops += one.flops;
    ++work[one.precision].operators;
  }
  return work;
}

}  // namespace paceline::torch_plugin
