// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "answer/answer.h"
#include "nsight/ncu_csv.h"
#include "nsight/nsys_file.h"

namespace paceline::cli {

// A file of Nsight as an answer.
struct NsightStudy {
  answer::Answer answer;
  std::size_t nccl_kernels = 0;  // of a timeline
};
// Study the table that Nsight Compute prints, or an export of Nsight Systems; `name` is for messages.
NsightStudy study_of_ncu(const std::string& table, const std::string& name);
NsightStudy study_of_nsys(const std::filesystem::path& file, const std::string& name);

// Throws Error(kData) for a timeline of several ranks that exchanged over NCCL, and that has no kernel of it.
void require_nccl(const NsightStudy& study, const std::string& name);

// Throws Error(kData) where nsys said nothing against an export of `report`, and there is no file. `said`:
// its output.
void require_export(const std::filesystem::path& table, const std::string& report, const std::string& said);

// Runs a program to its end and returns what it printed. Throws Error(kData) with its last words where it
// fails, or is interrupted.
std::string output_of_tool(const std::vector<std::string>& argv, const std::filesystem::path& log,
                           const std::string& subject);

// A file of Nsight as it is read, or what its program makes of a report: .csv and .ncu-rep of Nsight Compute,
// .sqlite and .nsys-rep of Nsight Systems.
nsight::NcuFile read_kernels(const std::filesystem::path& file);
nsight::NsysFile read_timeline(const std::filesystem::path& file);

// Studies such a file; `name` is for messages.
NsightStudy study_of(const nsight::NcuFile& file, const std::string& name);
NsightStudy study_of(const nsight::NsysFile& file, const std::string& name);

}  // namespace paceline::cli
