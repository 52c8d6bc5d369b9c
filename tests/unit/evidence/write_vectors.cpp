// Writes the golden vectors of evidence and the fuzzer's seeds:
//   evidence_write_vectors tests
// Use it only after an intended change of format: until then the tests of vectors fail on purpose.
#include <filesystem>
#include <iostream>
#include <string>

#include "tests/unit/evidence/scene.h"
#include "tests/unit/wire/vector_file.h"

namespace ostraka::evidence {
namespace {

base::Status WriteAll(const std::string& tests) {
  const std::string corpus = tests + "/fuzz/corpus/evidence/";
  std::filesystem::create_directories(corpus);
  std::filesystem::create_directories(tests + "/vectors/evidence");
  for (const NamedFile& file : AllFiles()) {
    RETURN_IF_ERROR(wire::WriteVector(tests + "/vectors/evidence/" + file.name + ".hex",
                                      Verify(file.bytes).reason, file.bytes));
    if (!file.bytes.empty()) RETURN_IF_ERROR(wire::WriteRaw(corpus + file.name, file.bytes));
  }
  // Two frames in a row, for the makers.
  const Turn fair = {.key = &HonestKey(), .incarnation = 0, .step = 9, .coin_count = 4};
  Bytes pair = CommitFrame(fair);
  const Bytes reveal = RevealFrame(fair, 1);
  pair.insert(pair.end(), reveal.begin(), reveal.end());
  return wire::WriteRaw(corpus + "frames_honest", pair);
}

}  // namespace
}  // namespace ostraka::evidence

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: evidence_write_vectors TESTS_FOLDER\n";
    return 2;
  }
  const auto status = ostraka::evidence::WriteAll(argv[1]);
  if (!status.ok()) std::cerr << ostraka::base::MessageOf(status) << "\n";
  return status.ok() ? 0 : 3;
}
