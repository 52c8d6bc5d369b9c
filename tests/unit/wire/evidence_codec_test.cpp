#include "node/wire/evidence_codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "node/wire/limits.h"
#include "tests/unit/wire/samples.h"
#include "tests/unit/wire/show.h"

namespace ostraka::wire::evidence_codec_test {
namespace {

using testing::HasSubstr;

std::string Judge(const EvidenceFile& file) {
  const auto decoded = DecodeEvidence(EncodeEvidence(file));
  if (!decoded.ok()) return base::MessageOf(decoded.status());
  EXPECT_TRUE(AreEqual(*decoded, file));
  return "";
}

TEST(EvidenceCodecTest, RoundTrip) {
  EvidenceFile file = SampleEvidence();
  EXPECT_EQ(Judge(file), "");
  file.kind = EvidenceKind::kFalseReveal;
  file.attachments = {Filled(1), Filled(2)};
  EXPECT_EQ(Judge(file), "");
  file.frames.clear();
  EXPECT_EQ(Judge(file), "");
}

TEST(EvidenceCodecTest, ListsHaveBounds) {
  EvidenceFile file = SampleEvidence();
  file.frames.assign(3, Bytes(kMaxFrameBytes, 1));
  file.attachments.assign(kMaxEvidenceAttachments, Filled(1));
  EXPECT_EQ(Judge(file), "");
  file.attachments.push_back(Filled(1));
  EXPECT_THAT(Judge(file), HasSubstr("attachments: too many"));
  file = SampleEvidence();
  file.frames[0].assign(kMaxFrameBytes + 1, 1);
  EXPECT_THAT(Judge(file), HasSubstr("frames: too long"));
  file.frames.assign(kMaxEvidenceFrames, Bytes(8, 1));
  EXPECT_EQ(Judge(file), "");
  file.frames.push_back(Bytes(8, 1));
  EXPECT_THAT(Judge(file), HasSubstr("frames: too many"));
  file.frames.assign(5, Bytes(kMaxFrameBytes, 1));
  EXPECT_THAT(Judge(file), HasSubstr("too long"));
}

TEST(EvidenceCodecTest, UnknownKindIsRefused) {
  EvidenceFile file = SampleEvidence();
  file.kind = static_cast<EvidenceKind>(kEvidenceKindCount);
  EXPECT_THAT(Judge(file), HasSubstr("kind: unknown"));
}

TEST(EvidenceCodecTest, AnotherVersionIsRefused) {
  Bytes bytes = EncodeEvidence(SampleEvidence());
  // The version is the first word of the root's data section, right after the root pointer.
  ASSERT_EQ(bytes[8], kEvidenceVersion);
  bytes[8] = kEvidenceVersion + 1;
  EXPECT_THAT(base::MessageOf(DecodeEvidence(bytes).status()), HasSubstr("version"));
}

TEST(EvidenceCodecTest, TheSlotIsJudged) {
  EvidenceFile file = SampleEvidence();
  file.slot.draw = 1;
  EXPECT_THAT(Judge(file), HasSubstr("draw"));
}

}  // namespace
}  // namespace ostraka::wire::evidence_codec_test
