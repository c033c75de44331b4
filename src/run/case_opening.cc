// SPDX-License-Identifier: MIT
#include "run/case_opening.h"

#include <fmt/format.h>

#include "base/text.h"
#include "config/device.h"
#include "host/affinity.h"
#include "host/gpu_locality.h"
#include "run/case_identity.h"
#include "run/launch.h"
#include "run/pass_factory.h"
#include "run/train_here.h"
#include "workload/inference/instance_pass.h"

namespace paceline::run {
namespace {

// One list of CPUs for all, or one for each instance, from the devices that they are on.
std::vector<std::vector<int>> near_devices(const workload::PassSpec& base) {
  std::vector<std::vector<int>> near(static_cast<std::size_t>(base.load.instances));
  const auto device = base.settings.options.find("device");
  if (device == base.settings.options.end() || device->second == "cpu") return near;
  const auto places = host::gpu_places();
  for (std::int64_t i = 0; i < base.load.instances; ++i) {
    const auto mine = workload::spec_of_instance(base, i).settings.options.at("device");
    near[static_cast<std::size_t>(i)] = host::cpus_near_device(
        places, static_cast<int>(parse_int(mine.substr(mine.find(':') + 1)).value_or(0)));
  }
  return near;
}

// Instances have cores of their own, or there is nothing to compare.
void choose_pinning(CaseRun& c) {
  const auto& settings = c.definition.settings;
  const bool instances = settings.has("instances");
  if (!settings.flag("pin") && !instances) return;
  const auto wanted = c.base.settings.threads * static_cast<int>(c.base.load.lanes());
  c.base.pin_cpus = host::choose_cpus_near(near_devices(c.base), wanted / c.base.load.instances);
  if (!instances || c.ended || c.base.pin_cpus.size() == static_cast<std::size_t>(wanted)) return;
  end_case(
      c, "unavailable",
      fmt::format("{} instances of {} threads need {} CPUs of their own, and {} may be used",
                  c.base.load.instances, wanted / c.base.load.instances, wanted, c.base.pin_cpus.size()));
}

void open_inference(const RunSetup& setup, CaseRun& c) {
  c.base = base_pass(c.definition, static_cast<int>(host::allowed_cpus().size()));
  describe_given_file(c);
  const auto device = *config::canonical_device(c.definition.settings.text("device"));
  const auto home = engine_home(setup.engines, c.base.engine, device);
  c.base.plugin_file = home.file.string();
  if (home.file.empty()) end_case(c, "unavailable", home.unavailable);
  choose_pinning(c);
}

void open_training(const RunSetup& setup, CaseRun& c) {
  const Launch* launch = setup.launch;
  const auto here = train_here(c.definition, setup.cases, setup.engines, launch);
  c.base = here.pass;
  identify_device(c.result.benchmark, c.base.train.device);
  if (!here.unavailable.empty()) end_case(c, "unavailable", here.unavailable);
  if (launch && c.base.world_size > launch->place().world)
    end_case(c, "unavailable",
             fmt::format("{} ranks are asked for, and {} has started {}", c.base.world_size,
                         launch->place().launcher, launch->place().world));
}

}  // namespace

CaseRun open_case(const RunSetup& setup, const config::Case& definition, const std::string& run_id,
                  const result::RunDirectory& directory) {
  CaseRun c;
  c.definition = definition;
  c.dir = directory.case_dir(definition.id);
  c.result = new_case_result(definition, run_id);
  c.selected = setup.only.empty() || setup.only.contains(definition.id);
  if (!definition.not_available.empty()) {
    end_case(c, "not_available_yet", definition.not_available);
    return c;
  }
  c.trains() ? open_training(setup, c) : open_inference(setup, c);
  c.result.benchmark.threads = c.base.settings.threads;
  return c;
}

}  // namespace paceline::run
