// The kernels of kernels.inc by name, each with the items of its groups.
#pragma once

#include "exact/device/device.h"

// K(constant, name in the text, items)
#define OSTRAKA_DEVICE_KERNELS(K)                                \
  K(kRunMap, run_map, 256)                                       \
  K(kRunFill, run_fill, 256)                                     \
  K(kRunCopy, run_copy, 256)                                     \
  K(kRunGather, run_gather, 256)                                 \
  K(kRunReduce, run_reduce, 256)                                 \
  K(kRunEmbedding, run_embedding, 256)                           \
  K(kRunEmbeddingBackward, run_embedding_backward, 256)          \
  K(kRunSumLanes, run_sum_lanes, 128)                            \
  K(kRunSumRows, run_sum_rows, 128)                              \
  K(kRunSoftmax, run_softmax, 128)                               \
  K(kRunSoftmaxBackward, run_softmax_backward, 128)              \
  K(kRunCrossEntropy, run_cross_entropy, 128)                    \
  K(kRunCrossEntropyBackward, run_cross_entropy_backward, 128)   \
  K(kRunAttentionRows, run_attention_rows, 128)                  \
  K(kRunAttentionRowsBackward, run_attention_rows_backward, 128) \
  K(kRunNorm, run_norm, 128)                                     \
  K(kRunNormBackward, run_norm_backward, 128)                    \
  K(kRunNormColumns, run_norm_columns, 128)                      \
  K(kRunAddBatch, run_add_batch, 256)                            \
  K(kRunBlockSquares, run_block_squares, 128)                    \
  K(kRunAdamW, run_adamw, 256)                                   \
  K(kRunProduct32, run_product_32, 64)                           \
  K(kRunProduct64, run_product_64, 256)                          \
  K(kRunProduct128, run_product_128, 256)

namespace ostraka::exact {

#define OSTRAKA_DEVICE_KERNEL(constant, name, items) \
  inline constexpr DeviceKernel constant = {#name, items};
OSTRAKA_DEVICE_KERNELS(OSTRAKA_DEVICE_KERNEL)
#undef OSTRAKA_DEVICE_KERNEL

inline constexpr DeviceKernel kDeviceKernels[] = {
#define OSTRAKA_DEVICE_KERNEL(constant, name, items) constant,
    OSTRAKA_DEVICE_KERNELS(OSTRAKA_DEVICE_KERNEL)
#undef OSTRAKA_DEVICE_KERNEL
};

}  // namespace ostraka::exact
