// SPDX-License-Identifier: MIT
#pragma once
// Included by LibTorch's ProcessGroupGloo.hpp, which needs nothing from it here.
