// SPDX-License-Identifier: MIT
#include "onnxruntime/profile.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "base/error.h"
#include "base/file.h"
#include "onnxruntime/few_bits.h"

namespace paceline::ort_plugin {
namespace {
namespace fs = std::filesystem;

class TemporaryFolder {
 public:
  TemporaryFolder() {
    auto pattern = (temp_dir() / "paceline_profile_XXXXXX").string();
    if (!::mkdtemp(pattern.data()))
      throw Error(ErrorCode::kIo, fmt::format("cannot make a folder like '{}'; check $TMPDIR", pattern));
    path_ = pattern;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  [[nodiscard]] fs::path file(const char* name) const { return path_ / name; }

 private:
  fs::path path_;
};

}  // namespace

std::vector<ProfiledRun> profile_session(Ort::Env& env, const std::string& file, Ort::SessionOptions options,
                                         int times, const std::function<void(Ort::Session&)>& run) {
  const TemporaryFolder folder;
  options.EnableProfiling(folder.file("profile").c_str());
  auto session = open_session(env, file, std::move(options));
  for (int i = 0; i <= times; ++i) run(session);  // the first run allocates
  Ort::AllocatorWithDefaultOptions allocator;
  auto runs = runs_of_profile(read_file(session.EndProfilingAllocated(allocator).get()));
  if (runs.size() > 1) runs.erase(runs.begin());
  return runs;
}

}  // namespace paceline::ort_plugin
