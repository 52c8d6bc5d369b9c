// The addresses of a run's data that its manifest names. A node fetches from them only after its
// user has agreed: whoever wrote the manifest chose them, and each learns the node's address.
//
// Thread safety: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "node/base/status.h"
#include "node/protocol/ground/manifest.h"

namespace ostraka::config {

// A refusal that lists them is one line of at most 1,000 bytes.
inline constexpr std::size_t kMostDataPlaces = 8;
inline constexpr std::size_t kMostDataPlacesBytes = 600;  // of all together

// InvalidArgument: too many or too long, the same one twice, one that net::CheckSourceUrl refuses,
// or a run whose data are not in chunks.
base::Status CheckDataPlaces(const protocol::TrainingPlan& plan);

// InvalidArgument: net::CheckSourceUrl refuses it.
base::Status CheckDataPlace(const std::string& place, bool allow_private);

// Those places of `data`, as on a command line, that are addresses. Empty: not of data in chunks.
std::vector<std::string> AddressesOf(const std::string& data);

// Whether a user lets the node fetch from the manifest's places.
enum class Agreement : std::uint8_t {
  kNo,
  kYes,
  kPrivate,  // yes, and at addresses of this machine and of private networks, too
};
std::optional<Agreement> FindAgreement(std::string_view name);  // no, yes, private

// What the node of a user who gave `data` reads: with an agreement the manifest's places, too,
// after the user's own. InvalidArgument: the user gave neither and the manifest names some, or the
// user agrees to none.
base::StatusOr<std::string> DataToRead(const protocol::Manifest& manifest, const std::string& data,
                                       Agreement agreement);

}  // namespace ostraka::config
