#include "sim/compare/cells/cell.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "crypto/domains.h"
#include "crypto/hash.h"

namespace ostraka::compare {

bool Cell::is_protocol() const {
  const std::string_view name = std::string_view(rule.pipeline);
  return name.substr(0, name.find_first_of(":+")) == kProtocolRule;
}

std::string NumberText(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  char text[64];
  return {text, std::to_chars(text, text + sizeof(text), value).ptr};
}

std::vector<Column> ColumnsOf(const Cell& cell) {
  const auto count = [](std::uint64_t value) { return std::to_string(value); };
  return {{"data", Role::kSetting, cell.data},
          {"data_hash", Role::kSetting, cell.data_hash.Short()},
          {"model", Role::kSetting, cell.model},
          {"hidden", Role::kSetting, count(cell.hidden)},
          {"partition", Role::kSetting, cell.partition},
          {"peers", Role::kSetting, count(cell.peers)},
          {"byzantine", Role::kSetting, count(cell.byzantine)},
          {"tolerate", Role::kSetting, count(cell.tolerate)},
          {"steps", Role::kSetting, count(cell.steps)},
          {"batch_size", Role::kSetting, count(cell.batch_size)},
          {"attack_from", Role::kSetting, count(cell.attack_from)},
          {"evaluate_every", Role::kSetting, count(cell.evaluate_every)},
          {"optimizer", Role::kSetting, cell.optimizer, "sgd"},
          {"inner_steps", Role::kSetting, count(cell.inner_steps), "1"},
          {"rule", Role::kRule, cell.rule.family},
          {"attack", Role::kAttack, cell.attack},
          {"pipeline", Role::kChoice, cell.rule.pipeline},
          {"learning_rate", Role::kChoice, NumberText(cell.learning_rate)},
          {"schedule", Role::kChoice, cell.schedule},
          {"warmup_steps", Role::kChoice, count(cell.warmup_steps)},
          {"momentum", Role::kChoice, NumberText(cell.momentum)},
          {"worker_momentum", Role::kChoice, NumberText(cell.worker_momentum)},
          {"weight_decay", Role::kChoice, NumberText(cell.weight_decay)},
          {"outer_rate", Role::kChoice, NumberText(cell.outer_rate), "0"},
          {"outer_momentum", Role::kChoice, NumberText(cell.outer_momentum), "0"},
          {"seed", Role::kSeed, count(cell.seed)}};
}

base::Digest IdOf(const Cell& cell) {
  std::string text;
  for (const Column& column : ColumnsOf(cell)) {
    if (column.role == Role::kRule || column.text == column.default_text) continue;
    text.append(column.name).append("=").append(column.text).append("\n");
  }
  return crypto::Hash(crypto::kDomainCompareCell, base::AsBytes(text));
}

std::string KeyOf(const Cell& cell, std::initializer_list<Role> roles) {
  std::string text;
  for (const Column& column : ColumnsOf(cell)) {
    if (std::find(roles.begin(), roles.end(), column.role) == roles.end()) continue;
    if (!text.empty()) text += " ";
    text.append(column.name).append("=").append(column.text);
  }
  return text;
}

base::StatusOr<aggregation::PipelineSpec> ParsePipeline(std::string_view text) {
  aggregation::PipelineSpec spec;
  bool first = true;
  while (first || !text.empty()) {
    const std::size_t plus = text.find('+');
    ASSIGN_OR_RETURN(auto element, aggregation::ParseElement(text.substr(0, plus)));
    text = plus == std::string_view::npos ? "" : text.substr(plus + 1);
    if (first) {
      spec.rule = std::move(element);
    } else {
      spec.pre.push_back(std::move(element));
    }
    first = false;
  }
  return spec;
}

base::StatusOr<aggregation::Attack> ParseAttack(std::string_view text) {
  ASSIGN_OR_RETURN(auto element, aggregation::ParseElement(text));
  return aggregation::MakeAttack(element.name, element.arguments);
}

}  // namespace ostraka::compare
