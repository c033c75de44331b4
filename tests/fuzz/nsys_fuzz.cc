// SPDX-License-Identifier: MIT
// Any file is an export of Nsight Systems or an Error; what is read of it is studied and worded.
#include <cstdint>
#include <fstream>

#include "answer/render/answer_forms.h"
#include "base/error.h"
#include "base/scratch_folder.h"
#include "nsight/timeline.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto folder = paceline::ScratchFolder::below_temp("nsys-fuzz");
  const auto file = folder.path() / "t.sqlite";
  std::ofstream(file, std::ios::binary)
      .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  try {
    const auto study = paceline::nsight::study_timeline(paceline::nsight::read_nsys_file(file), "t.sqlite");
    const auto answer = answer_of(study);
    json_of(answer);
    terminal_of(answer, {});
    html_of(answer);
  } catch (const paceline::Error&) {
  }
  return 0;
}
