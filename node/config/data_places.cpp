#include "node/config/data_places.h"

#include <algorithm>
#include <set>

#include "node/net/fetch/url.h"
#include "node/train/data_source.h"
#include "node/train/stream/stream_index.h"

namespace ostraka::config {
namespace {

const std::string kStreamData = std::string(train::kStream) + ":";

std::string Joined(const std::vector<std::string>& places, const std::string& between) {
  std::string text;
  for (const std::string& place : places) text += (text.empty() ? "" : between) + place;
  return text;
}

}  // namespace

base::Status CheckDataPlaces(const protocol::TrainingPlan& plan) {
  const std::vector<std::string>& places = plan.data_places;
  if (places.empty()) return base::OkStatus();
  ASSIGN_OR_RETURN(const train::DataId id, train::ParseDataId(plan.data));
  if (id.name != train::kStream) {
    return base::InvalidArgument("data " + id.name + " are not fetched: leave out [sources]");
  }
  if (places.size() > kMostDataPlaces || Joined(places, ", ").size() > kMostDataPlacesBytes) {
    return base::InvalidArgument("name at most " + std::to_string(kMostDataPlaces) +
                                 " sources, with " + std::to_string(kMostDataPlacesBytes) +
                                 " characters together (`run init --unnamed-sources` names none)");
  }
  std::set<std::string> known;
  for (const std::string& place : places) {
    // Which of them a node connects to, it judges when it does.
    ASSIGN_OR_RETURN(const net::SourceUrl url, net::ParseSourceUrl(place, /*allow_private=*/true));
    if (!known.insert(url.text).second) {
      return base::InvalidArgument("source " + place + " is named twice");
    }
    if (place.find(',') != std::string::npos) {
      return base::InvalidArgument("source " + place +
                                   " has a comma, which on a command line lies between two");
    }
  }
  return base::OkStatus();
}

base::Status CheckDataPlace(const std::string& place, bool allow_private) {
  return net::CheckSourceUrl(place, allow_private);
}

std::vector<std::string> AddressesOf(const std::string& data) {
  if (!data.starts_with(kStreamData)) return {};
  std::vector<std::string> places = train::PlacesIn(data.substr(kStreamData.size()));
  std::erase_if(places, [](const std::string& place) { return !train::IsAddress(place); });
  return places;
}

std::optional<Agreement> FindAgreement(std::string_view name) {
  if (name == "no") return Agreement::kNo;
  if (name == "yes") return Agreement::kYes;
  if (name == "private") return Agreement::kPrivate;
  return std::nullopt;
}

base::StatusOr<std::string> DataToRead(const protocol::Manifest& manifest, const std::string& data,
                                       Agreement agreement) {
  const std::vector<std::string>& places = manifest.training.data_places;
  if (agreement == Agreement::kNo) {
    if (places.empty() || !data.empty()) return data;
    return base::InvalidArgument(
        "say where the run's data are: --sources yes fetches them from the addresses that its "
        "manifest names, each of which learns this machine's address and on which rows it trains; "
        "--data stream:PLACE takes another place. The manifest names " +
        Joined(places, ", "));
  }
  if (places.empty()) {
    return base::InvalidArgument(
        "--sources: the manifest names no sources of its data: leave it out, and say with --data "
        "where they are");
  }
  if (!data.empty() && !data.starts_with(kStreamData)) {
    return base::InvalidArgument("--data " + data +
                                 ": the run's data are in chunks: give stream:PLACE, or leave it "
                                 "out");
  }
  std::vector<std::string> all;
  if (!data.empty()) all = train::PlacesIn(data.substr(kStreamData.size()));
  for (const std::string& place : places) {
    if (std::find(all.begin(), all.end(), place) == all.end()) all.push_back(place);
  }
  return kStreamData + Joined(all, ",");
}

}  // namespace ostraka::config
