#include "node/train/tokens/tokens.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <string_view>
#include <utility>

#include "crypto/domains.h"
#include "crypto/hash.h"
#include "crypto/merkle.h"

namespace ostraka::train {
namespace {

constexpr std::string_view kMagic = "ostraka-tokens 1 bytes ";
// A packed file with so few bytes of its beginning damaged is refused, and not taken for a text.
constexpr std::size_t kDamagedBytes = 4;
constexpr std::size_t kMaxLineBytes = 128;
constexpr std::uint32_t kByteTokens = 256;

using base::InvalidArgument;

Dataset EmptyRecords(std::uint32_t context) {
  Dataset data{.name = kTokens,
               .shape = {1, 1, context},
               .class_count = kByteTokens,
               .max_value = kSymbols,
               .training = {},
               .validation = {},
               .test = {}};
  for (Examples* part : {&data.training, &data.validation, &data.test}) {
    part->value_count = context;
  }
  return data;
}

base::Status CheckContext(std::uint64_t context) {
  if (context >= 1 && context <= kMaxContext) return base::OkStatus();
  return InvalidArgument("a record has 1 to " + std::to_string(kMaxContext) + " tokens, not " +
                         std::to_string(context));
}

void AddRecord(base::ByteView record, Examples& part) {
  part.Add(record.first(record.size() - 1), record.back());
}

// At most `most` records of a stretch, at equal distances.
void Cut(base::ByteView stretch, std::size_t most, Examples& part) {
  const std::size_t context = part.value_count;
  const std::size_t records = (stretch.size() - 1) / context;
  const std::size_t count = std::min(records, most);
  part.values.reserve(count * context);
  for (std::size_t i = 0; i < count; ++i) {
    AddRecord(stretch.subspan(i * records / count * context, context + 1), part);
  }
}

// The numbers of a packed file's line.
struct Line {
  std::array<std::uint64_t, 4> numbers{};  // context, counts of training, validation, test
  std::size_t bytes = 0;                   // with the line feed
};

base::StatusOr<Line> ParseLine(std::string_view text) {
  const std::size_t end = text.substr(0, kMaxLineBytes).find('\n');
  if (!text.starts_with(kMagic) || end == std::string_view::npos) {
    return InvalidArgument("is no packed file: it does not begin with a line '" +
                           std::string(kMagic) + "CONTEXT TRAINING VALIDATION TEST'");
  }
  Line line{.bytes = end + 1};
  std::string again(kMagic);
  const char* at = text.data() + kMagic.size();
  for (std::size_t i = 0; i < line.numbers.size(); ++i) {
    const auto [next, error] = std::from_chars(at, text.data() + end, line.numbers[i]);
    if (error != std::errc()) return InvalidArgument("its first line has a bad number");
    again += (i > 0 ? " " : "") + std::to_string(line.numbers[i]);
    at = next + (i + 1 < line.numbers.size() && next < text.data() + end ? 1 : 0);
  }
  if (again != text.substr(0, end)) return InvalidArgument("its first line is not canonical");
  return line;
}

}  // namespace

base::StatusOr<Dataset> RecordsOf(base::ByteView text, std::uint32_t context) {
  RETURN_IF_ERROR(CheckContext(context));
  const std::size_t tenth = text.size() / 10;
  if (tenth < std::size_t{context} + 1) {
    return InvalidArgument("too short: " + std::to_string(text.size()) + " bytes, records of " +
                           std::to_string(context + 1) + " need at least " +
                           std::to_string(10 * (std::size_t{context} + 1)));
  }
  Dataset data = EmptyRecords(context);
  const std::size_t trained = text.size() - 2 * tenth;
  Cut(text.first(trained), text.size(), data.training);
  Cut(text.subspan(trained, tenth), kMaxHeldOutRecords, data.validation);
  Cut(text.subspan(trained + tenth), kMaxHeldOutRecords, data.test);
  return data;
}

bool LooksPacked(base::ByteView file) {
  if (file.size() < kMagic.size()) return false;
  std::size_t equal = 0;
  for (std::size_t i = 0; i < kMagic.size(); ++i) {
    equal += file[i] == static_cast<std::uint8_t>(kMagic[i]) ? 1 : 0;
  }
  return equal + kDamagedBytes >= kMagic.size();
}

base::StatusOr<Dataset> ParseRecords(base::ByteView file) {
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  ASSIGN_OR_RETURN(const Line line, ParseLine(text));
  const auto& [context, training, validation, test] = line.numbers;
  RETURN_IF_ERROR(CheckContext(context));
  base::ByteView rest = file.subspan(line.bytes);
  const std::uint64_t record = context + 1;
  for (const std::uint64_t count : {training, validation, test}) {
    // Each below the size of the file, so that their sum does not wrap.
    if (count > rest.size())
      return InvalidArgument("is cut short: it has fewer records than it says");
  }
  if (rest.size() % record != 0 || rest.size() / record != training + validation + test) {
    return InvalidArgument("has " + std::to_string(rest.size()) + " bytes of records of " +
                           std::to_string(record) + ", not the " +
                           std::to_string(training + validation + test) + " records that it says");
  }
  Dataset data = EmptyRecords(static_cast<std::uint32_t>(context));
  for (const auto& [part, count] :
       {std::pair(&data.training, training), std::pair(&data.validation, validation),
        std::pair(&data.test, test)}) {
    part->values.reserve(count * context);
    for (std::uint64_t i = 0; i < count; ++i) {
      AddRecord(rest.first(record), *part);
      rest = rest.subspan(record);
    }
  }
  return data;
}

base::Bytes PackRecords(const Dataset& data) {
  std::string line(kMagic);
  line += std::to_string(data.shape.width) + " " + std::to_string(data.training.size()) + " " +
          std::to_string(data.validation.size()) + " " + std::to_string(data.test.size()) + "\n";
  base::Bytes file(line.begin(), line.end());
  for (const Examples* part : {&data.training, &data.validation, &data.test}) {
    for (std::size_t i = 0; i < part->size(); ++i) {
      file.insert(file.end(), part->image(i).begin(), part->image(i).end());
      file.push_back(part->labels[i]);
    }
  }
  return file;
}

std::vector<base::Digest> LeavesOfRecords(const Dataset& data) {
  std::vector<base::Digest> leaves;
  base::Bytes record;
  for (const Examples* part : {&data.training, &data.validation, &data.test}) {
    for (std::size_t i = 0; i < part->size(); ++i) {
      record.assign(part->image(i).begin(), part->image(i).end());
      record.push_back(part->labels[i]);
      leaves.push_back(crypto::ChunkLeaf(record));
    }
  }
  return leaves;
}

base::Digest HashOfRecords(const Dataset& data) {
  return crypto::Hasher(crypto::kDomainTokens)
      .UpdateU64(data.shape.width)
      .UpdateU64(data.class_count)
      .UpdateU64(data.training.size())
      .UpdateU64(data.validation.size())
      .UpdateU64(data.test.size())
      .Update(crypto::MerkleRoot(LeavesOfRecords(data)))
      .Finish();
}

}  // namespace ostraka::train
