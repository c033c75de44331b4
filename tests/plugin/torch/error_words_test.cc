// SPDX-License-Identifier: MIT
#include <c10/util/Exception.h>
#include <gtest/gtest.h>

#include <new>
#include <stdexcept>

#include "torch/errors.h"
#include "torch/refused_run.h"
#include "torch/training/peer_errors.h"

// Messages of LibTorch, NCCL and CUDA in our words.
namespace paceline::torch_plugin {
namespace {

std::string peer(const char* message) {
  return peer_failure(std::runtime_error(message)).value_or("no peer");
}

TEST(ErrorWords, NcclsAreAboutTheOtherRanks) {
  for (const char* message : {"NCCL error in: ../NCCLUtils.cpp:77, remote process exited or there was a "
                              "network error, NCCL version 2.28.9",
                              "NCCL error in: ../ProcessGroupNCCL.cpp:3690, ncclRemoteError"})
    EXPECT_EQ(peer(message).find("another rank's process has ended"), 0U) << message;
  for (const char* message : {"[Rank 0] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=3, "
                              "OpType=ALLREDUCE) ran for 60001 "
                              "milliseconds",
                              "NCCL communicator was aborted on rank 1."})
    EXPECT_EQ(peer(message).find("another rank did not answer"), 0U) << message;
  EXPECT_EQ(peer("CUDA error: an illegal memory access was encountered"), "no peer");
}

// The reason of a case that needs too much memory is oom, wherever the memory is.
TEST(ErrorWords, MemoryOfADeviceThatIsUsedUpIsOutOfMemory) {
  const auto refuse = [](const char* message) {
    translate_errors(ErrorCode::kData, "the model cannot run", [&] { TORCH_CHECK(false, message); });
  };
  EXPECT_THROW(
      refuse("CUDA out of memory. Tried to allocate 20.00 GiB. GPU 0 has a total capacity of 15 GiB"),
      std::bad_alloc);
  EXPECT_THROW(refuse("[enforce fail at alloc_cpu.cpp:121] . DefaultCPUAllocator: can't allocate memory"),
               std::bad_alloc);
  EXPECT_THROW(refuse("mat1 and mat2 shapes cannot be multiplied"), Error);
}

// Nothing is wrong with inputs whose model runs in float32.
TEST(ErrorWords, OperatorsThatALowerPrecisionLacksAreUnsupported) {
  constexpr Precision kBf16{"bf16", at::kBFloat16, false}, kFp32{"fp32", at::kFloat, false};
  for (const char* message :
       {"could not create a primitive descriptor for the LSTM forward propagation primitive.",
        "\"cdist\" not implemented for 'BFloat16'"}) {
    const std::runtime_error refusal(message);
    EXPECT_EQ(refused_run(refusal, kBf16).code(), ErrorCode::kUnsupported);
    EXPECT_EQ(refused_run(refusal, kFp32).code(), ErrorCode::kUsage);
  }
  EXPECT_EQ(refused_run(std::runtime_error("shapes cannot be multiplied"), kBf16).code(), ErrorCode::kUsage);
}

}  // namespace
}  // namespace paceline::torch_plugin
