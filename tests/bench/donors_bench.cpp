// How long a newcomer fetches a state from many donors, and how many bytes that takes: the real
// CatchUp in virtual time. Each donor sends 1 MiB/s (or --rate-kib), one answer after the other; a
// question and an answer take 25 ms each; the newcomer's own line has no limit.
//
// usage: donors_bench [--smoke] [--patience-ms N] [--tensors N] [--rate-kib N]
// Prints a Markdown table. Where some donors lie it shows the median and the worst of all choices
// of the liars. Bytes are those that donors sent, including what came after the state was whole.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "node/base/check.h"
#include "node/protocol/mail/ration.h"
#include "node/protocol/sync/catch_up.h"
#include "node/wire/messages.h"
#include "tests/unit/protocol/scene.h"

namespace ostraka::protocol {
namespace {

using base::Duration;
using base::Time;
using wire::PullKind;

constexpr Duration kSecond = base::Seconds(1);
constexpr Duration kOneWay = base::Milliseconds(25);
constexpr std::uint64_t kRootEvery = 10;
constexpr std::uint64_t kFirstHead = 28;
constexpr Time kGivenUp{base::Seconds(120).ns};
constexpr std::size_t kAttestBytes = 300;  // about a COMMIT

struct Settings {
  std::uint64_t parameters = 2'500'000;
  std::uint64_t tensors = 1;
  std::int64_t rate = 1 << 20;                  // bytes a second
  Duration patience = base::Milliseconds(500);  // half of the usual Delta
};

// A state with its pieces, true and false, as blobs.
struct Goods {
  explicit Goods(const Settings& settings) {
    for (std::uint64_t i = 0; i < settings.tensors; ++i) {
      layout.push_back({"w" + std::to_string(i), {settings.parameters / settings.tensors}});
    }
    std::vector<float> values(base::ElementCount(layout));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 9973);
    state.parameters = std::make_shared<const std::vector<float>>(values);
    std::reverse(values.begin(), values.end());
    state.slots = {{"velocity", std::make_shared<const std::vector<float>>(std::move(values))}};
    root = StateRoot(state, layout);
    base::Bytes leaves;
    for (const Digest& leaf : StateLeaves(state, layout)) {
      leaves.insert(leaves.end(), leaf.bytes.begin(), leaf.bytes.end());
    }
    Add(std::move(leaves));
    for (const StatePiece& piece : StatePieces(layout, 1)) Add(PieceOf(state, piece));
  }
  void Add(base::Bytes bytes) {
    pieces.push_back(crypto::MakeBlob(bytes));
    bytes.back() ^= 1;
    lies.push_back(crypto::MakeBlob(std::move(bytes)));
  }
  std::int64_t bytes() const {
    return static_cast<std::int64_t>(base::ElementCount(layout) * 2 * sizeof(float));
  }

  base::TensorLayout layout;
  ModelState state;
  Digest root;
  std::vector<SharedBlob> pieces;  // 0: the leaves
  std::vector<SharedBlob> lies;
};

enum class Lie : std::uint8_t { kNone, kWrongPieces, kSilence, kGone, kDrips, kRaces };
constexpr std::size_t kUntilGone = 3;  // pieces that a donor of kGone sends

struct Scene {
  std::string name;
  std::uint32_t donors = 8;
  std::uint32_t liars = 0;
  Lie lie = Lie::kNone;
  Duration step = {};   // after which there is a new block; 0: never
  bool killed = false;  // when it has half of the state; started again at once
};

struct Outcome {
  Time end;
  std::int64_t bytes = 0;
  std::set<std::uint64_t> states;  // the steps of those that pieces were asked of
};

class Model {
 public:
  Model(const Settings& settings, const Goods& goods, const Scene& scene,
        std::set<std::uint32_t> liars)
      : settings_(settings),
        goods_(goods),
        scene_(scene),
        liars_(std::move(liars)),
        free_(scene.donors),
        sent_(scene.donors),
        rations_(scene.donors, Ration(Ration::BytesASecond(base::ElementCount(goods.layout)))) {
    for (std::uint64_t height = 0; height <= kFirstHead; ++height) Grow();
  }

  Outcome Run() {
    Begin();
    if (scene_.step.ns > 0) At(now_ + scene_.step, [this] { NextBlock(); });
    while (!events_.empty() && now_ < kGivenUp) {
      auto next = events_.extract(events_.begin());
      now_ = next.key();
      next.mapped()();
      Pump();
    }
    if (!done_) outcome_.end = kGivenUp;
    return outcome_;
  }

 private:
  using Event = std::function<void()>;

  void At(Time time, Event event) { events_.emplace(time, std::move(event)); }

  // One block more.
  void Grow() {
    Block block = scene::ViewBefore(scene::ManifestOf(scene_.donors + 1), 1);
    block.genesis = blocks_.empty();
    if (!block.genesis) {
      block.step = blocks_.size() - 1;
      block.previous = wire::BlockDigest(*blocks_.back());
      block.decision = scene::DigestOf(5000 + block.step);
      if (block.step % kRootEvery == 0) block.state_root = goods_.root;
    }
    blocks_.push_back(std::make_shared<const Block>(std::move(block)));
    encoded_.push_back(crypto::MakeBlob(wire::EncodeBlock(*blocks_.back())));
  }

  // The newcomer starts, with what its store kept, and asks all for the head (Follower::Leave).
  void Begin() {
    ++life_;
    std::fill(free_.begin(), free_.end(), now_);
    const auto zeros =
        std::make_shared<const std::vector<float>>(base::ElementCount(goods_.layout));
    way_.emplace(scene::PeerNumber(scene_.donors), goods_.layout, Codec::kRaw, blocks_[0],
                 ModelState{zeros, {{"velocity", zeros}}}, false, settings_.patience, stored_);
    for (std::uint32_t i = 0; i < scene_.donors; ++i) {
      Send({scene::PeerNumber(i), 0, wire::Phase::kC, {.kind = PullKind::kFollow}});
    }
  }

  void NextBlock() {
    if (done_) return;
    Grow();
    for (std::uint32_t i = 0; i < scene_.donors; ++i) ShowHead(i);
    At(now_ + scene_.step, [this] { NextBlock(); });
  }

  void Pump() {
    if (done_) return;
    for (const CatchUp::Request& request : way_->Wants(now_, [](const PeerId&) { return true; }))
      Send(request);
    if (way_->wake() && (!alarm_ || *alarm_ <= now_ || *way_->wake() < *alarm_)) {
      alarm_ = *way_->wake();
      At(*alarm_, [] {});
    }
  }

  void Send(const CatchUp::Request& request) {
    if (request.pull.kind == PullKind::kState) outcome_.states.insert(request.step);
    At(now_ + kOneWay, [this, request, life = life_] {
      if (life == life_) Serve(NumberOf(request.to), request);
    });
  }

  std::uint32_t NumberOf(const PeerId& peer) const {
    std::uint32_t number = 0;
    while (scene::PeerNumber(number) != peer) ++number;
    return number;
  }
  bool Lies(std::uint32_t donor, Lie lie) const {
    return scene_.lie == lie && liars_.contains(donor);
  }

  void Serve(std::uint32_t donor, const CatchUp::Request& request) {
    if (Lies(donor, Lie::kSilence)) return;
    if (request.pull.kind == PullKind::kFollow) return ShowHead(donor);
    if (request.pull.kind == PullKind::kBlock) {
      for (std::uint64_t i = 0; i < request.pull.index && i <= request.step + 1; ++i) {
        const Event give = [this, donor, height = request.step + 1 - i, life = life_] {
          if (life == life_) GiveBlock(donor, height);
        };
        // Just often enough that it seems to be at work.
        const Duration drip{Lies(donor, Lie::kDrips) ? settings_.patience.ns / 5 : 0};
        drip.ns > 0 ? At(now_ + drip * static_cast<std::int64_t>(i + 1), give) : give();
      }
    }
    if (request.pull.kind == PullKind::kState) GivePiece(donor, request);
  }

  void ShowHead(std::uint32_t donor) {
    if (Lies(donor, Lie::kSilence)) return;
    GiveBlock(donor, blocks_.size() - 1);
    // COMMITs are control messages, which go before all bulk.
    const auto bytes = static_cast<std::int64_t>(kAttestBytes * scene_.donors);
    Deliver(now_ + kOneWay, bytes, [this, head = blocks_.back()] {
      for (std::uint32_t i = 0; i < scene_.donors; ++i) {
        way_->OnAttest(scene::PeerNumber(i), HeightOf(*head), wire::BlockDigest(*head));
      }
    });
  }

  void GiveBlock(std::uint32_t donor, std::uint64_t height) {
    Give(donor, encoded_[height]->data.size(), [this, donor, height] {
      way_->OnBlock(scene::PeerNumber(donor), *blocks_[height], encoded_[height]);
    });
  }

  // Members serve the states of the newest two roots.
  bool Serves(std::uint64_t step) const {
    return step % kRootEvery == 0 && step + 2 * kRootEvery > blocks_.back()->step;
  }

  // Liars of kRaces send it too, unasked, over lines four times as fast: so an honest donor is
  // asked for more while it sends what is no longer needed.
  void GivePiece(std::uint32_t donor, const CatchUp::Request& request) {
    if (!Serves(request.step)) return;
    for (const std::uint32_t liar : liars_) {
      if (Lies(liar, Lie::kRaces) && !liars_.contains(donor)) GiveOnePiece(liar, request);
    }
    GiveOnePiece(donor, request);
  }

  void GiveOnePiece(std::uint32_t donor, const CatchUp::Request& request) {
    if (Lies(donor, Lie::kGone) && request.pull.index > 0 && ++sent_[donor] > kUntilGone) return;
    const bool lies = Lies(donor, Lie::kWrongPieces);
    const SharedBlob& blob = (lies ? goods_.lies : goods_.pieces)[request.pull.index];
    Give(donor, blob->data.size(), [this, donor, request, blob] {
      const wire::Slot slot{
          .step = request.step, .phase = wire::Phase::kC, .type = wire::MessageType::kChunk};
      way_->OnState(scene::PeerNumber(donor), slot,
                    {request.step, request.pull.index, goods_.pieces.size()}, blob);
      Store();
      Take();
    });
  }

  // One answer, behind those that the donor has not sent yet.
  void Give(std::uint32_t donor, std::size_t bytes, Event take) {
    if (!rations_[donor].Take(now_, scene::PeerNumber(scene_.donors), bytes)) return;
    const auto size = static_cast<std::int64_t>(bytes);
    const std::int64_t rate = settings_.rate * (Lies(donor, Lie::kRaces) ? 4 : 1);
    free_[donor] = std::max(free_[donor], now_) + base::Nanoseconds(size * kSecond.ns / rate);
    Deliver(free_[donor] + kOneWay, size, std::move(take));
  }

  void Deliver(Time time, std::int64_t bytes, Event take) {
    At(time, [this, bytes, take = std::move(take), life = life_] {
      if (life != life_) return;
      outcome_.bytes += bytes;
      if (!done_) take();
      KillAtHalf();
    });
  }

  // What has come is durable at once.
  void Store() {
    StateParts fresh = way_->TakeParts();
    if (stored_ && stored_->step == fresh.step) {
      stored_->parts.merge(fresh.parts);
    } else if (!fresh.parts.empty()) {
      stored_ = std::move(fresh);
    }
  }

  void Take() {
    const auto state = way_->TakeState();
    if (!state) return;
    OSTRAKA_CHECK(*state->second.parameters == *goods_.state.parameters);
    OSTRAKA_CHECK(*state->second.slots[0].values == *goods_.state.slots[0].values);
    done_ = true;
    outcome_.end = now_;
  }

  void KillAtHalf() {
    if (scene_.killed && life_ == 1 && 2 * outcome_.bytes >= goods_.bytes()) Begin();
  }

  const Settings& settings_;
  const Goods& goods_;
  const Scene& scene_;
  const std::set<std::uint32_t> liars_;
  std::vector<SharedBlock> blocks_;  // by height
  std::vector<SharedBlob> encoded_;
  std::vector<Time> free_;         // by donor: when all that it was asked is sent
  std::vector<std::size_t> sent_;  // by donor: pieces
  std::vector<Ration> rations_;
  std::optional<StateParts> stored_;
  std::optional<CatchUp> way_;
  std::multimap<Time, Event> events_;
  std::optional<Time> alarm_;
  Time now_;
  std::uint64_t life_ = 0;
  bool done_ = false;
  Outcome outcome_;
};

// Every choice of `count` of the donors.
std::vector<std::set<std::uint32_t>> Choices(std::uint32_t donors, std::uint32_t count) {
  std::vector<std::set<std::uint32_t>> choices;
  std::vector<bool> chosen(donors, false);
  std::fill(chosen.begin(), chosen.begin() + count, true);
  do {
    std::set<std::uint32_t> choice;
    for (std::uint32_t i = 0; i < donors; ++i) {
      if (chosen[i]) choice.insert(i);
    }
    choices.push_back(std::move(choice));
  } while (std::prev_permutation(chosen.begin(), chosen.end()));
  return choices;
}

void PrintRow(const Settings& settings, const Goods& goods, const Scene& scene, const char* which,
              const Outcome& outcome) {
  const double bytes = static_cast<double>(goods.bytes());
  const double floor = bytes / static_cast<double>(scene.donors * settings.rate);
  const double seconds = static_cast<double>(outcome.end.ns) * 1e-9;
  const std::string late = outcome.end == kGivenUp ? "more than " : "";
  std::printf("| %s%s | %u | %u | %s%.2f | %.2f | %.3f | %zu |\n", scene.name.c_str(), which,
              scene.donors, scene.liars, late.c_str(), seconds, seconds / floor,
              static_cast<double>(outcome.bytes) / bytes, outcome.states.size());
  std::fflush(stdout);
}

void Measure(const Settings& settings, const Goods& goods, const Scene& scene) {
  std::vector<Outcome> outcomes;
  for (const auto& liars : Choices(scene.donors, scene.liars)) {
    outcomes.push_back(Model(settings, goods, scene, liars).Run());
  }
  std::sort(outcomes.begin(), outcomes.end(),
            [](const Outcome& a, const Outcome& b) { return a.end < b.end; });
  if (outcomes.size() == 1) return PrintRow(settings, goods, scene, "", outcomes[0]);
  PrintRow(settings, goods, scene, ", median", outcomes[outcomes.size() / 2]);
  PrintRow(settings, goods, scene, ", worst", outcomes.back());
}

const std::vector<Scene> kScenes = {
    {.name = "all honest"},
    {.name = "wrong pieces", .liars = 3, .lie = Lie::kWrongPieces},
    {.name = "never an answer", .liars = 3, .lie = Lie::kSilence},
    {.name = "gone after three pieces", .liars = 3, .lie = Lie::kGone},
    {.name = "drips blocks", .liars = 3, .lie = Lie::kDrips},
    {.name = "races with honest donors", .liars = 3, .lie = Lie::kRaces},
    {.name = "all honest", .donors = 1},
    {.name = "all honest", .donors = 3},
    {.name = "a block every 500 ms", .step = base::Milliseconds(500)},
    {.name = "a block every 100 ms", .step = base::Milliseconds(100)},
    {.name = "killed at half", .killed = true},
};

std::optional<Settings> Parse(int argc, char** argv) {
  Settings settings;
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    if (option == "--smoke") {
      settings.parameters = 50'000;
    } else if (option == "--patience-ms" && i + 1 < argc) {
      settings.patience = base::Milliseconds(std::atoi(argv[++i]));
    } else if (option == "--tensors" && i + 1 < argc) {
      settings.tensors = std::strtoul(argv[++i], nullptr, 10);
    } else if (option == "--rate-kib" && i + 1 < argc) {
      settings.rate = std::atoll(argv[++i]) << 10;
    } else {
      return std::nullopt;
    }
  }
  const bool valid = settings.patience.ns > 0 && settings.tensors > 0 && settings.rate > 0;
  return valid ? std::optional(settings) : std::nullopt;
}

int Main(int argc, char** argv) {
  const auto settings = Parse(argc, argv);
  if (!settings) {
    std::fprintf(stderr,
                 "usage: donors_bench [--smoke] [--patience-ms N] [--tensors N] [--rate-kib N]\n");
    return 2;
  }
  const Goods goods(*settings);
  std::printf("%zu pieces, %.1f MB\n\n", goods.pieces.size() - 1,
              static_cast<double>(goods.bytes()) * 1e-6);
  std::printf("| | donors | liars | s | of the floor | bytes | states begun |\n");
  std::printf("|---|---|---|---|---|---|---|\n");
  for (const Scene& scene : kScenes) Measure(*settings, goods, scene);
  return 0;
}

}  // namespace
}  // namespace ostraka::protocol

int main(int argc, char** argv) { return ostraka::protocol::Main(argc, argv); }
