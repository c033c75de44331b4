// SPDX-License-Identifier: MIT
// Fills in what several devices imply.
#include "base/device.h"
#include "config/device.h"
#include "config/inference/inference_in_plan.h"

namespace paceline::config {

void imply_gpus(WorkloadDraft& d) {
  if (!d.settings.has("device") || (!d.written("gpus") && !d.written("devices"))) return;
  if (!d.written("scenario")) d.settings.set("scenario", std::string("closed_loop"));
  if (d.settings.text("device") == kAutoDevice)
    d.settings.set("device", std::string(kind_name(DeviceKind::kCuda)));
  if (!d.written("gpus") && d.settings.has("devices"))
    d.settings.set("gpus", static_cast<std::int64_t>(d.settings.list("devices").size()));
}

}  // namespace paceline::config
