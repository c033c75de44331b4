// SPDX-License-Identifier: MIT
#pragma once
#include "NvInfer.h"

// Double of TensorRT's ONNX parser.
#define NV_ONNX_PARSER_VERSION 1

namespace nvonnxparser {

enum class ErrorCode : int {
  kSUCCESS,
  kINTERNAL_ERROR,
  kMEM_ALLOC_FAILED,
  kMODEL_DESERIALIZE_FAILED,
  kINVALID_VALUE,
  kINVALID_GRAPH,
  kINVALID_NODE,
  kUNSUPPORTED_GRAPH,
  kUNSUPPORTED_NODE,
#if NV_TENSORRT_MAJOR >= 10
  kUNSUPPORTED_NODE_ATTR,
  kUNSUPPORTED_NODE_INPUT,
  kUNSUPPORTED_NODE_DATATYPE,
  kUNSUPPORTED_NODE_DYNAMIC,
  kUNSUPPORTED_NODE_SHAPE
#endif
};

class IParserError {
 public:
  virtual ErrorCode code() const = 0;
  virtual char const* desc() const = 0;
#if NV_TENSORRT_MAJOR >= 10
  virtual char const* nodeName() const = 0;
  virtual char const* nodeOperator() const = 0;
#endif

 protected:
  virtual ~IParserError() = default;
};

class IParser {
 public:
  virtual ~IParser() noexcept = default;
  virtual bool parseFromFile(char const* file, int verbosity) noexcept = 0;
  virtual int getNbErrors() const noexcept = 0;
  virtual IParserError const* getError(int index) const noexcept = 0;
};

}  // namespace nvonnxparser
