// SPDX-License-Identifier: MIT
// Findings about what a GPU could do and a case does not ask of it: tensor cores, copies.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "analysis/case_query.h"
#include "analysis/findings.h"
#include "base/text.h"
#include "base/units.h"
#include "result/figures/device_figures.h"

namespace paceline::analysis {
namespace {

using result::DevicePeaks;

// Peak of matrix products in one precision, and whether it was measured.
struct ProductPeak {
  double flops_per_s = 0;
  bool measured = false;
};

std::optional<ProductPeak> product_in(const DevicePeaks& peaks, std::string_view precision, bool measured) {
  const auto* one = result::find_peak(peaks, result::kProduct, precision);
  if (!one) return std::nullopt;
  const auto& figure = measured ? one->per_s : one->datasheet_per_s;
  return figure ? std::optional(ProductPeak{*figure, measured}) : std::nullopt;
}

// "tf32 products are up to 7.3 times, bf16 products up to 12.9 times"; empty: none is much faster.
std::string faster_products(const DevicePeaks& peaks, bool measured, std::string& figures) {
  constexpr double kMuchFaster = 1.5;
  const auto fp32 = product_in(peaks, "fp32", measured);
  if (!fp32) return {};
  std::vector<std::string> words, numbers{fmt::format("fp32 {}", format_fixed(fp32->flops_per_s * 1e-12, 0))};
  for (const char* precision : {"tf32", "fp16", "bf16"}) {
    const auto other = product_in(peaks, precision, measured);
    if (!other || other->flops_per_s < kMuchFaster * fp32->flops_per_s) continue;
    words.push_back(fmt::format("{} products up to {} times", precision,
                                format_fixed(other->flops_per_s / fp32->flops_per_s, 1)));
    numbers.push_back(fmt::format("{} {}", precision, format_fixed(other->flops_per_s * 1e-12, 0)));
  }
  figures = fmt::format("{}: {} TFLOP/s", measured ? "products measured on it" : "its datasheet",
                        join(numbers, ", "));
  return join(words, ", ");
}

// A case that differs in the precision alone says more than a peak.
bool has_faster_precision(const RunResult& run, const CaseResult& one) {
  return std::ranges::any_of(run.cases, [&](const CaseResult& other) {
    return is_ok(other) && other.benchmark.precision != "fp32" &&
           differing_axes(other.benchmark, one.benchmark) == std::vector<std::string>{"precision"};
  });
}

// How long copies and the model of an inference take on the device's clock; of what is not copied 0.
struct Parts {
  double h2d_ns = 0, model_ns = 0, d2h_ns = 0;
  [[nodiscard]] double copies_ns() const { return h2d_ns + d2h_ns; }
};

Parts parts_of(const CaseResult& one) {
  Parts parts;
  for (const auto& part : one.device_parts) {
    const double ns = part.p50_ns.value().value_or(0);
    if (part.name == result::kH2d) parts.h2d_ns = ns;
    if (part.name == result::kDeviceCompute) parts.model_ns = ns;
    if (part.name == result::kD2h) parts.d2h_ns = ns;
  }
  return parts;
}

Number wall_ns(const CaseResult& one) {
  return one.back_to_back_ns.value ? one.back_to_back_ns.value : one.headline.p50_ns.value;
}

std::string copies_text(const Parts& parts) {
  return fmt::format("H2D {}, D2H {}, model {}: medians on the device's clock",
                     format_duration_ns(parts.h2d_ns), format_duration_ns(parts.d2h_ns),
                     format_duration_ns(parts.model_ns));
}

bool setting_has(const CaseResult& one, const std::string& name, std::string_view words) {
  const auto found = one.effective_settings.find(name);
  return found != one.effective_settings.end() && found->second.find(words) != std::string::npos;
}

// "; pinned memory is copied up to 4.8 times as fast there (53.0 against 11.0 GB/s)"
std::string pinned_words(const CaseResult& one) {
  if (!one.device_peaks) return {};
  const auto* pinned = result::find_peak(*one.device_peaks, result::kCopy, result::kPinnedToDevice);
  const auto* pageable = result::find_peak(*one.device_peaks, result::kCopy, result::kPageableToDevice);
  if (!pinned || !pageable || !pinned->per_s || !pageable->per_s) return {};
  return fmt::format("; pinned memory is copied up to {} times as fast there ({} against {} GB/s)",
                     format_fixed(*pinned->per_s / *pageable->per_s, 1),
                     format_significant(*pinned->per_s * 1e-9), format_significant(*pageable->per_s * 1e-9));
}

// Then what was measured is believed, also where it shows no gain.
bool has_measured_fp32(const result::DevicePeaks& peaks) {
  return result::best_peak(peaks, "fp32") != nullptr;
}

constexpr double kCopiesCount = 0.05;  // of the wall time

}  // namespace

Findings find_unused_tensor_cores(const RunResult& run) {
  std::map<std::string, Cases> by_device;
  for (const CaseResult& one : run.cases)
    if (is_timed_on_gpu(one) && one.benchmark.precision == "fp32" && one.device_peaks &&
        !has_faster_precision(run, one))
      by_device[one.device_peaks->device].push_back(&one);
  Findings found;
  for (const auto& [device, cases] : by_device) {
    std::string figures;
    auto words = faster_products(*cases.front()->device_peaks, true, figures);
    if (words.empty() && !has_measured_fp32(*cases.front()->device_peaks))
      words = faster_products(*cases.front()->device_peaks, false, figures);
    if (words.empty()) continue;
    found.push_back(finding_about(
        cases,
        fmt::format("{} in fp32 {} the tensor cores of the {} idle: {} as fast there ({}).",
                    plural(std::ssize(cases), "case"), cases.size() == 1 ? "leaves" : "leave", device, words,
                    list_labels(cases)),
        figures,
        fmt::format("Try --precision {}.", cases.front()->training() ? "tf32,amp" : "tf32,amp_fp16")));
  }
  return found;
}

Findings find_pageable_copies(const RunResult& run) {
  Findings found;
  for (const CaseResult& one : run.cases) {
    const auto parts = parts_of(one);
    const auto wall = wall_ns(one);
    if (!is_timed_on_gpu(one) || !setting_has(one, "io", "pageable") || !wall) continue;
    const double share = parts.copies_ns() / *wall;
    if (share < kCopiesCount) continue;
    found.push_back(
        finding_about({&one},
                      fmt::format("{}: copies from and to pageable memory take {} of the wall time{}.",
                                  one.label, format_percent(std::min(1.0, share), 0), pinned_words(one)),
                      copies_text(parts), "Try --io pinned."));
  }
  return found;
}

// Where copies and the model follow each other, the longest of the three is what is left of them.
Findings find_serial_copies(const RunResult& run) {
  Findings found;
  for (const CaseResult& one : run.cases) {
    const auto parts = parts_of(one);
    const auto wall = wall_ns(one);
    const bool overlaps = setting_has(one, "overlap", "on");
    if (!is_timed_on_gpu(one) || !setting_has(one, "io", "pinned memory") || overlaps || !wall) continue;
    if (parts.model_ns <= 0 || parts.copies_ns() < kCopiesCount * *wall) continue;
    const double all = parts.copies_ns() + parts.model_ns;
    const double longest = std::max({parts.h2d_ns, parts.model_ns, parts.d2h_ns});
    found.push_back(finding_about(
        {&one},
        fmt::format("{}: copies take {} of the wall time and wait for the model, as it does for them: beside "
                    "each other they would give up to {} times the throughput.",
                    one.label, format_percent(std::min(1.0, parts.copies_ns() / *wall), 0),
                    format_fixed(all / longest, 2)),
        copies_text(parts), "Try --timing pipelined --overlap."));
  }
  return found;
}

}  // namespace paceline::analysis
