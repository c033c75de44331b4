// SPDX-License-Identifier: MIT
#include "run/train_here.h"

#include "host/affinity.h"
#include "run/train_factory.h"

namespace paceline::run {

TrainHere train_here(const config::Case& c, const std::vector<config::Case>& cases,
                     const EngineDirectory& engines, int hosts) {
  const auto cores = static_cast<int>(host::allowed_cpus().size());
  const bool cuda = !engine_home(engines, "eager", "cuda").file.empty();
  TrainHere here{
      train_pass(c, {threads_per_rank(cases, cores, hosts), cuda ? "cuda" : "cpu", cases.size() == 1}), {}};
  const auto home = engine_home(engines, here.pass.engine, here.pass.train.device);
  here.pass.plugin_file = home.file.string();
  here.unavailable = home.unavailable;
  if (c.settings.flag("pin")) here.pass.pin_cpus = host::choose_cpus(here.pass.settings.threads);
  return here;
}

}  // namespace paceline::run
