// SPDX-License-Identifier: MIT
#include "host/noise/instruments.h"

#include <map>

#include "unit/host/fake_tree.h"

namespace paceline::host {
namespace {

// A process 30 that `program` (20) has started, which a shell (10) has.
class Instruments : public ::testing::Test {
 protected:
  Instruments() {
    tree_.file("proc/self/status", "Name:\tpaceline\nPPid:\t20\nTracerPid:\t0\n");
    tree_.file("proc/self/maps",
               "7f00 r-xp 0 08:01 5 /usr/lib/libc.so.6\n7f01 r-xp 0 08:01 6 /t/libcupti.so.13\n");
    started_by("python3", "python3");
    tree_.file("proc/10/status", "Name:\tbash\nPPid:\t1\n").file("proc/10/comm", "bash\n");
  }
  void started_by(const std::string& program, std::string_view command_line) {
    tree_.file("proc/20/status", "Name:\t" + program + "\nPPid:\t10\n");
    tree_.file("proc/20/comm", program + "\n").file("proc/20/cmdline", command_line);
  }
  [[nodiscard]] std::string seen() const {
    return instrument_here({tree_.files(), [this](const std::string& name) -> std::optional<std::string> {
                              const auto found = variables_.find(name);
                              return found == variables_.end() ? std::nullopt : std::optional(found->second);
                            }});
  }
  FakeTree tree_;
  std::map<std::string, std::string> variables_;
};

TEST_F(Instruments, AnOrdinaryProcessHasNone) {
  EXPECT_EQ(seen(), "");
  variables_["LD_PRELOAD"] = "/usr/lib/libjemalloc.so.2:libtcmalloc.so";  // allocators are how people serve
  variables_["CUDA_INJECTION64_PATH"] = "";
  EXPECT_EQ(seen(), "");
}

TEST_F(Instruments, ATracerIsNamed) {
  tree_.file("proc/self/status", "Name:\tpaceline\nPPid:\t20\nTracerPid:\t77\n")
      .file("proc/77/comm", "gdb\n");
  EXPECT_EQ(seen(), "gdb, which traces it (pid 77)");
}

TEST_F(Instruments, ProgramsThatWatchTheirChildren) {
  for (const auto& [program, tool] :
       std::map<std::string, std::string>{{"ncu", "ncu (Nsight Compute)"},
                                          {"nsys-launcher", "nsys (Nsight Systems)"},
                                          {"compute-sanitiz", "compute-sanitizer"}}) {
    started_by(program, program);
    EXPECT_EQ(seen(), tool);
  }
  using namespace std::string_view_literals;
  started_by("perf", "perf\0record\0-g\0paceline\0"sv);
  EXPECT_EQ(seen(), "perf");
  started_by("perf", "perf\0stat\0paceline\0"sv);  // only counts
  EXPECT_EQ(seen(), "");
}

TEST_F(Instruments, LibrariesThatToolsInject) {
  for (const auto& [library, tool] :
       std::map<std::string, std::string>{{"libcuda-injection.so", "ncu (Nsight Compute)"},
                                          {"libToolsInjection64.so", "nsys (Nsight Systems)"},
                                          {"libsanitizer-collection.so", "compute-sanitizer"},
                                          {"libcuinj64.so.13.0", "nvprof"},
                                          {"vgpreload_memcheck-amd64-linux.so", "valgrind"}}) {
    tree_.file("proc/self/maps", "7f00 r-xp 0 08:01 5 /opt/tool/" + library + "\n");
    EXPECT_EQ(seen(), tool) << library;
  }
}

TEST_F(Instruments, VariablesByWhichToolsEnter) {
  variables_["CUDA_INJECTION64_PATH"] = "/opt/libmine.so";
  EXPECT_EQ(seen(), "a library injected into CUDA (CUDA_INJECTION64_PATH=/opt/libmine.so)");
  variables_ = {{"NSYS_PROFILING_SESSION_ID", "7"}};
  EXPECT_EQ(seen(), "nsys (Nsight Systems) (NSYS_PROFILING_SESSION_ID=7)");
  variables_ = {{"NV_COMPUTE_PROFILER_PERFWORKS_DIR", "/opt/ncu"}};
  EXPECT_EQ(seen(), "ncu (Nsight Compute) (NV_COMPUTE_PROFILER_PERFWORKS_DIR=/opt/ncu)");
  variables_ = {{"LD_PRELOAD", "/usr/lib/libasan.so.8"}};
  EXPECT_EQ(seen(), "a sanitizer (LD_PRELOAD=/usr/lib/libasan.so.8)");
}

}  // namespace
}  // namespace paceline::host
