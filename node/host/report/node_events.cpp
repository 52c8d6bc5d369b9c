#include "node/host/report/node_events.h"

namespace ostraka::host {

const char* NodeEndName(NodeEnd end) {
  switch (end) {
    case NodeEnd::kFinished:
      return "finished";
    case NodeEnd::kBanned:
      return "banned";
    case NodeEnd::kStalled:
      return "stalled";
    case NodeEnd::kDiverged:
      return "diverged";
    case NodeEnd::kFailed:
      return "failed";
    case NodeEnd::kLeft:
      return "left";
    case NodeEnd::kRefused:
      return "refused";
    case NodeEnd::kForked:
      return "forked";
    case NodeEnd::kInterrupted:
      return "interrupted";
  }
  return "unknown";
}

}  // namespace ostraka::host
