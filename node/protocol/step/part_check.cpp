#include "node/protocol/step/part_check.h"

#include "crypto/merkle.h"
#include "node/base/check.h"
#include "node/base/status.h"
#include "node/wire/codec.h"

namespace ostraka::protocol {

wire::TensorHeader HeaderOf(const PartRange& range, Codec codec) {
  return {.element = wire::ElementType::kFloat32, .codec = codec, .shape = {range.size()}};
}

std::optional<std::string> PartFault(const Inbox::Version& commit, const Inbox::Version& item,
                                     std::uint32_t column, const std::vector<PartRange>& parts,
                                     Codec codec) {
  OSTRAKA_CHECK(item.blob != nullptr);  // the member takes no PART in without bulk data
  const auto* commitment = commit.message->As<wire::Commit>();
  const auto* part = item.message->As<wire::Part>();
  if (commitment == nullptr || !commitment->gradient_root)
    return "sent a COMMIT without a gradient";
  if (part == nullptr) return "sent a malformed PART: " + item.message->WhyUnreadable();
  if (part->header != HeaderOf(parts[column], codec))
    return "sent a part of another type, codec or shape";
  if (!crypto::VerifyMerklePath(*commitment->gradient_root, part->root, column, parts.size(),
                                part->path)) {
    return "sent a part that is not under its COMMIT";
  }
  if (!HoldsValues(codec, item.blob->data, parts[column].size())) {
    return codec == Codec::kRaw ? "sent a part with NaN, Inf or a wrong length"
                                : "sent a part that no encoder makes";
  }
  return std::nullopt;
}

}  // namespace ostraka::protocol
