#include "node/host/driver/node_driver.h"

#include <cmath>
#include <utility>

#include "crypto/sign.h"
#include "node/base/check.h"
#include "node/host/driver/node_driver_impl.h"
#include "node/host/threads/thrown.h"
#include "node/os/process_stats.h"
#include "node/os/steady_clock.h"
#include "node/protocol/rules/standing.h"

namespace ostraka::host {
namespace {

constexpr base::Duration kLookEvery = base::Seconds(1);

std::set<base::PeerId> OthersOf(const net::TransportOptions& transport) {
  std::set<base::PeerId> others;
  for (const net::TransportMember& member : transport.members) others.insert(member.id);
  others.erase(transport.key->id());
  return others;
}

// A failure takes the place of a better end, and follows an earlier failure.
void AddFailure(const std::string& why, NodeOutcome& outcome) {
  if (outcome.end != NodeEnd::kFailed) {
    outcome.end = NodeEnd::kFailed;
    outcome.reason = why;
  } else if (!outcome.reason.starts_with(why)) {  // its price may follow
    outcome.reason += "; then: " + why;
  }
}

// Colluders need not leave with those that do: of eight members that bear three, three may pause at
// one hour of the evening.
std::string FewerFaultsText(const wire::Block& last, std::uint32_t borne) {
  const std::uint32_t now = last.thresholds.t_s;
  if (borne >= now) return "";
  return "; the run bears " + std::to_string(borne) + (borne == 1 ? " fault" : " faults") +
         " without it, and " + std::to_string(now) + " with it";
}

std::string LeavingText(const base::PeerId& self, const wire::Block& last) {
  const wire::Standing* standing = protocol::StandingOf(last.standings, self);
  const bool is_barred = standing != nullptr && protocol::LeavesTooSoon(*standing, last.step + 2);
  const std::string price =
      is_barred ? "; it came back only in step " + std::to_string(standing->returned_step) +
                      ", so it may return " + std::to_string(protocol::kBarredSteps) +
                      " steps after it has left"
                : "";
  return "leaving: the others let this node go after the step in progress and at most two "
         "more, or when a case that concerns it has ended" +
         price + "; ending it before that counts as a crash";
}

// What it costs to end now; nullopt where nobody needs this node, or nothing is known of the waits.
std::optional<Stopping> StoppingNow(const Pledge& pledge, const NodeStatus& seen,
                                    const NodeReport& report,
                                    const std::function<StepWaits(const wire::Block&)>& waits) {
  const wire::Block* const head = report.last_block.get();
  if (!seen.progress.at_work || !waits || head == nullptr) return std::nullopt;
  return Stopping{.owed = pledge.OwedIn(seen.progress),
                  .step = seen.progress.step,
                  .self = seen.self,
                  .head = head,
                  .waits = waits(*head),
                  .recent_step = seen.recent_step};
}

// Members of the block to whom there is a way, with this node.
std::size_t ReachableOf(const wire::Block& head, const NodeStatus& seen) {
  std::size_t reachable = 1;
  for (const base::PeerId& member : head.members) {
    const bool has_path = member != seen.self && PathTo(seen, member) != Path::kNone;
    reachable += has_path ? 1 : 0;
  }
  return reachable;
}

}  // namespace

// --- construction -------------------------------------------------------------------------------

NodeDriver::Impl::Plan::Plan(NodeOptions& options)
    : self(options.transport.key->id()),
      run_id(options.transport.run_id),
      transport(std::move(options.transport)),
      finder(std::move(options.finder)),
      exchange(std::move(options.exchange)),
      status(std::move(options.status)),
      recording(std::move(options.recording)),
      flush_timeout(options.flush_timeout),
      started{options.coin_seed, crypto::RandomSeed(), std::move(options.restored)},
      genesis(std::move(options.genesis)),
      may_leave(std::move(options.may_leave)),
      borne_without(std::move(options.borne_without)),
      wishes(std::move(options.wishes)),
      waits(std::move(options.waits)),
      revocations(std::move(options.revocations)) {}

NodeDriver::Impl::Impl(boost::asio::io_context& io, NodeOptions options, NodeEvents& events)
    : plan_(options),
      inlet_(io,
             [this](const std::string& what) {
               OSTRAKA_CHECK(stop_.phase() != StopSequence::Phase::kEnded);  // `ended` threw
               Break(what);
             }),
      seat_(io, std::move(options.machine),
            [this](protocol::TimerId id) {
              inlet_.Enter([this, id] { Feed(protocol::TimerFired{id}); });
            }),
      reporter_(events, seat_.Now(), std::move(options.history)),
      known_keys_(io, OthersOf(plan_.transport), options.forget_after,
                  [this](const base::PeerId& peer) {
                    inlet_.Enter([this, &peer] { transport_->Forget(peer); });
                  }),
      look_timer_(io),
      evaluations_(options.evaluate_every),
      disk_(inlet_, std::move(options.ledger), std::move(options.states), DiskEvents()),
      jobs_(std::move(options.trainer), options.jobs, JobEvents()),
      closing_(inlet_) {}

RunDiskEvents NodeDriver::Impl::DiskEvents() {
  return {
      .stored =
          [this](protocol::StoreId id) {
            pledge_.Stored(id);
            Feed(protocol::Stored{id});
          },
      .failed = [this](const base::Status& why) { Fail(why); },
      .checkpoint_failed = [this](const base::Status& why) { reporter_.CheckpointFailed(why); }};
}

// Called on the worker threads.
JobPoolCallbacks NodeDriver::Impl::JobEvents() {
  return {
      .job_done =
          [this](protocol::JobId id, std::shared_ptr<const protocol::JobResult> result) {
            inlet_.Post([this, id, done = std::move(result)] {
              Feed(protocol::JobDone{id, done});
            });
          },
      .batch_loss =
          [this](std::uint64_t step, double loss) {
            inlet_.Post([this, step, loss] {
              if (stop_.phase() >= StopSequence::Phase::kClosing) return;
              reporter_.BatchLoss(step, loss);
              // The evaluation's answer tells people what is wrong.
              if (!std::isfinite(loss)) EvaluateLastState();
            });
          },
      .evaluated =
          [this](std::uint64_t step, base::StatusOr<train::Evaluation> result) {
            inlet_.Post([this, step, done = std::move(result)] { Evaluated(step, done); });
          },
  };
}

base::Status NodeDriver::Impl::Bind(boost::asio::io_context& io, os::Descriptor listen_socket) {
  net::TransportEvents events;
  events.message = [this](const base::PeerId& from, base::SharedBytes frame,
                          crypto::SharedBlob blob) {
    inlet_.Enter([&] { Feed(protocol::MessageReceived{from, std::move(frame), std::move(blob)}); });
  };
  events.link = [this](const base::PeerId& peer, bool up) {
    inlet_.Enter([&] { LinkChanged(peer, up); });
  };
  events.dial_back = [this](const base::PeerId& from, const net::DialBackRecord& record) {
    inlet_.Enter([&] {
      if (finder_) finder_->OnDialBack(from, record);
    });
  };
  events.data = [this](const base::PeerId& from, const net::DataRecord& record) {
    inlet_.Enter([&] {
      if (plan_.exchange != nullptr) plan_.exchange->OnRecord(from, record);
    });
  };
  events.notice = [this](net::NoticeLevel level, const std::string& line) {
    inlet_.Enter([&] { reporter_.Notice(level, line); });
  };
  plan_.transport.listen_fd = listen_socket.Release();
  const auto key = plan_.transport.key;
  const std::vector<net::TransportMember> members = plan_.transport.members;
  ASSIGN_OR_RETURN(transport_,
                   net::Transport::Make(io, std::move(plan_.transport), std::move(events)));
  if (plan_.exchange != nullptr) OpenExchange();
  finder_.emplace(io, inlet_, reporter_, *transport_, key, plan_.run_id, members,
                  std::move(plan_.finder));
  ASSIGN_OR_RETURN(
      http_, StatusServer::Make(io, plan_.status.places, [this](std::string_view path) {
        http::HttpResponse answer;
        answer.status = 500;  // unless the handler answers
        inlet_.Enter([&] { answer = plan_.status.answer(path, Status(), reporter_.history()); });
        return answer;
      }));
  plan_.port = transport_->port();
  plan_.http_port = http_->port();
  return base::OkStatus();
}

void NodeDriver::Impl::OpenExchange() {
  plan_.exchange->Open(
      {.post = [this](std::function<void()> function) { inlet_.Post(std::move(function)); },
       .send = [this](const base::PeerId& to,
                      const net::DataRecord& record) { transport_->SendData(to, record); },
       .lend =
           [this](const base::PeerId& to, std::uint64_t chunk, base::SharedBytes bytes) {
             return transport_->Lend(to, chunk, std::move(bytes));
           },
       .lends = [this](const base::PeerId& peer) { return transport_->LendsData(peer); }});
  if (plan_.genesis == nullptr) return;
  const auto& members = plan_.genesis->members;
  plan_.exchange->SetMembers({members.begin(), members.end()});
}

NodeStatus NodeDriver::Impl::Seen(bool brief) const {
  const base::Time now = seat_.Now();
  NodeStatus status = brief ? reporter_.BriefAt(now) : reporter_.StatusAt(now);
  status.self = plan_.self;
  status.run_id = plan_.run_id;
  if (stop_.Ending()) status.outcome = stop_.outcome();
  status.progress = seat_.progress();
  status.others = known_keys_.others();
  status.linked = known_keys_.linked();
  return status;
}

NodeStatus NodeDriver::Impl::Status() const {
  NodeStatus status = Seen();
  status.traffic = transport_->counters();
  status.reach = finder_->status();
  if (plan_.exchange != nullptr) status.lending = plan_.exchange->counts();
  for (const base::PeerId& peer : status.others) {
    status.addresses[peer] = transport_->AddressesOf(peer);
  }
  status.jobs = jobs_.stats();
  status.ledger = disk_.stats();
  status.process = os::ReadProcessStats();
  return status;
}

// --- starting and ending ------------------------------------------------------------------------

void NodeDriver::Impl::Start(Ended ended) {
  ended_ = std::move(ended);
  plan_.begun = seat_.Now();
  inlet_.Enter([this] {
    disk_.Start();
    reporter_.Started(port(), http_port(), known_keys_.member_count());
    if (plan_.recording != nullptr) {
      reporter_.Notice(net::NoticeLevel::kInfo,
                       "this node is recorded in " + plan_.recording->path());
    }
    TellOfTrainer();
    if (plan_.genesis != nullptr) reporter_.Reach(*plan_.genesis);
    finder_->Start();
    const protocol::Restored* const restored = plan_.started.restored.get();
    if (restored != nullptr) pledge_.Restore(*restored);
    // Before the machine's first message, which may be its last; but a machine that reads its store
    // takes in nothing of the step in progress, and what the others repeat to a link that comes up
    // would be lost. [It echoed without what it had to wait for, and was dropped.]
    open_ = restored == nullptr || restored->blocks.empty();
    if (open_) transport_->Start();
    plan_.started.wishes = plan_.wishes;
    Feed(std::exchange(plan_.started, {}));
    Look();
  });
}

void NodeDriver::Impl::Look() {
  if (!stop_.TakesInputs()) return;
  const NodeStatus seen = Seen();
  reporter_.Look(seen);
  TellOfRecording();
  TellOfTrainer();
  if (stop_wait_.begun() && stop_.phase() == StopSequence::Phase::kRunning) {
    const wire::Block& head = *reporter_.report().last_block;
    const auto why =
        stop_wait_.GivenUp(seat_.Now(), ReachableOf(head, seen), head.thresholds.quorum());
    if (why) return StopNow(stop_wait_.by(), *why);
  }
  if (plan_.revocations != nullptr) {
    const base::Status read = plan_.revocations->Refresh();
    if (!read.ok()) reporter_.Notice(net::NoticeLevel::kWarning, base::MessageOf(read));
    const std::vector<wire::Revocation>& held = plan_.revocations->held();
    if (held != plan_.wishes.revocations) {
      plan_.wishes.revocations = held;
      Feed(protocol::Told{.revocations = held});
    }
  }
  reporter_.Advise(
      net::DialBackAdvice(finder_->dialed_back(), seen.only_dial.contains(plan_.self)));
  look_timer_.Start(kLookEvery, [this] { inlet_.Enter([this] { Look(); }); });
}

void NodeDriver::Impl::TellOfTrainer() {
  for (const train::TrainerNotice& notice : jobs_.TakeNotices()) {
    reporter_.Notice(notice.is_trouble ? net::NoticeLevel::kWarning : net::NoticeLevel::kInfo,
                     notice.line);
  }
}

void NodeDriver::Impl::TellOfRecording() {
  if (plan_.recording == nullptr) return;
  const auto notice = plan_.recording->TakeNotice();
  if (notice) reporter_.Notice(net::NoticeLevel::kWarning, *notice);
}

// False if it was asked before, or the run cannot do without this node.
bool NodeDriver::Impl::AskToLeave(const std::string& by) {
  const auto& last = reporter_.report().last_block;
  const bool may = plan_.may_leave && last != nullptr && plan_.may_leave(*last);
  if (plan_.wishes.leave || !may) return false;
  plan_.wishes.leave.emplace();
  plan_.leave_asked_in = seat_.progress().step;
  plan_.leave_asked_by = by;
  Feed(protocol::Told{.leave = plan_.wishes.leave});
  return true;
}

// The COMMIT of the step after that in progress said so at the latest. Of several that ask at once
// the run may let only the first go. [The second worked on, and left after it was resumed.]
void NodeDriver::Impl::StopUnlessLetGo(const wire::Block& block) {
  if (!plan_.leave_asked_in || block.step <= *plan_.leave_asked_in) return;
  plan_.leave_asked_in.reset();
  const bool goes = !protocol::IsMember(block.members, plan_.self) ||
                    protocol::IsMember(block.leaving, plan_.self);
  if (goes || stop_.phase() != StopSequence::Phase::kRunning) return;
  reporter_.Notice(net::NoticeLevel::kWarning,
                   "the others cannot let this node go, since too few would stay: it stops");
  inlet_.Post([this] { Stop(plan_.leave_asked_by, How::kSafely); });
}

void NodeDriver::Impl::Stop(const std::string& by, How how) {
  using Phase = StopSequence::Phase;
  inlet_.Enter([&] {
    if (stop_.phase() >= Phase::kClosing) return;
    const bool asked = plan_.wishes.leave.has_value();
    const bool works = stop_.phase() == Phase::kRunning && seat_.progress().at_work;
    if (how == How::kLeaving && works && !stop_wait_.begun() && AskToLeave(by)) {
      const wire::Block& last = *reporter_.report().last_block;
      const std::string fewer =
          plan_.borne_without ? FewerFaultsText(last, plan_.borne_without(last)) : "";
      reporter_.Notice(net::NoticeLevel::kWarning, LeavingText(plan_.self, last) + fewer);
      return;
    }
    const bool safely = how == How::kSafely || (how == How::kLeaving && !asked);
    if (safely && (stop_.phase() == Phase::kFlushing || stop_wait_.begun())) return;
    const auto stopping = StoppingNow(pledge_, Seen(), reporter_.report(), plan_.waits);
    if (safely && works && stopping && stopping->owed != Owed::kNothing) {
      stop_wait_.Begin(seat_.Now(), by, stopping->waits.step);
      return reporter_.Notice(net::NoticeLevel::kWarning, StopsWithBlockText(by, *stopping));
    }
    // Once it is ending, this skips the last evaluation and the wait for slow peers.
    if (stop_.phase() == Phase::kFlushing) return BeginClose();
    StopNow(by);
  });
}

void NodeDriver::Impl::StopNow(const std::string& by, const std::string& why) {
  const auto& last = reporter_.report().last_block;
  const std::string where =
      last != nullptr && wire::RunIsOver(*last) ? std::string("after the end of the run")
      : reporter_.met()
          ? "in step " + std::to_string(reporter_.step())
          : "before the first step, with " + std::to_string(known_keys_.linked_count()) + " of " +
                std::to_string(known_keys_.member_count()) + " members linked";
  stop_.Interrupt({NodeEnd::kInterrupted, reporter_.step(),
                   "stopped by " + by + " " + where + (why.empty() ? "" : ": " + why)});
  BeginFlush();
}

// The disk failed: Stores in flight will not come.
void NodeDriver::Impl::Fail(const base::Status& status) {
  stop_.Halt({NodeEnd::kFailed, reporter_.step(), base::MessageOf(status)});
  if (!stop_.Ending()) BeginFlush();
}

void NodeDriver::Impl::Break(const std::string& what) {
  using Phase = StopSequence::Phase;
  if (!ended_ || stop_.phase() == Phase::kEnded) return;  // there is no run to end
  if (stop_.phase() == Phase::kClosing) return EndUnclosed(what);
  stop_.Break({NodeEnd::kFailed, reporter_.step(), what});
  inlet_.Enter([this] {
    // Later: the exception may have passed through the transport, which must not be destroyed in
    // one of its events.
    inlet_.Post([this] { Close(); });
    reporter_.Halted(stop_.outcome());
  });
}

void NodeDriver::Impl::StopTimers() {
  seat_.StopTimers();
  known_keys_.StopForgetting();
  look_timer_.Cancel();
}

void NodeDriver::Impl::BeginFlush() {
  const NodeEnd end = stop_.outcome().end;
  const auto stopping = StoppingNow(pledge_, Seen(), reporter_.report(), plan_.waits);
  if (stopping && (end == NodeEnd::kInterrupted || end == NodeEnd::kFailed)) {
    stop_.AddToReason("; " + PriceOf(*stopping));
  }
  stop_.BeginFlush();
  if (!std::exchange(open_, true)) transport_->Start();  // which Part and Shutdown ask for
  StopTimers();
  jobs_.DropWaiting();
  reporter_.Halted(stop_.outcome());
  if (stop_.outcome().end != NodeEnd::kInterrupted) EvaluateLastState();
  const auto flushed = [this] {
    inlet_.Enter([this] {
      stop_.Flushed();
      CloseIfDone();
    });
  };
  if (stop_.EndedNormally()) {
    transport_->Part(plan_.flush_timeout, flushed);
  } else {
    transport_->Shutdown(plan_.flush_timeout, flushed);
  }
}

void NodeDriver::Impl::CloseIfDone() {
  if (stop_.MayClose(evaluations_.Awaited())) BeginClose();
}

void NodeDriver::Impl::BeginClose() {
  stop_.BeginClose();
  // Later: this may be an event of the transport.
  inlet_.Post([this] { Close(); });
}

void NodeDriver::Impl::Close() {
  if (stop_.phase() == StopSequence::Phase::kEnded) return;  // EndUnclosed came first
  TellOfRecording();
  StopTimers();  // they use the transport
  const auto closed = std::make_shared<Closed>();
  closed->traffic = transport_->counters();
  if (plan_.exchange != nullptr) closed->lending = plan_.exchange->counts();
  if (plan_.status.last) plan_.status.last(Status(), reporter_.history());
  http_.reset();
  finder_->Stop();
  finder_.reset();
  CloseExchange();
  transport_.reset();
  closing_.Start(
      [this, closed, reason = stop_.outcome().reason] {
        jobs_.Shutdown();
        closed->ledger = disk_.CloseLedger(reason);
        closed->at = seat_.Now();
        closed->stats = disk_.stats();
        closed->state = disk_.Free();
      },
      [this, closed](const base::Status& ran) { Finish(*closed, ran); });
}

void NodeDriver::Impl::Finish(const Closed& closed, const base::Status& ran) {
  if (stop_.phase() == StopSequence::Phase::kEnded) return;  // EndUnclosed came first
  NodeReport report = reporter_.Report();
  report.outcome = stop_.outcome();
  if (!closed.ledger.ok()) AddFailure(base::MessageOf(closed.ledger), report.outcome);
  if (!ran.ok()) AddFailure(base::MessageOf(ran), report.outcome);
  report.checkpoint = closed.state;
  report.wall = closed.at - plan_.begun;
  report.traffic = closed.traffic;
  report.lending = closed.lending;
  report.jobs = jobs_.stats();
  report.ledger = closed.stats;
  report.peak_rss_bytes = os::ReadProcessStats().peak_rss_bytes;
  report.longest_turn = seat_.longest_turn();
  stop_.End();
  ended_(std::move(report));
}

// A function of the closing run threw, so that nothing else may end it.
void NodeDriver::Impl::EndUnclosed(const std::string& what) {
  NodeReport report;
  report.outcome = stop_.outcome();
  AddFailure(what, report.outcome);
  report.checkpoint = base::Internal(what);
  report.wall = seat_.Now() - plan_.begun;
  stop_.End();
  ended_(std::move(report));
}

// --- NodeDriver ---------------------------------------------------------------------------------

NodeDriver::NodeDriver(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
NodeDriver::~NodeDriver() = default;

base::StatusOr<std::unique_ptr<NodeDriver>> NodeDriver::Make(boost::asio::io_context& io,
                                                             NodeOptions options,
                                                             NodeEvents& events) {
  OSTRAKA_CHECK(options.machine && options.trainer && options.ledger && options.transport.key);
  OSTRAKA_CHECK(options.status.places.empty() || options.status.answer);
  os::Descriptor listen_socket(std::exchange(options.transport.listen_fd, -1));
  try {
    auto impl = std::make_unique<Impl>(io, std::move(options), events);
    RETURN_IF_ERROR(impl->Bind(io, std::move(listen_socket)));
    return std::unique_ptr<NodeDriver>(new NodeDriver(std::move(impl)));
  } catch (...) {
    return base::Unavailable(DescribeThrown(std::current_exception()));
  }
}

std::uint16_t NodeDriver::port() const { return impl_->port(); }
std::uint16_t NodeDriver::http_port() const { return impl_->http_port(); }
void NodeDriver::Start(Ended ended) { impl_->Start(std::move(ended)); }
void NodeDriver::Stop(const std::string& by) { impl_->Stop(by, Impl::How::kAtOnce); }
void NodeDriver::StopSafely(const std::string& by) { impl_->Stop(by, Impl::How::kSafely); }
void NodeDriver::Leave(const std::string& by) { impl_->Stop(by, Impl::How::kLeaving); }
void NodeDriver::Break(const std::string& what) { impl_->Break(what); }

}  // namespace ostraka::host
