// SPDX-License-Identifier: MIT
#pragma once
#include <memory>

#include "workload/training/data/source.h"

// The functions that open the sources of source_table.cc, one file each.
namespace paceline::workload {

// Standard normal images or uniform token ids, as in inference; uniform labels.
std::unique_ptr<Source> make_synthetic(const SourceSetup& setup);
// CIFAR-100 as published in binary: a folder with train.bin, or the archive.
std::unique_ptr<Source> make_cifar10(const SourceSetup& setup);
std::unique_ptr<Source> make_cifar100(const SourceSetup& setup);
// One folder per class with JPEG and PNG files.
std::unique_ptr<Source> make_image_folder(const SourceSetup& setup);
// Token ids side by side as uint16 (.bin, .u16) or uint32 (.u32).
std::unique_ptr<Source> make_token_file(const SourceSetup& setup);
// NumPy arrays x and y: small labelled images.
std::unique_ptr<Source> make_npz(const SourceSetup& setup);

}  // namespace paceline::workload
