#include "node/cli/page/page_data.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "node/cli/page/page_text.h"
#include "node/cli/terminal/human.h"
#include "node/cli/terminal/progress.h"
#include "node/host/report/trend.h"
#include "node/host/report/waiting.h"
#include "node/protocol/rules/lateness.h"

namespace ostraka::cli {
namespace {

using base::PeerId;
using host::NodeStatus;
using host::RunHistory;

// A wait of this many seconds is told; a quicker one is how a run goes.
constexpr double kNotableWait = 3;

PagePeer PeerOf(const PageRun& run, const PeerId& id) { return {id.Hex(), run.names.Of(id)}; }

bool IsIn(const std::vector<PeerId>& sorted, const PeerId& id) {
  return std::binary_search(sorted.begin(), sorted.end(), id);
}

// --- the one line -------------------------------------------------------------------------------

PageNews EndNews(const host::NodeOutcome& outcome) {
  const bool finished =
      outcome.end == host::NodeEnd::kFinished || outcome.end == host::NodeEnd::kLeft;
  std::string headline = host::NodeEndName(outcome.end);
  headline.front() = static_cast<char>(headline.front() - 'a' + 'A');
  return {finished ? Mood::kGood : Mood::kBad, headline, outcome.reason};
}

std::string AwaitedDetail(const PageRun& run, const NodeStatus& status) {
  const auto& missing = status.progress.missing;
  std::set<PeerId> peers;
  for (const auto& each : missing) peers.insert(each.peer);
  std::string names;
  constexpr std::size_t kNamed = 3;
  std::size_t named = 0;
  for (const PeerId& peer : peers) {
    if (named++ == kNamed) break;
    names += (names.empty() ? "" : ", ") + ShownName(PeerOf(run, peer));
  }
  if (peers.size() > kNamed) names += " and " + std::to_string(peers.size() - kNamed) + " more";
  return "step " + std::to_string(status.progress.step) + ": waiting " +
         SpanText(status.since_progress.seconds()) + " for " + names +
         (status.met ? "; nothing is lost" : "");
}

std::optional<PageNews> LossNews(const std::vector<host::CurvePoint>& points) {
  const std::string detail = host::TroubleOf(points);
  switch (host::TrendOf(points)) {
    case host::Trend::kFine:
      return std::nullopt;
    case host::Trend::kFlat:
      return PageNews{Mood::kBad, "The loss does not fall", detail};
    case host::Trend::kRising:
      return PageNews{Mood::kBad, "The loss is rising", detail};
    case host::Trend::kDiverged:
      break;
  }
  return PageNews{Mood::kBad, "Training has diverged", detail};
}

// Of a node that does not take part as members do.
std::optional<PageNews> PlaceNews(const host::Figures& figures) {
  switch (figures.place) {
    case host::Place::kComing:
      return PageNews{Mood::kWaits, "Coming in: this node follows the run and asks to be a member",
                      ""};
    case host::Place::kLeaving:
      return PageNews{Mood::kWaits, "Leaving: the others let this node go soon", ""};
    case host::Place::kFollowing:
    case host::Place::kBarred:
      break;
    case host::Place::kMeeting:
    case host::Place::kMember:
    case host::Place::kEnded:
      return std::nullopt;
  }
  const host::Figures::Absence& absence = *figures.absence;
  PageNews news{Mood::kWaits, "Away: this node follows the run and asks to return",
                AbsenceText({absence.since, absence.may_return, absence.seconds})};
  if (absence.may_return) news.headline = "Away: this node follows the run and may return later";
  if (!absence.reason.empty()) news.detail += ": " + absence.reason;
  return news;
}

PageNews NewsOf(const PageRun& run, const NodeStatus& status, const host::Figures& figures,
                const std::vector<host::CurvePoint>& points) {
  if (status.outcome) {
    PageNews news = EndNews(*status.outcome);
    const auto loss = LossNews(points);
    // A run that ends badly for another reason has that as its news.
    if (loss && status.outcome->end == host::NodeEnd::kFinished) {
      news.mood = Mood::kBad;
      news.headline += ". " + loss->headline;
      news.detail += "; " + loss->detail;
    }
    return news;
  }
  const host::Health health = host::HealthOf(status);
  const bool waits = !status.progress.missing.empty();
  if (!health.ok && !status.traffic.of_another.empty()) {
    return {Mood::kBad, "A member is of another run", health.reason};
  }
  const std::string detail = waits ? AwaitedDetail(run, status) : health.reason;
  if (!health.ok) return {Mood::kBad, "No progress for too long", detail};
  if (!status.met) return {Mood::kWaits, "Waiting for the members to meet", health.reason};
  if (auto place = PlaceNews(figures)) return *std::move(place);
  if (const auto loss = LossNews(points)) return *loss;
  if (waits && status.since_progress.seconds() > kNotableWait) {
    return {Mood::kWaits, "Waiting for other members", detail};
  }
  return {Mood::kGood, "Training", ""};
}

PageProgress ProgressOf(const NodeStatus& status, const host::Figures& figures) {
  PageProgress progress;
  progress.steps = figures.steps;
  progress.step = figures.step;
  progress.phase = status.outcome ? host::NodeEndName(status.outcome->end) : status.progress.phase;
  progress.seconds_in_phase = status.since_progress.seconds();
  if (figures.step_takes) progress.seconds_per_step = figures.step_takes->seconds();
  if (figures.left) progress.seconds_left = figures.left->seconds();
  return progress;
}

PageLearning LearningOf(const RunHistory& history) {
  PageLearning learning{.metric = history.metric(), .points = history.curve().Points()};
  if (!learning.points.empty() && learning.points.front().step > 0) {
    learning.begins_late = learning.points.front().step;
  }
  return learning;
}

std::vector<PageAwaited> AwaitedOf(const PageRun& run, const NodeStatus& status) {
  std::vector<PageAwaited> awaited;
  if (status.outcome) return awaited;
  for (const auto& missing : status.progress.missing) {
    auto group = std::find_if(awaited.begin(), awaited.end(), [&](const PageAwaited& each) {
      return each.message == missing.message;
    });
    if (group == awaited.end()) group = awaited.insert(group, PageAwaited{missing.message, {}});
    group->authors.push_back(
        {PeerOf(run, missing.peer), host::PathTo(status, missing.peer) != host::Path::kNone});
  }
  return awaited;
}

// --- members ------------------------------------------------------------------------------------

std::set<PeerId> OnTrial(const wire::Block& block) {
  std::set<PeerId> parties;
  for (const auto& [accuser, target] : protocol::QuarantinedPairs(block)) {
    parties.insert({accuser, target});
  }
  return parties;
}

// Facts about all members that the state of one follows from.
struct Scene {
  const NodeStatus& status;
  const RunHistory& history;
  std::map<PeerId, wire::Standing> standings;
  std::set<PeerId> on_trial;
  std::set<PeerId> asking;
  std::set<PeerId> asleep;
};

Scene SceneOf(const NodeStatus& status, const RunHistory& history) {
  Scene scene{status, history, {}, {}, {}, {}};
  // If members without a link are awaited, they alone are named: the others may wait for them.
  if (const auto waiting = status.met ? host::WaitingOf(status) : std::nullopt) {
    scene.asleep.insert(waiting->peers.begin(), waiting->peers.end());
  }
  const auto& block = history.block();
  if (block == nullptr) return scene;
  for (const wire::Standing& each : block->standings) scene.standings[each.peer] = each;
  for (const wire::Candidate& each : block->candidates) scene.asking.insert(each.peer);
  scene.on_trial = OnTrial(*block);
  return scene;
}

MemberState StateOf(const Scene& scene, const PeerId& peer) {
  const auto standing = scene.standings.find(peer);
  if (standing != scene.standings.end() && standing->second.banned) return MemberState::kBanned;
  const auto& block = scene.history.block();
  if (block != nullptr && !IsIn(block->members, peer)) {
    const bool left = standing != scene.standings.end() && host::HasLeft(standing->second);
    return left ? MemberState::kLeft : MemberState::kDropped;
  }
  if (block != nullptr && IsIn(block->leaving, peer)) return MemberState::kLeaving;
  const bool here = peer == scene.status.self
                        ? scene.history.away().empty()
                        : host::PathTo(scene.status, peer) != host::Path::kNone;
  // After the end all links close, and the last roles say more.
  if (!here && !scene.status.outcome) return MemberState::kAway;
  if (scene.asleep.contains(peer)) return MemberState::kAsleep;
  if (scene.on_trial.contains(peer)) return MemberState::kOnTrial;
  if (scene.history.validators().contains(peer)) return MemberState::kChecks;
  return scene.history.workers().contains(peer) ? MemberState::kTrains : MemberState::kReady;
}

// Samples are verified if the member's gradient entered the model under a sealed PROOF (H2), whose
// numbers every aggregator has checked. A ban takes all of them away: it says that some were false.
std::uint64_t VerifiedSamples(const PageRun& run, const host::MemberWork& work, MemberState state) {
  return state == MemberState::kBanned ? 0 : work.steps * run.manifest->training.batch_size;
}

// REQUIRES: it is a member.
bool HasReturned(const Scene& scene, const PeerId& peer) {
  const auto standing = scene.standings.find(peer);
  if (standing == scene.standings.end()) return false;
  const wire::Standing& of = standing->second;
  return of.came_step == 0 || of.returned_step > of.came_step;
}

PageMember MemberOf(const PageRun& run, const Scene& scene, const PeerId& id) {
  PageMember member;
  member.peer = PeerOf(run, id);
  member.self = id == scene.status.self;
  member.state = StateOf(scene, id);
  member.only_dials = scene.status.only_dial.contains(id);
  member.carried = !member.self && host::PathTo(scene.status, id) == host::Path::kForwarded;
  const auto known = scene.status.addresses.find(id);
  if (known != scene.status.addresses.end() && !known->second.empty()) {
    member.address = known->second.front().text;
  }
  const bool gone = member.state == MemberState::kDropped || member.state == MemberState::kLeft;
  member.asks = gone && scene.asking.contains(id);
  const auto standing = scene.standings.find(id);
  if (gone && standing != scene.standings.end() &&
      wire::HeightOf(*scene.history.block()) < standing->second.barred_until) {
    member.may_return = standing->second.barred_until;
  }
  const auto moderator = scene.history.vouched().find(id);
  if (moderator != scene.history.vouched().end()) member.vouched = PeerOf(run, moderator->second);
  member.returned = member.state != MemberState::kBanned && !gone && HasReturned(scene, id);
  const auto work = scene.history.work().find(id);
  if (work != scene.history.work().end()) {
    member.samples = VerifiedSamples(run, work->second, member.state);
    member.checked = work->second.checked;
    member.checks = work->second.checks;
  }
  if (scene.history.block() != nullptr) {
    member.late_ms = protocol::LatenessOf(*scene.history.block(), id);
  }
  const auto traffic = scene.status.traffic.by_peer.find(id);
  if (traffic != scene.status.traffic.by_peer.end()) {
    member.sent = traffic->second.control_sent + traffic->second.payload_sent;
    member.received = traffic->second.control_received + traffic->second.payload_received;
  }
  return member;
}

std::vector<PageMember> MembersOf(const PageRun& run, const NodeStatus& status,
                                  const RunHistory& history) {
  const Scene scene = SceneOf(status, history);
  std::set<PeerId> ids;
  for (const protocol::Member& member : run.manifest->members) ids.insert(member.id);
  if (history.block() != nullptr) {
    ids.insert(history.block()->members.begin(), history.block()->members.end());
  }
  for (const auto& [peer, standing] : scene.standings) ids.insert(peer);
  std::vector<PageMember> members;
  std::uint64_t all = 0;
  for (const PeerId& id : ids) {
    members.push_back(MemberOf(run, scene, id));
    all += members.back().samples;
  }
  for (PageMember& member : members) {
    if (all > 0) member.share = static_cast<double>(member.samples) / static_cast<double>(all);
  }
  // Members without a name come last.
  const auto order = [](const PageMember& member) {
    return std::tuple(!member.self, member.peer.name.empty(), member.peer.name, member.peer.id);
  };
  std::sort(members.begin(), members.end(),
            [&](const PageMember& a, const PageMember& b) { return order(a) < order(b); });
  return members;
}

PageDoor DoorOf(const PageRun& run, const RunHistory& history) {
  const host::DoorReport door = host::DoorOf(*run.manifest, *history.block(), history.vouched());
  PageDoor page{std::string(protocol::JoinPolicyName(door.policy)),
                door.seats,
                door.members,
                door.kept,
                door.bears,
                {},
                {}};
  for (const host::DoorReport::Moderator& each : door.moderators) {
    page.moderators.push_back({PeerOf(run, each.peer), each.admitted, each.quota, each.revoked});
  }
  for (const host::DoorReport::Asking& each : door.asking) {
    page.asking.push_back({PeerOf(run, each.peer), each.blocks, each.needed});
    if (each.moderator) page.asking.back().moderator = PeerOf(run, *each.moderator);
  }
  return page;
}

std::vector<std::size_t> LeadersOf(const std::vector<PageMember>& members) {
  std::vector<std::size_t> leaders;
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (members[i].samples > 0) leaders.push_back(i);
  }
  std::stable_sort(leaders.begin(), leaders.end(), [&](std::size_t a, std::size_t b) {
    return members[a].samples > members[b].samples;
  });
  return leaders;
}

// --- removals, price ----------------------------------------------------------------------------

std::string ProofText(const host::KnownProof& proof) {
  std::string kind = wire::EvidenceKindName(proof.kind);
  std::replace(kind.begin(), kind.end(), '_', ' ');
  return kind + ", " + std::to_string(proof.frames) + " signed message" +
         (proof.frames == 1 ? "" : "s");
}

std::vector<PagePeer> PeersOf(const PageRun& run, const std::vector<PeerId>& ids) {
  std::vector<PagePeer> peers;
  for (const PeerId& id : ids) peers.push_back(PeerOf(run, id));
  return peers;
}

std::optional<PageVotes> VotesOf(const PageRun& run, const host::PastRemoval& past) {
  if (!past.votes) return std::nullopt;
  return PageVotes{PeersOf(run, past.votes->against), PeersOf(run, past.votes->in_favour),
                   past.votes->voters};
}

std::vector<PageRemoval> RemovalsOf(const PageRun& run, const RunHistory& history) {
  std::vector<PageRemoval> removals;
  const auto all = host::RemovalsAsOf(history, history.block().get());
  for (auto past = all.rbegin(); past != all.rend(); ++past) {
    const wire::Removal& from = past->removal;
    PageRemoval removal{PeerOf(run, from.peer),
                        from.step,
                        wire::IsBan(from.kind),
                        wire::RemovalKindName(from.kind),
                        past->seen,
                        run.names.In(wire::TextOf(from.reason)),
                        past->returned,
                        VotesOf(run, *past),
                        {}};
    // Proofs convict, so they belong to the ban.
    for (const host::KnownProof& proof : history.proofs()) {
      if (removal.ban && proof.accused == from.peer) {
        removal.proofs.push_back({proof.id.Hex(), ProofText(proof)});
      }
    }
    removals.push_back(std::move(removal));
  }
  return removals;
}

std::optional<PagePrice> PriceOf(const std::deque<host::StepSpan>& spans) {
  PagePrice price;
  double steps = 0;
  for (const host::StepSpan& span : spans) {
    const protocol::StepTimes& times = span.times;
    if (times.compute_ns + times.aggregate_ns + times.agree_ns == 0) continue;
    price.compute += static_cast<double>(times.compute_ns) * 1e-9;
    price.aggregate += static_cast<double>(times.aggregate_ns) * 1e-9;
    price.agree += static_cast<double>(times.agree_ns) * 1e-9;
    ++steps;
  }
  if (steps == 0) return std::nullopt;
  return PagePrice{price.compute / steps, price.aggregate / steps, price.agree / steps};
}

}  // namespace

const char* MemberStateName(MemberState state) {
  constexpr std::array<const char*, 10> kNames = {"ready",   "trains", "checks",  "on trial",
                                                  "asleep",  "away",   "leaving", "left",
                                                  "dropped", "banned"};
  return kNames.at(static_cast<std::size_t>(state));
}

PageData PageDataOf(const PageRun& run, const NodeStatus& status, const RunHistory& history) {
  const protocol::Manifest& manifest = *run.manifest;
  PageData data;
  data.run_id = manifest.run_id.Hex();
  data.run_name = manifest.name;
  data.model = manifest.training.model.substr(0, manifest.training.model.find('@'));
  data.data = manifest.training.data.substr(0, manifest.training.data.find('@'));
  data.unprotected = run.unprotected;
  data.self = {PeerOf(run, status.self),
               status.uptime.seconds(),
               status.process.rss_bytes,
               history.unread(),
               {},
               {}};
  constexpr std::size_t kDialsShown = 8;
  for (const net::DialedBack& found : net::MostTelling(status.reach.dial_back, kDialsShown)) {
    data.self.dialed.push_back(run.names.In(net::TextOf(found)));
  }
  data.self.advice = run.names.In(
      net::DialBackAdvice(status.reach.dial_back, status.only_dial.contains(status.self)));
  data.ended = status.outcome.has_value();
  data.learning = LearningOf(history);
  const host::Figures figures = host::FiguresOf(status, manifest.training.steps);
  data.learning.batch = figures.batch;
  data.news = NewsOf(run, status, figures, data.learning.points);
  data.news.detail = run.names.In(data.news.detail);
  data.progress = ProgressOf(status, figures);
  data.awaited = AwaitedOf(run, status);
  data.members = MembersOf(run, status, history);
  data.leaders = {LeadersOf(data.members), history.counted_from().value_or(0)};
  if (history.block() != nullptr && !run.unprotected) {
    data.late_allowed_ms = protocol::AllowanceMs(*history.block(), manifest);
    data.door = DoorOf(run, history);
  }
  data.removals = RemovalsOf(run, history);
  data.price = PriceOf(history.spans());
  data.spans = {history.spans().begin(), history.spans().end()};
  data.root = history.root();
  return data;
}

}  // namespace ostraka::cli
