#include "node/wire/case_codec.h"

#include "node/wire/canonical.h"

namespace ostraka::wire::internal {

void WriteCaseId(const CaseId& id, schema::CaseId::Builder builder) {
  builder.setKind(static_cast<schema::CaseKind>(id.kind));
  builder.setAccuser(AsData(id.accuser));
  builder.setTarget(AsData(id.target));
  builder.setStep(id.step);
  builder.setColumn(id.column);
}

base::Status ReadCaseId(schema::CaseId::Reader reader, CaseId& out) {
  RETURN_IF_ERROR(ReadEnum(reader.getKind(), "case kind", kCaseKindCount, out.kind));
  RETURN_IF_ERROR(ReadId(reader.getAccuser(), "accuser", out.accuser));
  RETURN_IF_ERROR(ReadId(reader.getTarget(), "target", out.target));
  out.step = reader.getStep();
  RETURN_IF_ERROR(ReadColumnIndex(reader.getColumn(), out.column));
  if (out.kind == CaseKind::kGradient && out.column != 0) {
    return Refuse("column", "must be 0 in a case about a gradient");
  }
  return base::OkStatus();
}

base::Status ReadColumnIndex(std::uint32_t column, std::uint32_t& out) {
  if (column >= kMaxParts) return Refuse("column", "out of range");
  out = column;
  return base::OkStatus();
}

}  // namespace ostraka::wire::internal
