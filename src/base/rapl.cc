// SPDX-License-Identifier: MIT
#include "base/rapl.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "base/handle.h"
#include "base/text.h"

namespace paceline::rapl {
namespace fs = std::filesystem;
namespace {

// A file of sysfs from its beginning; empty where it cannot be read.
std::string text_of(const FileDescriptor& file) {
  std::array<char, 64> text{};
  const auto got = file ? ::pread(file.get(), text.data(), text.size(), 0) : -1;
  return got > 0 ? std::string(trim(std::string_view(text.data(), static_cast<std::size_t>(got)))) : "";
}

FileDescriptor opened(const fs::path& path) {
  return FileDescriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
}

bool is_package(std::string_view zone, std::string_view name) {
  constexpr std::string_view kControl = "intel-rapl:";  // AMD's too; "intel-rapl-mmio:" is its second view
  return zone.starts_with(kControl) && zone.find(':', kControl.size()) == std::string_view::npos &&
         name.starts_with("package");
}

}  // namespace

fs::path powercap_folder() {
  const char* other = std::getenv("PACELINE_POWERCAP");
  return other && *other ? other : "/sys/class/powercap";
}

Counter::Counter(fs::path folder, std::string zone, std::string name, Part part)
    : file_(folder / "energy_uj"), zone_(std::move(zone)), name_(std::move(name)), part_(part) {
  range_uj_ = parse_int(text_of(opened(folder / "max_energy_range_uj"))).value_or(0);
}

std::optional<double> Counter::joules() {
  const auto now = parse_int(text_of(opened(file_)));
  lost_ = lost_ || (now && *now < last_uj_ && range_uj_ <= 0);
  if (!now || lost_) return std::nullopt;
  const auto now_ns = SteadyClock{}.now_ns();
  if (*now < last_uj_) {
    const bool wrapped = may_have_wrapped(*now, now_ns);
    wrapped_uj_ = wrapped ? wrapped_uj_ + range_uj_ : 0;
    interrupted_ = interrupted_ || !wrapped;
  }
  last_uj_ = *now, last_ns_ = now_ns;
  return static_cast<double>(wrapped_uj_ + *now) / 1e6;
}

// No package draws this much, not even for the milliseconds between two updates of its counter.
bool Counter::may_have_wrapped(std::int64_t now_uj, std::int64_t now_ns) const {
  constexpr double kMostWatts = 1500, kUpdateS = 0.1;
  const double joules = static_cast<double>(range_uj_ - last_uj_ + now_uj) * 1e-6;
  return joules <= kMostWatts * (static_cast<double>(now_ns - last_ns_) * 1e-9 + kUpdateS);
}

std::vector<Counter> counters(const fs::path& folder) {
  std::vector<std::string> zones;
  std::error_code error;
  fs::directory_iterator at(folder, error);
  for (; !error && at != fs::directory_iterator(); at.increment(error))
    if (std::error_code missing; fs::exists(at->path() / "energy_uj", missing))
      zones.push_back(at->path().filename().string());
  std::ranges::sort(zones);
  std::vector<Counter> found;
  for (const auto& zone : zones) {
    const auto name = text_of(opened(folder / zone / "name"));
    if (is_package(zone, name)) {
      found.emplace_back(folder / zone, zone, name, Part::kPackage);
      continue;
    }
    const auto package = std::ranges::find(found, zone.substr(0, zone.rfind(':')), &Counter::zone);
    const bool of_package = package != found.end() && package->part() == Part::kPackage;
    const bool dram = of_package && name == "dram";
    found.emplace_back(folder / zone, zone, dram ? "dram " + package->name() : name,
                       dram ? Part::kDram : Part::kOther);
  }
  return found;
}

std::string refusal(std::vector<Counter>& found) {
  const auto packages = std::ranges::count(found, Part::kPackage, &Counter::part);
  if (packages == 0) return "this machine has no energy counters (RAPL)";
  for (auto& one : found) {
    if (one.part() != Part::kPackage || one.joules()) continue;
    return one.is_lost() ? one.name() + ": its counter went back, and its range is not known"
                         : "only root may read the energy counters of the CPUs (RAPL); until the next start, "
                           "sudo chmod a+r /sys/class/powercap/intel-rapl:*/energy_uj lets everyone";
  }
  return {};
}

}  // namespace paceline::rapl
