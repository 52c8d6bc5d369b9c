// The state of the run in one line.
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "node/cli/terminal/human.h"
#include "node/cli/terminal/progress.h"
#include "node/cli/views/status_sections.h"
#include "node/host/report/trend.h"

namespace ostraka::cli {

using base::PeerId;
using host::NodeStatus;
using nlohmann::json;

namespace {

// A wait of this many seconds is told; a quicker one is how a run goes.
constexpr double kNotableWait = 3;

constexpr const char* kGood = "good";
constexpr const char* kWaits = "waits";
constexpr const char* kBad = "bad";

struct News {
  const char* mood = kGood;
  std::string headline;
  std::string detail;
};

News EndNews(const host::NodeOutcome& outcome) {
  const bool finished =
      outcome.end == host::NodeEnd::kFinished || outcome.end == host::NodeEnd::kLeft;
  std::string headline = host::NodeEndName(outcome.end);
  headline.front() = static_cast<char>(headline.front() - 'a' + 'A');
  return {finished ? kGood : kBad, headline, outcome.reason};
}

std::string AwaitedDetail(const NodeStatus& status) {
  std::set<PeerId> peers;
  for (const auto& each : status.progress.missing) peers.insert(each.peer);
  std::string names;
  constexpr std::size_t kNamed = 3;
  std::size_t named = 0;
  for (const PeerId& peer : peers) {
    if (named++ == kNamed) break;
    names += (names.empty() ? "" : ", ") + peer.Short();
  }
  if (peers.size() > kNamed) names += " and " + std::to_string(peers.size() - kNamed) + " more";
  return "step " + std::to_string(status.progress.step) + ": waiting " +
         SpanText(status.since_progress.seconds()) + " for " + names +
         (status.met ? "; nothing is lost" : "");
}

std::optional<News> LossNews(const std::vector<host::CurvePoint>& points) {
  const std::string detail = host::TroubleOf(points);
  switch (host::TrendOf(points)) {
    case host::Trend::kFine:
      return std::nullopt;
    case host::Trend::kFlat:
      return News{kBad, "The loss does not fall", detail};
    case host::Trend::kRising:
      return News{kBad, "The loss is rising", detail};
    case host::Trend::kDiverged:
      break;
  }
  return News{kBad, "Training has diverged", detail};
}

// Of a node that does not take part as members do.
std::optional<News> PlaceNews(const host::Figures& figures) {
  switch (figures.place) {
    case host::Place::kComing:
      return News{kWaits, "Coming in: this node follows the run and asks to be a member", ""};
    case host::Place::kLeaving:
      return News{kWaits, "Leaving: the others let this node go soon", ""};
    case host::Place::kFollowing:
    case host::Place::kBarred:
      break;
    case host::Place::kMeeting:
    case host::Place::kMember:
    case host::Place::kEnded:
      return std::nullopt;
  }
  const host::Figures::Absence& absence = *figures.absence;
  News news{kWaits, "Away: this node follows the run and asks to return",
            AbsenceText({absence.since, absence.may_return, absence.seconds})};
  if (absence.may_return) news.headline = "Away: this node follows the run and may return later";
  if (!absence.reason.empty()) news.detail += ": " + absence.reason;
  return news;
}

News NewsOf(const NodeStatus& status, const host::Figures& figures,
            const std::vector<host::CurvePoint>& points) {
  if (status.outcome) {
    News news = EndNews(*status.outcome);
    const auto loss = LossNews(points);
    // A run that ends badly for another reason has that as its news.
    if (loss && status.outcome->end == host::NodeEnd::kFinished) {
      news.mood = kBad;
      news.headline += ". " + loss->headline;
      news.detail += "; " + loss->detail;
    }
    return news;
  }
  const host::Health health = host::HealthOf(status);
  const bool waits = !status.progress.missing.empty();
  if (!health.ok && !status.traffic.of_another.empty()) {
    return {kBad, "A member is of another run", health.reason};
  }
  const std::string detail = waits ? AwaitedDetail(status) : health.reason;
  if (!health.ok) return {kBad, "No progress for too long", detail};
  if (!status.met) return {kWaits, "Waiting for the members to meet", health.reason};
  if (auto place = PlaceNews(figures)) return *std::move(place);
  if (const auto loss = LossNews(points)) return *loss;
  if (waits && status.since_progress.seconds() > kNotableWait) {
    return {kWaits, "Waiting for other members", detail};
  }
  return {kGood, "Training", ""};
}

}  // namespace

json NewsJson(const NodeStatus& status, const host::Figures& figures,
              const host::RunHistory& history) {
  const News news = NewsOf(status, figures, history.curve().Points());
  return {{"mood", news.mood}, {"headline", news.headline}, {"detail", news.detail}};
}

}  // namespace ostraka::cli
