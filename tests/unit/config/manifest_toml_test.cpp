#include "node/config/manifest_toml.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "crypto/domains.h"
#include "crypto/hash.h"

namespace ostraka::config::manifest_toml_test {
namespace {

using aggregation::Optimizer;
using protocol::Manifest;

base::Digest Filled(std::uint8_t byte) {
  base::Digest digest;
  digest.bytes.fill(byte);
  return digest;
}

base::PeerId Id(std::uint8_t byte) {
  base::PeerId id;
  id.bytes.fill(byte);
  return id;
}

Manifest Sample() {
  Manifest manifest;
  manifest.name = "sample";
  manifest.members = {{Id(1), "127.0.0.1:7001"}, {Id(2), "[::1]:7002", "ben"}, {Id(3), ""}};
  return manifest;
}

std::string SampleText() { return WriteManifest(Sample(), Filled(9)); }

std::string ErrorOf(const std::string& text) {
  const auto manifest = ParseManifest(text);
  EXPECT_FALSE(manifest.ok()) << text;
  if (manifest.ok()) return "";
  EXPECT_EQ(manifest.status().code(), absl::StatusCode::kInvalidArgument);
  return base::MessageOf(manifest.status());
}

// SampleText with the only `old` replaced.
std::string With(const std::string& old, const std::string& replacement) {
  std::string text = SampleText();
  const std::size_t at = text.find(old);
  EXPECT_NE(at, std::string::npos) << old;
  EXPECT_EQ(text.find(old, at + 1), std::string::npos) << old;
  return text.replace(at, old.size(), replacement);
}

bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

void ExpectRefused(const std::string& text, const std::vector<std::string>& parts) {
  const std::string message = ErrorOf(text);
  for (const std::string& part : parts)
    EXPECT_TRUE(Contains(message, part)) << part << "\n" << message;
}

// --- round trip ----------------------------------------------------------------------------------

rc::Gen<std::string> AnyText() {
  // Characters that TOML must quote or escape, among harmless letters; all of it valid UTF-8.
  const std::vector<std::string> pieces = {"a",    " ",      "\"", "'", "\\", "\n",
                                           "\t",   "\"\"\"", "#",  "=", "[",  "]",
                                           "\x7f", "\x01",   "ü",  "𝄞", "\r", "\xc2\x9b"};
  return rc::gen::map(rc::gen::container<std::vector<std::string>>(rc::gen::elementOf(pieces)),
                      [](const std::vector<std::string>& parts) {
                        std::string text;
                        for (const std::string& part : parts) text += part;
                        return text;
                      });
}

rc::Gen<double> Positive() {
  return rc::gen::suchThat(
      rc::gen::map(rc::gen::arbitrary<double>(), [](double x) { return std::abs(x); }),
      [](double x) { return std::isfinite(x) && x > 0; });
}

rc::Gen<std::uint64_t> Count(std::uint64_t least) {
  return rc::gen::map(rc::gen::arbitrary<std::uint32_t>(),
                      [least](std::uint32_t n) { return n + least; });
}

protocol::TrainingPlan AnyPlan() {
  protocol::TrainingPlan plan;
  plan.model = *AnyText();
  plan.data = *AnyText();
  plan.data_seed = *Count(0);
  plan.hidden = *Count(1);
  plan.batch_size = *Count(1);
  plan.settle_steps = *rc::gen::inRange<std::uint64_t>(5, 1000);
  plan.steps = plan.settle_steps + 1 + *rc::gen::inRange<std::uint64_t>(0, 1000);
  plan.steps_after_ban = *Count(0);
  plan.learning_rate = std::min(*Positive(), 1e38);
  plan.warmup_steps = *Count(0);
  plan.momentum = *rc::gen::elementOf(std::vector<double>{0, 0.1, 0.9, 0x1.fffffep-1});
  plan.weight_decay = std::min(*Positive(), 1e38);
  plan.clip_norm = *rc::gen::arbitrary<bool>() ? 0 : *Positive();
  plan.optimizer = *rc::gen::element(Optimizer::kSgd, Optimizer::kNesterov, Optimizer::kAdamW);
  if (plan.optimizer == Optimizer::kNesterov) plan.momentum = 0.9;
  if (plan.optimizer == Optimizer::kAdamW) {
    plan.momentum = 0;
    plan.learning_rate = std::min(plan.learning_rate, 1.0);
    plan.weight_decay = std::min(plan.weight_decay, 1.0);
    plan.clip_norm = *rc::gen::element(1e-3, 1.0, 1e6);
    plan.beta1 = *rc::gen::element(0.0, 0.8, 0.9);
    plan.beta2 = *rc::gen::element(0.85, 0.99, 0.9999);
    plan.epsilon = *rc::gen::element(1e-12, 1.0);
  }
  plan.schedule = *rc::gen::elementOf(std::vector<protocol::Schedule>(
      std::begin(protocol::kAllSchedules), std::end(protocol::kAllSchedules)));
  if (plan.schedule == protocol::Schedule::kWsd) {
    plan.decay_steps = *rc::gen::inRange<std::uint64_t>(1, plan.steps - plan.settle_steps + 1);
  }
  plan.inner = {.learning_rate = *rc::gen::element(1e-9, 0.006, 1.0),
                .warmup_steps = *Count(0),
                .beta1 = *rc::gen::element(0.0, 0.9),
                .beta2 = *rc::gen::element(0.85, 0.9999),
                .epsilon = *rc::gen::element(1e-12, 1.0),
                .weight_decay = *rc::gen::element(0.0, 1.0),
                .clip_norm = *rc::gen::element(1e-3, 1e6)};
  return plan;
}

protocol::JoinPlan AnyJoinPlan(std::size_t members) {
  protocol::JoinPlan join;
  join.policy = *rc::gen::elementOf(std::vector<protocol::JoinPolicy>(
      std::begin(protocol::kAllJoinPolicies), std::end(protocol::kAllJoinPolicies)));
  join.quota = *rc::gen::inRange<std::uint32_t>(1, 65);  // of 16 moderators
  if (join.policy == protocol::JoinPolicy::kClosed) return join;
  for (const std::uint8_t id :
       *rc::gen::container<std::set<std::uint8_t>>(rc::gen::inRange<std::uint8_t>(0, 200))) {
    join.allow.push_back(Id(id));
  }
  if (join.allow.empty()) join.allow.push_back(Id(7));
  if (join.policy == protocol::JoinPolicy::kInvite) join.moderators = {Id(1), Id(9)};
  if (*rc::gen::arbitrary<bool>()) {
    join.seats = *rc::gen::inRange(static_cast<std::uint32_t>(members), 257U);
  }
  return join;
}

Manifest AnyManifest() {
  Manifest manifest;
  manifest.name = *AnyText();
  manifest.mode = *rc::gen::element(protocol::Mode::kMajority, protocol::Mode::kBalanced,
                                    protocol::Mode::kThird, protocol::Mode::kChecked);
  const std::size_t least = manifest.mode == protocol::Mode::kMajority ? 3 : 4;
  const auto ids = *rc::gen::suchThat(
      rc::gen::container<std::set<std::uint8_t>>(rc::gen::arbitrary<std::uint8_t>()),
      [least](const auto& set) { return set.size() >= least; });
  for (const std::uint8_t id : ids) {
    const auto port = *rc::gen::inRange(1, 65536);
    const bool dials = *rc::gen::arbitrary<bool>();
    const bool named = *rc::gen::arbitrary<bool>();
    manifest.members.push_back({Id(id), dials ? "" : "peer.example:" + std::to_string(port),
                                named ? "peer-" + std::to_string(id) : ""});
  }
  manifest.training = AnyPlan();
  manifest.join = AnyJoinPlan(manifest.members.size());
  if (*rc::gen::arbitrary<bool>()) {
    manifest.origin = protocol::Origin{Filled(*rc::gen::arbitrary<std::uint8_t>()), *Count(0),
                                       Filled(*rc::gen::arbitrary<std::uint8_t>())};
    manifest.training.earlier_updates = *rc::gen::inRange<std::uint64_t>(0, 1'000'000);
    if (*rc::gen::arbitrary<bool>()) {
      manifest.origin = protocol::Origin{.state_root = Filled(*rc::gen::arbitrary<std::uint8_t>()),
                                         .weights = true};
      manifest.training.earlier_updates = 0;
    }
  }
  manifest.clip = *rc::gen::arbitrary<bool>();
  manifest.tau = *rc::gen::arbitrary<bool>() ? 0 : *Positive();
  manifest.tau_multiple = *rc::gen::element(1.0, 0.3, 0x1p-40);
  manifest.tau_initial = *Positive();
  manifest.eps = *Positive();
  if (*rc::gen::arbitrary<bool>()) manifest.compute_profile = protocol::kExact;
  manifest.eps_g = manifest.compute_profile == protocol::kExact ? 0 : *Positive();
  manifest.delta_max = *rc::gen::arbitrary<bool>() ? 0 : *Positive();
  // Zero only where no fault is borne (protocol::Validate).
  manifest.validators = static_cast<std::uint32_t>(*Count(1));
  manifest.state_root_every = *Count(1);
  manifest.probation = *Count(3);
  manifest.delta = base::Milliseconds(*rc::gen::inRange(1, 200'000));
  manifest.delta_ceiling = manifest.delta + base::Milliseconds(*rc::gen::inRange(0, 100'000));
  manifest.part_timeout = base::Milliseconds(*rc::gen::inRange(1, 1'000'000));
  manifest.seal_timeout =
      manifest.part_timeout + base::Milliseconds(*rc::gen::inRange(1, 1'000'000));
  manifest.patience = base::Milliseconds(*rc::gen::inRange(1, 1'000'000));
  manifest.part_floor = base::Milliseconds(*rc::gen::inRange(1, 1'000'000));
  manifest.adaptive =
      manifest.part_floor * 2 <= manifest.part_timeout && *rc::gen::arbitrary<bool>();
  return manifest;
}

void AssertSamePlan(const protocol::TrainingPlan& a, const protocol::TrainingPlan& b) {
  RC_ASSERT(a.model == b.model);
  RC_ASSERT(a.data == b.data);
  RC_ASSERT(a.data_places == b.data_places);
  RC_ASSERT(a.data_seed == b.data_seed);
  RC_ASSERT(a.hidden == b.hidden);
  RC_ASSERT(a.batch_size == b.batch_size);
  RC_ASSERT(a.steps == b.steps);
  RC_ASSERT(a.steps_after_ban == b.steps_after_ban);
  RC_ASSERT(a.settle_steps == b.settle_steps);
  RC_ASSERT(a.learning_rate == b.learning_rate);
  RC_ASSERT(a.warmup_steps == b.warmup_steps);
  RC_ASSERT(a.momentum == b.momentum);
  RC_ASSERT(a.weight_decay == b.weight_decay);
  RC_ASSERT(a.optimizer == b.optimizer);
  RC_ASSERT(a.schedule == b.schedule);
  RC_ASSERT(a.decay_steps == b.decay_steps);
  RC_ASSERT(a.clip_norm == b.clip_norm);
  RC_ASSERT(a.beta1 == b.beta1);
  RC_ASSERT(a.beta2 == b.beta2);
  RC_ASSERT(a.epsilon == b.epsilon);
  RC_ASSERT(a.inner == b.inner);
  RC_ASSERT(a.earlier_updates == b.earlier_updates);
}

RC_GTEST_PROP(ManifestProperty, RoundTrips, ()) {
  const Manifest wrote = AnyManifest();
  const std::string text = WriteManifest(wrote, Filled(7));
  const auto read = ParseManifest(text);
  if (!read.ok()) RC_FAIL(base::MessageOf(read.status()) + "\n" + text);
  RC_ASSERT(read->run_id == crypto::Hash(crypto::kDomainManifest, base::AsBytes(text)));
  RC_ASSERT(read->name == wrote.name);
  RC_ASSERT(read->protocol_version == wrote.protocol_version);
  RC_ASSERT(read->mode == wrote.mode);
  RC_ASSERT(read->compute_profile == wrote.compute_profile);
  RC_ASSERT(read->members.size() == wrote.members.size());
  for (std::size_t i = 0; i < wrote.members.size(); ++i) {
    RC_ASSERT(read->members[i].id == wrote.members[i].id);
    RC_ASSERT(read->members[i].address == wrote.members[i].address);
    RC_ASSERT(read->members[i].name == wrote.members[i].name);
  }
  AssertSamePlan(read->training, wrote.training);
  RC_ASSERT(read->origin == wrote.origin);
  RC_ASSERT(read->clip == wrote.clip);
  RC_ASSERT(read->tau == wrote.tau);
  RC_ASSERT(read->tau_multiple == wrote.tau_multiple);
  RC_ASSERT(read->tau_initial == wrote.tau_initial);
  RC_ASSERT(read->eps == wrote.eps);
  RC_ASSERT(read->eps_g == wrote.eps_g);
  RC_ASSERT(read->delta_max == wrote.delta_max);
  RC_ASSERT(read->validators == wrote.validators);
  RC_ASSERT(read->state_root_every == wrote.state_root_every);
  RC_ASSERT(read->probation == wrote.probation);
  RC_ASSERT(read->delta == wrote.delta);
  RC_ASSERT(read->delta_ceiling == wrote.delta_ceiling);
  RC_ASSERT(read->part_timeout == wrote.part_timeout);
  RC_ASSERT(read->seal_timeout == wrote.seal_timeout);
  RC_ASSERT(read->patience == wrote.patience);
  RC_ASSERT(read->adaptive == wrote.adaptive);
  RC_ASSERT(read->part_floor == wrote.part_floor);
  RC_ASSERT(read->join.policy == wrote.join.policy);
  RC_ASSERT(read->join.allow == wrote.join.allow);
  RC_ASSERT(read->join.moderators == wrote.join.moderators);
  RC_ASSERT(read->join.quota == wrote.join.quota);
  RC_ASSERT(read->join.seats == wrote.join.seats);
}

RC_GTEST_PROP(ManifestProperty, AnyChangedByteGivesAnotherRunOrAnError, ()) {
  const std::string text = SampleText();
  const auto original = ParseManifest(text);
  RC_ASSERT(original.ok());
  std::string changed = text;
  const auto at = *rc::gen::inRange<std::size_t>(0, text.size());
  changed[at] = static_cast<char>(changed[at] ^ *rc::gen::inRange(1, 256));
  const auto read = ParseManifest(changed);
  if (read.ok()) RC_ASSERT(read->run_id != original->run_id);
}

RC_GTEST_PROP(ManifestProperty, AnyBytesAreSafe, (const std::string& bytes)) {
  const auto read = ParseManifest(bytes);
  RC_ASSERT(!read.ok());
  RC_ASSERT(!base::MessageOf(read.status()).empty());
}

TEST(ManifestTest, ACommentMakesAnotherRun) {
  const auto plain = ParseManifest(SampleText());
  const auto commented = ParseManifest(SampleText() + "# hello\n");
  ASSERT_TRUE(plain.ok() && commented.ok());
  EXPECT_NE(plain->run_id, commented->run_id);
  EXPECT_EQ(plain->training.steps, commented->training.steps);
}

TEST(ManifestTest, TheNonceMakesAnotherRun) {
  const auto one = ParseManifest(WriteManifest(Sample(), Filled(1)));
  const auto other = ParseManifest(WriteManifest(Sample(), Filled(2)));
  ASSERT_TRUE(one.ok() && other.ok());
  EXPECT_NE(one->run_id, other->run_id);
}

TEST(ManifestTest, AnyTextSurvives) {
  // A multi-line string of TOML would lose a leading line feed.
  for (const std::string name : {"", "\n", "\r\n", "\"", "\\", "'", "\x01\x7f", "ü𝄞\xc2\x9b"}) {
    Manifest manifest = Sample();
    manifest.name = name;
    const auto read = ParseManifest(WriteManifest(manifest, Filled(9)));
    ASSERT_TRUE(read.ok()) << base::MessageOf(read.status());
    EXPECT_EQ(read->name, name);
  }
}

TEST(ManifestTest, MembersMayStandInAnyOrder) {
  Manifest reversed = Sample();
  std::reverse(reversed.members.begin(), reversed.members.end());
  const auto read = ParseManifest(WriteManifest(reversed, Filled(9)));
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->members[0].id, Id(1));
  EXPECT_EQ(read->members[2].id, Id(3));
}

TEST(ManifestTest, NamesOfMembersAreReadAndMakeAnotherRun) {
  const auto named = ParseManifest(SampleText());
  ASSERT_TRUE(named.ok()) << named.status();
  EXPECT_EQ(named->members[0].name, "");
  EXPECT_EQ(named->members[1].name, "ben");
  const auto nameless = ParseManifest(With("name = \"ben\"\n", ""));
  ASSERT_TRUE(nameless.ok()) << "a manifest of before names were known";
  EXPECT_EQ(nameless->members[1].name, "");
  EXPECT_NE(nameless->run_id, named->run_id);
}

// Keys that files of protocol version 6 lack.
const std::set<std::string> kNewKeys = {"protocol_draft", "optimizer",    "schedule", "decay_steps",
                                        "clip_norm",      "beta1",        "beta2",    "epsilon",
                                        "adaptive",       "part_floor_ms"};

// A manifest as it was before the wait for parts could follow the run.
std::string TextOfVersion9() {
  std::istringstream lines(With("protocol_version = 13", "protocol_version = 9"));
  std::string text;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("adaptive = ") && !line.starts_with("part_floor_ms = ")) {
      text += line + "\n";
    }
  }
  return text;
}

// A manifest as it was before anybody could come in.
std::string TextOfVersion8() {
  std::string text = TextOfVersion9();
  text.replace(text.find("version = 9"), 11, "version = 8");
  const std::size_t from = text.find("[join]");
  return text.substr(0, from) + text.substr(text.find("[[members]]"));
}

// A manifest as it was before optimizers could be chosen.
std::string TextOfVersion6() {
  std::istringstream lines(SampleText());
  std::string text;
  for (std::string line; std::getline(lines, line);) {
    const std::string key = line.substr(0, line.find(' '));
    if (!kNewKeys.contains(key))
      text += (key == "protocol_version" ? "protocol_version = 6" : line) + "\n";
  }
  return text;
}

TEST(ManifestTest, AnEarlierVersionIsRefusedForThatAlone) {
  std::string text = TextOfVersion6();
  text.replace(text.find("version = 6"), 11, "version = 5");
  const auto run = ParseManifest(text);
  ASSERT_FALSE(run.ok());
  EXPECT_TRUE(Contains(base::MessageOf(run.status()), "the manifest asks for 5")) << run.status();
}

TEST(ManifestTest, EvidenceIsJudgedByManifestsOfEarlierVersions) {
  const auto old = ParseManifest(TextOfVersion6(), Versions::kEarlierToo);
  ASSERT_TRUE(old.ok()) << old.status();
  EXPECT_EQ(old->protocol_version, 6u);
  EXPECT_EQ(old->training.optimizer, Optimizer::kSgd);
  EXPECT_EQ(old->run_id, crypto::Hash(crypto::kDomainManifest, base::AsBytes(TextOfVersion6())));
  EXPECT_TRUE(ParseManifest(SampleText(), Versions::kEarlierToo).ok());
  std::string text = TextOfVersion6();
  text.replace(text.find("version = 6"), 11, "version = 5");
  EXPECT_TRUE(ParseManifest(text, Versions::kEarlierToo).ok());
  text.replace(text.find("version = 5"), 11, "version = 4");
  EXPECT_FALSE(ParseManifest(text, Versions::kEarlierToo).ok()) << "it had other keys";
}

TEST(ManifestTest, OneOfVersion8WithoutJoinIsOfAClosedRun) {
  const auto old = ParseManifest(TextOfVersion8(), Versions::kEarlierToo);
  ASSERT_TRUE(old.ok()) << old.status();
  EXPECT_EQ(old->protocol_version, 8u);
  EXPECT_EQ(old->join.policy, protocol::JoinPolicy::kClosed);
  EXPECT_EQ(SeatsIn(*old), old->members.size());
  ExpectRefused(TextOfVersion8(), {"the manifest asks for 8"});
  std::string text = TextOfVersion8();
  text.replace(text.find("version = 8"), 11, "version = 9");
  const auto younger = ParseManifest(text, Versions::kEarlierToo);
  EXPECT_TRUE(Contains(base::MessageOf(younger.status()), "no section [join]"));
}

TEST(ManifestTest, OneOfVersion9HasAWaitThatDoesNotFollowTheRun) {
  const auto old = ParseManifest(TextOfVersion9(), Versions::kEarlierToo);
  ASSERT_TRUE(old.ok()) << old.status();
  EXPECT_FALSE(old->adaptive);
  ExpectRefused(TextOfVersion9(), {"the manifest asks for 9"});
  std::string text = TextOfVersion9();
  text.replace(text.find("version = 9"), 11, "version = 13");
  ExpectRefused(text, {"[deadlines] lacks 'adaptive'"});
}

TEST(ManifestTest, ThoseOfVersions10To12AreReadForTheirEvidenceAlone) {
  for (const std::uint32_t version : {10u, 11u, 12u}) {
    const std::string text =
        With("protocol_version = 13", "protocol_version = " + std::to_string(version));
    EXPECT_EQ(ParseManifest(text, Versions::kEarlierToo)->protocol_version, version);
    ExpectRefused(text, {"the manifest asks for " + std::to_string(version)});
  }
}

TEST(ManifestTest, AnotherDraftIsRefusedForThatAlone) {
  const std::string ours = "protocol_draft = " + std::to_string(wire::kProtocolDraft);
  std::string text = With(ours, "protocol_draft = 999\nunknown_key = 1");
  ExpectRefused(text,
                {"speaks draft " + std::to_string(wire::kProtocolDraft) +
                 " of protocol version 13, the manifest asks for draft 999: use a newer build"});
  ExpectRefused(With(ours, ""), {"[run] lacks 'protocol_draft'"});
  EXPECT_FALSE(ParseManifest(text, Versions::kEarlierToo).ok()) << "a later draft";
  const std::string earlier = With(ours, "protocol_draft = 1");
  ExpectRefused(earlier, {"asks for draft 1", "run recover"});
  EXPECT_TRUE(ParseManifest(earlier, Versions::kEarlierToo).ok());
}

TEST(ManifestTest, LocalStepsAreReadAsTheyWereWritten) {
  Manifest manifest = Sample();
  manifest.compute_profile = protocol::kExact;
  manifest.eps_g = 0;
  manifest.training.inner = {.steps = 16, .learning_rate = 0.002, .warmup_steps = 3};
  const auto read = ParseManifest(WriteManifest(manifest, Filled(9)));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->training.inner, manifest.training.inner);
}

TEST(ManifestTest, ThoseOfEarlierDraftsAndVersionsLackLocalSteps) {
  const auto without = [](const std::string& replaced, const std::string& by) {
    std::string text = With(replaced, by);
    const std::size_t begin = text.find("[inner]");
    text.erase(begin, text.find("[aggregation]") - begin);
    return text;
  };
  const std::string draft = "protocol_draft = " + std::to_string(wire::kProtocolDraft);
  EXPECT_EQ(ParseManifest(without(draft, "protocol_draft = 4"), Versions::kEarlierToo)
                ->training.inner.steps,
            1u);
  EXPECT_TRUE(ParseManifest(without("protocol_version = 13", "protocol_version = 12"),
                            Versions::kEarlierToo)
                  .ok());
  ExpectRefused(without(draft, draft), {"no section [inner]"});
}

TEST(ManifestTest, WhoMayComeIn) {
  const std::string closed = "policy = \"closed\"";
  ExpectRefused(With(closed, "policy = \"open\""), {"join.policy must be one of", "invite"});
  ExpectRefused(With(closed, "policy = \"invite\""), {"needs a moderator"});
  ExpectRefused(With(closed, "policy = \"allowlist\""), {"needs a key in join.allow"});
  ExpectRefused(With("allow = []", "allow = [\"" + Id(9).Short() + "\"]"),
                {"manifest line ", "join.allow must be a list of keys"});
  ExpectRefused(With("moderators = []", "moderators = [\"" + Id(9).Hex() + "\"]"),
                {"use join.policy invite"});
  ExpectRefused(With("seats = 0", "seats = 5"), {"lets nobody in"});
}

TEST(ManifestTest, SourcesOfData) {
  Manifest sample = Sample();
  sample.training.data = "stream@" + Filled(3).Hex();
  sample.training.data_places = {"https://a.example/x", "https://b.example/\"y"};
  const std::string text = WriteManifest(sample, Filled(9));
  const std::string list = R"(["https://a.example/x", "https://b.example/\"y"])";
  ASSERT_NE(text.find("[sources]\nplaces = " + list), std::string::npos) << text;
  const auto with_places = [&](const std::string& other) {
    std::string changed = text;
    return changed.replace(changed.find(list), list.size(), other);
  };
  const auto read = ParseManifest(with_places(R"(["https://a.example/x", "https://b.example"])"));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->training.data_places,
            (std::vector<std::string>{"https://a.example/x", "https://b.example"}));
  ExpectRefused(with_places("[]"), {"sources.places must be a list of strings, one at least"});
  ExpectRefused(with_places("[7]"), {"sources.places must be a list of strings"});
  ExpectRefused(with_places(R"(["https://u:secret@a.example"])"), {"password"});
  ExpectRefused(with_places(R"(["/home/anna/rows"])"), {"https://"});
}

TEST(ManifestTest, KeysOfListsMayStandInAnyOrder) {
  std::string text = With("policy = \"closed\"", "policy = \"allowlist\"");
  text.replace(text.find("allow = []"), 10,
               "allow = [\"" + Id(11).Hex() + "\", \"" + Id(7).Hex() + "\"]");
  const auto read = ParseManifest(text);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->join.allow, (std::vector<base::PeerId>{Id(7), Id(11)}));
  text.replace(text.find(Id(11).Hex()), 64, Id(7).Hex());
  ExpectRefused(text, {"join.allow lists " + Id(7).Short() + " twice"});
}

// --- misspelt and missing keys -------------------------------------------------------------------

struct KeyLine {
  std::size_t number;  // from 1
  std::string section, key, line;
};

// Every "key = value" line of the sample.
std::vector<KeyLine> KeyLines(const std::vector<std::string>& lines) {
  std::vector<KeyLine> keys;
  std::string section;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string& line = lines[i];
    const std::size_t equals = line.find(" = ");
    if (line.starts_with("[")) {
      section =
          line.substr(line.find_first_not_of('['), line.find(']') - line.find_first_not_of('['));
    } else if (!line.starts_with("#") && equals != std::string::npos) {
      keys.push_back({i + 1, section, line.substr(0, equals), line});
    }
  }
  return keys;
}

std::vector<std::string> LinesOf(const std::string& text) {
  std::vector<std::string> lines(1);
  for (const char c : text) {
    if (c == '\n') {
      lines.emplace_back();
    } else {
      lines.back() += c;
    }
  }
  return lines;
}

std::string Joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

TEST(ManifestTest, EveryMisspeltKeyIsRefusedWithItsLineAndTheRightKey) {
  const std::vector<std::string> lines = LinesOf(SampleText());
  const std::vector<KeyLine> keys = KeyLines(lines);
  EXPECT_EQ(keys.size(), 68U) << "59 keys and those of three members";
  for (const KeyLine& key : keys) {
    std::string swapped = key.key;
    std::swap(swapped[0], swapped[1]);
    for (const std::string& slip : {key.key + "x", swapped}) {
      std::vector<std::string> changed = lines;
      changed[key.number - 1] = slip + key.line.substr(key.key.size());
      ExpectRefused(Joined(changed), {"manifest line " + std::to_string(key.number) + ": ",
                                      "unknown key '" + slip + "' in [" + key.section + "]",
                                      "did you mean '" + key.key + "'?"});
    }
  }
}

TEST(ManifestTest, EveryMissingKeyIsNamed) {
  const std::vector<std::string> lines = LinesOf(SampleText());
  for (const KeyLine& key : KeyLines(lines)) {
    if (key.section == "members") continue;
    std::vector<std::string> changed = lines;
    changed.erase(changed.begin() + static_cast<std::ptrdiff_t>(key.number - 1));
    ExpectRefused(Joined(changed), {"[" + key.section + "] lacks '" + key.key + "'"});
  }
}

TEST(ManifestTest, EveryWrongTypeIsNamedWithLineAndKey) {
  const std::vector<std::string> lines = LinesOf(SampleText());
  for (const KeyLine& key : KeyLines(lines)) {
    if (key.section == "members") continue;
    for (const std::string value : {"[1, 2]", "{ a = 1 }", "true", "1979-05-27"}) {
      if (key.key == "adaptive" && value == "true") continue;
      std::vector<std::string> changed = lines;
      changed[key.number - 1] = key.key + " = " + value;
      ExpectRefused(Joined(changed), {"manifest line " + std::to_string(key.number) + ": ",
                                      key.section + "." + key.key + " must be "});
    }
  }
}

TEST(ManifestTest, SectionsAreRequiredAndKnown) {
  for (const std::string section :
       {"run", "training", "inner", "aggregation", "checks", "deadlines", "join"}) {
    ExpectRefused(With("[" + section + "]\n", "[x" + section + "]\n"),
                  {"unknown key 'x" + section + "'", "did you mean '" + section + "'?"});
  }
  ExpectRefused("", {"no section [run]"});
  ExpectRefused("run = 3\n", {"no section [run]"});
}

// --- values --------------------------------------------------------------------------------------

TEST(ManifestTest, MalformedAndOutOfRangeNumbers) {
  ExpectRefused(With("steps = 200", "steps = 1.5"), {"training.steps must be a whole number"});
  ExpectRefused(With("steps = 200", "steps = -1"), {"training.steps must be a whole number"});
  ExpectRefused(With("steps = 200", "steps = 0"), {"training.steps must be at least 1"});
  ExpectRefused(With("steps = 200", "steps = 9223372036854775808"), {"manifest line "});
  ExpectRefused(With("validators = 1", "validators = 4294967296"), {"checks.validators must be"});
  ExpectRefused(With("seal_timeout_ms = 60000", "seal_timeout_ms = 0"), {"milliseconds"});
  ExpectRefused(With("seal_timeout_ms = 60000", "seal_timeout_ms = 9000000000000"),
                {"milliseconds"});
  ExpectRefused(With("seal_timeout_ms = 60000", "seal_timeout_ms = 20000"),
                {"seal_timeout_ms must be above part_timeout_ms"});
  ExpectRefused(With("part_floor_ms = 4000", "part_floor_ms = 0"), {"milliseconds"});
  EXPECT_TRUE(ParseManifest(With("part_floor_ms = 4000", "part_floor_ms = 15000")).ok());
  std::string text = With("adaptive = false", "adaptive = true");
  EXPECT_TRUE(ParseManifest(text).ok());
  text.replace(text.find("part_floor_ms = 4000"), 20, "part_floor_ms = 10001");
  ExpectRefused(text, {"part_floor_ms must be at most half of part_timeout_ms"});
}

TEST(ManifestTest, InfAndNanAreRefusedWhereverANumberStands) {
  const std::vector<std::string> lines = LinesOf(SampleText());
  std::size_t tried = 0;
  for (const KeyLine& key : KeyLines(lines)) {
    const std::set<std::string> reals = {"learning_rate", "momentum",     "weight_decay",
                                         "tau",           "tau_multiple", "tau_initial",
                                         "eps",           "eps_g",        "delta_max"};
    if (!reals.contains(key.key)) continue;
    for (const std::string value : {"inf", "-inf", "nan", "-1.0"}) {
      std::vector<std::string> changed = lines;
      changed[key.number - 1] = key.key + " = " + value;
      ExpectRefused(Joined(changed), {key.key + " must be "});
      ++tried;
    }
  }
  EXPECT_EQ(tried, 11U * 4) << "two stand in [inner] too";
}

TEST(ManifestTest, NanIsRefusedByName) {
  Manifest manifest = Sample();
  manifest.training.momentum = std::numeric_limits<double>::quiet_NaN();
  ExpectRefused(WriteManifest(manifest, Filled(9)), {"training.momentum must be"});
  manifest.training.momentum = std::numeric_limits<double>::infinity();
  ExpectRefused(WriteManifest(manifest, Filled(9)), {"training.momentum must be"});
}

TEST(ManifestTest, EnumeratedValues) {
  ExpectRefused(With("mode = \"majority\"", "mode = \"most\""), {"run.mode", "\"third\""});
  ExpectRefused(With("rule = \"centered_clip\"", "rule = \"krum\""), {"aggregation.rule"});
  ExpectRefused(With("tau = \"auto\"", "tau = \"some\""), {"aggregation.tau", "\"auto\""});
  ExpectRefused(With("compute_profile = \"tolerant\"", "compute_profile = \"exact\""), {"exact"});
  ExpectRefused(With("nonce = \"" + Filled(9).Hex(), "nonce = \"" + Filled(9).Short()),
                {"run.nonce", "64 hexadecimal digits"});
}

TEST(ManifestTest, Members) {
  const std::string id = "id = \"" + Id(2).Hex() + "\"";
  ExpectRefused(With(id, "id = \"" + Id(1).Hex() + "\""), {"is listed twice", Id(1).Short()});
  ExpectRefused(With(id, ""), {"a member needs id"});
  ExpectRefused(With(id, "id = \"0202\""), {"a member needs id"});
  ExpectRefused(With(id, "id = 2"), {"a member needs id"});
  ExpectRefused(With("\"[::1]:7002\"", "7002"), {"address must be a string"});
  ExpectRefused(With("\"[::1]:7002\"", "\"::1:7002\""), {"manifest line ", "in brackets"});
  ExpectRefused(With("\"[::1]:7002\"", "\"nowhere\""), {"write host:port"});
  ExpectRefused(With("\"[::1]:7002\"", "\"[::1]:0\""), {"port 0"});
  ExpectRefused(With("\"ben\"", "7"), {"manifest line ", "name must be a string"});
  ExpectRefused(With("\"ben\"", "\"\""), {"manifest line ", "1 to 24 characters"});
  ExpectRefused(With("\"ben\"", "\"be81737a\""), {"manifest line ", "digits of a key"});
  const std::string text = SampleText();
  const std::string head = text.substr(0, text.find("\n[[members]]"));
  ExpectRefused(head, {"no [[members]]"});
  ExpectRefused("members = 3\n" + head, {"no [[members]]"});
  ExpectRefused("members = [1, 2]\n" + head, {"must be a table"});
  ExpectRefused(head + "\n[[members]]\nid = \"" + Id(1).Hex() + "\"\n", {"at least 3 members"});
}

// --- limits and files ----------------------------------------------------------------------------

TEST(ManifestTest, OneMebibyteIsTheLimit) {
  std::string text = SampleText() + "#";
  text.resize((1 << 20) - 1, 'x');
  EXPECT_TRUE(ParseManifest(text + "\n").ok());
  ExpectRefused(text + "x\n", {"larger than 1 MiB"});
}

TEST(ManifestTest, DepthAndGarbage) {
  ExpectRefused("a = " + std::string(100'000, '['), {"manifest line 1: "});
  ExpectRefused("[[[", {"manifest line 1: "});  // toml++ has an assertion there
  ExpectRefused("[=]", {"manifest line 1: "});
  ExpectRefused(std::string(100'000, '['), {"manifest line 1: "});
  ExpectRefused(std::string(64, '\0'), {"manifest line 1: "});
  ExpectRefused("\xff\xfe", {"manifest line 1: "});
  ExpectRefused(SampleText() + "[run]\n", {"manifest line "});  // a repeated section
}

TEST(ManifestFileTest, RoundTripsAndErrorsNameTheFile) {
  const std::string path = testing::TempDir() + "ostraka-manifest-test.toml";
  std::ofstream(path, std::ios::binary) << SampleText();
  const auto read = ReadManifestFile(path);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->run_id, ParseManifest(SampleText())->run_id);

  std::ofstream(path, std::ios::binary) << "nonsense";
  EXPECT_TRUE(base::MessageOf(ReadManifestFile(path).status()).starts_with(path + ": manifest"));
  std::filesystem::remove(path);
  const auto missing = ReadManifestFile(path);
  EXPECT_EQ(missing.status().code(), absl::StatusCode::kNotFound);
  EXPECT_TRUE(Contains(base::MessageOf(missing.status()), path));
  EXPECT_EQ(ReadManifestFile("/dev/zero").status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace ostraka::config::manifest_toml_test
