// An outside checker of honesty across crashes: reads what nodes were given by each other
// (`ostraka node --record`) and reports every slot for which one key signed two different
// messages. It shares with the node the codec and the signature check, and none of its rules.
//
//   slot_audit FILE...      exit 0: none; 1: some, one line each; 2: a file cannot be used
//   slot_audit --said-by ID FILE...   instead: what this key signed, a line "STEP TYPE" for each
//                                     slot and each REJOIN, genesis left out
//
// A file may end in the middle of an entry: its node was killed. Frames that cannot be read are
// counted: honest peers send none.
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "crypto/sign.h"
#include "node/store/recording_file.h"
#include "node/wire/codec.h"

namespace {

using ostraka::base::Bytes;
using ostraka::base::Digest;
using ostraka::base::PeerId;

class Audit {
 public:
  explicit Audit(std::string said_by) : said_by_(std::move(said_by)) {}

  bool Read(const char* path) {
    const auto recording = ostraka::store::ReadRecording(path);
    if (!recording.ok()) return false;
    for (const ostraka::wire::RecordedCall& call : recording->calls) {
      if (!call.given.frame.empty()) Take(std::make_shared<const Bytes>(call.given.frame));
    }
    return true;
  }

  std::uint64_t frames() const { return frames_; }
  // A peer's garbage, or a file that is no record of frames from some place on.
  std::uint64_t unreadable() const { return unreadable_; }
  std::size_t slots() const { return said_.size(); }
  std::uint64_t doubles() const { return doubles_; }
  // By `said_by`: step and type.
  const std::set<std::pair<std::uint64_t, std::string>>& said_by_it() const { return signed_; }

 private:
  void Take(ostraka::base::SharedBytes frame) {
    using ostraka::wire::MessageType;
    const auto opened = ostraka::wire::Open(std::move(frame));
    if (!opened.ok()) {
      ++unreadable_;
      return;
    }
    const ostraka::wire::Envelope& envelope = opened->envelope;
    const MessageType type = envelope.slot.type;
    if (ostraka::wire::IsService(type)) return;  // not signed
    if (envelope.slot.phase == ostraka::wire::Phase::kGenesis) return;
    if (!verifier_.Verify(envelope.sender, opened->digest, opened->signature)) return;
    if (envelope.sender.Hex() == said_by_) {
      signed_.emplace(envelope.slot.step, ostraka::wire::MessageTypeName(type));
    }
    // Exempt, like genesis: a key that lost its store says these anew (docs/protocol.md 2).
    if (type == MessageType::kRejoin) return;
    ++frames_;
    const auto [known, fresh] = said_.try_emplace({envelope.sender, envelope.slot}, opened->digest);
    if (fresh || known->second == opened->digest) return;
    ++doubles_;
    std::printf("%s signed two messages: step %llu, %s, draw %u, iteration %u\n",
                envelope.sender.Hex().c_str(), static_cast<unsigned long long>(envelope.slot.step),
                ostraka::wire::MessageTypeName(type), envelope.slot.draw, envelope.slot.iteration);
  }

  const std::string said_by_;
  std::set<std::pair<std::uint64_t, std::string>> signed_;
  ostraka::crypto::PlainVerifier verifier_;
  std::map<std::pair<PeerId, ostraka::wire::Slot>, Digest> said_;
  std::uint64_t frames_ = 0;
  std::uint64_t unreadable_ = 0;
  std::uint64_t doubles_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  if (!ostraka::crypto::Initialize().ok() || argc < 2) return 2;
  const bool list = argc > 3 && std::string(argv[1]) == "--said-by";
  Audit audit(list ? argv[2] : "");
  for (int i = list ? 3 : 1; i < argc; ++i) {
    if (audit.Read(argv[i])) continue;
    std::fprintf(stderr, "cannot read %s\n", argv[i]);
    return 2;
  }
  if (list) {
    for (const auto& [step, type] : audit.said_by_it()) {
      std::printf("%llu %s\n", static_cast<unsigned long long>(step), type.c_str());
    }
    return 0;
  }
  std::printf("%llu signed frames, %zu slots, %llu signed twice, %llu unreadable\n",
              static_cast<unsigned long long>(audit.frames()), audit.slots(),
              static_cast<unsigned long long>(audit.doubles()),
              static_cast<unsigned long long>(audit.unreadable()));
  return audit.doubles() == 0 ? 0 : 1;
}
