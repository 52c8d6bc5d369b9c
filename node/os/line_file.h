// Small text files of lines that commands add to while others read them.
//
// What an attacker can do here: whoever can write the folder can put anything in the file's place.
// What is no regular file is not opened, and no more than the limit is read.
//
// Thread safety: any thread and process: writers of one folder wait for each other.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "node/base/status.h"

namespace ostraka::os {

// The lines without their ends and without what editors of other systems add, empty ones included;
// none if there is no file. In one line without
// advice: InvalidArgument: no regular file, or longer than `most` bytes. Unavailable: it cannot be
// read.
base::StatusOr<std::vector<std::string>> ReadLines(const std::string& path, std::size_t most);

// Adds the line, durably; nothing if the file has it. REQUIRES: no line end in `line`. Errors of
// ReadLines and WriteDurably; InvalidArgument: the file would be longer than `most` bytes.
base::Status AddLine(const std::string& path, const std::string& line, std::size_t most);

}  // namespace ostraka::os
