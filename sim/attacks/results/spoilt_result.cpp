// spoilt_result: an aggregator's aggregate is one that no encoder makes, under the root that its
// AGG names.
//
// Rule: members hold a result only if it is canonical, so this one is as one that nobody sent.
// Attack on a draft: members held a scale of i16 that decodes to infinity, stated the norm that
// follows, and were banned for impossible numbers.
//
// Cost to honest members: a void column, and the wait for its result.
//
// Found by: the numbers, which say of all members that they lack it; the owner is dropped.
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "sim/adversary/lying.h"
#include "sim/attacks/results/factories.h"

namespace ostraka::sim {
namespace {

class SpoiltResult final : public LyingEditor<protocol::AggregateResult> {
 public:
  explicit SpoiltResult(const EditorOptions& options)
      : LyingEditor(options.from_step), how_(static_cast<int>(options.Param("how"))) {}

 private:
  std::optional<protocol::AggregateResult> Lie(const EditorTurn&, const protocol::JobSpec&,
                                               const protocol::AggregateResult& truth) override {
    if (!truth.result || truth.result->data.size() < sizeof(float)) return std::nullopt;
    base::Bytes bytes = truth.result->data;
    // The first number is a scale, or of raw results a value.
    const float first = how_ == 1 ? std::numeric_limits<float>::infinity() : 0x1p120F;
    if (how_ == 2) {
      bytes.pop_back();
    } else {
      std::memcpy(bytes.data(), &first, sizeof(first));
    }
    return protocol::AggregateResult{crypto::MakeBlob(std::move(bytes))};
  }

  int how_;
};

}  // namespace

std::unique_ptr<Editor> MakeSpoiltResult(const EditorOptions& options) {
  return std::make_unique<SpoiltResult>(options);
}

}  // namespace ostraka::sim
