#include "node/net/link/client_hello.h"

#include <gtest/gtest.h>

#include "node/base/rng.h"
#include "tests/unit/net/transport_raw_peer.h"

namespace ostraka::net::client_hello_test {
namespace {

base::Bytes Bytes(const std::string& text) { return {text.begin(), text.end()}; }

class ClientHello : public ::testing::Test {
 protected:
  const std::string alpn_ = AlpnOfRun(RunId(7));
  const base::Bytes named_ = Bytes(FirstBytesOf(*MakeTlsContext(*TestKey(1), RunId(7))));
};

TEST_F(ClientHello, NamesTheRunThatItsContextWasMadeFor) {
  EXPECT_EQ(alpn_, "ostraka/07070707070707070707070707070707");
  EXPECT_EQ(JudgeOpening(named_, alpn_), Opening::kNamed);
  EXPECT_EQ(JudgeOpening(named_, AlpnOfRun(RunId(8))), Opening::kUnnamed);
  EXPECT_EQ(JudgeOpening(named_, alpn_ + "0"), Opening::kUnnamed);
  EXPECT_LT(named_.size(), 600U);
  const auto judge = [&](const TlsContext& context) {
    return JudgeOpening(Bytes(FirstBytesOf(context)), alpn_);
  };
  EXPECT_EQ(judge(*MakeTlsContext(*TestKey(1))), Opening::kUnnamed);
  EXPECT_EQ(judge(*MakeTlsContext(*TestKey(1), RunId(8))), Opening::kUnnamed);
  EXPECT_EQ(judge(RawTls{.alpn = ""}.Context()), Opening::kUnnamed);
  EXPECT_EQ(judge(RawTls{.alpn = "h2", .run = alpn_}.Context()), Opening::kNamed)
      << "OpenSSL then says what is wrong";
}

TEST_F(ClientHello, IsAwaitedToItsLastByte) {
  for (std::size_t size = 1; size < named_.size(); ++size) {
    EXPECT_EQ(JudgeOpening(base::ByteView(named_).first(size), alpn_), Opening::kIncomplete)
        << size;
  }
  base::Bytes longer = named_;
  longer.push_back(0x17);
  EXPECT_EQ(JudgeOpening(longer, alpn_), Opening::kNamed);
}

TEST_F(ClientHello, OtherBytesAreNoTlsOrForTlsToJudge) {
  EXPECT_EQ(JudgeOpening(Bytes("GET / HTTP/1.1"), alpn_), Opening::kNotTls);
  EXPECT_EQ(JudgeOpening(Bytes("\n"), alpn_), Opening::kNotTls);
  base::Bytes huge = named_;
  huge[3] = 0xff;
  EXPECT_EQ(JudgeOpening(huge, alpn_), Opening::kUnnamed) << "nobody waits for so much";
  base::Bytes cut = named_;
  cut[8] ^= 1;  // the message's length is not the record's
  EXPECT_EQ(JudgeOpening(cut, alpn_), Opening::kUnnamed);
  base::Bytes alert = named_;
  alert[5] = 2;
  EXPECT_EQ(JudgeOpening(alert, alpn_), Opening::kUnnamed);
}

// Whatever is in it, it is judged within its length; only its own bytes can name the run.
TEST_F(ClientHello, SpoiltBytesAreJudgedSafely) {
  base::Rng rng(1);
  int unnamed = 0;
  for (int i = 0; i < 200'000; ++i) {
    base::Bytes bytes = named_;
    for (std::uint64_t k = 1 + rng.Below(4); k > 0; --k) {
      bytes[9 + rng.Below(bytes.size() - 9)] = static_cast<std::uint8_t>(rng.Next());
    }
    const Opening opening = JudgeOpening(bytes, alpn_);
    ASSERT_TRUE(opening == Opening::kNamed || opening == Opening::kUnnamed);
    unnamed += opening == Opening::kUnnamed ? 1 : 0;
  }
  EXPECT_GT(unnamed, 1000);
}

}  // namespace
}  // namespace ostraka::net::client_hello_test
