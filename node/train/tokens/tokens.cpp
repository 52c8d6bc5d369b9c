#include "node/train/tokens/tokens.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "crypto/domains.h"
#include "crypto/hash.h"
#include "crypto/merkle.h"
#include "node/base/check.h"
#include "node/base/little_endian.h"

namespace ostraka::train {
namespace {

// How a packed file of a kind begins.
struct PackedKind {
  std::string_view magic;
  std::uint32_t token_bytes = 1;
  bool names_vocabulary = false;  // in the line; else it is kByteTokens
};
constexpr std::array<PackedKind, 3> kKinds = {{{"ostraka-tokens 1 bytes ", 1, false},
                                               {"ostraka-tokens 2 u16 ", 2, true},
                                               {"ostraka-tokens 2 u32 ", 4, true}}};
// A packed file with so few bytes of its beginning damaged is refused, and not taken for a text.
constexpr std::size_t kDamagedBytes = 4;
constexpr std::size_t kMaxLineBytes = 128;
constexpr std::uint32_t kByteTokens = 256;
constexpr std::uint32_t kMostOfTwoBytes = 1U << 16;

using base::InvalidArgument;

Dataset EmptyRecords(std::uint32_t context, const PackedKind& kind, std::uint32_t vocabulary) {
  Dataset data{.name = kTokens,
               .shape = {1, 1, context},
               .class_count = vocabulary,
               .max_value = kSymbols,
               .training = {},
               .validation = {},
               .test = {}};
  for (Examples* part : {&data.training, &data.validation, &data.test}) {
    part->value_count = context;
    part->value_bytes = kind.token_bytes;
  }
  return data;
}

base::Status CheckContext(std::uint64_t context) {
  if (context >= 1 && context <= kMaxContext) return base::OkStatus();
  return InvalidArgument("a record has 1 to " + std::to_string(kMaxContext) + " tokens, not " +
                         std::to_string(context));
}

void AddRecord(base::ByteView record, Examples& part) {
  const base::ByteView last = record.last(part.value_bytes);
  part.values.insert(part.values.end(), record.begin(), record.end() - part.value_bytes);
  part.labels.insert(part.labels.end(), last.begin(), last.end());
}

// The bytes of record `index`.
void Assign(const Examples& part, std::size_t index, base::Bytes& record) {
  const std::span<const std::uint8_t> tokens = part.image(index);
  const std::span<const std::uint8_t> last = part.label_bytes(index);
  record.assign(tokens.begin(), tokens.end());
  record.insert(record.end(), last.begin(), last.end());
}

// At most `most` records of a stretch, at equal distances.
void Cut(base::ByteView stretch, std::size_t most, Examples& part) {
  const std::size_t context = part.value_count;
  const std::size_t width = part.value_bytes;
  const std::size_t records = (stretch.size() / width - 1) / context;
  const std::size_t count = std::min(records, most);
  part.values.reserve(count * context * width);
  for (std::size_t i = 0; i < count; ++i) {
    AddRecord(stretch.subspan(i * records / count * context * width, (context + 1) * width), part);
  }
}

// Of tokens as they stand in a file of the kind.
base::StatusOr<Dataset> CutIntoRecords(base::ByteView tokens, const PackedKind& kind,
                                       std::uint32_t vocabulary, std::uint32_t context) {
  RETURN_IF_ERROR(CheckContext(context));
  const std::size_t width = kind.token_bytes;
  const std::size_t count = tokens.size() / width;
  const std::size_t tenth = count / 10;
  if (tenth < std::size_t{context} + 1) {
    return InvalidArgument("too short: " + std::to_string(count) +
                           (kind.names_vocabulary ? " tokens" : " bytes") + ", records of " +
                           std::to_string(context + 1) + " need at least " +
                           std::to_string(10 * (std::size_t{context} + 1)));
  }
  Dataset data = EmptyRecords(context, kind, vocabulary);
  const std::size_t trained = count - 2 * tenth;
  Cut(tokens.first(trained * width), count, data.training);
  Cut(tokens.subspan(trained * width, tenth * width), kMaxHeldOutRecords, data.validation);
  Cut(tokens.subspan((trained + tenth) * width), kMaxHeldOutRecords, data.test);
  return data;
}

// A packed file's line.
struct Line {
  PackedKind kind;
  std::uint64_t vocabulary = kByteTokens;
  std::array<std::uint64_t, 4> numbers{};  // context, counts of training, validation, test
  std::size_t bytes = 0;                   // with the line feed
};

base::StatusOr<Line> ParseLine(std::string_view text) {
  const auto* const kind =
      std::find_if(kKinds.begin(), kKinds.end(),
                   [text](const PackedKind& each) { return text.starts_with(each.magic); });
  const std::size_t end = text.substr(0, kMaxLineBytes).find('\n');
  if (kind == kKinds.end() || end == std::string_view::npos) {
    return InvalidArgument("is no packed file: it does not begin with a line '" +
                           std::string(kKinds[0].magic) +
                           "CONTEXT TRAINING VALIDATION TEST', or one of u16 or u32");
  }
  Line line{.kind = *kind, .bytes = end + 1};
  std::vector<std::uint64_t*> numbers;
  if (kind->names_vocabulary) numbers.push_back(&line.vocabulary);
  for (std::uint64_t& number : line.numbers) numbers.push_back(&number);
  std::string again(kind->magic);
  const char* at = text.data() + kind->magic.size();
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const auto [next, error] = std::from_chars(at, text.data() + end, *numbers[i]);
    if (error != std::errc()) return InvalidArgument("its first line has a bad number");
    again += (i > 0 ? " " : "") + std::to_string(*numbers[i]);
    at = next + (i + 1 < numbers.size() && next < text.data() + end ? 1 : 0);
  }
  if (again != text.substr(0, end)) return InvalidArgument("its first line is not canonical");
  const bool wide = line.vocabulary > kMostOfTwoBytes;
  if (kind->names_vocabulary && (line.vocabulary == 0 || line.vocabulary > kMaxVocabulary ||
                                 wide != (kind->token_bytes == 4))) {
    return InvalidArgument("its vocabulary is " + std::to_string(line.vocabulary) +
                           ": u16 is for 1 to 65536, u32 for more, up to 2147483647");
  }
  return line;
}

base::Status CheckVocabulary(const Examples& part, std::uint32_t vocabulary) {
  for (std::size_t i = 0; i < part.size(); ++i) {
    for (std::size_t t = 0; t <= part.value_count; ++t) {
      const std::uint32_t token = TokenOf(part, i, t);
      if (token < vocabulary) continue;
      return InvalidArgument("has the token " + std::to_string(token) + ", and a vocabulary of " +
                             std::to_string(vocabulary));
    }
  }
  return base::OkStatus();
}

}  // namespace

base::StatusOr<Dataset> RecordsOf(base::ByteView text, std::uint32_t context) {
  return CutIntoRecords(text, kKinds[0], kByteTokens, context);
}

base::StatusOr<Dataset> RecordsOfTokens(std::span<const std::uint32_t> tokens,
                                        std::uint32_t vocabulary, std::uint32_t context) {
  const PackedKind& kind = kKinds[vocabulary <= kMostOfTwoBytes ? 1 : 2];
  if (vocabulary == 0 || vocabulary > kMaxVocabulary) {
    return InvalidArgument("a vocabulary has 1 to " + std::to_string(kMaxVocabulary) + " tokens");
  }
  base::Bytes bytes;
  bytes.reserve(tokens.size() * kind.token_bytes);
  for (const std::uint32_t token : tokens) {
    OSTRAKA_CHECK(token < vocabulary);
    base::AppendLittleEndian(bytes, token, kind.token_bytes);
  }
  return CutIntoRecords(bytes, kind, vocabulary, context);
}

bool LooksPacked(base::ByteView file) {
  return std::any_of(kKinds.begin(), kKinds.end(), [file](const PackedKind& kind) {
    if (file.size() < kind.magic.size()) return false;
    std::size_t equal = 0;
    for (std::size_t i = 0; i < kind.magic.size(); ++i) {
      equal += file[i] == static_cast<std::uint8_t>(kind.magic[i]) ? 1 : 0;
    }
    return equal + kDamagedBytes >= kind.magic.size();
  });
}

std::uint32_t VocabularyIn(base::ByteView file) {
  const auto line = ParseLine({reinterpret_cast<const char*>(file.data()), file.size()});
  return line.ok() ? static_cast<std::uint32_t>(line->vocabulary) : kByteTokens;
}

base::StatusOr<Dataset> ParseRecords(base::ByteView file) {
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  ASSIGN_OR_RETURN(const Line line, ParseLine(text));
  const auto& [context, training, validation, test] = line.numbers;
  RETURN_IF_ERROR(CheckContext(context));
  base::ByteView rest = file.subspan(line.bytes);
  const std::uint64_t record = (context + 1) * line.kind.token_bytes;
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
  Dataset data = EmptyRecords(static_cast<std::uint32_t>(context), line.kind,
                              static_cast<std::uint32_t>(line.vocabulary));
  for (const auto& [part, count] :
       {std::pair(&data.training, training), std::pair(&data.validation, validation),
        std::pair(&data.test, test)}) {
    part->values.reserve(count * (record - line.kind.token_bytes));
    for (std::uint64_t i = 0; i < count; ++i) {
      AddRecord(rest.first(record), *part);
      rest = rest.subspan(record);
    }
    if (line.kind.names_vocabulary) RETURN_IF_ERROR(CheckVocabulary(*part, data.class_count));
  }
  return data;
}

base::Bytes PackRecords(const Dataset& data) {
  const auto* const kind = std::find_if(
      kKinds.begin(), kKinds.end(),
      [&data](const PackedKind& each) { return each.token_bytes == data.training.value_bytes; });
  std::string line(kind->magic);
  if (kind->names_vocabulary) line += std::to_string(data.class_count) + " ";
  line += std::to_string(data.shape.width) + " " + std::to_string(data.training.size()) + " " +
          std::to_string(data.validation.size()) + " " + std::to_string(data.test.size()) + "\n";
  base::Bytes file(line.begin(), line.end());
  base::Bytes record;
  for (const Examples* part : {&data.training, &data.validation, &data.test}) {
    for (std::size_t i = 0; i < part->size(); ++i) {
      Assign(*part, i, record);
      file.insert(file.end(), record.begin(), record.end());
    }
  }
  return file;
}

std::uint32_t TokenOf(const Examples& records, std::size_t index, std::size_t place) {
  const std::size_t width = records.value_bytes;
  const std::span<const std::uint8_t> bytes =
      place == records.value_count ? records.label_bytes(index)
                                   : records.image(index).subspan(place * width, width);
  std::uint32_t token = 0;
  for (std::size_t i = width; i-- > 0;) token = token << 8 | bytes[i];
  return token;
}

std::vector<base::Digest> LeavesOfRecords(const Dataset& data) {
  std::vector<base::Digest> leaves;
  base::Bytes record;
  for (const Examples* part : {&data.training, &data.validation, &data.test}) {
    for (std::size_t i = 0; i < part->size(); ++i) {
      Assign(*part, i, record);
      leaves.push_back(crypto::ChunkLeaf(record));
    }
  }
  return leaves;
}

base::Digest HashOfRecords(const Dataset& data) {
  const std::uint32_t width = data.training.value_bytes;
  crypto::Hasher hasher(width == 1 ? crypto::kDomainTokens : crypto::kDomainWideTokens);
  hasher.UpdateU64(data.shape.width).UpdateU64(data.class_count);
  if (width > 1) hasher.UpdateU64(width);
  return hasher.UpdateU64(data.training.size())
      .UpdateU64(data.validation.size())
      .UpdateU64(data.test.size())
      .Update(crypto::MerkleRoot(LeavesOfRecords(data)))
      .Finish();
}

}  // namespace ostraka::train
