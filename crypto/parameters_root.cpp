#include "crypto/parameters_root.h"

#include <vector>

#include "crypto/domains.h"
#include "crypto/hash.h"
#include "crypto/merkle.h"
#include "node/base/bytes.h"

namespace ostraka::crypto {

base::Digest ParametersRoot(std::span<const float> parameters) {
  const std::vector<base::Digest> leaves = ChunkLeaves(base::AsBytes(parameters));
  return Hasher(kDomainParameters).UpdateU64(parameters.size()).Update(MerkleRoot(leaves)).Finish();
}

}  // namespace ostraka::crypto
