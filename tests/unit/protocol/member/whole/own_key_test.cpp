// What a peer does when it meets its own signature on what it never signed.
#include <gtest/gtest.h>

#include "tests/unit/protocol/member/whole/four_peers.h"

namespace ostraka::protocol::scene::own_key_test {
namespace {

using wire::MessageType;

TEST(OwnKeyTest, AnotherProcessWithItsKeyEndsItBeforeItSignsMore) {
  Cluster cluster(Steps(8));
  base::SharedBytes commit;
  std::size_t signed_after = 0;
  cluster.on_send = [&](std::size_t from, const Send& send) {
    if (from != 0) return true;
    if (commit == nullptr && SlotOf(send).type == MessageType::kCommit && SlotOf(send).step == 1) {
      commit = send.frame;
    } else if (cluster.node(0).halted) {
      ++signed_after;
    }
    return true;
  };
  // Node 1 passes on a COMMIT that somebody signed with the key of node 0.
  bool told = false;
  cluster.on_job = [&](std::size_t node, const JobSpec&, JobResult&) {
    if (node != 1 || commit == nullptr || told) return;
    told = true;
    cluster.Deliver(0, 1, Resigned(commit, *cluster.node(0).key, [](wire::Envelope& envelope) {
                      envelope.body.back() ^= 1;
                    }));
  };
  cluster.Start();
  cluster.Run();
  ASSERT_TRUE(told);
  ASSERT_TRUE(cluster.node(0).halted);
  EXPECT_EQ(cluster.node(0).halted->why, Halted::Why::kFailed);
  EXPECT_NE(cluster.node(0).halted->reason.find("another process signs with this key"),
            std::string::npos);
  EXPECT_EQ(cluster.node(0).halted->reason.find('\n'), std::string::npos);
  EXPECT_EQ(cluster.node(0).evidence_stored, 0u) << "it keeps no file against itself";
  EXPECT_EQ(signed_after, 0u);
}

}  // namespace
}  // namespace ostraka::protocol::scene::own_key_test
