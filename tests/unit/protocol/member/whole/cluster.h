// Machines of one run in one process, with deliveries in order and at once: for tests that drive
// peers by hand. (The simulator has the network; this has none.) A machine can be killed, and start
// again from the records that were durable.
//
// Checks on the way, with gtest failures: a frame that a member signed leaves it only after the
// record of its slot, with the same bytes, was durable; a slot is recorded once, and no key of the
// store ever gets a second value; frames of others are passed on as they were signed; no frame is
// longer than a frame may be; every PROOF that a machine signs can be read; invariants hold after
// every input.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "node/base/rng.h"
#include "node/protocol/member/peer.h"
#include "node/protocol/recording/recording_machine.h"
#include "node/wire/codec.h"

namespace ostraka::protocol::scene {

struct ClusterOptions {
  std::uint32_t n = 4;
  std::uint64_t dimension = 64;
  std::uint64_t steps = 6;  // the last kSettleSteps of them with learning rate 0
  bool plain = false;
  bool records = false;  // for ExpectReplays
  std::function<void(Manifest&)> edit = [](Manifest&) {};
};

inline constexpr std::uint64_t kSettleSteps = 5;

class Cluster {
 public:
  struct Node {
    std::shared_ptr<const crypto::SigningKey> key;
    // What a key shows that comes in, and where it begins.
    struct Invited {
      std::optional<wire::Credential> credential;
      std::shared_ptr<const wire::Block> anchor;
    };
    Invited invited;
    std::unique_ptr<Machine> machine;  // null: killed
    std::map<TimerId, Time> timers;
    std::map<std::pair<RecordKind, base::Bytes>, Record> durable;
    std::map<StoreId, std::vector<Record>> storing;
    std::vector<JobDone> hanging;
    // As observed, in order. A machine that replays after a restart does not tell of those steps.
    std::vector<std::shared_ptr<const Block>> blocks;
    std::vector<ModelState> states;
    std::map<base::Bytes, base::Bytes> encoded_blocks;  // of the stored records, by key
    std::vector<Resumed> resumed;
    std::vector<Suspicion> suspicions;
    std::vector<StepStarted> started;
    std::vector<SlowSeal> slow_seals;
    std::vector<Away> away;
    std::vector<Barred> barred;
    std::vector<Back> back;
    std::optional<Halted> halted;
    std::size_t evidence_stored = 0;
    // Of each machine, in order: its recording, as bytes.
    struct Recorded final : Recorder {
      bool Given(const wire::RecordedInput& turn) override {
        turns.push_back(wire::EncodeRecordedInput(turn));
        return true;
      }
      bool Asked(const wire::RecordedOutcome& outcome, bool /*ends_step*/) override {
        outcomes.push_back(wire::EncodeRecordedOutcome(outcome));
        return true;
      }
      // The calls, read from their bytes.
      std::vector<wire::RecordedCall> Calls() const;
      base::Bytes head;
      std::vector<base::Bytes> turns;
      std::vector<base::Bytes> outcomes;
    };
    struct Lives {
      std::uint64_t starts = 0;
      std::vector<std::shared_ptr<Recorded>> recorded;
    };
    Lives lives;
    PeerId id() const { return key->id(); }
  };

  explicit Cluster(ClusterOptions options = {});

  // The private seed of the node's machines.
  static Digest SeedOf(std::size_t node);

  // Hooks, all optional. Return false to drop the message.
  std::function<bool(std::size_t from, const Send&)> on_send;
  // May change what a machine's own job returned: how an attacker lies.
  std::function<void(std::size_t node, const JobSpec&, JobResult&)> on_job;
  // Stored is not given back while this says true.
  std::function<bool(std::size_t node)> disk_hangs;
  // A job's result is not given back while this says true; ReleaseJobs gives what was held.
  std::function<bool(std::size_t node, const JobSpec&)> job_hangs;
  // Rations are of a second, so keys that are no members get no answers for long in no time.
  base::Duration delivery_takes;
  std::map<std::size_t, Told> wishes;  // by node: of its machines, as they start
  // If set: messages are delivered in a drawn order, each up to three times.
  std::optional<base::Rng> disorder;

  void Start();  // gives every machine Started
  // A key that is not of the manifest begins to follow. Returns the index of its node.
  std::size_t Join(const std::shared_ptr<const crypto::SigningKey>& key,
                   const std::optional<wire::Credential>& credential,
                   std::shared_ptr<const wire::Block> anchor = nullptr);
  void Run();  // until nothing is under way
  void RunSome(std::size_t deliveries);
  // Run; then fires timers, earliest first, until all have halted, nothing is left to wait for, or
  // an hour of the cluster's time has passed.
  void RunToEnd();
  // The same until `done` says so; it is asked before every delivery.
  void RunUntil(const std::function<bool()>& done);
  // The process dies: what is under way to it is lost, and what was not durable yet; its links go
  // down.
  void Kill(std::size_t node);
  // REQUIRES: killed. It starts again from its durable records; its links come up.
  void Restart(std::size_t node);
  // What a driver hands a machine of this store.
  std::shared_ptr<const Restored> RestoredOf(std::size_t node) const;
  // Gives one input to one machine now; what it asks for is queued. Returns its actions.
  std::vector<Action> Feed(std::size_t node, const Input& input);
  // Queues a message as if it came over the link from `from`.
  void Deliver(std::size_t to, std::size_t from, base::SharedBytes frame,
               SharedBlob blob = nullptr);
  void ReleaseStores(std::size_t node);
  void ReleaseJobs(std::size_t node);

  Node& node(std::size_t index) { return nodes_[index]; }
  std::size_t size() const { return nodes_.size(); }
  std::size_t IndexOf(const PeerId& id) const;
  const Manifest& manifest() const { return *manifest_; }
  Time now() const { return now_; }

  // Halted in the same way; "" if so, else the first that is not, with its reason.
  std::string NotHaltedAs(Halted::Why why) const;
  // Asserts that all of `nodes` hold the same blocks, and the same state after each step of which
  // two of them told, bit for bit; and that all told of the last one.
  void ExpectAgreement(const std::vector<std::size_t>& nodes) const;
  void ExpectAgreement() const;
  // Asserts that a replay of each recording, read from its bytes, has equal outputs. REQUIRES:
  // ClusterOptions::records.
  void ExpectReplays() const;

 private:
  struct Event {
    std::size_t node;
    Input input;
  };
  std::unique_ptr<Machine> MakeMachine(Node& node) const;
  void LinkAll(std::size_t index);
  void Perform(std::size_t node, const Action& action);
  void CheckSend(const Node& node, const Send& send) const;
  void PerformStore(Node& node, std::size_t index, const Store& store);
  void KeepRecord(Node& node, Record record);
  bool FireNextTimer();
  void Note(Node& node, const Observation& what);
  Event TakeNext();

  ClusterOptions options_;
  std::shared_ptr<const Manifest> manifest_;
  std::shared_ptr<crypto::Verifier> verifier_;
  std::vector<Node> nodes_;
  std::deque<Event> queue_;
  Time now_;
};

// `frame` with its envelope changed by `edit` and signed anew by `key`.
base::SharedBytes Resigned(const base::SharedBytes& frame, const crypto::SigningKey& key,
                           const std::function<void(wire::Envelope&)>& edit);
wire::Envelope EnvelopeOf(const base::SharedBytes& frame);

}  // namespace ostraka::protocol::scene
