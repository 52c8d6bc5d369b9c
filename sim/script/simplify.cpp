#include "sim/script/simplify.h"

#include <bit>
#include <cstddef>
#include <utility>

namespace ostraka::sim {
namespace {

class Collector {
 public:
  explicit Collector(const Script& script) : script_(script) {}

  template <typename Change>
  void Try(const std::string& what, Change change) {
    Script simpler = script_;
    change(simpler);
    if (simpler != script_) found_.push_back({what, std::move(simpler)});
  }
  std::vector<SimplerScript> Take() && { return std::move(found_); }

 private:
  const Script& script_;
  std::vector<SimplerScript> found_;
};

void LeaveOut(std::size_t first, std::size_t count, Script& script) {
  const auto begin = script.deviations.begin() + static_cast<std::ptrdiff_t>(first);
  script.deviations.erase(begin, begin + static_cast<std::ptrdiff_t>(count));
}

void SimplifyWords(const Script& script, std::size_t i, Collector& collector) {
  const std::string name = "deviation " + std::to_string(i) + ": ";
  const auto set = [&](const std::string& what, auto change) {
    collector.Try(name + what, [&](Script& simpler) { change(simpler.deviations[i]); });
  };
  const Deviation& one = script.deviations[i];
  if (one.what == Deviation::Do::kHold) {
    set("drop", [](Deviation& d) {
      d.what = Deviation::Do::kDrop;
      d.until = {};
    });
    set("no offset", [](Deviation& d) { d.until.offset = 0; });
    set("the first", [](Deviation& d) { d.until.which = Happening::Which::kFirst; });
    set("by anybody", [](Deviation& d) { d.until.side = Happening::Side::kAny; });
    set("of any iteration", [](Deviation& d) { d.until.iteration = 0; });
  }
  if (one.what == Deviation::Do::kFriends || one.what == Deviation::Do::kSwap) {
    set("drop", [](Deviation& d) { d.what = Deviation::Do::kDrop; });
  }
  set("to all", [](Deviation& d) {
    d.to = Deviation::To::kAll;
    d.target = 0;
  });
  set("by all", [](Deviation& d) { d.who.reset(); });
  set("in any step", [](Deviation& d) { d.step.reset(); });
  set("in any iteration", [](Deviation& d) { d.iteration.reset(); });
}

}  // namespace

std::vector<SimplerScript> SimplerScripts(const Script& script) {
  Collector collector(script);
  const std::size_t count = script.deviations.size();
  if (count > 3) {
    collector.Try("without the first half of the deviations",
                  [&](Script& simpler) { LeaveOut(0, count / 2, simpler); });
    collector.Try("without the second half of the deviations",
                  [&](Script& simpler) { LeaveOut(count / 2, count - count / 2, simpler); });
  }
  for (std::size_t i = 0; i < count; ++i) {
    collector.Try("without deviation " + std::to_string(i),
                  [&](Script& simpler) { LeaveOut(i, 1, simpler); });
  }
  if (script.mode != Script::Mode::kSolo) {
    collector.Try("one machine", [](Script& simpler) { simpler.mode = Script::Mode::kSolo; });
  }
  if (script.mode == Script::Mode::kDeaf) {
    collector.Try("twins that hear all",
                  [](Script& simpler) { simpler.mode = Script::Mode::kTwins; });
  }
  collector.Try("a split by the first members", [](Script& simpler) {
    simpler.second_half = (std::uint64_t{1} << std::popcount(simpler.second_half)) - 1;
  });
  for (std::size_t i = 0; i < count; ++i) SimplifyWords(script, i, collector);
  return std::move(collector).Take();
}

}  // namespace ostraka::sim
