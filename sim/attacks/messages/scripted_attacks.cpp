// split_echo, fork, split_genesis, hold_back: named scripts (sim/script/script.h), and free, any
// script. The first three rest on one idea: the honest members of one half are kept from knowing
// what those of the other half know, while the network is timely.
#include <algorithm>
#include <string>
#include <utility>

#include "node/base/check.h"
#include "node/base/rng.h"
#include "sim/adversary/scripted.h"
#include "sim/script/draw.h"

namespace ostraka::sim {
namespace {

struct Counts {
  std::uint32_t honest = 0;
  std::uint32_t t_s = 0;
  std::uint32_t quorum = 0;
  std::uint32_t colluders = 0;
};

Counts CountsOf(const EditorOptions& options) {
  const auto members = static_cast<std::uint32_t>(options.manifest->members.size());
  const auto t_a = protocol::GenesisAsynchronousFaults(options.manifest->mode, members);
  const std::uint32_t t_s = protocol::ThresholdsFor(options.manifest->mode, members, t_a).t_s;
  return {members - options.colluders, t_s, members - t_s, options.colluders};
}

// All honest members but `first` of them, counted from a drawn one.
std::uint64_t AllBut(std::uint32_t first, const EditorOptions& options) {
  const std::uint32_t honest = CountsOf(options).honest;
  std::uint64_t second = 0;
  for (std::uint32_t i = first; i < honest; ++i) {
    second |= std::uint64_t{1} << ((options.coven_seed + i) % honest);
  }
  return second;
}

// Text is what can be read and tried by hand: `ostraka sim --attack free --attack-param script=...`
std::unique_ptr<Editor> Play(const EditorOptions& options, const std::string& text,
                             std::uint64_t second_half, Timing timing = {}) {
  auto script = ParseScript("h2=0," + text);
  OSTRAKA_CHECK(script.ok());
  script->second_half = second_half;
  return MakeScripted(options, std::move(script).value(), timing);
}

}  // namespace

// So many see the unreadable ECHO that with the colluders, who have the AGG, they are more than can
// be at fault; the others wait for it until the deadline of seal A.
std::unique_ptr<Editor> MakeSplitEcho(const EditorOptions& options) {
  const Counts counts = CountsOf(options);
  const auto given = static_cast<std::uint32_t>(options.Param("early"));
  const std::uint32_t early =
      given > 0 ? given : std::max(1U, counts.honest - std::min(counts.honest, counts.t_s));
  return Play(options, "solo;echo@a*0>h1:unreadable;aggregate@a*0>all:drop",
              AllBut(std::min(early, counts.honest), options), {.as_owner = true, .once = true});
}

// The first half, which makes a quorum with the colluders, sees the unreadable ECHO and is an
// iteration ahead when the second gets the AGG. No colluder echoes beside that, so nobody is
// locked by ECHOs; the LOCKs of each half wait for those of the other, which then decides something
// else.
std::unique_ptr<Editor> MakeFork(const EditorOptions& options) {
  const Counts counts = CountsOf(options);
  const std::uint32_t ahead =
      counts.quorum > counts.colluders ? counts.quorum - counts.colluders : 1;
  const std::string after = std::to_string(static_cast<std::uint32_t>(options.Param("after")));
  return Play(options,
              "deaf;echo@a*0>h1:unreadable;echo@a>all:drop;aggregate@a*0>h1:drop;"
              "aggregate@a*0>h2:hold(echo.h1+" +
                  after +
                  ");vote@a.i1>h1:drop;lock@a.i1>h2:hold(lock.h1.i2);lock@a.i2>h1:hold(lock.h2.i1)",
              AllBut(std::min(ahead, counts.honest), options), {.as_owner = true, .once = true});
}

// Who has no genesis ECHO of the colluders does not begin, and hears nothing from them any more.
std::unique_ptr<Editor> MakeSplitGenesis(const EditorOptions& options) {
  const Counts counts = CountsOf(options);
  const std::uint32_t first =
      counts.quorum > counts.colluders ? counts.quorum - counts.colluders : 1;
  EditorOptions from_the_beginning = options;
  from_the_beginning.from_step = 0;
  return Play(from_the_beginning,
              "solo;echo@genesis>h2:drop;any@a>h2:drop;any@b>h2:drop;any@c>h2:drop",
              AllBut(std::min(first, counts.honest), options));
}

// Its REVEAL it does not hold back: seal B has a deadline of 2 Delta, which honest members keep
// with little to spare.
std::unique_ptr<Editor> MakeHoldBack(const EditorOptions& options) {
  const std::string held =
      ":hold(deadline-" + std::to_string(static_cast<std::uint32_t>(options.Param("before"))) + ")";
  return Play(options, "solo;aggregate@a*0>all" + held + ";proof@c*0>all" + held, 0);
}

std::unique_ptr<Editor> MakeFree(const EditorOptions& options) {
  if (!options.text.empty()) {
    auto script = ParseScript(options.text);
    OSTRAKA_CHECK(script.ok());  // CheckParams
    return MakeScripted(options, std::move(script).value());
  }
  const Counts counts = CountsOf(options);
  return MakeScripted(options, DrawScript(base::Rng(options.coven_seed).Fork("script"),
                                          {counts.honest, counts.colluders, options.from_step}));
}

}  // namespace ostraka::sim
