#include "node/train/stream/open_stream.h"

#include <algorithm>
#include <utility>

#include "node/train/stream/chunk_cache.h"
#include "node/train/stream/chunk_store.h"
#include "node/train/stream/folder_reader.h"
#include "node/train/stream/stream_index.h"

namespace ostraka::train {
namespace {

// A request takes a round trip, so one connection brings a chunk in each at most.
constexpr int kConnections = 4;

using Readers = std::vector<Source>;

// Chunks and the index of one data set.
struct Cache {
  ChunkCache chunks;
  std::string folder;  // empty: nothing is kept
};

base::StatusOr<Source> OpenOne(const std::string& place, const StreamAccess& access) {
  Source source;
  if (!IsAddress(place)) {
    source.readers.push_back(ReadFolder(place));
    source.lent_from = ReadFolder(place);
    return source;
  }
  if (!access.open) {
    return base::InvalidArgument("data " + place + " can only be read from a folder here");
  }
  for (int i = 0; i < kConnections; ++i) {
    ASSIGN_OR_RETURN(std::unique_ptr<base::RangeReader> reader, access.open(place));
    source.readers.push_back(std::move(reader));
  }
  return source;
}

// A machine that lacks what one kind of place needs (a library) takes the others, and says so.
base::StatusOr<Readers> OpenAll(const std::string& text, const StreamAccess& access,
                                std::vector<std::string>& notices) {
  Readers readers;
  base::Status last = base::InvalidArgument("name a place of the data: stream:PLACE");
  for (const std::string& place : PlacesIn(text)) {
    auto source = OpenOne(place, access);
    if (source.ok()) {
      readers.push_back(*std::move(source));
      continue;
    }
    last = source.status();
    if (!absl::IsFailedPrecondition(last)) return last;
    notices.push_back(place + ": " + base::MessageOf(last));
  }
  if (readers.empty()) return last;
  return readers;
}

base::Status Wrong(const std::string& place, const base::Digest& mine, const base::Digest& wanted) {
  return base::FailedPrecondition("the run trains on stream of hash " + wanted.Short() + ", " +
                                  place + " has " + mine.Short() +
                                  ": give a place that has those of the other members");
}

base::StatusOr<StreamIndex> IndexFrom(base::RangeReader& reader, const base::Digest& hash) {
  auto bytes = reader.ReadWhole(kIndexFile, kMostIndexBytes, nullptr);
  if (!bytes.ok()) {
    return base::MakeStatus(bytes.status().code(),
                            reader.place() + ": " + base::MessageOf(bytes.status()));
  }
  auto index = ParseStreamIndex(*bytes);
  if (!index.ok()) {
    return base::InvalidArgument(reader.place() + "/" + kIndexFile + ": " +
                                 base::MessageOf(index.status()));
  }
  const base::Digest mine = HashOfStream(*index);
  if (hash.is_zero() || mine == hash) return index;
  return Wrong(reader.place(), mine, hash);
}

std::string FolderOf(const StreamAccess& access, const base::Digest& hash) {
  return access.cache_root + "/" + hash.Hex();
}

struct FoundIndex {
  StreamIndex index;
  bool is_kept = false;  // it came from the cache
};

// What a reader that is not the data's gives is told once, and the reader left out.
base::StatusOr<FoundIndex> FirstIndex(Readers& readers, const StreamAccess& access,
                                      const base::Digest& hash, std::vector<std::string>& notices) {
  if (!hash.is_zero() && !access.cache_root.empty()) {
    const auto kept = ReadFolder(FolderOf(access, hash));
    auto index = IndexFrom(*kept, hash);
    if (index.ok()) return FoundIndex{*std::move(index), /*is_kept=*/true};
  }
  base::Status last;
  for (auto reader = readers.begin(); reader != readers.end();) {
    auto index = IndexFrom(*reader->readers.front(), hash);
    if (index.ok()) return FoundIndex{*std::move(index)};
    last = index.status();
    const bool is_away = last.code() == absl::StatusCode::kUnavailable;
    if (readers.size() == 1) return last;
    notices.push_back(base::MessageOf(last));
    reader = is_away ? reader + 1 : readers.erase(reader);
  }
  return last;
}

base::Status KeepIndex(const StreamIndex& index, const std::string& folder) {
  base::Bytes file(index.lines.begin(), index.lines.end());
  for (const Examples* part : {&index.validation, &index.test}) {
    file.insert(file.end(), part->values.begin(), part->values.end());
  }
  for (const base::Digest& leaf : index.leaves) {
    file.insert(file.end(), leaf.bytes.begin(), leaf.bytes.end());
  }
  return WriteWhole(folder, kIndexFile, file);
}

}  // namespace

bool IsAddress(const std::string& place) {
  return place.starts_with("https://") || place.starts_with("http://");
}

std::vector<std::string> PlacesIn(const std::string& text) {
  std::vector<std::string> places;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    if (end > begin) places.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return places;
}

base::StatusOr<Dataset> OpenStream(const std::string& places, const StreamAccess& access,
                                   const base::Digest& hash) {
  std::vector<std::string> notices;
  ASSIGN_OR_RETURN(Readers readers, OpenAll(places, access, notices));
  const std::vector<std::string> names = PlacesIn(places);
  const bool is_far = std::any_of(names.begin(), names.end(), IsAddress);
  auto first = FirstIndex(readers, access, hash, notices);
  if (!first.ok() && !notices.empty()) {
    std::string all;
    for (const std::string& notice : notices) all += notice + "; ";
    return base::MakeStatus(first.status().code(), all + base::MessageOf(first.status()));
  }
  ASSIGN_OR_RETURN(FoundIndex found, std::move(first));
  StreamIndex& index = found.index;
  Dataset data{.name = kStream, .columns = index.columns};
  data.validation = std::move(index.validation);
  data.test = std::move(index.test);
  index.validation = data.validation;
  index.test = data.test;
  const bool keeps = is_far && !access.cache_root.empty() && access.cache_bytes > 0;
  const std::string folder = keeps ? FolderOf(access, HashOfStream(index)) : "";
  ASSIGN_OR_RETURN(ChunkCache cache, ChunkCache::Open(folder, keeps ? access.cache_bytes : 0));
  if (keeps && !found.is_kept) RETURN_IF_ERROR(KeepIndex(index, folder));
  data.training.value_count = index.row_bytes;
  data.training.store = FetchChunks(std::move(index), std::move(readers), std::move(cache),
                                    std::move(notices), access.members);
  return data;
}

}  // namespace ostraka::train
