// SPDX-License-Identifier: MIT
// Reads the energy counters of Intel's and AMD's CPUs (RAPL), which the kernel shows below
// /sys/class/powercap.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace paceline::rapl {

// PACELINE_POWERCAP names another folder, for tests.
std::filesystem::path powercap_folder();

// Packages and their memory add up. Cores are inside their package, and a second view of a package (mmio) or
// of the platform counts the same energy again.
enum class Part : std::uint8_t { kPackage, kDram, kOther };

// The counter of one zone, continued where it passes the end of its range. One that is lower than before, of
// which this cannot be so, began again at 0 (after a suspend, say): it counts from there, and has been
// interrupted.
class Counter {
 public:
  Counter(std::filesystem::path folder, std::string zone, std::string name, Part part);

  [[nodiscard]] const std::string& zone() const { return zone_; }  // intel-rapl:0:1
  [[nodiscard]] const std::string& name() const { return name_; }  // package-0; of memory "dram package-0"
  [[nodiscard]] Part part() const { return part_; }
  [[nodiscard]] bool is_lost() const {
    return lost_;
  }  // it went back, and does not say where it begins again
  [[nodiscard]] bool was_interrupted() const { return interrupted_; }
  // Empty where it may not be read, or is lost.
  std::optional<double> joules();

 private:
  std::filesystem::path file_;
  std::string zone_, name_;
  Part part_;
  [[nodiscard]] bool may_have_wrapped(std::int64_t now_uj, std::int64_t now_ns) const;

  std::int64_t range_uj_ = 0, last_uj_ = -1, wrapped_uj_ = 0, last_ns_ = 0;
  bool lost_ = false, interrupted_ = false;
};

// Lists all zones; empty if the machine shows none.
std::vector<Counter> counters(const std::filesystem::path& folder);

// Why the energy of the packages cannot be read, with what to do; empty: it can. `found`: those that there
// are.
std::string refusal(std::vector<Counter>& found);

}  // namespace paceline::rapl
