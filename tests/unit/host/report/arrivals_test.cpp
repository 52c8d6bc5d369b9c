#include "node/host/report/arrivals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ostraka::host::arrivals_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

base::PeerId Id(std::uint8_t n) {
  base::PeerId id;
  id.bytes.fill(n);
  return id;
}

TEST(Arrivals, TellsWhoCameFromWhoReturned) {
  wire::Block block;
  block.step = 7;
  block.joined = {Id(1), Id(2), Id(3)};
  block.standings = {{.peer = Id(1), .came_step = 7},
                     {.peer = Id(2), .drops = 1, .returned_step = 7},
                     {.peer = Id(3), .returned_step = 7, .came_step = 2},
                     {.peer = Id(4), .came_step = 7}};
  EXPECT_THAT(AdmittedBy(block).came, ElementsAre(Id(1)));
  EXPECT_THAT(AdmittedBy(block).returned, ElementsAre(Id(2), Id(3)));
  block.joined.clear();
  EXPECT_THAT(AdmittedBy(block).came, IsEmpty());
}

}  // namespace
}  // namespace ostraka::host::arrivals_test
