// SPDX-License-Identifier: MIT
#pragma once
#include <chrono>
#include <map>
#include <string>
#include <variant>
#include <vector>

// Reads a meter during a timed loop: power, a clock, a counter.
namespace paceline::plugin {

// One value of one metric of one device, at the moment it was read.
struct Reading {
  std::string device;                       // "cpu", "cuda:1", or whatever the meter is called
  std::string metric;                       // "power"
  std::string unit;                         // "W"; empty: a pure number, or words
  std::variant<double, std::string> value;  // or words: "power cap, thermal"; left out if it is not finite
};

struct SamplerSettings {
  std::vector<std::string> devices;            // of the case, on this host: {"cuda:0", "cuda:1"}
  std::map<std::string, std::string> options;  // those that the plug-in declares, without the sampler's name
};

// Position of a reading in the timed window.
enum class Moment {
  kEdge,   // the window opens or closes: counters of which the window's share counts are read
  kWithin  // what costs much or changes slowly may be left out
};

// Reads metrics of devices. An exception ends the sampler, not the case, and is reported with its message.
// The caller reads the clock and measures what sampling costs.
class Sampler {
 public:
  virtual ~Sampler() = default;
  // Called before the timed window; may take long. Returns the time between two readings. Throws
  // Error(kUnavailable) with the reason if there is nothing to watch here.
  virtual std::chrono::nanoseconds open(const SamplerSettings& settings) = 0;
  // Reads metrics: when the window opens, once per period on a separate thread, and when the window closes;
  // never on two threads at once. Each metric has the same kind of value in every call.
  virtual std::vector<Reading> read(Moment moment) = 0;
};

}  // namespace paceline::plugin
