// SPDX-License-Identifier: MIT
// Any step file is read or an Error; what is read of it is studied and worded. The input is the beginning of
// the header, some names, and records: a whole file is longer than inputs may be.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>

#include "analysis/traces/attached_study.h"
#include "analysis/traces/trace_study.h"
#include "answer/render/answer_forms.h"
#include "attach/step_record.h"
#include "base/error.h"
#include "base/scratch_folder.h"
#include "report/traces.h"

namespace {

constexpr std::size_t kHead = 256, kNames = 8;

std::string file_of(std::string_view input) {
  using namespace paceline::attach;
  const auto take = [&](std::size_t count) {
    const auto part = input.substr(0, count);
    input.remove_prefix(part.size());
    return part;
  };
  const auto head = take(kHead), names = take(kNames * kNameBytes);
  std::string file(kRecordsAt, '\0');
  std::ranges::copy(head, file.begin());
  std::ranges::copy(names, file.begin() + kHeaderBytes);
  return file.append(input);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace paceline;
  static const auto folder = ScratchFolder::below_temp("steps-fuzz");
  const auto path = folder.path() / "rank0.steps";
  const auto file = file_of({reinterpret_cast<const char*>(data), size});
  std::ofstream(path, std::ios::binary).write(file.data(), static_cast<std::streamsize>(file.size()));
  try {
    std::vector<std::string> left_out;
    const auto study = analysis::traces::study_of(analysis::traces::attached_in(path, left_out));
    const auto answer = report::answer_of(study);
    json_of(answer);
    terminal_of(answer, {});
    html_of(answer);
  } catch (const Error&) {
  }
  return 0;
}
