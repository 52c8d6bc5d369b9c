// Small graphs that together have every operation, with every shape of operands that it takes: for
// the conformance program and for tests.
//
// Thread safety: an immutable table and a pure function.
#pragma once

#include <string>

#include "exact/graph/check.h"
#include "exact/graph/graph_text.h"

namespace ostraka::exact {

struct OperationCase {
  const char* name;
  const char* lines;  // of declarations and instructions
};

// Each ends in a mean over weighted elements, so that no element's gradient is the same.
inline const OperationCase kOperationCases[] = {
    {"reshape_permute_expand",
     "parameter a f32[3,4] normal 1e+00\n"
     "parameter w f32[2,3,2,2] normal 1e+00\n"
     "%1 f32[3,2,2] = reshape a\n"
     "%2 f32[2,3,2] = permute %1 order=[2,0,1]\n"
     "%3 f32[2,3,1,2] = reshape %2\n"
     "%4 f32[2,3,2,2] = expand %3\n"
     "%5 f32[2,3,2,2] = mul %4 w\n"
     "%6 f32[24] = reshape %5\n"
     "%7 f32[] = mean %6 axis=0\n"
     "loss %7\n"},
    {"expand_last_axis_and_missing_axes",
     "parameter a f32[3,1] normal 1e+00\n"
     "parameter w f32[5,3,4] normal 1e+00\n"
     "%1 f32[5,3,4] = expand a\n"
     "%2 f32[5,3,4] = mul %1 w\n"
     "%3 f32[60] = reshape %2\n"
     "%4 f32[] = sum %3 axis=0\n"
     "loss %4\n"},
    {"cat_slice",
     "parameter a f32[2,3,2] normal 1e+00\n"
     "parameter b f32[2,1,2] normal 1e+00\n"
     "parameter w f32[2,3,2] normal 1e+00\n"
     "%1 f32[2,5,2] = cat a b b axis=1\n"
     "%2 f32[2,3,2] = slice %1 axis=1 begin=1 end=4\n"
     "%3 f32[2,3,1] = slice %2 axis=2 begin=1 end=2\n"
     "%4 f32[2,3,2] = cat %3 %3 axis=2\n"
     "%5 f32[2,3,2] = mul %4 w\n"
     "%6 f32[2,3,2] = mul %5 %2\n"
     "%7 f32[12] = reshape %6\n"
     "%8 f32[] = sum %7 axis=0\n"
     "loss %8\n"},
    {"matmul",
     "parameter a f32[3,4,5] normal 1e+00\n"
     "parameter b f32[3,5,2] normal 1e+00\n"
     "%1 f32[3,4,2] = matmul a b\n"
     "%2 f32[3,4,2] = tanh %1\n"
     "%3 f32[24] = reshape %2\n"
     "%4 f32[] = sum %3 axis=0\n"
     "loss %4\n"},
    {"linear",
     "parameter x f32[2,3,5] normal 1e+00\n"
     "parameter w f32[4,5] normal 1e+00\n"
     "parameter b f32[4] normal 1e+00\n"
     "%1 f32[2,3,4] = linear x w b\n"
     "%2 f32[2,3,4] = sigmoid %1\n"
     "%3 f32[24] = reshape %2\n"
     "%4 f32[] = sum %3 axis=0\n"
     "loss %4\n"},
    {"arithmetic",
     "parameter a f32[7] normal 1e+00\n"
     "parameter b f32[7] normal 1e+00\n"
     "%1 f32[7] = mul b b\n"
     "%2 f32[7] = add_scalar %1 scalar=1e+00\n"
     "%3 f32[7] = div a %2\n"
     "%4 f32[7] = rsqrt %2\n"
     "%5 f32[7] = sub %3 %4\n"
     "%6 f32[7] = mul_scalar %5 scalar=-2.5e+00\n"
     "%7 f32[7] = div_scalar %6 scalar=3e+00\n"
     "%8 f32[7] = add %7 a\n"
     "%9 f32[7] = mul %8 %8\n"
     "%10 f32[] = sum %9 axis=0\n"
     "loss %10\n"},
    {"activations",
     "parameter a f32[33] normal 1e+00\n"
     "%1 f32[33] = gelu a\n"
     "%2 f32[33] = gelu_tanh %1\n"
     "%3 f32[33] = silu %2\n"
     "%4 f32[33] = tanh %3\n"
     "%5 f32[33] = sigmoid a\n"
     "%6 f32[33] = relu a\n"
     "%7 f32[33] = mul %4 %5\n"
     "%8 f32[33] = add %7 %6\n"
     "%9 f32[] = sum %8 axis=0\n"
     "loss %9\n"},
    {"sums_and_means_of_every_axis",
     "parameter a f32[3,4,5] normal 1e+00\n"
     "%1 f32[3,4,5] = mul a a\n"
     "%2 f32[4,5] = sum %1 axis=0\n"
     "%3 f32[3,5] = mean %1 axis=1\n"
     "%4 f32[3,4] = mean %1 axis=2\n"
     "%5 f32[4,5] = mul %2 %2\n"
     "%6 f32[3,5] = mul %3 %3\n"
     "%7 f32[3,4] = tanh %4\n"
     "%8 f32[20] = reshape %5\n"
     "%9 f32[15] = reshape %6\n"
     "%10 f32[12] = reshape %7\n"
     "%11 f32[47] = cat %8 %9 %10 axis=0\n"
     "%12 f32[] = mean %11 axis=0\n"
     "loss %12\n"},
    {"softmax",
     "parameter a f32[3,19] normal 1e+00\n"
     "parameter w f32[3,19] normal 1e+00\n"
     "%1 f32[3,19] = softmax a\n"
     "%2 f32[3,19] = mul %1 w\n"
     "%3 f32[57] = reshape %2\n"
     "%4 f32[] = sum %3 axis=0\n"
     "loss %4\n"},
    {"cross_entropy_with_ignored_rows",
     "parameter a f32[6,5,3] normal 1e+00\n"
     "input t i32[6,5] -1 3\n"
     "%1 f32[] = cross_entropy a t\n"
     "loss %1\n"},
    {"embedding_twice",
     "parameter table f32[4,3] normal 1e+00\n"
     "input i i32[5,2] 0 4\n"
     "input j i32[10] 0 3\n"
     "%1 f32[5,2,3] = embedding table i\n"
     "%2 f32[10,3] = embedding table j\n"
     "%3 f32[10,3] = reshape %1\n"
     "%4 f32[10,3] = mul %2 %3\n"
     "%5 f32[30] = reshape %4\n"
     "%6 f32[] = sum %5 axis=0\n"
     "loss %6\n"},
    {"layer_norm",
     "parameter x f32[4,21] normal 1e+00\n"
     "parameter w f32[21] normal 1e+00\n"
     "parameter b f32[21] normal 1e+00\n"
     "%1 f32[4,21] = layer_norm x w b epsilon=1e-05\n"
     "%2 f32[4,21] = tanh %1\n"
     "%3 f32[84] = reshape %2\n"
     "%4 f32[] = sum %3 axis=0\n"
     "loss %4\n"},
    {"rms_norm",
     "parameter x f32[4,21] normal 1e+00\n"
     "parameter w f32[21] normal 1e+00\n"
     "%1 f32[4,21] = rms_norm x w epsilon=1e-05\n"
     "%2 f32[4,21] = tanh %1\n"
     "%3 f32[84] = reshape %2\n"
     "%4 f32[] = sum %3 axis=0\n"
     "loss %4\n"},
    {"attention_with_groups_and_mask",
     "parameter q f32[2,5,4,3] normal 1e+00\n"
     "parameter k f32[2,7,2,3] normal 1e+00\n"
     "parameter v f32[2,7,2,3] normal 1e+00\n"
     "input mask f32[5,7]\n"
     "%1 f32[2,5,4,3] = attention q k v mask causal=0 scale=7e-01\n"
     "%2 f32[2,5,4,3] = tanh %1\n"
     "%3 f32[120] = reshape %2\n"
     "%4 f32[] = sum %3 axis=0\n"
     "loss %4\n"},
    {"attention_causal_beyond_one_cut",
     "parameter q f32[1,300,2,4] normal 1e+00\n"
     "parameter k f32[1,300,1,4] normal 1e+00\n"
     "parameter v f32[1,300,1,4] normal 1e+00\n"
     "%1 f32[1,300,2,4] = attention q k v causal=1 scale=5e-01\n"
     "%2 f32[1,300,2,4] = tanh %1\n"
     "%3 f32[2400] = reshape %2\n"
     "%4 f32[] = sum %3 axis=0\n"
     "loss %4\n"},
    {"attention_of_one_tensor",
     "parameter x f32[1,6,1,3] normal 1e+00\n"
     "%1 f32[1,6,1,3] = attention x x x causal=1 scale=5e-01\n"
     "%2 f32[1,6,1,3] = mul %1 x\n"
     "%3 f32[18] = reshape %2\n"
     "%4 f32[] = sum %3 axis=0\n"
     "loss %4\n"},
    {"parameters_that_share_a_gradient_and_one_without",
     "parameter a f32[5] normal 1e+00\n"
     "parameter b f32[5] normal 1e+00\n"
     "parameter unused f32[3] normal 1e+00\n"
     "%1 f32[5] = add a b\n"
     "%2 f32[5] = mul %1 %1\n"
     "%3 f32[] = sum %2 axis=0\n"
     "%4 f32[3] = tanh unused\n"
     "loss %3\n"},
};

// The checked graph of a case.
inline base::StatusOr<Graph> GraphOf(const OperationCase& each) {
  ASSIGN_OR_RETURN(Graph graph, ParseGraph(std::string("ostraka-graph 1\n") + each.lines));
  RETURN_IF_ERROR(CheckGraph(graph));
  return graph;
}

}  // namespace ostraka::exact
