#include "node/net/reach/learned.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "node/net/mesh/address_book.h"
#include "node/net/udp/resolver.h"

namespace ostraka::net {
namespace {

constexpr std::string_view kHeader = "ostraka learned 1";

std::vector<std::string_view> SplitAt(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

base::StatusOr<base::PeerId> IdOf(std::string_view text) {
  const auto id = base::PeerId::FromHexDigits(std::string(text));
  if (!id) return base::InvalidArgument("has no id of 64 hexadecimal digits");
  return *id;
}

base::StatusOr<std::uint64_t> NumberOf(std::string_view digits) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size()) {
    return base::InvalidArgument("has no number where one belongs");
  }
  return number;
}

base::StatusOr<std::vector<std::string>> AddressesOf(const std::vector<std::string_view>& words,
                                                     std::size_t first) {
  std::vector<std::string> addresses;
  for (std::size_t i = first; i < words.size(); ++i) addresses.emplace_back(words[i]);
  const base::Status good = AddressBook::Check(addresses);
  if (!good.ok()) return good;
  return addresses;
}

base::StatusOr<LearnedMember*> MemberOf(std::string_view id_text, Learned& learned) {
  ASSIGN_OR_RETURN(const base::PeerId id, IdOf(id_text));
  if (!learned.members.contains(id) && learned.members.size() == kMostLearnedMembers) {
    return base::InvalidArgument("is of one member too many");
  }
  return &learned.members[id];
}

base::Status ReadAnnounced(const std::vector<std::string_view>& words, Learned& learned) {
  if (words.size() < 4) return base::InvalidArgument("is cut short");
  ASSIGN_OR_RETURN(LearnedMember * member, MemberOf(words[1], learned));
  ASSIGN_OR_RETURN(member->seq, NumberOf(words[2]));
  ASSIGN_OR_RETURN(member->expires, NumberOf(words[3]));
  ASSIGN_OR_RETURN(member->announced, AddressesOf(words, 4));
  return base::OkStatus();
}

base::Status ReadLinked(const std::vector<std::string_view>& words, Learned& learned) {
  if (words.size() < 3) return base::InvalidArgument("is cut short");
  ASSIGN_OR_RETURN(LearnedMember * member, MemberOf(words[1], learned));
  ASSIGN_OR_RETURN(member->linked, AddressesOf(words, 2));
  return base::OkStatus();
}

base::Status ReadNode(const std::vector<std::string_view>& words, Learned& learned) {
  if (words.size() != 3) return base::InvalidArgument("is no node with an address");
  if (learned.nodes.size() == kMostLearnedNodes) {
    return base::InvalidArgument("is of one node too many");
  }
  ASSIGN_OR_RETURN(const base::PeerId id, IdOf(words[1]));
  const auto endpoint = NumericEndpoint(words[2]);
  if (!endpoint || !dht::IsUsable(*endpoint)) {
    return base::InvalidArgument("has no numeric address");
  }
  learned.nodes.push_back({id, *endpoint});
  return base::OkStatus();
}

base::Status ReadLine(std::string_view line, Learned& learned) {
  const std::vector<std::string_view> words = SplitAt(line, ' ');
  if (words[0] == "announced") return ReadAnnounced(words, learned);
  if (words[0] == "linked") return ReadLinked(words, learned);
  if (words[0] == "node") return ReadNode(words, learned);
  return base::InvalidArgument("begins with no word that is known");
}

}  // namespace

std::string TextOf(const Learned& learned) {
  std::string text = std::string(kHeader) + "\n";
  const auto add = [&text](const std::string& head, const std::vector<std::string>& addresses) {
    text += head;
    for (const std::string& address : addresses) text += " " + address;
    text += "\n";
  };
  for (const auto& [id, member] : learned.members) {
    if (member.expires > 0) {
      add("announced " + id.Hex() + " " + std::to_string(member.seq) + " " +
              std::to_string(member.expires),
          member.announced);
    }
    if (!member.linked.empty()) add("linked " + id.Hex(), member.linked);
  }
  for (const dht::Contact& node : learned.nodes) {
    add("node " + node.peer.Hex(), {dht::TextOf(node.endpoint)});
  }
  return text;
}

base::StatusOr<Learned> ParseLearned(std::string_view text) {
  if (text.size() > kMostLearnedBytes) {
    return base::InvalidArgument("has more than " + std::to_string(kMostLearnedBytes) + " bytes");
  }
  if (text.empty() || text.back() != '\n') return base::InvalidArgument("is cut short");
  text.remove_suffix(1);
  const std::vector<std::string_view> lines = SplitAt(text, '\n');
  if (lines[0] != kHeader) {
    return base::InvalidArgument("does not begin with \"" + std::string(kHeader) + "\"");
  }
  Learned learned;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const base::Status read = ReadLine(lines[i], learned);
    if (read.ok()) continue;
    return base::InvalidArgument("line " + std::to_string(i + 1) + " " + base::MessageOf(read));
  }
  return learned;
}

}  // namespace ostraka::net
