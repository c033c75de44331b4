// SPDX-License-Identifier: MIT
#include "run/collective/sweep_here.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/binary_size.h"
#include "base/device.h"
#include "base/units.h"
#include "host/machine/memory.h"
#include "host/machine/nvml.h"
#include "pass/sweep.h"
#include "run/collective/collective_factory.h"
#include "run/ranks/rank_settings.h"

namespace paceline::run {
namespace {

using config::Case;
using pass::CollectiveSize;

CollectiveSize size_of(const Case& c, const pass::CollectiveSpec& spec, std::int64_t bytes) {
  return pass::collective_size(spec.operation, spec.dtype, c.settings.integer("ranks"), bytes);
}

SweepNeed need_of(const CollectiveSize& size, const pass::CollectiveSpec& spec, const SweepPlace& place) {
  const auto held = pass::buffers_of(size, spec);
  const bool on_host = is_cpu(place.device);
  SweepNeed need;
  need.bytes = size.bytes;
  need.host_each = kRankProcessBytes + static_cast<double>(held.check + (on_host ? held.buffers : 0));
  need.host_all = need.host_each * static_cast<double>(place.ranks);
  need.device_each = on_host ? 0 : static_cast<double>(held.buffers);
  return need;
}

bool exceeds(double bytes, const Count& room) {
  return room && bytes > static_cast<double>(*room);
}

bool fits(const SweepNeed& need, const SweepPlace& place) {
  return !exceeds(need.host_all, place.host_bytes) && !exceeds(need.device_each, place.device_bytes);
}

// Which memory is too small, for a message of the size.
std::string shortage(const std::string& what, const SweepNeed& need, const SweepPlace& place) {
  if (exceeds(need.device_each, place.device_bytes))
    return fmt::format("{} takes at least {} on the device of each rank, which has {}", what,
                       format_bytes(need.device_each),
                       format_bytes(static_cast<double>(*place.device_bytes)));
  return fmt::format("{} takes at least {} in {}{}, and {} are available on this host", what,
                     format_bytes(need.host_each), place.ranks == 1 ? "" : "each of ",
                     plural(place.ranks, "rank"), format_bytes(static_cast<double>(*place.host_bytes)));
}

// "all_gather of float carries at least 16 bytes, one element for each of 4 ranks"
std::string least_words(const Case& c, const pass::CollectiveSpec& spec, std::int64_t bytes) {
  const auto& row = row_of(spec.operation);
  return fmt::format(
      "{} of {} carries at least {} bytes, one element{}", row.name, collective_dtype_name(spec.dtype), bytes,
      row.per_rank ? fmt::format(" for each of {}", plural(c.settings.integer("ranks"), "rank")) : "");
}

std::string too_small(const Case& c, const pass::CollectiveSpec& spec) {
  const auto least = pass::smallest_bytes(spec, c.settings.integer("ranks"));
  const auto most = c.settings.integer("max_bytes");
  if (spec.operation == Collective::kBarrier || least <= most) return {};
  return fmt::format("{}, and max_bytes is {}; write max_bytes: {} (-e {})", least_words(c, spec, least),
                     most, typed_bytes(least), typed_bytes(least));
}

std::string round_shortage(const pass::CollectiveSpec& spec, const SweepPlace& place) {
  if (spec.rounds.empty()) return {};
  const auto size = pass::collective_size(Collective::kSendRecv, spec.dtype, place.ranks, spec.round_bytes);
  const auto need = need_of(size, spec, place);
  if (fits(need, place)) return {};
  return shortage("a round of " + exact_bytes(spec.round_bytes), need, place) +
         "; write a smaller round_bytes";
}

}  // namespace

SweepOutlook judge_sweep(const Case& c, const SweepPlace& place) {
  const auto spec = collective_spec(c.settings);
  SweepOutlook outlook;
  outlook.place = place;
  outlook.need = need_of(size_of(c, spec, spec.sizes.back()), spec, place);
  for (const auto bytes : spec.sizes)
    if (fits(need_of(size_of(c, spec, bytes), spec, place), place)) outlook.largest_that_fits = bytes;
  outlook.refusal = too_small(c, spec);
  if (!outlook.refusal.empty()) return outlook;
  if (!fits(outlook.need, place)) {
    const auto what = fmt::format("{} of {}", row_of(spec.operation).name, exact_bytes(outlook.need.bytes));
    const auto most = outlook.largest_that_fits;
    outlook.refusal =
        shortage(what, outlook.need, place) +
        (most > 0 ? fmt::format("; the largest size that fits is {}: write max_bytes: {} (-e {})",
                                exact_bytes(most), typed_bytes(most), typed_bytes(most))
                  : "; none of its sizes fits: use fewer ranks or smaller sizes");
    return outlook;
  }
  outlook.refusal = round_shortage(spec, place);
  return outlook;
}

SweepOutlook judge_sweep_here(const Case& c, const std::string& device, int hosts) {
  SweepPlace place;
  place.device = device;
  place.ranks = (c.settings.integer("ranks") + hosts - 1) / hosts;
  place.host_bytes = host::usable_bytes(host::read_memory(host::SystemFiles{}));
  // Which of them a rank gets is its launcher's choice: what is larger than all of them fits on none.
  if (is_cuda(device))
    for (const auto& gpu : host::read_nvidia_driver().gpus)
      if (gpu.memory_bytes && (!place.device_bytes || *place.device_bytes < *gpu.memory_bytes))
        place.device_bytes = gpu.memory_bytes;
  return judge_sweep(c, place);
}

std::string memory_words(const SweepOutlook& outlook) {
  const auto& [bytes, each, all, on_device] = outlook.need;
  const auto& place = outlook.place;
  auto text = fmt::format("at least {} in {}{} at {}", format_bytes(each), place.ranks == 1 ? "" : "each of ",
                          plural(place.ranks, "rank"), exact_bytes(bytes));
  if (place.host_bytes)
    text += fmt::format(", {} of the {} available on this host", format_bytes(all),
                        format_bytes(static_cast<double>(*place.host_bytes)));
  if (on_device > 0)
    text += fmt::format(
        "; {} on each device{}", format_bytes(on_device),
        place.device_bytes ? " of " + format_bytes(static_cast<double>(*place.device_bytes)) : "");
  return text;
}

nlohmann::json memory_json(const SweepOutlook& sweep) {
  const auto or_null = [](const Count& count) {
    return count ? nlohmann::json(*count) : nlohmann::json(nullptr);
  };
  return {{"ranks_here", sweep.place.ranks},
          {"bytes_per_rank", sweep.need.host_each},
          {"bytes_of_ranks", sweep.need.host_all},
          {"available_bytes", or_null(sweep.place.host_bytes)},
          {"device_bytes_per_rank", sweep.need.device_each},
          {"device_bytes", or_null(sweep.place.device_bytes)},
          {"largest_size_that_fits_bytes", sweep.largest_that_fits}};
}

std::vector<std::string> size_remarks(const Case& c) {
  const auto spec = collective_spec(c.settings);
  const auto least = pass::smallest_bytes(spec, c.settings.integer("ranks"));
  if (spec.operation == Collective::kBarrier || spec.sizes.front() >= least) return {};
  return {fmt::format("{}: smaller sizes are measured as that", least_words(c, spec, least))};
}

}  // namespace paceline::run
