// ostraka data pack|check: data sets as files, and their names.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "crypto/merkle.h"
#include "node/cli/data/commands.h"
#include "node/cli/options/choices.h"
#include "node/cli/options/source_options.h"
#include "node/cli/terminal/new_file.h"
#include "node/cli/views/node_json.h"
#include "node/config/stream_access.h"
#include "node/train/columns.h"
#include "node/train/data_source.h"
#include "node/train/tokens/speech.h"
#include "node/train/tokens/tokenizer_file.h"
#include "node/train/tokens/tokens.h"

namespace ostraka::cli {
namespace {

constexpr std::uint32_t kDefaultContext = 64;

struct DataOptions {
  std::string source;
  std::optional<std::uint32_t> context;
  std::string tokenizer;  // of a text; empty: its bytes are the tokens
  std::string out;
  std::string id;              // that a copy must have; empty: any
  bool allow_private = false;  // config::StreamSettings
  bool json = false;
};

std::string IdOf(const train::Dataset& data) {
  return train::TextOf(train::DataId{.name = data.name, .hash = train::HashOf(data)});
}

// The tokenizer that lies beside the data, if one does.
struct Beside {
  std::string path;
  std::string hash;
};

base::StatusOr<std::optional<Beside>> FindBeside(const train::DataSource& source) {
  const std::string path = train::TokenizerBeside(source.dir);
  std::error_code ignored;  // what cannot be examined is not there
  if (source.name != train::kTokens || !std::filesystem::is_regular_file(path, ignored)) {
    return std::nullopt;
  }
  ASSIGN_OR_RETURN(const std::string text, train::ReadTokenizerText(path));
  return Beside{path, train::HashOfTokenizer(text).Hex()};
}

void Print(const train::Dataset& data, const std::optional<Beside>& tokenizer, bool json) {
  const bool of_records = data.name == train::kTokens;
  const std::string root =
      of_records ? crypto::MerkleRoot(train::LeavesOfRecords(data)).Hex() : std::string();
  if (json) {
    nlohmann::json result = {{"id", IdOf(data)},
                             {"training", data.training.size()},
                             {"validation", data.validation.size()},
                             {"test", data.test.size()},
                             {"classes", data.class_count}};
    if (of_records) {
      result["context"] = data.shape.width;
      result["root"] = root;
    }
    if (!data.columns.empty()) {
      result.erase("classes");
      for (const train::Column& column : data.columns) {
        result["columns"].push_back(train::TextOf(column));
      }
    }
    if (tokenizer) result["tokenizer"] = {{"file", tokenizer->path}, {"hash", tokenizer->hash}};
    PrintJson(result);
    return;
  }
  std::printf("%s\n%zu examples for training, %zu for validation, %zu for tests",
              IdOf(data).c_str(), data.training.size(), data.validation.size(), data.test.size());
  if (data.columns.empty()) {
    std::printf("; %u classes\n", data.class_count);
  } else {
    std::printf("; columns:\n");
    for (const train::Column& column : data.columns) {
      std::printf("  %s\n", train::TextOf(column).c_str());
    }
  }
  if (of_records) {
    std::printf("records of %u tokens under the root %s\n", data.shape.width + 1, root.c_str());
  }
  if (tokenizer) {
    std::printf("the tokenizer in %s has the hash %s\n", PrintableLine(tokenizer->path).c_str(),
                tokenizer->hash.c_str());
  }
}

// A packed file has a context of its own.
base::Status CheckContext(const DataOptions& options, const train::Dataset& data) {
  if (!options.context || *options.context == data.shape.width) return base::OkStatus();
  return base::InvalidArgument("the file holds records of a context of " +
                               std::to_string(data.shape.width) + ": leave out --context");
}

base::Status Write(const std::string& path, const train::Dataset& data) {
  const base::Bytes file = train::PackRecords(data);
  return WriteNewFile(path, std::string(file.begin(), file.end()));
}

// The records, and beside them a copy of the tokenizer, or neither of them.
base::Status PackByTokenizer(const DataOptions& options) {
  const std::string copy = train::TokenizerBeside(options.out);
  // A long text would be encoded for nothing.
  for (const std::string& path : {options.out, copy}) RETURN_IF_ERROR(CheckIsNew(path));
  ASSIGN_OR_RETURN(const train::TokenizerFile tokenizer,
                   train::ReadTokenizerFile(options.tokenizer));
  ASSIGN_OR_RETURN(const train::Dataset data,
                   train::LoadTextBy(tokenizer.tokenizer, options.source,
                                     options.context.value_or(kDefaultContext)));
  RETURN_IF_ERROR(WriteNewFile(copy, tokenizer.text));
  if (base::Status written = Write(options.out, data); !written.ok()) {
    std::error_code ignored;  // the first error is the one to tell
    std::filesystem::remove(copy, ignored);
    return written;
  }
  Print(data, Beside{copy, train::HashOfTokenizer(tokenizer.text).Hex()}, options.json);
  return base::OkStatus();
}

base::Status Pack(const DataOptions& options) {
  if (!options.tokenizer.empty()) return PackByTokenizer(options);
  ASSIGN_OR_RETURN(const train::Dataset data,
                   train::LoadDataset({train::kTokens, options.source,
                                       options.context.value_or(kDefaultContext)}));
  RETURN_IF_ERROR(CheckContext(options, data));
  RETURN_IF_ERROR(Write(options.out, data));
  Print(data, std::nullopt, options.json);
  return base::OkStatus();
}

base::StatusOr<ExitCode> Check(const DataOptions& options) {
  ASSIGN_OR_RETURN(train::DataSource source, train::ParseDataSource(options.source));
  if (source.name == "toy") {
    return base::InvalidArgument("data toy are drawn, and nothing is stored of them");
  }
  if (options.context && source.name != train::kTokens) {
    return base::InvalidArgument("--context is of tokens: name the text as tokens:FILE");
  }
  source.context = options.context.value_or(kDefaultContext);
  source.access = config::StreamAccessOf({.allow_private = options.allow_private});
  ASSIGN_OR_RETURN(const train::Dataset data, train::LoadDataset(source));
  RETURN_IF_ERROR(CheckContext(options, data));
  ASSIGN_OR_RETURN(const std::optional<Beside> tokenizer, FindBeside(source));
  Print(data, tokenizer, options.json);
  if (options.id.empty() || options.id == IdOf(data)) return kDone;
  std::fprintf(stderr, "these are other data than %s\n", PrintableLine(options.id).c_str());
  return kNegative;
}

void AddContext(CLI::App& command, DataOptions& options) {
  command.add_option(
      "--context", options.context,
      "of a text that is cut into records: tokens that a prediction sees (default 64)");
  command.add_flag("--json", options.json, "print one JSON object (docs/json.md)");
}

}  // namespace

void AddDataCommand(CLI::App& program, Invocation& invocation) {
  auto* command = program.add_subcommand("data", "data sets as files, and their names");
  command->require_subcommand(1);
  command->footer("Example: ostraka data check digits");
  auto options = std::make_shared<DataOptions>();

  auto* pack = command->add_subcommand("pack", "write a text as records of tokens");
  pack->add_option("text", options->source, "the text: any file; also gzip")->required();
  WritesTo(pack->add_option("--out", options->out, "the file to write"))->required();
  pack->add_option("--tokenizer", options->tokenizer,
                   "the tokenizer.json that makes tokens of the text (default: its bytes are the "
                   "tokens); a copy lies beside the file, as FILE.tokenizer.json");
  AddContext(*pack, *options);
  pack->footer("Example: ostraka data pack book.txt --context 128 --out book.tokens");
  pack->callback([options, &invocation] {
    invocation.body = [options] {
      const base::Status status = Pack(*options);
      return status.ok() ? kDone : Fail(status);
    };
  });

  auto* check = command->add_subcommand(
      "check", "read a copy of some data, and name it by its hash as a manifest does");
  OfferChoices(check->add_option("data", options->source,
                                 "digits, mnist:DIR, cifar10:DIR, text:FILE, tokens:FILE, "
                                 "examples:FILE or stream:PLACE"),
               train::DataSourceBeginnings())
      ->required();
  AddPrivateSources(*check, options->allow_private);
  check->add_option("--id", options->id, "exit with 1 unless the copy has this name");
  AddContext(*check, *options);
  check->footer("Example: ostraka data check tokens:book.tokens");
  check->callback([options, &invocation] {
    invocation.body = [options] {
      const auto code = Check(*options);
      return code.ok() ? *code : Fail(code.status());
    };
  });
}

}  // namespace ostraka::cli
