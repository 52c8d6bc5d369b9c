#include "node/cli/page/page_html.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "node/cli/page/page_charts.h"
#include "node/cli/page/page_text.h"
#include "node/cli/terminal/human.h"
#include "node/cli/views/json_reading.h"
#include "node/cli/views/node_json.h"
#include "node/cli/views/status_json.h"
#include "node/cli/views/status_text.h"

namespace ostraka::cli {

using nlohmann::json;

namespace {

// Longer lists say how many more there are; the command line has them whole.
constexpr std::size_t kAwaitedShown = 8;
constexpr std::size_t kAskingShown = 16;
constexpr std::size_t kLeadersShown = 10;
constexpr std::size_t kRemovalsShown = 20;
constexpr std::size_t kDialsShown = 8;
// Beyond so many members, their table has 8 digits of each id: /status has the whole ids.
constexpr std::size_t kWholeIds = 64;
// Shorter waits belong to each step, and a list of them would flicker.
constexpr double kLongWait = 1;

// `inside` is HTML.
std::string Tag(const std::string& name, const std::string& attributes, const std::string& inside) {
  return "<" + name + (attributes.empty() ? "" : " " + attributes) + ">" + inside + "</" + name +
         ">";
}
std::string Cell(const std::string& inside) { return Tag("td", "", inside); }
std::string NumberCell(const std::string& inside) { return Tag("td", "class=\"n\"", inside); }

std::string Head(std::string_view title, bool number = false) {
  return Tag("th", std::string("scope=\"col\"") + (number ? " class=\"n\"" : ""), Html(title));
}

// The status, and the names in it.
struct View {
  const json& status;
  MemberNames names;

  bool ended() const { return !status.at("running").get<bool>(); }
  bool unprotected() const { return status.at("run").at("unprotected").get<bool>(); }
  // `text`, in which members stand by name.
  std::string Named(const std::string& text) const { return Html(names.In(text)); }
  std::string NameOf(const std::string& id) const {
    const auto peer = base::PeerId::FromHexDigits(id);
    return peer ? names.Of(*peer) : "";
  }
  // "anna (4be81737)", or the first 8 digits of the id.
  std::string Shown(const std::string& id) const {
    const std::string name = NameOf(id);
    const std::string digits = id.substr(0, 8);
    return name.empty() ? digits : name + " (" + digits + ")";
  }
};

// <bdi>: a direction mark in a name ends with it.
// A phone shows the first half of the digits (page.css). `whole`: else that half is all there is.
std::string Who(const View& view, const std::string& id, bool whole = true) {
  const std::string name = view.NameOf(id);
  const std::string digits = id.substr(0, 16);
  const std::size_t half = std::min<std::size_t>(digits.size(), 8);
  const std::string rest = "<span class=\"rest\">" + Html(digits.substr(half)) + "</span>";
  const std::string code = (whole ? "<code title=\"" + Html(id) + "\">" : "<code>") +
                           Html(digits.substr(0, half)) + (whole ? rest : "") + "</code>";
  return name.empty() ? code : "<bdi>" + Html(name) + "</bdi> " + code;
}
std::string ShortWho(const View& view, const std::string& id) {
  return "<bdi title=\"" + Html(id) + "\">" + Html(view.Shown(id)) + "</bdi>";
}

std::string Section(const std::string& id, const std::string& title, const std::string& inside) {
  return "<section id=\"" + id + "\" aria-labelledby=\"" + id + "-h\"><h2 id=\"" + id + "-h\">" +
         title + "</h2>" + inside + "</section>\n";
}

// `caption` is for screen readers: those who see read the section's heading.
std::string Table(const char* caption, const std::string& heads, const std::string& rows) {
  return "<table>" + Tag("caption", "class=\"unseen\"", caption) +
         Tag("thead", "", Tag("tr", "", heads)) + Tag("tbody", "", rows) + "</table>";
}

// A table that may be wider than the screen: it can be scrolled by keyboard.
std::string ScrollTable(const char* label, const char* caption, const std::string& heads,
                        const std::string& rows) {
  return Tag(
      "div",
      std::string("class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"") + label + "\"",
      Table(caption, heads, rows));
}

std::string Key(const char* kind, const std::string& text) {
  return std::string(
             "<span class=\"key\"><svg class=\"swatch\" aria-hidden=\"true\" viewBox=\"0 0 "
             "10 10\"><rect class=\"") +
         kind + "\" width=\"10\" height=\"10\"/></svg>" + text + "</span> ";
}

// --- the top ------------------------------------------------------------------------------------

std::string Banner(const View& view) {
  const json& news = view.status.at("news");
  const std::string mood = TextAt(news, "mood");
  const char* const mark = mood == "good" ? "●" : mood == "waits" ? "◐" : "▲";
  std::string inside = Tag("p", "class=\"headline\" role=\"status\"",
                           "<span aria-hidden=\"true\">" + std::string(mark) + "</span> " +
                               Html(TextAt(news, "headline")));
  const std::string detail = TextAt(news, "detail");
  if (!detail.empty()) {
    inside += Tag("p", "class=\"detail\"", "<bdi>" + view.Named(detail) + "</bdi>");
  }
  if (view.unprotected()) {
    inside += Tag("p", "class=\"detail\"", "Unprotected: plain averaging, nothing is checked.");
  }
  return Tag("div", "class=\"banner " + Html(mood) + "\"", inside) + "\n";
}

std::string Figure(const std::string& name, const std::string& value, const std::string& note) {
  return "<div><dt>" + name + "</dt><dd>" + value +
         (note.empty() ? "" : " <small>" + note + "</small>") + "</dd></div>";
}

// The loss, and the accuracy if that is the metric: of the last evaluation, and on the own batch.
std::string LearningFigures(const View& view) {
  std::string of_batch;
  std::string own;
  if (view.status.contains("batch")) {
    const json& batch = view.status.at("batch");
    of_batch = "on its own batch of step " + CountText(CountAt(batch, "step"));
    own = FourDigits(NumberAt(batch, "loss"));
  }
  const json& points = view.status.at("curve").at("points");
  if (points.empty()) {
    if (!own.empty()) return Figure("Loss", own, of_batch);
    return Figure("Loss", "–", view.ended() ? "" : "not evaluated yet");
  }
  const json& newest = points.back();
  const std::string after = "after step " + CountText(newest.at(0).get<std::uint64_t>());
  const bool accuracy = view.status.at("curve").at("metric") == "accuracy";
  const std::string when = accuracy ? "" : after;
  const std::string batch = own.empty() ? "" : own + " " + of_batch;
  return (accuracy ? Figure("Accuracy", PercentText(NumberOf(newest.at(2))), after) : "") +
         Figure("Loss", FourDigits(NumberOf(newest.at(1))),
                when + (when.empty() || batch.empty() ? "" : ", ") + batch);
}

std::string Figures(const View& view) {
  const json& status = view.status;
  const std::uint64_t step = CountAt(status, "step");
  const std::uint64_t steps = CountAt(status, "steps");
  const auto span = [&](const char* key) {
    const auto seconds = NumberIn(status, key);
    return seconds ? SpanText(*seconds) : std::string("–");
  };
  // A run outlasts its plan by some steps after a late ban.
  const char* of = step > steps ? "planned: " : "of ";
  std::string html = Figure("Step", CountText(step), of + CountText(steps));
  html += Figure("A step takes", span("seconds_per_step"), "");
  if (view.ended()) {
    html += Figure("Ran for", span("uptime_seconds"), "");
  } else {
    const bool stands = status.at("news").at("mood") != "good" &&
                        NumberAt(status, "seconds_since_progress") >= kLongWait;
    html += Figure("Time left", span("eta_seconds"),
                   status.contains("eta_seconds") && stands ? "once the run goes on" : "");
  }
  html += LearningFigures(view);
  const std::string bar = "<progress max=\"" + std::to_string(std::max<std::uint64_t>(steps, 1)) +
                          "\" value=\"" + std::to_string(std::min(step, steps)) +
                          "\" aria-label=\"Steps done\"></progress>";
  return Tag("dl", "class=\"figures\"", html) + bar + "\n";
}

// A line for each kind of message that the node waits for, in the order of waits_for.
std::string AwaitedItems(const View& view) {
  std::vector<std::pair<std::string, std::vector<const json*>>> kinds;
  for (const json& awaited : view.status.at("waits_for")) {
    const std::string message = TextAt(awaited, "message");
    auto kind = std::find_if(kinds.begin(), kinds.end(),
                             [&](const auto& each) { return each.first == message; });
    if (kind == kinds.end()) kind = kinds.insert(kind, {message, {}});
    kind->second.push_back(&awaited);
  }
  std::string items;
  for (const auto& [message, authors] : kinds) {
    std::string names;
    const std::size_t shown = std::min(authors.size(), kAwaitedShown);
    for (std::size_t i = 0; i < shown; ++i) {
      names += (i == 0 ? "" : ", ") + ShortWho(view, TextAt(*authors[i], "peer")) +
               (IsSet(*authors[i], "linked") ? "" : " (not linked)");
    }
    if (authors.size() > shown) names += " and " + CountText(authors.size() - shown) + " more";
    items += Tag("li", "", "<strong>" + Html(message) + "</strong> of " + names);
  }
  return items;
}

std::string NowSection(const View& view) {
  const json& status = view.status;
  const double seconds = NumberAt(status, "seconds_since_progress");
  std::string html;
  if (view.ended()) {
    html = Tag("p", "", "The run has ended on this node: nothing is awaited.");
  } else {
    html = Tag("p", "",
               "Phase <strong>" + Html(TextAt(status, "phase")) + "</strong> of step " +
                   CountText(CountAt(status, "step")) + ", for " + SpanText(seconds) + ".");
    const std::string items = seconds >= kLongWait ? AwaitedItems(view) : "";
    html += items.empty()
                ? Tag("p", "", "No message is overdue.")
                : Tag("p", "", "Awaited for " + SpanText(seconds) + ":") + Tag("ul", "", items);
  }
  if (status.contains("state_root")) {
    const json& root = status.at("state_root");
    html += Tag("p", "class=\"root\"",
                "State root, sealed in step " + CountText(CountAt(root, "step")) + ": <code>" +
                    Html(TextAt(root, "root")) + "</code>");
  } else if (!view.unprotected()) {
    html += Tag("p", "class=\"root\"", "State root: none is sealed yet.");
  }
  return Section("now", "Now", html);
}

// --- learning, phases, price --------------------------------------------------------------------

// The last evaluations in numbers.
std::string CurveTable(const json& points, bool accuracy) {
  std::string rows;
  constexpr std::size_t kRows = 12;
  for (std::size_t i = points.size() - std::min(points.size(), kRows); i < points.size(); ++i) {
    const json& point = points[i];
    rows += "<tr>" + NumberCell(CountText(point.at(0).get<std::uint64_t>())) +
            NumberCell(FourDigits(NumberOf(point.at(1)))) +
            (accuracy ? NumberCell(PercentText(NumberOf(point.at(2)))) : "") + "</tr>";
  }
  return Table("The last evaluations",
               Head("Step", true) + Head("Loss", true) + (accuracy ? Head("Accuracy", true) : ""),
               rows);
}

// What the model wrote at the last evaluation.
std::string Sample(const View& view) {
  if (!view.status.contains("sample")) return "";
  const json& sample = view.status.at("sample");
  return Tag("figure", "",
             Tag("pre", "class=\"sample\"",
                 HtmlLines(sample.at("prompt").get<std::string>()) +
                     Tag("mark", "", HtmlLines(sample.at("text").get<std::string>()))) +
                 Tag("figcaption", "", "a held-out text, and how the model continues it"));
}

std::string LearningSection(const View& view) {
  const json& curve = view.status.at("curve");
  const json& points = curve.at("points");
  if (points.empty()) {
    return Section("learning", "Learning",
                   Tag("p", "",
                       "There is no evaluation yet: <code>--evaluate-every</code> says how often "
                       "there is one."));
  }
  const bool accuracy = curve.at("metric") == "accuracy";
  const bool tokens = view.status.at("run").at("data") == "tokens";
  std::string caption = Key("c1", tokens ? "loss in nats a token (left)" : "loss (left)");
  if (accuracy) caption += Key("c3", "accuracy (right)");
  // The ledger keeps no older evaluation.
  if (const auto first = points.front().at(0).get<std::uint64_t>(); first > 0) {
    caption += "from step " + CountText(first) + " on: this node has none before";
  }
  return Section(
      "learning", "Learning",
      Tag("figure", "",
          CurveChart(curve, CountAt(view.status, "steps")) + Tag("figcaption", "", caption)) +
          Sample(view) +
          Tag("details", "",
              Tag("summary", "", "The last evaluations in numbers") +
                  CurveTable(points, accuracy)));
}

std::string PriceSection(const View& view) {
  if (!view.status.contains("price")) {
    return Section("price", "Price of protection",
                   Tag("p", "", "It is measured once the first step is done."));
  }
  const json& price = view.status.at("price");
  const double compute = NumberAt(price, "compute");
  const double aggregate = NumberAt(price, "aggregate");
  const double agree = NumberAt(price, "agree");
  const double whole = compute + aggregate + agree;
  const auto row = [whole](const char* kind, const char* name, const char* what, double seconds) {
    return "<tr>" + Tag("th", "scope=\"row\"", Key(kind, name)) + Cell(what) +
           NumberCell(SpanText(seconds)) + NumberCell(PercentText(seconds / whole)) + "</tr>";
  };
  const std::string table =
      Table("Mean time of a recent step by part",
            Head("Part") + Head("Work") + Head("Time", true) + Head("Share", true),
            row("c1", "compute", "the own gradient", compute) +
                row("c2", "aggregate", "parts, robust aggregates, proofs", aggregate) +
                row("c3", "agree", "three seals", agree));
  const std::string traffic =
      view.status.contains("step_costs")
          ? " On average a step " + StepTrafficText(view.status.at("step_costs")) + "."
          : "";
  return Section("price", "Price of protection",
                 Tag("p", "",
                     "A recent step took " + SpanText(whole) + ", " + PercentText(compute / whole) +
                         " of it for the own gradient." + traffic) +
                     ShareBars({compute, aggregate, agree}) + table);
}

std::string PhaseSection(const View& view) {
  const json& phases = view.status.at("phases");
  if (phases.empty()) return "";
  const std::string keys =
      Key("c1", "collect") + Key("c2", "reveal") + Key("c3", "prove") + Key("c4", "settle");
  const bool slow = std::any_of(phases.begin(), phases.end(),
                                [](const json& span) { return IsSet(span, "slow"); });
  return Section(
      "phases", "The last steps",
      Tag("figure", "",
          PhaseChart(phases) +
              Tag("figcaption", "", keys + (slow ? "! a member was silent or late" : ""))));
}

// --- members ------------------------------------------------------------------------------------

// The style sheet's name of a state.
std::string KindOf(const std::string& state) {
  if (state == "on trial") return "trial";
  for (const char* known :
       {"ready", "trains", "checks", "asleep", "away", "leaving", "left", "dropped", "banned"}) {
    if (state == known) return state;
  }
  return "ready";
}

// The moderator whose invite let that key in; nullopt: none that this node knows of.
std::optional<std::string> VouchedBy(const View& view, const std::string& id) {
  if (!view.status.contains("join")) return std::nullopt;
  const json& vouched = view.status.at("join").at("vouched");
  return vouched.contains(id) ? std::optional(TextAt(vouched, id.c_str())) : std::nullopt;
}

std::string StateCell(const View& view, const json& key) {
  const std::string state = TextAt(key, "state");
  const std::string address = key.value("address", "");
  const std::string at = address.empty() ? "" : " title=\"dialed at " + Html(address) + "\"";
  std::string text =
      "<span class=\"state " + KindOf(state) + "\"" + at + ">" + Html(state) + "</span>";
  std::string notes;
  const auto note = [&notes](const std::string& each) {
    notes += (notes.empty() ? "" : ", ") + each;
  };
  if (IsSet(key, "only_dials")) note("only dials");
  if (IsSet(key, "carried")) note("forwarded");
  if (IsSet(key, "returned")) note("returned");
  if (IsSet(key, "asks")) note("asks to return");
  if (const auto step = CountIn(key, "may_return")) {
    note("may return from step " + CountText(*step));
  }
  if (const auto moderator = VouchedBy(view, TextAt(key, "peer"))) {
    note("invited by " + ShortWho(view, *moderator));
  }
  if (!notes.empty()) text += " " + Tag("small", "", notes);
  return Cell(text);
}

// The style sheet aligns the numbers: a class in each cell would weigh more than they do.
std::string MemberRow(const View& view, const json& key, bool whole_id, std::uint64_t all_samples) {
  const bool self = IsSet(key, "self");
  const std::uint64_t samples = CountAt(key, "samples");
  const double share =
      all_samples == 0 ? 0 : static_cast<double>(samples) / static_cast<double>(all_samples);
  const auto bytes = [&](const char* name) {
    return Cell(self ? "–" : BytesText(CountIn(key, name).value_or(0)));
  };
  return "<tr>" +
         Tag("th", "scope=\"row\"",
             Who(view, TextAt(key, "peer"), whole_id) + (self ? " <small>this node</small>" : "")) +
         StateCell(view, key) + Cell(CountText(samples)) + Cell(PercentText(share)) +
         Cell(CountText(CountAt(key, "checked"))) + Cell(CountText(CountAt(key, "checks"))) +
         Cell(SpanText(NumberAt(key, "late_ms") * 1e-3)) + bytes("sent_bytes") +
         bytes("received_bytes") + "</tr>";
}

std::string MembersSection(const View& view) {
  std::string rows;
  const json& keys = view.status.at("keys");
  std::uint64_t all = 0;
  for (const json& key : keys) all += CountAt(key, "samples");
  const bool whole_ids = keys.size() <= kWholeIds;
  for (const json& key : keys) rows += MemberRow(view, key, whole_ids, all);
  const std::string heads = Head("Member") + Head("State") + Head("Verified samples", true) +
                            Head("Share", true) + Head("Steps checked", true) +
                            Head("Checks made", true) + Head("Lag", true) + Head("Sent to", true) +
                            Head("Received", true);
  std::string notes =
      "Verified: the gradient entered the model under a sealed proof. A ban takes all of a "
      "member's samples away. Lag: the time for which the member has delayed the others, less what "
      "has been forgiven. A member that comes in or returns starts with half of the allowance";
  const std::uint64_t allowed = CountIn(view.status, "late_allowed_ms").value_or(0);
  notes += allowed == 0 ? std::string(".")
                        : ". A member whose lag exceeds " +
                              SpanText(static_cast<double>(allowed) * 1e-3) + " is dropped.";
  return Section(
      "members", "Members",
      ScrollTable("Table of members", "Members: state, work, lag and bytes", heads, rows) +
          Tag("p", "class=\"note\"", notes));
}

std::string AskingItem(const View& view, const json& asking) {
  std::string text = ShortWho(view, TextAt(asking, "peer")) + " asks to come in: confirmed in " +
                     CountText(CountAt(asking, "blocks")) + " of " +
                     CountText(CountAt(asking, "needed")) + " blocks";
  if (asking.contains("moderator")) {
    text += ", by an invite of " + ShortWho(view, TextAt(asking, "moderator"));
  }
  return Tag("li", "", text + ".");
}

std::string DoorSection(const View& view) {
  if (!view.status.contains("join")) return "";
  const json& door = view.status.at("join");
  const std::uint64_t kept = CountAt(door, "kept");
  const std::uint64_t bears = CountAt(door, "bears");
  const std::string policy = TextAt(door, "policy");
  std::string seats = CountText(CountAt(door, "members")) + " of " +
                      CountText(CountAt(door, "seats")) + " seats are taken";
  if (kept > 0) seats += ", " + CountText(kept) + " more kept for members that may return";
  seats += policy == "closed" ? ". The run is closed: nobody else comes in."
                              : ". Others come in by " + Html(policy) + ".";
  seats +=
      " The run bears " + CountText(bears) + (bears == 1 ? " faulty member." : " faulty members.");
  std::string items;
  for (const json& moderator : door.at("moderators")) {
    items += Tag("li", "",
                 "Invites of " + ShortWho(view, TextAt(moderator, "peer")) + " have used " +
                     CountText(CountAt(moderator, "admitted")) + " of its " +
                     CountText(CountAt(moderator, "quota")) + " keys" +
                     (IsSet(moderator, "revoked") ? "; all of them are revoked." : "."));
  }
  const json& asking = door.at("asking");
  const std::size_t shown = std::min(asking.size(), kAskingShown);
  for (std::size_t i = 0; i < shown; ++i) items += AskingItem(view, asking[i]);
  const std::uint64_t more = asking.size() - shown + CountIn(door, "asking_more").value_or(0);
  if (more > 0) items += Tag("li", "", CountText(more) + " more ask.");
  return Section("door", "Who may come in",
                 Tag("p", "", seats) + (items.empty() ? "" : Tag("ul", "", items)));
}

std::string LeadersSection(const View& view) {
  std::vector<const json*> leaders;
  for (const json& key : view.status.at("keys")) {
    if (CountAt(key, "samples") > 0) leaders.push_back(&key);
  }
  if (leaders.empty()) {
    return Section("leaders", "Leaderboard", Tag("p", "", "No sample is verified yet."));
  }
  std::stable_sort(leaders.begin(), leaders.end(), [](const json* a, const json* b) {
    return CountAt(*a, "samples") > CountAt(*b, "samples");
  });
  const auto most = NumberAt(*leaders.front(), "samples");
  const std::uint64_t from = CountIn(view.status, "samples_from").value_or(0);
  std::string what = "Verified samples by member";
  if (from > 0) what += ", from step " + CountText(from) + " on";
  what += ".";
  std::string items;
  const std::size_t shown = std::min(leaders.size(), kLeadersShown);
  for (std::size_t i = 0; i < shown; ++i) {
    const json& key = *leaders[i];
    items += Tag("li", "",
                 "<span class=\"who\">" + ShortWho(view, TextAt(key, "peer")) + "</span>" +
                     ShareBar(NumberAt(key, "samples") / most) + "<span class=\"n\">" +
                     CountText(CountAt(key, "samples")) + "</span>");
  }
  std::string more;
  if (leaders.size() > shown) {
    more = Tag("p", "class=\"note\"",
               "and " + CountText(leaders.size() - shown) + " more: see Members.");
  }
  return Section("leaders", "Leaderboard",
                 Tag("p", "", what) + Tag("ol", "class=\"leaders\"", items) + more);
}

// The first of `count` voters.
std::string Names(const View& view, const json& voters, std::uint64_t count) {
  std::string names;
  for (const json& id : voters) {
    names +=
        (names.empty() ? "<bdi>" : ", <bdi>") + Html(view.Shown(id.get<std::string>())) + "</bdi>";
  }
  if (count > voters.size()) names += " and " + CountText(count - voters.size()) + " more";
  return names;
}

std::string VotesLine(const View& view, const json& removal) {
  if (!removal.contains("votes")) return "";
  const json& votes = removal.at("votes");
  const std::uint64_t against = CountAt(votes, "against");
  const std::uint64_t in_favour = CountAt(votes, "in_favour");
  std::string line = "Voted against it (" + CountText(against) + " of " +
                     CountText(CountAt(votes, "voters")) +
                     "): " + Names(view, votes.at("against_by"), against);
  if (in_favour > 0) {
    line += "; in its favour (" + CountText(in_favour) +
            "): " + Names(view, votes.at("in_favour_by"), in_favour);
  }
  return Tag("p", "", line + ".");
}

std::string ProofText(const json& proof) {
  std::string kind = TextAt(proof, "kind");
  std::replace(kind.begin(), kind.end(), '_', ' ');
  const std::uint64_t messages = CountAt(proof, "messages");
  return kind + ", " + std::to_string(messages) + " signed message" + (messages == 1 ? "" : "s");
}

std::string ProofLinks(const json& removal) {
  std::string links;
  if (removal.contains("evidence")) {
    for (const json& proof : removal.at("evidence")) {
      const std::string id = TextAt(proof, "id");
      links += (links.empty() ? "Evidence: " : "; ") +
               Tag("a",
                   "href=\"/evidence/" + Html(id) + "\" download=\"ostraka-" +
                       Html(id.substr(0, 8)) + ".evidence\"",
                   Html(ProofText(proof)));
    }
  }
  if (const auto more = CountIn(removal, "evidence_more")) {
    links += " and " + CountText(*more) + " more";
  }
  return links.empty() ? "" : Tag("p", "", links);
}

std::string RemovalItem(const View& view, const json& removal) {
  const std::string word = RemovalWord(removal);
  std::string head = "<span class=\"state " + word + "\">" + word + "</span> " +
                     Who(view, TextAt(removal, "peer"));
  if (const auto step = CountIn(removal, "step")) head += " in step " + CountText(*step);
  if (removal.value("seen", true)) head += ", by " + Html(TextAt(removal, "kind"));
  if (const auto returned = CountIn(removal, "returned")) {
    head += "; <strong>returned</strong> in step " + CountText(*returned);
  }
  return Tag(
      "li", "",
      Tag("p", "", head) +
          Tag("p", "class=\"reason\"", "<bdi>" + view.Named(TextAt(removal, "reason")) + "</bdi>") +
          VotesLine(view, removal) + ProofLinks(removal));
}

// The newest first.
std::string RemovalsSection(const View& view) {
  const char* title = "Bans, drops and returns";
  const json& removals = view.status.at("removals");
  if (removals.empty()) {
    return Section("removals", title, Tag("p", "", "No member was banned or dropped."));
  }
  std::string items;
  const std::size_t shown = std::min(removals.size(), kRemovalsShown);
  for (std::size_t i = 0; i < shown; ++i) {
    items += RemovalItem(view, removals[removals.size() - 1 - i]);
  }
  std::string more;
  const std::uint64_t earlier =
      removals.size() - shown + CountIn(view.status, "removals_earlier").value_or(0);
  if (earlier > 0) {
    more = Tag("p", "class=\"note\"",
               CountText(earlier) + " earlier: <code>ostraka ledger explain DIR PEER</code>.");
  }
  return Section("removals", title, Tag("ul", "", items) + more);
}

// Whether others can dial this node.
std::string Dialed(const View& view) {
  const json& dial_back = view.status.at("dial_back");
  std::string html;
  if (dial_back.contains("advice")) {
    html += Tag("p", "", Tag("strong", "", view.Named(TextAt(dial_back, "advice"))));
  }
  std::string tries;
  std::size_t shown = 0;
  for (const json& found : dial_back.at("results")) {
    if (shown++ == kDialsShown) break;
    tries += (tries.empty() ? "" : "; ") + view.Named(TextAt(found, "text"));
  }
  if (!tries.empty()) html += Tag("p", "", "Seen from outside: " + tries + ".");
  return html;
}

std::string Foot(const View& view) {
  const std::string unread = view.status.value("unread", "");
  return "<footer><p>Run <code>" + Html(TextAt(view.status, "run_id")) + "</code>, up " +
         SpanText(NumberAt(view.status, "uptime_seconds")) + ", memory " +
         BytesText(CountAt(view.status, "rss_bytes")) + ".</p>" +
         (unread.empty()
              ? ""
              : Tag("p", "",
                    "What was before this node's start is missing here: " + Html(unread))) +
         Dialed(view) +
         "<p>For programs: <a href=\"/status\">/status</a>, <a "
         "href=\"/metrics\">/metrics</a>, <a href=\"/healthz\">/healthz</a>.</p></footer>\n";
}

std::string TitleOf(const View& view) {
  return CountText(CountAt(view.status, "step")) + "/" + CountText(CountAt(view.status, "steps")) +
         " " + TextAt(view.status.at("news"), "headline") + " – ostraka";
}

std::string MainOf(const View& view) {
  const json& run = view.status.at("run");
  std::string name = TextAt(run, "name");
  if (name.empty()) name = "run " + TextAt(view.status, "run_id").substr(0, 16);
  std::string what = Html(TextAt(run, "model"));
  if (run.at("data") != run.at("model")) what += " on " + Html(TextAt(run, "data"));
  return "<main data-title=\"" + Html(TitleOf(view)) + "\"" + (view.ended() ? " data-ended" : "") +
         ">\n<header><h1><bdi>" + Html(name) + "</bdi></h1><p>" + what + ", seen by " +
         Who(view, TextAt(view.status, "peer")) + "</p></header>\n" + Banner(view) + Figures(view) +
         "<div class=\"columns\">\n<div>\n" + LearningSection(view) + PhaseSection(view) +
         "</div>\n<div>\n" + NowSection(view) + PriceSection(view) + LeadersSection(view) +
         "</div>\n</div>\n" + MembersSection(view) + DoorSection(view) + RemovalsSection(view) +
         Foot(view) + "</main>";
}

}  // namespace

std::string PageMain(const json& status) { return MainOf({status, NamesOf(status)}); }

std::string PageDocument(const json& status) {
  const View view{status, NamesOf(status)};
  return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta "
         "name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta "
         "name=\"color-scheme\" content=\"light dark\">\n<title>" +
         Html(TitleOf(view)) +
         "</title>\n<link rel=\"icon\" href=\"/icon.svg\">\n<link rel=\"stylesheet\" "
         "href=\"/page.css\">\n<script src=\"/page.js\" defer></script>\n<noscript><meta "
         "http-equiv=\"refresh\" content=\"5\"></noscript>\n</head>\n<body>\n<header "
         "class=\"top\"><p class=\"brand\">ostraka</p><p id=\"contact\" role=\"status\" hidden></p>"
         "</header>\n" +
         MainOf(view) + "\n</body>\n</html>\n";
}

}  // namespace ostraka::cli
