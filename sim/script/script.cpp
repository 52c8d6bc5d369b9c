#include "sim/script/script.h"

#include <array>
#include <charconv>
#include <utility>

namespace ostraka::sim {
namespace {

using Do = Deviation::Do;
using To = Deviation::To;
using wire::MessageType;
using wire::Phase;

constexpr std::array<std::pair<Do, std::string_view>, 12> kDeeds = {{
    {Do::kDrop, "drop"},
    {Do::kFriends, "friends"},
    {Do::kHold, "hold"},
    {Do::kSwap, "swap"},
    {Do::kUnreadable, "unreadable"},
    {Do::kOlder, "older"},
    {Do::kLater, "later"},
    {Do::kZeroRoot, "zero_root"},
    {Do::kWrongRoot, "wrong_root"},
    {Do::kFullBitmap, "full_bitmap"},
    {Do::kCommitsRoot, "commits_root"},
    {Do::kScale, "scale"},
}};
constexpr std::array<std::string_view, 3> kModes = {"solo", "twins", "deaf"};
constexpr std::array<std::string_view, 4> kSides = {"", ".h1", ".h2", ".friends"};
constexpr std::array<std::string_view, 3> kWhich = {"", ".last", ".short"};
constexpr std::array<std::string_view, 5> kTargets = {"all", "h1", "h2", "one", "not"};

template <typename Number>
std::string FormatNumber(Number value, int base = 10) {
  char buffer[64];
  const auto end = std::to_chars(buffer, buffer + sizeof(buffer), value, base).ptr;
  return {buffer, end};
}
std::string FormatReal(double value) {
  char buffer[64];
  const auto end = std::to_chars(buffer, buffer + sizeof(buffer), value).ptr;
  return {buffer, end};
}

std::optional<MessageType> TypeNamed(std::string_view name) {
  for (std::uint8_t i = 0; i < wire::kMessageTypeCount; ++i) {
    const auto type = static_cast<MessageType>(i);
    if (!wire::IsService(type) && name == wire::MessageTypeName(type)) return type;
  }
  return std::nullopt;
}
std::optional<Phase> PhaseNamed(std::string_view name) {
  for (std::uint8_t i = 0; i < wire::kPhaseCount; ++i) {
    if (name == wire::PhaseName(static_cast<Phase>(i))) return static_cast<Phase>(i);
  }
  return std::nullopt;
}

std::string FormatHappening(const Happening& event) {
  std::string text;
  switch (event.kind) {
    case Happening::Kind::kWord:
      text = wire::MessageTypeName(event.type);
      break;
    case Happening::Kind::kBegin:
      text = "begin";
      break;
    case Happening::Kind::kDeadline:
      text = "deadline";
      break;
    case Happening::Kind::kNext:
      text = "next";
      break;
  }
  text += kSides[static_cast<std::size_t>(event.side)];
  if (event.iteration > 0) text += ".i" + FormatNumber(event.iteration);
  text += kWhich[static_cast<std::size_t>(event.which)];
  if (event.offset != 0) text += (event.offset > 0 ? "+" : "") + FormatNumber(event.offset);
  return text;
}

std::string FormatDeviation(const Deviation& one) {
  std::string text = one.type ? wire::MessageTypeName(*one.type) : "any";
  text += "@" + std::string(one.phase ? wire::PhaseName(*one.phase) : "any");
  if (one.step) text += ".s" + FormatNumber(*one.step);
  if (one.iteration) text += ".i" + FormatNumber(*one.iteration);
  if (one.who) text += "*" + FormatNumber(*one.who);
  text += ">" + std::string(kTargets[static_cast<std::size_t>(one.to)]);
  if (one.to == To::kOne || one.to == To::kAllButOne) text += FormatNumber(one.target);
  for (const auto& [what, name] : kDeeds) {
    if (what == one.what) text += ":" + std::string(name);
  }
  if (one.what == Do::kHold) text += "(" + FormatHappening(one.until) + ")";
  if (one.what == Do::kScale) text += "(" + FormatReal(one.scale) + ")";
  return text;
}

// A parser's position in a text.
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  bool Take(std::string_view word) {
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  // Letters and '_'.
  std::string_view Name() {
    std::size_t length = 0;
    while (length < rest_.size() && (rest_[length] == '_' || IsLetter(rest_[length]))) ++length;
    const std::string_view name = rest_.substr(0, length);
    rest_.remove_prefix(length);
    return name;
  }
  template <typename Value>
  bool Number(Value& value, int base = 10) {
    const auto [end, error] =
        std::from_chars(rest_.data(), rest_.data() + rest_.size(), value, base);
    return Consumed(end, error);
  }
  bool Real(double& value) {
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    return Consumed(end, error);
  }
  // Parses an optional `mark` with a number after it.
  template <typename Value>
  bool MayTake(std::string_view mark, std::optional<Value>& value) {
    if (!Take(mark)) return true;
    return Number(value.emplace());
  }
  bool AtEnd() const { return rest_.empty(); }

 private:
  static bool IsLetter(char c) { return c >= 'a' && c <= 'z'; }
  bool Consumed(const char* end, std::errc error) {
    if (error != std::errc{}) return false;
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return true;
  }
  std::string_view rest_;
};

bool ReadHappening(Reader& reader, Happening& event) {
  // No mark is a prefix of another.
  const std::string_view name = reader.Name();
  if (name == "begin") {
    event.kind = Happening::Kind::kBegin;
  } else if (name == "deadline") {
    event.kind = Happening::Kind::kDeadline;
  } else if (name == "next") {
    event.kind = Happening::Kind::kNext;
  } else {
    const auto type = TypeNamed(name);
    if (!type) return false;
    event.type = *type;
  }
  for (std::size_t i = 1; i < kSides.size(); ++i) {
    if (reader.Take(kSides[i])) event.side = static_cast<Happening::Side>(i);
  }
  if (reader.Take(".i") && !reader.Number(event.iteration)) return false;
  for (std::size_t i = 1; i < kWhich.size(); ++i) {
    if (reader.Take(kWhich[i])) event.which = static_cast<Happening::Which>(i);
  }
  if (reader.Take("+")) return reader.Number(event.offset) && event.offset > 0;
  Reader before = reader;
  if (before.Take("-")) return reader.Number(event.offset) && event.offset < 0;
  return true;
}

bool ReadDeed(Reader& reader, Deviation& one) {
  const std::string_view name = reader.Name();
  bool known = false;
  for (const auto& [what, word] : kDeeds) {
    if (word != name) continue;
    one.what = what;
    known = true;
  }
  if (!known) return false;
  if (one.what == Do::kHold) {
    return reader.Take("(") && ReadHappening(reader, one.until) && reader.Take(")");
  }
  if (one.what == Do::kScale) {
    return reader.Take("(") && reader.Real(one.scale) && reader.Take(")");
  }
  return true;
}

bool ReadTarget(Reader& reader, Deviation& one) {
  for (std::size_t i = 0; i < kTargets.size(); ++i) {
    if (!reader.Take(kTargets[i])) continue;
    one.to = static_cast<To>(i);
    const bool single = one.to == To::kOne || one.to == To::kAllButOne;
    return !single || reader.Number(one.target);
  }
  return false;
}

bool ReadDeviation(std::string_view text, Deviation& one) {
  Reader reader(text);
  const std::string_view type = reader.Name();
  if (type != "any") {
    one.type = TypeNamed(type);
    if (!one.type) return false;
  }
  if (!reader.Take("@")) return false;
  const std::string_view phase = reader.Name();
  if (phase != "any") {
    one.phase = PhaseNamed(phase);
    if (!one.phase) return false;
  }
  return reader.MayTake(".s", one.step) && reader.MayTake(".i", one.iteration) &&
         reader.MayTake("*", one.who) && reader.Take(">") && ReadTarget(reader, one) &&
         reader.Take(":") && ReadDeed(reader, one) && reader.AtEnd();
}

bool ReadHead(std::string_view text, Script& script) {
  Reader reader(text);
  if (!reader.Take("h2=") || !reader.Number(script.second_half, 16) || !reader.Take(",")) {
    return false;
  }
  for (std::size_t i = 0; i < kModes.size(); ++i) {
    if (!reader.Take(kModes[i])) continue;
    script.mode = static_cast<Script::Mode>(i);
    return reader.AtEnd();
  }
  return false;
}

// Ignores the action and the receiver.
bool IsAbout(const Deviation& one, const wire::Slot& slot, std::uint32_t author,
             bool genesis_counts) {
  if (one.type && *one.type != slot.type) return false;
  const bool in_phase =
      one.phase ? *one.phase == slot.phase : slot.phase != Phase::kGenesis || genesis_counts;
  return in_phase && (!one.step || *one.step == slot.step) &&
         (!one.iteration || *one.iteration == slot.iteration) && (!one.who || *one.who == author);
}

bool IsFor(const Deviation& one, const Word& word, std::uint32_t honest) {
  if (one.to == To::kFirstHalf && word.half != 0) return false;
  if (one.to == To::kSecondHalf && word.half != 1) return false;
  if (!word.to) return one.to != To::kOne && one.to != To::kAllButOne && one.what != Do::kFriends;
  const bool is_target = honest > 0 && *word.to == one.target % honest;
  if (one.to == To::kOne) return is_target;
  if (one.to == To::kAllButOne) return !is_target;
  return true;
}

}  // namespace

bool IsContent(Do what) {
  return what == Do::kZeroRoot || what == Do::kWrongRoot || what == Do::kFullBitmap ||
         what == Do::kCommitsRoot || what == Do::kScale;
}

bool IsSealWord(MessageType type) {
  switch (type) {
    case MessageType::kBoot:
    case MessageType::kCommit:
    case MessageType::kPart:
    case MessageType::kAggregate:
    case MessageType::kResult:
    case MessageType::kReveal:
    case MessageType::kProof:
    case MessageType::kRejoin:
      return false;
    default:
      return !wire::IsService(type);
  }
}

const Deviation* Find(const Script& script, const Word& word, std::uint32_t honest) {
  for (const Deviation& one : script.deviations) {
    if (IsContent(one.what)) continue;
    if (!IsAbout(one, word.slot, word.author, word.genesis_counts)) continue;
    if (IsFor(one, word, honest)) return &one;
  }
  return nullptr;
}

const Deviation* FindContent(const Script& script, const wire::Slot& slot, std::uint32_t author) {
  for (const Deviation& one : script.deviations) {
    if (IsContent(one.what) && IsAbout(one, slot, author, false)) return &one;
  }
  return nullptr;
}

std::string FormatScript(const Script& script) {
  std::string text = "h2=" + FormatNumber(script.second_half, 16) + "," +
                     std::string(kModes[static_cast<std::size_t>(script.mode)]);
  for (const Deviation& one : script.deviations) text += ";" + FormatDeviation(one);
  return text;
}

base::StatusOr<Script> ParseScript(std::string_view text) {
  Script script;
  for (bool head = true, more = true; more; head = false) {
    const std::size_t end = text.find(';');
    more = end != text.npos;
    const std::string_view item = text.substr(0, end);
    if (more) text.remove_prefix(end + 1);
    const bool ok =
        head ? ReadHead(item, script) : ReadDeviation(item, script.deviations.emplace_back());
    if (!ok) {
      return base::InvalidArgument("'" + std::string(item) +
                                   "' is not a part of a script (grammar: sim/script/script.h)");
    }
  }
  return script;
}

}  // namespace ostraka::sim
