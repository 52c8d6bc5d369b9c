#include "node/base/safetensors.h"

#include <cstdint>
#include <set>

#include "node/base/check.h"

namespace ostraka::base {
namespace {

constexpr std::size_t kAlignment = 8;

// A JSON string (RFC 8259, section 7).
std::string Quoted(const std::string& text) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string quoted = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      quoted.append({'\\', c});
    } else if (byte < 0x20) {
      quoted.append("\\u00").append({kDigits[byte >> 4], kDigits[byte & 15]});
    } else {
      quoted.push_back(c);
    }
  }
  return quoted + "\"";
}

std::string MetadataJson(const SafetensorsMetadata& metadata) {
  std::string json = Quoted(kSafetensorsMetadata) + ":{";
  for (auto entry = metadata.begin(); entry != metadata.end(); ++entry) {
    if (entry != metadata.begin()) json += ",";
    json += Quoted(entry->first) + ":" + Quoted(entry->second);
  }
  return json + "}";
}

std::string TensorJson(const TensorSpec& tensor, TensorType type, std::uint64_t begin,
                       std::uint64_t end) {
  std::string json = Quoted(tensor.name) + ":{\"dtype\":\"" +
                     (type == TensorType::kF32 ? "F32" : "BF16") + "\",\"shape\":[";
  for (std::size_t i = 0; i < tensor.shape.size(); ++i) {
    if (i > 0) json += ",";
    json += std::to_string(tensor.shape[i]);
  }
  return json + "],\"data_offsets\":[" + std::to_string(begin) + "," + std::to_string(end) + "]}";
}

}  // namespace

std::string SafetensorsHeader(const TensorLayout& layout, const SafetensorsMetadata& metadata,
                              std::span<const TensorType> types) {
  OSTRAKA_CHECK(types.empty() || types.size() == layout.size());
  std::set<std::string> names = {kSafetensorsMetadata};
  std::string json = "{" + MetadataJson(metadata);
  std::uint64_t begin = 0;
  for (std::size_t i = 0; i < layout.size(); ++i) {
    OSTRAKA_CHECK(names.insert(layout[i].name).second);
    const TensorType type = types.empty() ? TensorType::kF32 : types[i];
    const std::uint64_t end = begin + BytesOf(type) * layout[i].element_count();
    json += "," + TensorJson(layout[i], type, begin, end);
    begin = end;
  }
  json += "}";
  while (json.size() % kAlignment != 0) json += " ";
  std::string header;
  for (std::size_t i = 0; i < kSafetensorsLengthBytes; ++i) {
    header.push_back(static_cast<char>(json.size() >> (8 * i) & 0xff));
  }
  return header + json;
}

}  // namespace ostraka::base
