// SPDX-License-Identifier: MIT
// Runs a sampler of a plug-in over a window, on a thread of its own.
#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "pass/pass.h"
#include "plugin/sampler.h"
#include "result/stored/sampled.h"
#include "workload/window/measured_window.h"

namespace paceline::workload {

// Nothing that a sampler throws leaves this: it is reported with the readings until then.
class SamplerObserver : public WindowObserver {
 public:
  // Makes and opens the sampler, which may take long. `window` names sampler, rank and repetition; with the
  // readings it goes to `into`, which outlives this.
  using Make = std::function<std::unique_ptr<plugin::Sampler>()>;
  SamplerObserver(result::SampledWindow window, const Make& make, const plugin::SamplerSettings& settings,
                  std::vector<result::SampledWindow>& into);
  void open() override;
  void close() override;
  void report(result::Repetition&, double) override { into_.push_back(std::move(window_)); }

 private:
  template <class Work>
  void guarded(Work work);
  void read(plugin::Moment moment);
  void add(const plugin::Reading& reading, double time_s);
  void read_until(const std::stop_token& over);

  std::vector<result::SampledWindow>& into_;
  result::SampledWindow window_;
  std::unique_ptr<plugin::Sampler> sampler_;
  std::chrono::nanoseconds period_{};
  std::int64_t begin_ns_ = 0;
  std::jthread thread_;
};

// Adds those of a pass. `ranks_of_host`: of a pass by ranks, how many run on this host, this one first.
void add_samplers(MeasuredWindow& window, const pass::PassSpec& spec, std::size_t ranks_of_host,
                  std::vector<result::SampledWindow>& into);

// Devices that the pass uses on this host: "cpu", or "cuda:0", "cuda:1".
std::vector<std::string> watched_devices(const pass::PassSpec& spec, std::size_t ranks_of_host);

}  // namespace paceline::workload
