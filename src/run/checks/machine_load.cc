// SPDX-License-Identifier: MIT
// Loads core sets and GPUs, and judges what they reach.
#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "config/device.h"
#include "host/machine/accelerators.h"
#include "host/machine/affinity.h"
#include "host/machine/gpu_locality.h"
#include "host/noise/idle_gate.h"
#include "run/case/plugin_choice.h"
#include "run/checks/machine_checks.h"

namespace paceline::run {
namespace {

using answer::Verdict;

constexpr double kProbeTimeoutS = 300;
constexpr double kQuietCores = 0.1;  // of others: a tenth of a CPU can hide nothing that is judged

std::vector<host::LoadReading> probe(const EngineHome& home, const std::string& device,
                                     const std::atomic<bool>& interrupt) {
  pass::PassSpec spec;
  spec.kind = pass::PassKind::kPeaks;
  spec.settings.options["device"] = device;
  spec.use(plugin::Role::kProbe, "cuda", home.file.string());
  const auto [outcome, log] = ask_plugin(spec, kProbeTimeoutS, interrupt);
  if (!outcome.ok) throw Error(ErrorCode::kUnavailable, outcome.reason + log);
  std::vector<host::LoadReading> readings;
  result::DevicePeaks fastest;
  for (const auto& peak : outcome.report.get<pass::PeaksReport>().peaks) result::keep_faster(fastest, peak);
  for (const auto& peak : fastest.peaks)
    if (peak.per_s)
      readings.push_back({peak.operation + " " + peak.variant,
                          peak.operation == result::kCopy ? "B/s" : "FLOP/s", *peak.per_s,
                          peak.spread.value().value_or(0)});
  return readings;
}

// Empty with a row that says why, where no GPU can be loaded.
std::vector<host::LoadUnit> gpu_units(std::vector<host::CheckedRow>& rows,
                                      const std::atomic<bool>& interrupt) {
  if (const auto absent = host::no_visible_device_reason(host::SystemFiles()); !absent.empty()) {
    rows.push_back({"load GPUs", {}, {Verdict::kNotAsked, absent, {}}});
    return {};
  }
  const EngineDirectory engines(plugin::read_manifests(plugin::plugin_dir()));
  const auto places = host::gpu_places();
  std::vector<host::LoadUnit> units;
  for (int i = 0; i < host::visible_device_count(places); ++i) {
    const auto device = device_name({DeviceKind::kCuda, i});
    const auto home = engines.find(plugin::Role::kProbe, "cuda", device);
    if (home.file.empty()) {
      rows.push_back({"load GPUs", {}, {Verdict::kNotAsked, home.unavailable, {}}});
      return {};
    }
    const auto model = host::gpu_at_index(places, i).name;
    units.push_back({device, model ? *model : "GPU",
                     [home, device, &interrupt] { return probe(home, device, interrupt); }});
  }
  return units;
}

// Core sets that neighbours may have slowed down do not fail.
void downgrade_if_disturbed(host::LoadTest& test, const Number& foreign_cores) {
  test.disturbed = !foreign_cores || *foreign_cores > kQuietCores;
  if (!test.disturbed) return;
  const auto why = foreign_cores ? fmt::format("neighbours used {:.2f} CPUs meanwhile", *foreign_cores)
                                 : "whether neighbours slowed it down cannot be seen";
  for (auto& row : test.rows)
    if (row.result.status == Verdict::kNo)
      row.result = {Verdict::kReservedly, row.result.text + "; " + why,
                    "load it again when nothing else runs"};
}

}  // namespace

host::LoadTest load_machine(double seconds, const std::vector<host::LoadFigure>& expected,
                            const std::atomic<bool>& interrupt) {
  host::LoadOptions options{seconds, expected, {}, [&] { return interrupt.load(); }};
  std::vector<host::LoadUnit> cores;
  for (const auto& cpus : host::core_sets(host::SystemFiles(), host::current_affinity()))
    cores.push_back(host::core_set_unit(cpus));
  const auto seams = host::real_idle_gate_seams();
  const auto before = seams.sample();
  auto test = host::run_load(cores, options);
  downgrade_if_disturbed(test, host::foreign_cores(before, seams.sample()));
  auto gpus = host::run_load(gpu_units(test.rows, interrupt), options);
  std::ranges::move(gpus.figures, std::back_inserter(test.figures));
  std::ranges::move(gpus.rows, std::back_inserter(test.rows));
  return test;
}

}  // namespace paceline::run
