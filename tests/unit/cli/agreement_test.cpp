// What the status, its lines, the page, the terminal and the metrics say of one node, compared in
// every state that a node can be in.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "node/cli/page/page_html.h"
#include "node/cli/terminal/human.h"
#include "node/cli/terminal/progress.h"
#include "node/cli/views/node_answers.h"
#include "node/cli/views/node_view.h"
#include "node/cli/views/status_text.h"
#include "node/host/report/reporter.h"

namespace ostraka::cli::agreement_test {
namespace {

using base::Milliseconds;
using base::PeerId;
using base::Seconds;
using base::Time;
using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

PeerId PeerOf(std::uint8_t n) {
  PeerId id;
  id.bytes.fill(n);
  return id;
}

class Deaf final : public host::NodeEvents {
 public:
  void OnStarted(std::uint16_t, std::uint16_t) override {}
  void OnLinks(std::size_t, std::size_t) override {}
  void OnStepDone(const protocol::StepDone&) override {}
  void OnStepTimes(const protocol::StepTimes&) override {}
  void OnBatchLoss(std::uint64_t, double) override {}
  void OnEvaluation(std::uint64_t, const train::Evaluation&) override {}
  void OnSuspicion(const protocol::Suspicion&) override {}
  void OnRemoval(const wire::Removal&) override {}
  void OnNotice(net::NoticeLevel, const std::string&) override {}
  void OnProgress(const host::NodeStatus&) override {}
  void OnWaiting(const host::Waiting&) override {}
  void OnCheckpointFailed(const base::Status&) override {}
  void OnHalted(const host::NodeOutcome&) override {}
};

constexpr std::uint64_t kSteps = 1500;

// One node of a run that six have begun, fed with what its machine and driver would say.
class Node {
 public:
  Node() {
    manifest_ = std::make_shared<protocol::Manifest>();
    manifest_->training.steps = kSteps;
    manifest_->training.batch_size = 32;
    for (std::uint8_t n = 1; n <= 6; ++n) manifest_->members.push_back({PeerOf(n), ""});
    phase_ = "genesis";
    members_ = {1, 2, 3, 4, 5, 6};
  }

  void Begin() {
    wire::Block genesis = Next();
    genesis.genesis = true;
    genesis.step = 0;
    Block(genesis);
    phase_ = "collect";
  }
  // Steps up to `step`, that one included, of `takes` each, in which this node takes part.
  void Train(std::uint64_t step, base::Duration takes) {
    while (height_ <= step) {
      See(protocol::StepStarted{.step = height_, .batches = {}, .state = {}, .roles = {}});
      reporter_.BatchLoss(height_, 1.0 / static_cast<double>(height_ + 1));
      now_ = now_ + takes;
      Block(Next());
    }
  }
  // As Train, of a node that is out of the run.
  void Follow(std::uint64_t step, base::Duration takes) {
    while (height_ <= step) {
      now_ = now_ + takes;
      Block(Next());
      See(protocol::CatchingUp{height_, height_, ""});
    }
  }
  void Remove(std::uint8_t peer, wire::RemovalKind kind, std::uint64_t barred_until = 0) {
    std::erase(members_, peer);
    const bool ban = wire::IsBan(kind);
    standings_[peer] = {PeerOf(peer), ban, ban ? 0U : 1U, ban ? 0 : height_, barred_until};
    removals_ = {{PeerOf(peer), kind, height_, {.old_text = "why " + std::to_string(peer)}}};
  }
  // The run goes on to `step` while this node is not there.
  void Sleep(std::uint64_t step) {
    height_ = step;
    removals_.clear();
  }
  void Leave(std::string why) {
    See(protocol::Away{height_, std::move(why)});
    phase_ = "follow";
  }
  void AnnounceLeave() { leaving_ = {PeerOf(1)}; }
  void Await(std::uint8_t peer, base::Duration since) {
    missing_ = {{PeerOf(peer), height_ == 0 ? "boot" : "commit"}};
    now_ = now_ + since;
  }
  void Finish() {
    outcome_ = host::NodeOutcome{host::NodeEnd::kFinished, height_, "all steps are done"};
    phase_ = "halted";
  }
  void Evaluate(std::uint64_t step, double loss) {
    const train::Evaluation evaluation{.metric = "loss", .value = loss, .loss = loss};
    reporter_.Evaluated(step, evaluation);
    evaluation_ = EvaluationText("loss", loss, loss);
  }

  host::NodeStatus Status() const {
    host::NodeStatus status = reporter_.StatusAt(now_);
    status.self = PeerOf(1);
    status.outcome = outcome_;
    status.progress = {.step = height_, .at_work = false, .phase = phase_, .missing = missing_};
    // The roster counts keys that may return.
    for (std::uint8_t n = 2; n <= 6; ++n) {
      const auto standing = standings_.find(n);
      if (standing == standings_.end() || !standing->second.banned) {
        status.others.push_back(PeerOf(n));
      }
    }
    status.linked = status.others;
    return status;
  }
  const protocol::Manifest& manifest() const { return *manifest_; }
  json Answer() const { return StatusJson({manifest_, {}, false}, Status(), reporter_.history()); }
  const std::string& evaluation() const { return evaluation_; }

 private:
  wire::Block Next() {
    wire::Block block;
    block.step = height_;
    for (const std::uint8_t n : members_) block.members.push_back(PeerOf(n));
    for (const auto& [peer, standing] : standings_) block.standings.push_back(standing);
    block.removals = std::exchange(removals_, {});
    block.leaving = leaving_;
    return block;
  }
  void Block(const wire::Block& block) {
    See(protocol::StepDone{std::make_shared<const wire::Block>(block), {}});
    height_ = wire::HeightOf(block);
  }
  void See(const protocol::Observation& what) { reporter_.See(now_, what); }

  Deaf deaf_;
  host::Reporter reporter_{deaf_, Time{}};
  std::shared_ptr<protocol::Manifest> manifest_;
  Time now_{};
  std::uint64_t height_ = 0;
  std::string phase_;
  std::vector<std::uint8_t> members_;
  std::map<std::uint8_t, wire::Standing> standings_;
  std::vector<wire::Removal> removals_;
  std::vector<PeerId> leaving_;
  std::vector<protocol::Progress::Missing> missing_;
  std::optional<host::NodeOutcome> outcome_;
  std::string evaluation_;
};

// --- what each view says
// --------------------------------------------------------------------------

// Of one node. What a view does not say is nullopt.
struct Said {
  std::optional<std::uint64_t> step, steps, may_return, batch_step;
  std::optional<double> step_takes, left, batch_loss;
  std::optional<std::size_t> members;
  std::optional<bool> member;
  std::optional<std::set<std::string>> banned, dropped;  // keys, 16 digits
};

using Keys = std::set<std::string>;

Said ByStatus(const json& status) {
  Said said;
  const auto number = [](const json& object, const char* key) {
    return object.contains(key) ? std::optional(object.at(key).get<double>()) : std::nullopt;
  };
  said.step = status.at("step").get<std::uint64_t>();
  said.steps = status.at("steps").get<std::uint64_t>();
  said.step_takes = number(status, "seconds_per_step");
  said.left = number(status, "eta_seconds");
  said.members = status.at("members").get<std::size_t>();
  said.member = status.at("member").get<bool>();
  if (status.contains("batch")) {
    said.batch_loss = number(status.at("batch"), "loss");
    said.batch_step = status.at("batch").at("step").get<std::uint64_t>();
  }
  if (status.contains("out") && status.at("out").contains("may_return")) {
    said.may_return = status.at("out").at("may_return").get<std::uint64_t>();
  }
  said.banned = Keys{};
  said.dropped = Keys{};
  for (const json& removal : status.at("removals")) {
    if (removal.contains("returned")) continue;
    const bool ban = removal.at("kind") != "drop" && removal.at("kind") != "eliminate";
    (ban ? said.banned : said.dropped)->insert(removal.at("peer").get<std::string>().substr(0, 16));
  }
  return said;
}

// The table of keys, which the page shows as members.
Said ByKeys(const json& status) {
  Said said;
  said.members = 0;
  said.banned = Keys{};
  said.dropped = Keys{};
  for (const json& key : status.at("keys")) {
    const std::string state = key.at("state");
    const bool in = state != "banned" && state != "dropped" && state != "left";
    *said.members += in ? 1 : 0;
    const std::string id = key.at("peer").get<std::string>().substr(0, 16);
    if (state == "banned") said.banned->insert(id);
    if (state == "dropped") said.dropped->insert(id);
    if (!key.contains("self")) continue;
    said.member = in;
    if (key.contains("may_return")) said.may_return = key.at("may_return").get<std::uint64_t>();
  }
  return said;
}

Said ByMetrics(const std::string& text) {
  const auto value = [&text](const std::string& name) -> std::optional<double> {
    const std::size_t at = text.find("\n" + name + " ");
    if (at == std::string::npos) return std::nullopt;
    return std::stod(text.substr(at + name.size() + 2));
  };
  const auto count = [&value](const char* name) -> std::optional<std::uint64_t> {
    const auto found = value(name);
    return found ? std::optional(static_cast<std::uint64_t>(*found)) : std::nullopt;
  };
  Said said;
  said.step = count("ostraka_step");
  said.steps = count("ostraka_steps_planned");
  said.step_takes = value("ostraka_recent_step_seconds");
  said.left = value("ostraka_eta_seconds");
  said.members = count("ostraka_members");
  said.member = value("ostraka_member") == 1.0;
  said.batch_loss = value("ostraka_batch_loss");
  said.batch_step = count("ostraka_batch_step");
  said.may_return = count("ostraka_may_return_step");
  return said;
}

void ExpectEqual(const Said& a, const Said& b) {
  EXPECT_EQ(a.step, b.step);
  EXPECT_EQ(a.steps, b.steps);
  EXPECT_EQ(a.step_takes, b.step_takes);
  EXPECT_EQ(a.left, b.left);
  EXPECT_EQ(a.members, b.members);
  EXPECT_EQ(a.member, b.member);
  EXPECT_EQ(a.batch_loss, b.batch_loss);
  EXPECT_EQ(a.batch_step, b.batch_step);
  EXPECT_EQ(a.may_return, b.may_return);
}

// What a person reads in `text`: the terminal's line, or the lines of `ostraka status`.
void ExpectInText(const std::string& text, const Said& said, const std::string& step) {
  SCOPED_TRACE(text);
  EXPECT_THAT(text, HasSubstr(step));
  if (said.step_takes) {
    if (said.left) {
      EXPECT_THAT(text, HasSubstr(SpanText(*said.step_takes) + " a step"));
    }
  } else {
    EXPECT_THAT(text, Not(HasSubstr(" a step")));
  }
  if (said.may_return) {
    EXPECT_THAT(text, HasSubstr("from step " + std::to_string(*said.may_return) + " on"));
  } else {
    EXPECT_THAT(text, Not(HasSubstr("may ask to return")));
  }
  if (said.batch_loss) {
    EXPECT_THAT(text, HasSubstr("loss " + FourDigits(*said.batch_loss)));
  } else {
    EXPECT_THAT(text, Not(HasSubstr("own batch")));
  }
}

// All views of `node`, compared; what the status says of it.
Said Agreed(const Node& node) {
  const host::NodeStatus status = node.Status();
  const json answer = node.Answer();
  const std::string metrics = MetricsText(answer);
  const Said said = ByStatus(answer);
  {
    SCOPED_TRACE("page");
    const Said keys = ByKeys(answer);
    EXPECT_EQ(keys.members, said.members);
    EXPECT_EQ(keys.member, said.member);
    EXPECT_EQ(keys.may_return, said.may_return);
    EXPECT_EQ(keys.banned, said.banned);
    EXPECT_EQ(keys.dropped, said.dropped);
    const std::string html = PageMain(answer);
    EXPECT_THAT(html, HasSubstr("<dt>Step</dt><dd>" + CountText(*said.step) + " <small>"));
    EXPECT_THAT(html, HasSubstr("<dt>A step takes</dt><dd>" +
                                (said.step_takes ? SpanText(*said.step_takes) : "–")));
    if (!status.outcome) {
      EXPECT_THAT(html,
                  HasSubstr("<dt>Time left</dt><dd>" + (said.left ? SpanText(*said.left) : "–")));
    }
    if (said.may_return) {
      EXPECT_THAT(answer.at("news").at("detail").get<std::string>(),
                  HasSubstr("step " + std::to_string(*said.may_return)));
      EXPECT_THAT(html, HasSubstr("may return from step " + CountText(*said.may_return)));
    }
    if (said.batch_step) {
      EXPECT_THAT(html, HasSubstr("on its own batch of step " + CountText(*said.batch_step)));
    } else {
      EXPECT_THAT(html, Not(HasSubstr("own batch")));
    }
    EXPECT_EQ(html.find("No member was banned or dropped") != std::string::npos,
              said.banned->empty() && said.dropped->empty());
  }
  {
    SCOPED_TRACE("metrics");
    ExpectEqual(ByMetrics(metrics), said);
    if (status.block != nullptr) {
      const auto former = [](const char* why, std::size_t count) {
        return std::string("ostraka_former_members{why=\"") + why + "\"} " + std::to_string(count) +
               "\n";
      };
      EXPECT_THAT(metrics, HasSubstr(former("banned", said.banned->size())));
      EXPECT_THAT(metrics, HasSubstr(former("dropped", said.dropped->size())));
    }
    EXPECT_THAT(metrics, HasSubstr("ostraka_place{place=\"" +
                                   answer.at("place").get<std::string>() + "\"} 1\n"));
    EXPECT_THAT(metrics, HasSubstr("ostraka_phase{phase=\"" + status.progress.phase + "\"} 1\n"));
  }
  const std::string of = " of " + std::to_string(kSteps);
  ExpectInText(StatusText(answer), said, "step " + std::to_string(*said.step) + of + ", ");
  for (const std::string& key : *said.banned) {
    EXPECT_THAT(StatusText(answer), HasSubstr("banned  " + key));
  }
  for (const std::string& key : *said.dropped) {
    EXPECT_THAT(StatusText(answer), HasSubstr("dropped " + key));
  }
  if (status.block != nullptr) {  // the terminal has no line before
    const std::string line = NodeLine(status, kSteps, node.evaluation());
    ExpectInText(line, said, "step " + std::to_string(*said.step) + of + ", ");
    EXPECT_THAT(line, HasSubstr(", " + std::to_string(*said.members) + " members"));
    if (said.left) {
      EXPECT_THAT(line, HasSubstr(SpanText(*said.left) + " left"));
    }
  }
  return said;
}

// --- the states
// -----------------------------------------------------------------------------------

std::string KeyOf(std::uint8_t n) { return PeerOf(n).Short(); }

TEST(AgreementTest, BeforeTheRun) {
  Node node;
  node.Await(4, Seconds(90));
  const Said said = Agreed(node);
  EXPECT_EQ(said.step, 0u);
  EXPECT_EQ(said.members, 6u);
  EXPECT_EQ(said.member, true);
  EXPECT_EQ(said.left, std::nullopt);
}

TEST(AgreementTest, Training) {
  Node node;
  node.Begin();
  node.Train(19, Milliseconds(100));
  node.Remove(2, wire::RemovalKind::kVerdict);
  node.Train(20, Milliseconds(100));
  node.Remove(3, wire::RemovalKind::kDrop);
  node.Train(59, Milliseconds(100));
  node.Evaluate(59, 0.25);
  const Said said = Agreed(node);
  EXPECT_EQ(said.step, 60u);
  EXPECT_EQ(said.members, 4u) << "the dropped one is none, though it may return";
  EXPECT_DOUBLE_EQ(*said.step_takes, 0.1);
  EXPECT_DOUBLE_EQ(*said.left, 144.0);
  EXPECT_EQ(said.batch_step, 59u);
  EXPECT_EQ(said.banned, Keys{KeyOf(2)});
  EXPECT_EQ(said.dropped, Keys{KeyOf(3)});
}

TEST(AgreementTest, WaitingForAMember) {
  Node node;
  node.Begin();
  node.Train(59, Milliseconds(100));
  node.Await(4, Seconds(20));
  const Said said = Agreed(node);
  EXPECT_EQ(said.step, 60u);
  EXPECT_EQ(said.members, 6u);
  EXPECT_DOUBLE_EQ(*said.step_takes, 0.1);
}

TEST(AgreementTest, Following) {
  Node node;
  node.Begin();
  node.Train(59, Milliseconds(100));
  node.Evaluate(59, 0.25);
  node.Leave("its REVEAL came too late");
  node.Remove(1, wire::RemovalKind::kDrop);
  node.Follow(99, Milliseconds(40));
  const Said said = Agreed(node);
  EXPECT_EQ(said.step, 100u);
  EXPECT_EQ(said.member, false);
  EXPECT_EQ(said.members, 5u);
  EXPECT_DOUBLE_EQ(*said.step_takes, 0.04) << "of the run as it is";
  EXPECT_DOUBLE_EQ(*said.left, 56.0);
  EXPECT_EQ(said.batch_loss, std::nullopt) << "that of step 59 says nothing of step 100";
  EXPECT_EQ(said.may_return, std::nullopt);
  EXPECT_EQ(said.dropped, Keys{KeyOf(1)});
}

// It was dropped and two others were removed while it was not there to see it.
TEST(AgreementTest, Barred) {
  Node node;
  node.Begin();
  node.Train(472, Milliseconds(100));
  node.Leave("it was stopped");
  node.Remove(1, wire::RemovalKind::kDrop, 1473);
  node.Remove(2, wire::RemovalKind::kVerdict);
  node.Remove(3, wire::RemovalKind::kDrop);
  node.Sleep(900);
  node.Follow(930, Milliseconds(110));
  const Said said = Agreed(node);
  EXPECT_EQ(said.step, 931u);
  EXPECT_EQ(said.member, false);
  EXPECT_EQ(said.members, 3u);
  EXPECT_EQ(said.may_return, 1473u);
  EXPECT_DOUBLE_EQ(*said.step_takes, 0.11);
  EXPECT_EQ(said.banned, Keys{KeyOf(2)});
  EXPECT_EQ(said.dropped, (Keys{KeyOf(1), KeyOf(3)}));
  EXPECT_THAT(StatusText(node.Answer()), HasSubstr("(in about 60 s)"));
}

TEST(AgreementTest, Leaving) {
  Node node;
  node.Begin();
  node.Train(59, Milliseconds(100));
  node.AnnounceLeave();
  node.Train(60, Milliseconds(100));
  const Said said = Agreed(node);
  EXPECT_EQ(said.step, 61u);
  EXPECT_EQ(said.member, true) << "until the others let it go";
  EXPECT_EQ(said.members, 6u);
  EXPECT_THAT(node.Answer().at("news").at("headline").get<std::string>(), HasSubstr("Leaving"));
}

TEST(AgreementTest, Finished) {
  Node node;
  node.Begin();
  node.Remove(2, wire::RemovalKind::kEvidence);
  node.Train(kSteps - 1, Milliseconds(10));
  node.Evaluate(kSteps - 1, 0.125);
  node.Finish();
  const Said said = Agreed(node);
  EXPECT_EQ(said.step, kSteps);
  EXPECT_EQ(said.left, std::nullopt);
  EXPECT_EQ(said.members, 5u);
  EXPECT_EQ(said.banned, Keys{KeyOf(2)});
}

// The run ends while this node is still out of it.
TEST(AgreementTest, FinishedWithoutThisNode) {
  Node node;
  node.Begin();
  node.Train(472, Milliseconds(100));
  node.Leave("it was stopped");
  node.Remove(1, wire::RemovalKind::kDrop, 1473);
  node.Follow(kSteps - 1, Milliseconds(10));
  node.Finish();
  const Said said = Agreed(node);
  EXPECT_EQ(said.step, kSteps);
  EXPECT_EQ(said.member, false);
  EXPECT_EQ(said.batch_loss, std::nullopt);
}

}  // namespace
}  // namespace ostraka::cli::agreement_test
