// Tokens: a proof that an asker receives at the address that its datagrams come from.
//
//   token = first 16 bytes of H(kDomainDhtToken, secret | age | address), age = now / 5 min
//
// A node gives its token for an address to whoever asks from there, so only a host that receives at
// the address can show it. [UDP's source can be forged: without a token an attacker would spend
// another address's quota, or have a third party's address tested.]
//
// Promises:
//   K1 A token is good for the address that it was given to, for at least 5 and at most 10 minutes,
//      whatever the port: a NAT may change it.
//   K2 The tokens of two nodes, or of two addresses, tell nothing about each other.
//
// May not know: who asks, and for what.
// Memory: the secret.
// What an attacker can do here: use a token from behind the same address (a NAT).
//
// Thread safety: const functions are safe from any thread.
#pragma once

#include <algorithm>
#include <cstdint>

#include "crypto/domains.h"
#include "crypto/hash.h"
#include "dht/wire/messages.h"
#include "node/base/time.h"

namespace ostraka::dht {

class Tokens {
 public:
  static constexpr base::Duration kAge = base::Seconds(300);

  // `secret`: 32 bytes that nobody can guess.
  explicit Tokens(const Digest& secret) : secret_(secret) {}

  Token For(base::Time now, const Endpoint& endpoint) const { return Of(AgeOf(now), endpoint); }
  bool IsGood(base::Time now, const Endpoint& endpoint, const Token& token) const {
    const std::uint64_t age = AgeOf(now);
    return token == Of(age, endpoint) || (age > 0 && token == Of(age - 1, endpoint));
  }

 private:
  static std::uint64_t AgeOf(base::Time now) {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(now.ns, 0) / kAge.ns);
  }
  Token Of(std::uint64_t age, const Endpoint& endpoint) const {
    const Digest digest = crypto::Hasher(crypto::kDomainDhtToken)
                              .Update(secret_)
                              .UpdateU64(age)
                              .Update(base::ByteView(endpoint.address))
                              .Finish();
    Token token;
    std::copy_n(digest.bytes.begin(), token.size(), token.begin());
    return token;
  }

  Digest secret_;
};

}  // namespace ostraka::dht
