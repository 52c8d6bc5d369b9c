#include "sim/compare/report/output.h"

#include <filesystem>

#include "node/os/durable_file.h"
#include "sim/compare/engine/profile.h"
#include "sim/compare/report/figures.h"
#include "sim/compare/report/report.h"
#include "sim/compare/report/selection.h"
#include "sim/compare/report/tables.h"

namespace ostraka::compare {
namespace {

std::vector<std::string> FailuresOf(const Plan& plan, const Records& records) {
  std::vector<std::string> failures;
  for (const Cell& cell : plan.cells) {
    const auto record = records.find(IdOf(cell));
    if (record == records.end() || record->second.result) continue;
    failures.push_back(cell.rule.pipeline + ", " + cell.attack + ", " + cell.model + ", " +
                       std::to_string(cell.byzantine) + " of " + std::to_string(cell.peers) +
                       ", seed " + std::to_string(cell.seed) + ": " + record->second.error);
  }
  return failures;
}

// Removes figures of an earlier grid, which would look like figures of this one.
base::Status WriteFigures(const std::vector<Figure>& figures, const std::string& folder) {
  const std::string place = folder + "/figures";
  std::error_code error;
  std::filesystem::remove_all(place, error);
  if (!error) std::filesystem::create_directories(place, error);
  if (error) return base::Unavailable("cannot create the folder " + place + ": " + error.message());
  for (const Figure& figure : figures) {
    RETURN_IF_ERROR(WriteText(place + "/" + figure.name + ".svg", figure.svg));
  }
  return base::OkStatus();
}

}  // namespace

base::Status WriteText(const std::string& path, const std::string& text) {
  const base::ByteView pieces[] = {base::AsBytes(text)};
  const base::Status written = os::WriteDurably(path, pieces, os::IfExists::kReplace);
  if (written.ok()) return written;
  return base::Unavailable(base::MessageOf(written) + ": free some space or name another folder");
}

base::StatusOr<Summary> WriteOutputs(const Plan& plan, const Records& records, const Maker& maker,
                                     const std::string& folder) {
  const std::vector<Done> done = DoneCells(plan, records);
  const std::vector<Line> lines = Select(plan, done);
  RETURN_IF_ERROR(WriteText(folder + "/results.csv", ResultsCsv(done, maker)));
  RETURN_IF_ERROR(WriteText(folder + "/results.json", ResultsJson(plan, records, lines, maker)));
  RETURN_IF_ERROR(WriteText(folder + "/timings.csv", TimingsCsv(done, ProcessorName())));
  RETURN_IF_ERROR(WriteText(folder + "/selection.csv", SelectionCsv(lines)));
  RETURN_IF_ERROR(WriteText(folder + "/table.tex", LatexTable(plan, lines)));
  RETURN_IF_ERROR(WriteText(folder + "/table.md", MarkdownTable(lines)));
  ASSIGN_OR_RETURN(const std::vector<Figure> figures, FiguresOf(plan, lines));
  RETURN_IF_ERROR(WriteFigures(figures, folder));
  Summary summary;
  summary.done = done.size();
  summary.failed = FailuresOf(plan, records);
  const ReportInput report{plan, records, maker, lines, figures, summary.failed, ProcessorName()};
  RETURN_IF_ERROR(WriteText(folder + "/report.html", ReportHtml(report)));
  summary.text = TextTable(lines);
  summary.winners_json = WinnersJson(lines);
  return summary;
}

}  // namespace ostraka::compare
