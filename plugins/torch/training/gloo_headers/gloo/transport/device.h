// SPDX-License-Identifier: MIT
// Gloo's headers are not in LibTorch's package: what its own headers need of them.
#pragma once

namespace gloo::transport {

class Device;
class UnboundBuffer;

}  // namespace gloo::transport
