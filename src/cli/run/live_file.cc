// SPDX-License-Identifier: MIT
#include "cli/run/live_file.h"

#include <unistd.h>

#include <cmath>
#include <ctime>
#include <utility>

#include "base/clock.h"
#include "base/display_text.h"
#include "base/error.h"
#include "base/file.h"
#include "base/units.h"
#include "cli/run/time_left.h"

namespace paceline::cli {
namespace fs = std::filesystem;

LiveFile::LiveFile(const fs::path& run_dir, std::int64_t every_ns)
    : file_(run_dir / "live.json"), every_ns_(every_ns), live_{{"process_id", ::getpid()}} {}

LiveFile::~LiveFile() {
  std::error_code ignored;
  fs::remove(file_, ignored);
}

void LiveFile::run_begins(const run::RunOverview& o) {
  const std::scoped_lock lock(mutex_);
  live_["experiment_name"] = o.experiment_name;
  live_["cases"] = o.cases;
}

void LiveFile::pass_begins(const run::PassInfo& p) {
  const std::scoped_lock lock(mutex_);
  pass_ = p;
  pass_began_ns_ = SteadyClock{}.now_ns();
  live_["pass"] = {{"case_id", p.case_id},
                   {"label", p.label},
                   {"kind", p.kind},
                   {"repetition", p.repetition},
                   {"number", p.number},
                   {"of", p.of},
                   {"samples_per_iteration", p.samples_per_iteration},
                   {"seconds_left", p.seconds_left > 0 ? nlohmann::json(p.seconds_left) : nlohmann::json()}};
  live_.erase("progress");
  write_when_due();
}

void LiveFile::progress(const pass::ProgressRecord& record) {
  const std::scoped_lock lock(mutex_);
  auto figures = pass::progress_record(record).at("progress");
  for (const char* of_notices : {"notice", "fault_ns"}) figures.erase(of_notices);
  live_["progress"] = std::move(figures);
  const double since_s = static_cast<double>(SteadyClock{}.now_ns() - pass_began_ns_) * 1e-9;
  const auto left = time_left(pass_, since_s, record);
  live_["pass"]["seconds_left"] =
      left && !left->at_most ? nlohmann::json(std::ceil(left->seconds)) : nlohmann::json();
  write_when_due();
}

// Not synced: after a crash of the machine nobody asks what is running.
void LiveFile::write_when_due() {
  const auto now = SteadyClock{}.now_ns();
  if (now < next_ns_) return;
  next_ns_ = now + every_ns_;
  live_["written_utc"] = format_utc(std::time(nullptr));
  const auto written = fs::path(file_) += ".new";
  std::error_code ignored;
  fs::remove(written, ignored);
  try {
    append_file(
        written,
        json_without_controls(live_.dump(2, ' ', false, nlohmann::json::error_handler_t::replace)) + "\n");
  } catch (const Error&) {
    return;
  }
  fs::rename(written, file_, ignored);
}

}  // namespace paceline::cli
