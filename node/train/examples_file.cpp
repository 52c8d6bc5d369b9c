#include "node/train/examples_file.h"

#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "crypto/domains.h"
#include "crypto/hash.h"
#include "crypto/merkle.h"
#include "node/train/columns.h"

namespace ostraka::train {
namespace {

using base::InvalidArgument;

constexpr std::string_view kMagic = "ostraka-examples 1 ";

std::string LinesOf(const std::vector<Column>& columns) {
  std::string lines;
  for (const Column& column : columns) lines += TextOf(column) + "\n";
  return lines;
}

}  // namespace

base::StatusOr<Dataset> ParseExamples(base::ByteView file) {
  std::string_view rest(reinterpret_cast<const char*>(file.data()), file.size());
  const auto first = TakeLine(rest);
  if (!first || !first->starts_with(kMagic)) {
    return InvalidArgument("is no file of examples: it does not begin with a line '" +
                           std::string(kMagic) + "COLUMNS TRAINING VALIDATION TEST'");
  }
  const auto numbers = CountsIn(*first, kMagic);
  if (!numbers || numbers->size() != 4 || (*numbers)[0] > kMostColumns) {
    return InvalidArgument("its first line does not name 1 to " + std::to_string(kMostColumns) +
                           " columns and three counts of rows, none of them 0");
  }
  const auto& [count, training, validation, test] =
      std::array{(*numbers)[0], (*numbers)[1], (*numbers)[2], (*numbers)[3]};
  // Each below the size of the file, so that sums do not wrap.
  for (const std::uint64_t rows : {training, validation, test}) {
    if (rows > file.size())
      return InvalidArgument("its first line has more rows than the file bytes");
  }
  Dataset data{.name = kExamples};
  ASSIGN_OR_RETURN(data.columns, ParseColumns(count, rest));
  const std::size_t row_bytes = data.columns.back().at + data.columns.back().row_bytes();
  const std::uint64_t rows = training + validation + test;
  if (rest.size() % row_bytes != 0 || rest.size() / row_bytes != rows) {
    return InvalidArgument("has " + std::to_string(rest.size()) + " bytes of rows of " +
                           std::to_string(row_bytes) + ", not the " + std::to_string(rows) +
                           " rows that it says");
  }
  base::ByteView bytes = file.last(rest.size());
  std::uint64_t index = 0;
  for (const auto& [part, rows_of_part] :
       {std::pair(&data.training, training), {&data.validation, validation}, {&data.test, test}}) {
    part->value_count = static_cast<std::uint32_t>(row_bytes);
    const base::ByteView own = bytes.first(rows_of_part * row_bytes);
    bytes = bytes.subspan(own.size());
    for (std::uint64_t i = 0; i < rows_of_part; ++i) {
      RETURN_IF_ERROR(CheckRow(own.subspan(i * row_bytes, row_bytes), data.columns, index++));
    }
    part->values.assign(own.begin(), own.end());
    part->labels.resize(rows_of_part);
  }
  return data;
}

base::Digest HashOfExamples(const Dataset& data) {
  std::vector<base::Digest> leaves;
  for (const Examples* part : {&data.training, &data.validation, &data.test}) {
    for (std::size_t i = 0; i < part->size(); ++i) {
      leaves.push_back(crypto::ChunkLeaf(part->image(i)));
    }
  }
  const std::string lines = LinesOf(data.columns);
  crypto::Hasher hasher(crypto::kDomainData);
  hasher.UpdateU64(0).UpdateSized(base::AsBytes(std::span<const char>(lines)));
  for (const Examples* part : {&data.training, &data.validation, &data.test}) {
    hasher.UpdateU64(part->size());
  }
  return hasher.Update(crypto::MerkleRoot(leaves)).Finish();
}

}  // namespace ostraka::train
