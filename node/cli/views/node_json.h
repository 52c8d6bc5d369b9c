// A node's output in JSON: one object per event (`node --events`, read by `swarm`), and the final
// report (`node --json`). Keys are a contract; new ones may be added (docs/json.md).
//
// Thread safety: pure functions, except PrintJson.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "node/base/tensor_layout.h"
#include "node/host/report/node_events.h"
#include "node/host/report/run_history.h"

namespace ostraka::cli {

// Prints one line to stdout. Invalid UTF-8 (for example in a file's name) becomes U+FFFD.
void PrintJson(const nlohmann::json& value);

// {"peer","step","kind","reason"}
nlohmann::json JsonOf(const wire::Removal& removal);
// With `returned`, the step in which the peer was a member again, if it was. One that this node did
// not see has `seen`: false; of a ban its kind is "ban", and there is no step.
nlohmann::json JsonOf(const host::PastRemoval& past);
// The verb for such an object: "banned" (permanent) or "dropped" (may return).
std::string RemovalWord(const nlohmann::json& removal);

// {"case_kind","accuser","target","accused_step","column"?}: column if the case is about one.
nlohmann::json JsonOf(const wire::CaseId& id);
nlohmann::json JsonOf(const net::ExchangeCounts& chunks);
// Text for such an object, with ids of 16 digits: "81fd... accuses ee37... of ...".
std::string CaseText(const nlohmann::json& id);

// {"event":"step","step","genesis","members","applied","parts","tau","cases","returned"}
nlohmann::  // `batch_loss`: of this node's own batch of that step; nullopt: it computed no
            // gradient.
    json
    StepEvent(const wire::Block& block, std::optional<double> batch_loss = std::nullopt);
nlohmann::json EvaluationEvent(std::uint64_t step, const train::Evaluation& evaluation);
// Both texts are safe on a terminal, and UTF-8.
nlohmann::json SampleJson(const train::TextSample& sample);
nlohmann::json SuspicionEvent(const protocol::Suspicion& suspicion);
nlohmann::json RemovalEvent(const wire::Removal& removal);
nlohmann::json LinksEvent(std::size_t up, std::size_t of);
nlohmann::json HaltedEvent(const host::NodeOutcome& outcome);

// The final report:
// {"ok","peer","end","step","reason","steps","removals","member","state_root","metric",
// "seconds","seconds_per_step","bytes_sent","payload_bytes_sent","peak_rss_bytes",
// "longest_turn_seconds"}.
nlohmann::json ReportJson(const host::NodeReport& report, const base::PeerId& self,
                          const base::TensorLayout& layout);

}  // namespace ostraka::cli
