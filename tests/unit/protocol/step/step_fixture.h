// One member in one step, without its machine: the parts of a member that the classes of
// node/protocol/step use, and what all members say in a step in which each does its work.
//
// A test constructs the class in question over these, hands in messages with Hear, and reads what
// came out with Taken, Utter and Sent.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "node/protocol/lasting/chain_server.h"
#include "node/protocol/lasting/charges.h"
#include "node/protocol/lasting/core.h"
#include "node/protocol/lasting/duty_jobs.h"
#include "node/protocol/lasting/followers.h"
#include "node/protocol/lasting/member_state.h"
#include "node/protocol/lasting/past_seals.h"
#include "node/protocol/lasting/reports.h"
#include "node/protocol/lasting/slowness_notice.h"
#include "node/protocol/lasting/stage.h"
#include "node/protocol/step/disputed_pairs.h"
#include "node/protocol/step/own_column.h"
#include "node/protocol/step/own_gradient.h"
#include "node/protocol/step/results.h"
#include "node/protocol/step/sealing.h"
#include "node/protocol/step/step_facts.h"

namespace ostraka::protocol {

// A frame that went out to `to`.
struct SentFrame {
  PeerId to;
  wire::Envelope envelope;
  SharedBlob blob;
};

class StepWorld : public Core, public MemberState {
 public:
  static constexpr std::uint64_t kStep = 5;  // if no edit moves the head
  static constexpr std::uint64_t kDimension = 120;
  static constexpr std::size_t kSelf = 0;
  static constexpr base::Duration kDelta = base::Seconds(1);
  // Changes the manifest and the block before the step, before anything follows from them.
  using Edit = std::function<void(Manifest&, Block&)>;

  explicit StepWorld(const Edit& edit = nullptr, std::uint32_t members = 6);

  // --- members by number, in the order of their keys ---
  static PeerId IdOf(std::size_t member, std::uint32_t members = 6);
  const PeerId& Id(std::size_t member) const { return head().members[member]; }
  std::size_t count() const { return head().members.size(); }
  const Block& head() const { return chain.head(); }
  std::vector<PeerId> Others() const;
  // The member that owns the column, and the column that the member owns.
  std::size_t OwnerOf(std::uint32_t column) const;
  std::uint32_t ColumnOf(std::size_t member) const;

  // --- time ---
  Time now() const { return turn.now(); }
  void Go(base::Duration duration);

  // --- what members say ---
  Digest CoinsRootOf(std::size_t member) const;
  const std::vector<SharedBlob>& PartsOf(std::size_t member);  // of its gradient, by column
  SharedBlob ResultOf(std::uint32_t column);                   // over the parts of all workers
  wire::Commit CommitBody(std::size_t member);
  wire::Part PartBody(std::size_t member, std::uint32_t column);
  wire::Aggregate AggregateBody(std::uint32_t column);
  wire::Proof ProofBody(std::size_t member);  // REQUIRES: the coin of the step is read
  // Signed by the member, with the right parent.
  wire::SharedMessage Say(std::size_t member, wire::Phase phase, wire::MessageType type,
                          base::Bytes body, std::uint32_t draw = 0,
                          std::uint32_t iteration = 0) const;
  wire::SharedMessage SayUnder(const Digest& parent, std::size_t member, wire::Phase phase,
                               wire::MessageType type, base::Bytes body, std::uint32_t draw = 0,
                               std::uint32_t iteration = 0) const;
  wire::SharedMessage Commit(std::size_t member);
  wire::SharedMessage SecondCommit(std::size_t member);  // equivocates
  wire::SharedMessage Part(std::size_t member, std::uint32_t column);
  wire::SharedMessage Aggregate(std::size_t member);
  wire::SharedMessage Result(std::uint32_t column);
  wire::SharedMessage Reveal(std::size_t member, std::uint32_t draw = 0) const;
  wire::SharedMessage Proof(std::size_t member);

  // --- what the inbox takes in ---
  void Hear(const wire::SharedMessage& message, const SharedBlob& blob = nullptr);
  void HearPart(std::size_t member, std::uint32_t column);
  void HearPhaseA();  // COMMITs and AGGs of all
  void HearReveals();
  void HearProofs();

  // --- what the seals decide ---
  SealedMessages SealedA();
  void ReadA();  // every member's COMMIT and AGG is sealed
  void ReadB();
  void ReadC();

  // --- what the member does ---
  // The actions of one kind since the last call.
  template <typename T>
  std::vector<T> Taken() {
    std::vector<T> taken;
    std::vector<Action> rest;
    for (Action& action : out.actions()) {
      if (T* one = std::get_if<T>(&action)) {
        taken.push_back(std::move(*one));
      } else {
        rest.push_back(std::move(action));
      }
    }
    out.actions() = std::move(rest);
    return taken;
  }
  template <typename T>
  std::vector<T> Observed() {
    std::vector<T> seen;
    for (const Observe& one : Taken<Observe>()) {
      if (const T* what = std::get_if<T>(&one.what)) seen.push_back(*what);
    }
    return seen;
  }
  // The records of one kind that were stored since the last call; the rest stay.
  std::vector<Record> StoredRecords(RecordKind kind);
  // The driver's stores are done: the messages go out, and those to this member come back.
  std::vector<Journal::Own> Utter();
  // As Utter, and the inbox takes the own messages in.
  std::vector<wire::SharedMessage> UtterAndHear();
  // The frames of one type that went out; the rest are forgotten.
  std::vector<SentFrame> Sent(wire::MessageType type);
  std::vector<std::pair<PeerId, wire::Pull>> Pulls();
  JobResult RunJob(const StartJob& job) const;  // a gradient's is that of PartsOf

  std::vector<std::shared_ptr<const crypto::SigningKey>> keys;
  std::vector<SeedSecrets> all_secrets;  // by member
  Outbox out;
  StageNow stage;
  PullTimer pull;
  StepFacts facts;

 private:
  struct Beginning {
    std::shared_ptr<const Manifest> manifest;
    SharedBlock head;
  };
  StepWorld(std::uint32_t members, Beginning beginning);
  static Beginning BeginningOf(const Edit& edit, std::uint32_t members);
  SharedVector GradientOf(std::size_t member) const;

  std::map<std::size_t, std::vector<SharedBlob>> parts_;
  std::map<std::uint32_t, SharedBlob> results_;
};

// --- for edits ---

// A dispute between two members, by number.
inline StepWorld::Edit InDispute(std::size_t worker, std::size_t aggregator) {
  return [=](Manifest&, Block& head) {
    head.disputes.push_back({head.members[worker], head.members[aggregator], 1});
  };
}
// The member is a validator of this step, and no worker.
inline StepWorld::Edit Validates(std::size_t member, std::size_t target, std::uint64_t step) {
  return [=](Manifest&, Block& head) {
    head.drawn.push_back({head.members[member], head.members[target], step, {}});
  };
}
inline StepWorld::Edit CaseOpen(wire::CaseKind kind, std::size_t accuser, std::size_t target,
                                std::uint64_t step) {
  return [=](Manifest&, Block& head) {
    wire::Case open;
    open.id = {kind, head.members[accuser], head.members[target], step, 0};
    open.opened_step = head.step;
    head.cases.push_back(open);
  };
}

}  // namespace ostraka::protocol
