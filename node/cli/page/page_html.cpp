#include "node/cli/page/page_html.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "node/cli/page/page_charts.h"
#include "node/cli/page/page_text.h"
#include "node/cli/terminal/human.h"

namespace ostraka::cli {
namespace {

// Longer lists say how many more there are; the command line has them whole.
constexpr std::size_t kAwaitedShown = 8;
constexpr std::size_t kAskingShown = 16;
constexpr std::size_t kLeadersShown = 10;
constexpr std::size_t kRemovalsShown = 20;
constexpr std::size_t kProofsShown = 2;
constexpr std::size_t kVotersShown = 4;
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

// <bdi>: a direction mark in a name ends with it.
// A phone shows the first half of the digits (page.css). `whole`: else that half is all there is.
std::string Who(const PagePeer& peer, bool whole = true) {
  const std::string digits = peer.id.substr(0, 16);
  const std::size_t half = std::min<std::size_t>(digits.size(), 8);
  const std::string rest = "<span class=\"rest\">" + Html(digits.substr(half)) + "</span>";
  const std::string id = (whole ? "<code title=\"" + Html(peer.id) + "\">" : "<code>") +
                         Html(digits.substr(0, half)) + (whole ? rest : "") + "</code>";
  return peer.name.empty() ? id : "<bdi>" + Html(peer.name) + "</bdi> " + id;
}
std::string ShortWho(const PagePeer& peer) {
  return "<bdi title=\"" + Html(peer.id) + "\">" + Html(ShownName(peer)) + "</bdi>";
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

std::string Banner(const PageData& data) {
  constexpr std::array<const char*, 3> kKinds = {"good", "waits", "bad"};
  constexpr std::array<const char*, 3> kMarks = {"●", "◐", "▲"};
  const auto mood = static_cast<std::size_t>(data.news.mood);
  std::string inside = Tag("p", "class=\"headline\" role=\"status\"",
                           "<span aria-hidden=\"true\">" + std::string(kMarks.at(mood)) +
                               "</span> " + Html(data.news.headline));
  if (!data.news.detail.empty()) {
    inside += Tag("p", "class=\"detail\"", "<bdi>" + Html(data.news.detail) + "</bdi>");
  }
  if (data.unprotected) {
    inside += Tag("p", "class=\"detail\"", "Unprotected: plain averaging, nothing is checked.");
  }
  return Tag("div", std::string("class=\"banner ") + kKinds.at(mood) + "\"", inside) + "\n";
}

std::string Figure(const std::string& name, const std::string& value, const std::string& note) {
  return "<div><dt>" + name + "</dt><dd>" + value +
         (note.empty() ? "" : " <small>" + note + "</small>") + "</dd></div>";
}

std::string Figures(const PageData& data) {
  const PageProgress& now = data.progress;
  // A run outlasts its plan by some steps after a late ban.
  const char* of = now.step > now.steps ? "planned: " : "of ";
  std::string html = Figure("Step", CountText(now.step), of + CountText(now.steps));
  html += Figure("A step takes",
                 now.seconds_per_step ? SpanText(*now.seconds_per_step) : std::string("–"), "");
  if (data.ended) {
    html += Figure("Ran for", SpanText(data.self.uptime_seconds), "");
  } else {
    const bool stands = data.news.mood != Mood::kGood && now.seconds_in_phase >= kLongWait;
    html += Figure("Time left", now.seconds_left ? SpanText(*now.seconds_left) : std::string("–"),
                   now.seconds_left && stands ? "once the run goes on" : "");
  }
  const auto& batch = data.learning.batch;
  const std::string of_batch =
      batch ? "on its own batch of step " + CountText(batch->step) : std::string();
  const std::string own = batch ? FourDigits(batch->loss) + " " + of_batch : std::string();
  if (data.learning.points.empty()) {
    html += Figure("Loss", batch ? FourDigits(batch->loss) : std::string("–"),
                   batch        ? of_batch
                   : data.ended ? ""
                                : "not evaluated yet");
  } else {
    const host::CurvePoint& newest = data.learning.points.back();
    const std::string after = "after step " + CountText(newest.step);
    if (data.learning.metric == "accuracy") {
      html += Figure("Accuracy", PercentText(newest.value), after);
    }
    const std::string when = data.learning.metric == "accuracy" ? "" : after;
    html += Figure("Loss", FourDigits(newest.loss),
                   when + (when.empty() || own.empty() ? "" : ", ") + own);
  }
  std::string bar = "<progress max=\"" + std::to_string(std::max<std::uint64_t>(now.steps, 1)) +
                    "\" value=\"" + std::to_string(std::min(now.step, now.steps)) +
                    "\" aria-label=\"Steps done\"></progress>";
  return Tag("dl", "class=\"figures\"", html) + bar + "\n";
}

std::string Author(const PageAwaited::Author& author) {
  return ShortWho(author.peer) + (author.linked ? "" : " (not linked)");
}

std::string AwaitedItem(const PageAwaited& awaited) {
  std::string names;
  const std::size_t shown = std::min(awaited.authors.size(), kAwaitedShown);
  for (std::size_t i = 0; i < shown; ++i) {
    names += (i == 0 ? "" : ", ") + Author(awaited.authors[i]);
  }
  if (awaited.authors.size() > shown) {
    names += " and " + CountText(awaited.authors.size() - shown) + " more";
  }
  return Tag("li", "", "<strong>" + Html(awaited.message) + "</strong> of " + names);
}

std::string NowSection(const PageData& data) {
  const PageProgress& now = data.progress;
  std::string html;
  if (data.ended) {
    html = Tag("p", "", "The run has ended on this node: nothing is awaited.");
  } else {
    html = Tag("p", "",
               "Phase <strong>" + Html(now.phase) + "</strong> of step " + CountText(now.step) +
                   ", for " + SpanText(now.seconds_in_phase) + ".");
    std::string items;
    if (now.seconds_in_phase >= kLongWait) {
      for (const PageAwaited& awaited : data.awaited) items += AwaitedItem(awaited);
    }
    html += items.empty() ? Tag("p", "", "No message is overdue.")
                          : Tag("p", "", "Awaited for " + SpanText(now.seconds_in_phase) + ":") +
                                Tag("ul", "", items);
  }
  if (data.root) {
    html += Tag("p", "class=\"root\"",
                "State root, sealed in step " + CountText(data.root->step) + ": <code>" +
                    Html(data.root->root.Hex()) + "</code>");
  } else if (!data.unprotected) {
    html += Tag("p", "class=\"root\"", "State root: none is sealed yet.");
  }
  return Section("now", "Now", html);
}

// --- learning, phases, price --------------------------------------------------------------------

std::string LearningSection(const PageData& data) {
  const PageLearning& learning = data.learning;
  if (learning.points.empty()) {
    return Section("learning", "Learning",
                   Tag("p", "",
                       "There is no evaluation yet: <code>--evaluate-every</code> says how often "
                       "there is one."));
  }
  const bool accuracy = learning.metric == "accuracy";
  std::string caption =
      Key("c1", data.data == "tokens" ? "loss in nats a token (left)" : "loss (left)");
  if (accuracy) caption += Key("c3", "accuracy (right)");
  if (learning.begins_late) {
    caption += "from step " + CountText(*learning.begins_late) + " on: this node has none before";
  }
  std::string rows;
  constexpr std::size_t kRows = 12;
  const std::size_t first = learning.points.size() - std::min(learning.points.size(), kRows);
  for (std::size_t i = first; i < learning.points.size(); ++i) {
    const host::CurvePoint& point = learning.points[i];
    rows += "<tr>" + NumberCell(CountText(point.step)) + NumberCell(FourDigits(point.loss)) +
            (accuracy ? NumberCell(PercentText(point.value)) : "") + "</tr>";
  }
  const std::string table = Table(
      "The last evaluations",
      Head("Step", true) + Head("Loss", true) + (accuracy ? Head("Accuracy", true) : ""), rows);
  return Section(
      "learning", "Learning",
      Tag("figure", "",
          CurveChart(learning, data.progress.steps) + Tag("figcaption", "", caption)) +
          Tag("details", "", Tag("summary", "", "The last evaluations in numbers") + table));
}

std::string PriceSection(const PageData& data) {
  if (!data.price) {
    return Section("price", "Price of protection",
                   Tag("p", "", "It is measured once the first step is done."));
  }
  const PagePrice& price = *data.price;
  const double whole = price.Whole();
  const auto row = [whole](const char* kind, const char* name, const char* what, double seconds) {
    return "<tr>" + Tag("th", "scope=\"row\"", Key(kind, name)) + Cell(what) +
           NumberCell(SpanText(seconds)) + NumberCell(PercentText(seconds / whole)) + "</tr>";
  };
  const std::string table =
      Table("Mean time of a recent step by part",
            Head("Part") + Head("Work") + Head("Time", true) + Head("Share", true),
            row("c1", "compute", "the own gradient", price.compute) +
                row("c2", "aggregate", "parts, robust aggregates, proofs", price.aggregate) +
                row("c3", "agree", "three seals", price.agree));
  return Section("price", "Price of protection",
                 Tag("p", "",
                     "A recent step took " + SpanText(whole) + ", " +
                         PercentText(price.compute / whole) + " of it for the own gradient.") +
                     PriceBar(price) + table);
}

std::string PhaseSection(const PageData& data) {
  if (data.spans.empty()) return "";
  const std::string keys =
      Key("c1", "collect") + Key("c2", "reveal") + Key("c3", "prove") + Key("c4", "settle");
  const bool slow = std::any_of(data.spans.begin(), data.spans.end(),
                                [](const host::StepSpan& span) { return span.slow; });
  return Section(
      "phases", "The last steps",
      Tag("figure", "",
          PhaseChart(data.spans) +
              Tag("figcaption", "", keys + (slow ? "! a member was silent or late" : ""))));
}

// --- members ------------------------------------------------------------------------------------

std::string StateCell(const PageMember& member) {
  constexpr std::array<const char*, 10> kKinds = {"ready",   "trains", "checks",  "trial",
                                                  "asleep",  "away",   "leaving", "left",
                                                  "dropped", "banned"};
  const auto state = static_cast<std::size_t>(member.state);
  const std::string at =
      member.address.empty() ? "" : " title=\"dialed at " + Html(member.address) + "\"";
  std::string text = std::string("<span class=\"state ") + kKinds.at(state) + "\"" + at + ">" +
                     MemberStateName(member.state) + "</span>";
  std::string notes;
  const auto note = [&notes](const std::string& each) {
    notes += (notes.empty() ? "" : ", ") + each;
  };
  if (member.only_dials) note("only dials");
  if (member.carried) note("forwarded");
  if (member.returned) note("returned");
  if (member.asks) note("asks to return");
  if (member.may_return) note("may return from step " + CountText(*member.may_return));
  if (member.vouched) note("invited by " + ShortWho(*member.vouched));
  if (!notes.empty()) text += " " + Tag("small", "", notes);
  return Cell(text);
}

// The style sheet aligns the numbers: a class in each cell would weigh more than they do.
std::string MemberRow(const PageMember& member, bool whole_id) {
  return "<tr>" +
         Tag("th", "scope=\"row\"",
             Who(member.peer, whole_id) + (member.self ? " <small>this node</small>" : "")) +
         StateCell(member) + Cell(CountText(member.samples)) + Cell(PercentText(member.share)) +
         Cell(CountText(member.checked)) + Cell(CountText(member.checks)) +
         Cell(SpanText(static_cast<double>(member.late_ms) * 1e-3)) +
         Cell(member.self ? "–" : BytesText(member.sent)) +
         Cell(member.self ? "–" : BytesText(member.received)) + "</tr>";
}

std::string MembersSection(const PageData& data) {
  std::string rows;
  const bool whole_ids = data.members.size() <= kWholeIds;
  for (const PageMember& member : data.members) rows += MemberRow(member, whole_ids);
  const std::string heads = Head("Member") + Head("State") + Head("Verified samples", true) +
                            Head("Share", true) + Head("Steps checked", true) +
                            Head("Checks made", true) + Head("Lag", true) + Head("Sent to", true) +
                            Head("Received", true);
  std::string notes =
      "Verified: the gradient entered the model under a sealed proof. A ban takes all of a "
      "member's samples away. Lag: the time for which the member has delayed the others, less what "
      "has been forgiven. A member that comes in or returns starts with half of the allowance";
  notes += data.late_allowed_ms == 0
               ? std::string(".")
               : ". A member whose lag exceeds " +
                     SpanText(static_cast<double>(data.late_allowed_ms) * 1e-3) + " is dropped.";
  return Section(
      "members", "Members",
      ScrollTable("Table of members", "Members: state, work, lag and bytes", heads, rows) +
          Tag("p", "class=\"note\"", notes));
}

std::string AskingItem(const PageDoor::Asking& asking) {
  std::string text = ShortWho(asking.peer) + " asks to come in: confirmed in " +
                     CountText(asking.blocks) + " of " + CountText(asking.needed) + " blocks";
  if (asking.moderator) text += ", by an invite of " + ShortWho(*asking.moderator);
  return Tag("li", "", text + ".");
}

std::string DoorSection(const PageData& data) {
  if (!data.door) return "";
  const PageDoor& door = *data.door;
  std::string seats = CountText(door.members) + " of " + CountText(door.seats) + " seats are taken";
  if (door.kept > 0)
    seats += ", " + CountText(door.kept) + " more kept for members that may return";
  seats += door.policy == "closed" ? ". The run is closed: nobody else comes in."
                                   : ". Others come in by " + Html(door.policy) + ".";
  seats += " The run bears " + CountText(door.bears) +
           (door.bears == 1 ? " faulty member." : " faulty members.");
  std::string items;
  for (const PageDoor::Moderator& moderator : door.moderators) {
    items += Tag("li", "",
                 "Invites of " + ShortWho(moderator.peer) + " have used " +
                     CountText(moderator.admitted) + " of its " + CountText(moderator.quota) +
                     " keys" + (moderator.revoked ? "; all of them are revoked." : "."));
  }
  const std::size_t shown = std::min(door.asking.size(), kAskingShown);
  for (std::size_t i = 0; i < shown; ++i) items += AskingItem(door.asking[i]);
  if (door.asking.size() > shown) {
    items += Tag("li", "", CountText(door.asking.size() - shown) + " more ask.");
  }
  return Section("door", "Who may come in",
                 Tag("p", "", seats) + (items.empty() ? "" : Tag("ul", "", items)));
}

std::string LeadersSection(const PageData& data) {
  if (data.leaders.places.empty()) {
    return Section("leaders", "Leaderboard", Tag("p", "", "No sample is verified yet."));
  }
  const auto most = static_cast<double>(data.members[data.leaders.places.front()].samples);
  std::string what = "Verified samples by member";
  if (data.leaders.from > 0) what += ", from step " + CountText(data.leaders.from) + " on";
  what += ".";
  std::string items;
  const std::size_t shown = std::min(data.leaders.places.size(), kLeadersShown);
  for (std::size_t i = 0; i < shown; ++i) {
    const PageMember& member = data.members[data.leaders.places[i]];
    items += Tag("li", "",
                 "<span class=\"who\">" + ShortWho(member.peer) + "</span>" +
                     ShareBar(static_cast<double>(member.samples) / most) + "<span class=\"n\">" +
                     CountText(member.samples) + "</span>");
  }
  std::string more;
  if (data.leaders.places.size() > shown) {
    more = Tag("p", "class=\"note\"",
               "and " + CountText(data.leaders.places.size() - shown) + " more: see Members.");
  }
  return Section("leaders", "Leaderboard",
                 Tag("p", "", what) + Tag("ol", "class=\"leaders\"", items) + more);
}

std::string Names(const std::vector<PagePeer>& peers) {
  std::string names;
  const std::size_t shown = std::min(peers.size(), kVotersShown);
  for (std::size_t i = 0; i < shown; ++i) {
    names += (i == 0 ? "<bdi>" : ", <bdi>") + Html(ShownName(peers[i])) + "</bdi>";
  }
  if (peers.size() > shown) names += " and " + CountText(peers.size() - shown) + " more";
  return names;
}

std::string VotesLine(const PageRemoval& removal) {
  if (!removal.votes) return "";
  const PageVotes& votes = *removal.votes;
  std::string line = "Voted against it (" + CountText(votes.against.size()) + " of " +
                     CountText(votes.voters) + "): " + Names(votes.against);
  if (!votes.in_favour.empty()) {
    line +=
        "; in its favour (" + CountText(votes.in_favour.size()) + "): " + Names(votes.in_favour);
  }
  return Tag("p", "", line + ".");
}

std::string ProofLinks(const PageRemoval& removal) {
  std::string links;
  const std::size_t shown = std::min(removal.proofs.size(), kProofsShown);
  for (std::size_t i = 0; i < shown; ++i) {
    const PageProof& proof = removal.proofs[i];
    links += (i == 0 ? "Evidence: " : "; ") +
             Tag("a",
                 "href=\"/evidence/" + Html(proof.id) + "\" download=\"ostraka-" +
                     Html(proof.id.substr(0, 8)) + ".evidence\"",
                 Html(proof.text));
  }
  if (removal.proofs.size() > shown) {
    links += " and " + CountText(removal.proofs.size() - shown) + " more";
  }
  return links.empty() ? "" : Tag("p", "", links);
}

std::string RemovalItem(const PageRemoval& removal) {
  const std::string kind = removal.ban ? "banned" : "dropped";
  std::string head = "<span class=\"state " + kind + "\">" + kind + "</span> " + Who(removal.peer);
  if (removal.seen || !removal.ban) head += " in step " + CountText(removal.step);
  if (removal.seen) head += ", by " + Html(removal.kind);
  if (removal.returned) {
    head += "; <strong>returned</strong> in step " + CountText(*removal.returned);
  }
  return Tag("li", "",
             Tag("p", "", head) +
                 Tag("p", "class=\"reason\"", "<bdi>" + Html(removal.reason) + "</bdi>") +
                 VotesLine(removal) + ProofLinks(removal));
}

std::string RemovalsSection(const PageData& data) {
  const char* title = "Bans, drops and returns";
  if (data.removals.empty()) {
    return Section("removals", title, Tag("p", "", "No member was banned or dropped."));
  }
  std::string items;
  const std::size_t shown = std::min(data.removals.size(), kRemovalsShown);
  for (std::size_t i = 0; i < shown; ++i) items += RemovalItem(data.removals[i]);
  std::string more;
  if (data.removals.size() > shown) {
    more = Tag("p", "class=\"note\"",
               CountText(data.removals.size() - shown) +
                   " earlier: <code>ostraka ledger explain DIR PEER</code>.");
  }
  return Section("removals", title, Tag("ul", "", items) + more);
}

// Whether others can dial this node.
std::string Dialed(const PageNode& self) {
  std::string html;
  if (!self.advice.empty()) html += Tag("p", "", Tag("strong", "", Html(self.advice)));
  std::string tries;
  for (const std::string& line : self.dialed) tries += (tries.empty() ? "" : "; ") + line;
  if (!tries.empty()) html += Tag("p", "", "Seen from outside: " + Html(tries) + ".");
  return html;
}

std::string Foot(const PageData& data) {
  const std::string unread =
      data.self.unread.empty()
          ? ""
          : Tag("p", "",
                "What was before this node's start is missing here: " + Html(data.self.unread));
  return "<footer><p>Run <code>" + Html(data.run_id) + "</code>, up " +
         SpanText(data.self.uptime_seconds) + ", memory " + BytesText(data.self.rss_bytes) +
         ".</p>" + unread + Dialed(data.self) +
         "<p>For programs: <a href=\"/status\">/status</a>, <a "
         "href=\"/metrics\">/metrics</a>, <a href=\"/healthz\">/healthz</a>.</p></footer>\n";
}

std::string TitleOf(const PageData& data) {
  return CountText(data.progress.step) + "/" + CountText(data.progress.steps) + " " +
         data.news.headline + " – ostraka";
}

}  // namespace

std::string PageMain(const PageData& data) {
  const std::string name =
      data.run_name.empty() ? "run " + data.run_id.substr(0, 16) : data.run_name;
  std::string what = Html(data.model);
  if (data.data != data.model) what += " on " + Html(data.data);
  return "<main data-title=\"" + Html(TitleOf(data)) + "\"" + (data.ended ? " data-ended" : "") +
         ">\n<header><h1><bdi>" + Html(name) + "</bdi></h1><p>" + what + ", seen by " +
         Who(data.self.peer) + "</p></header>\n" + Banner(data) + Figures(data) +
         "<div class=\"columns\">\n<div>\n" + LearningSection(data) + PhaseSection(data) +
         "</div>\n<div>\n" + NowSection(data) + PriceSection(data) + LeadersSection(data) +
         "</div>\n</div>\n" + MembersSection(data) + DoorSection(data) + RemovalsSection(data) +
         Foot(data) + "</main>";
}

std::string PageDocument(const PageData& data) {
  return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta "
         "name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta "
         "name=\"color-scheme\" content=\"light dark\">\n<title>" +
         Html(TitleOf(data)) +
         "</title>\n<link rel=\"icon\" href=\"/icon.svg\">\n<link rel=\"stylesheet\" "
         "href=\"/page.css\">\n<script src=\"/page.js\" defer></script>\n<noscript><meta "
         "http-equiv=\"refresh\" content=\"5\"></noscript>\n</head>\n<body>\n<header "
         "class=\"top\"><p class=\"brand\">ostraka</p><p id=\"contact\" role=\"status\" hidden></p>"
         "</header>\n" +
         PageMain(data) + "\n</body>\n</html>\n";
}

}  // namespace ostraka::cli
