// Graph files: strict, canonical text (docs/graph.md has the grammar). A graph has one text, so its
// hash names it.
//
//   ostraka-graph 1
//   parameter NAME TYPE zeros | ones | normal DEVIATION | uniform BOUND
//   constant NAME TYPE HASH
//   input NAME TYPE                          of floats
//   input NAME TYPE LOWEST BOUND             of integers
//   input NAME TYPE keep PROBABILITY         of floats that are drawn
//   %1 TYPE = OPERATION OPERAND... ATTRIBUTE=VALUE...
//   loss OPERAND
//
// What an attacker can do here: a file is an organiser's or a stranger's. It is refused above
// kMaxGraphBytes before anything is read, and memory stays within a small multiple of its bytes.
//
// Thread safety: pure functions.
#pragma once

#include <string>
#include <string_view>

#include "exact/graph/graph.h"

namespace ostraka::exact {

// InvalidArgument, naming the line, unless `text` is the canonical text of some graph. Types are
// read and not yet checked: CheckGraph does that.
base::StatusOr<Graph> ParseGraph(std::string_view text);

// REQUIRES: operands and the loss name values that exist; numbers are finite.
std::string PrintGraph(const Graph& graph);

// The graph's name: crypto::Hash(kDomainGraph, text).
base::Digest GraphId(std::string_view text);

}  // namespace ostraka::exact
