// SPDX-License-Identifier: MIT
#pragma once

namespace paceline::attach {

// A function that lets this thread query events while another one captures a graph (true), and takes that
// back (false): CUDA would end the capture otherwise. Null if the process has no CUDA runtime loaded.
void (*find_capture_mode())(bool);

}  // namespace paceline::attach
