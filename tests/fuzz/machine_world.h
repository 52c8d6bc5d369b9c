// Four members of a tiny run, the last one a cheat. The caller decides everything that may vary:
// which message is delivered when, how often and to whom, which timers fire, which member dies and
// restarts, with its store or without, and what the cheat sends.
//
// Aborts as soon as an honest member breaks a promise of the protocol (docs/protocol.md 1): its
// invariants, one body for each slot also across restarts, no honest member banned (one whose
// messages the fuzzer loses may be dropped), one chain of blocks for all. Four members bear one
// fault: once an honest member was dropped while the cheat is a member, only the chain and the
// slots are promised.
//
// Memory: the chain, the slots of each member, outstanding inputs, and the last kMemory messages.
//
// Thread safety: one owner.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "node/base/bytes.h"
#include "node/protocol/member/peer.h"
#include "node/wire/messages.h"

namespace ostraka::fuzz {

inline constexpr std::size_t kMembers = 4;
inline constexpr std::size_t kCheat = kMembers - 1;

// A message that a member sent, and its receiver.
struct Heard {
  std::size_t to = 0;
  wire::Envelope envelope;
  base::SharedBytes frame;
  crypto::SharedBlob blob;
};

// Decides what the cheat does in place of its machine.
class Cheat {
 public:
  virtual ~Cheat() = default;
  // May change the result of a job of the cheat's machine.
  virtual void OnJob(protocol::JobResult& result) = 0;
  // True: the cheat will sign other messages in the slots that its machine prepared together, of
  // which this is the first, each after it got an honest message of the kind.
  virtual bool WantsToForge(const wire::Slot& first) = 0;
  // The body that it signs in place of `honest`, an honest member's message of that kind.
  virtual base::Bytes Forge(const wire::Envelope& honest) = 0;
};

class MachineWorld {
 public:
  // A run of `steps` steps, and those in which claims settle. REQUIRES: steps >= 1.
  MachineWorld(Cheat& cheat, std::uint64_t steps);
  ~MachineWorld();
  MachineWorld(const MachineWorld&) = delete;
  MachineWorld& operator=(const MachineWorld&) = delete;

  // Outstanding inputs, oldest first. Messages may be delivered again or lost, others may not
  // (node/protocol/ground/machine.h).
  std::size_t under_way() const { return queue_.size(); }
  void Deliver(std::size_t index);
  void DeliverAgain(std::size_t index);
  void Lose(std::size_t index);
  // Delivers everything, in order, until nothing is outstanding.
  void DeliverAll();

  // Fires the earliest timer of `member`, if it has one, and advances the clock to it.
  void FireTimer(std::size_t member);
  void ChangeLink(std::size_t member, std::size_t other, bool up);
  // An honest member dies and restarts, from its store or, if that is lost, from nothing; one
  // honest member keeps its first store. Inputs outstanding for it are lost, and its links come up.
  // Does nothing to the cheat.
  void Restart(std::size_t member, bool with_store);
  void Wait(base::Duration duration) { now_ = now_ + duration; }
  // Delivers a message as if it came over the link from `from` now.
  void Inject(std::size_t to, std::size_t from, base::SharedBytes frame, crypto::SharedBlob blob);
  // Signs as the cheat; services go unsigned.
  base::SharedBytes SignAsCheat(wire::Envelope envelope);

  // The messages sent lately, oldest first; at most kMemory.
  const std::deque<Heard>& heard() const { return heard_; }
  const std::vector<base::PeerId>& members() const { return members_; }
  std::uint64_t step() const { return step_; }
  const std::vector<base::Bytes>& evidence() const { return evidence_; }

 private:
  static constexpr std::size_t kMemory = 64;
  class Notary;
  struct Node {
    std::shared_ptr<const crypto::SigningKey> key;
    std::unique_ptr<protocol::Machine> machine;
    std::map<protocol::TimerId, base::Time> timers;
    // Slots that it recorded before signing, and their bodies.
    std::map<base::Bytes, base::Bytes> slots;
    std::map<std::pair<protocol::RecordKind, base::Bytes>, protocol::Record> store;
    bool lost_its_store = false;
    std::uint64_t starts = 0;
  };
  struct Event {
    std::size_t to = 0;
    protocol::Input input;
  };

  void StartMachine(std::size_t index, std::shared_ptr<const protocol::Restored> restored);
  bool WouldBeTheLastStore(std::size_t member) const;
  std::shared_ptr<const protocol::Restored> RestoredOf(const Node& node) const;
  void Feed(std::size_t index, const protocol::Input& input);
  void Perform(std::size_t index, protocol::Action& action);
  void PerformSend(std::size_t index, const protocol::Send& send);
  void PerformStore(std::size_t index, const protocol::Store& store);
  void PerformJob(std::size_t index, const protocol::StartJob& job);
  void NoteSlot(std::size_t index, const protocol::Record& record);
  void Note(std::size_t index, const protocol::Observation& what);
  void NoteBlock(const wire::Block& block);
  void Hear(std::size_t index, const protocol::Send& send);
  void TryForge();
  void SendForged(const wire::Slot& slot, const Heard& honest);
  std::size_t IndexOf(const base::PeerId& id) const;

  Cheat& cheat_;
  std::shared_ptr<const protocol::Manifest> manifest_;
  std::shared_ptr<Notary> notary_;
  std::vector<base::PeerId> members_;
  std::array<Node, kMembers> nodes_;
  std::deque<Event> queue_;
  std::deque<Heard> heard_;
  std::vector<wire::Slot> to_forge_;
  std::map<base::Bytes, base::Bytes> chain_;  // of all honest members: key and encoded block
  std::vector<base::Bytes> evidence_;
  std::uint64_t step_ = 0;    // latest step that an honest member began
  bool within_bound_ = true;  // as many honest members as the promises need
  base::Time now_;
};

}  // namespace ostraka::fuzz
