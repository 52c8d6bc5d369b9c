// split_echo, fork, split_genesis, hold_back: named scripts (sim/script/script.h); free: any
// script.
//
// The first three share one idea: one half of the honest members does not learn what the other half
// knows, although the network is timely.
// Rule: agreement of the seals and of genesis (seal.md).
// Cost to honest members: time, for slow paths and deadlines.
// Found by: two messages for one slot, or an unreadable one, as evidence; the others are contained.
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

// Bitmap of all honest members but `first` of them, counted from a drawn one.
std::uint64_t AllBut(std::uint32_t first, const EditorOptions& options) {
  const std::uint32_t honest = CountsOf(options).honest;
  std::uint64_t second = 0;
  for (std::uint32_t i = first; i < honest; ++i) {
    second |= std::uint64_t{1} << ((options.coven_seed + i) % honest);
  }
  return second;
}

// Takes the script as text, so that it can be read and tried by hand: `ostraka sim --attack free
// --attack-param script=...`
std::unique_ptr<Editor> Play(const EditorOptions& options, const std::string& text,
                             std::uint64_t second_half, Timing timing = {}) {
  auto script = ParseScript("h2=0," + text);
  OSTRAKA_CHECK(script.ok());
  script->second_half = second_half;
  return MakeScripted(options, std::move(script).value(), timing);
}

}  // namespace

// The unreadable ECHO goes to so many members that, with the colluders, which hold the AGG, they
// are more than the fault bound. The other members wait for the AGG until the deadline of seal A.
std::unique_ptr<Editor> MakeSplitEcho(const EditorOptions& options) {
  const Counts counts = CountsOf(options);
  const auto given = static_cast<std::uint32_t>(options.Param("early"));
  const std::uint32_t early =
      given > 0 ? given : std::max(1U, counts.honest - std::min(counts.honest, counts.t_s));
  return Play(options, "solo;echo@a*0>h1:unreadable;aggregate@a*0>all:drop",
              AllBut(std::min(early, counts.honest), options), {.as_owner = true, .once = true});
}

// The first half, a quorum together with the colluders, gets the unreadable ECHO. It is an
// iteration ahead when the second half gets the AGG. Colluders send no other ECHO, so ECHOs lock
// nobody. The LOCKs of each half are held back from the other, which then decides another value.
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

// A member without the colluders' genesis ECHO does not begin, and gets nothing more from them.
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

// REVEAL is not held back: seal B has a deadline of 2 Delta, which honest members meet with little
// to spare.
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
