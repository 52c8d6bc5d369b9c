#include "crypto/set_root.h"

#include "crypto/domains.h"
#include "crypto/hash.h"

namespace ostraka::crypto {

base::Digest SetRoot(const std::vector<base::Digest>& digests) {
  Hasher hasher(kDomainSet);
  hasher.UpdateU64(digests.size());
  for (const base::Digest& digest : digests) hasher.Update(digest);
  return hasher.Finish();
}

}  // namespace ostraka::crypto
