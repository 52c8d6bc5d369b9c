// What a recording shows of a member's secrets: the signatures, coins and nonces of the messages
// that it sent. A replay signs and reveals from it, so a recording needs no key and no seed.
//
// Promises:
//   S1  Of a message that was sent, the signature, the coins' root, the opening and the nonce are
//       those that were sent.
//   S2  Of any other they are some value that nobody would take for one. The member may have signed
//       such a message, and died or was at the end of the recording before it sent it.
//   S3  Once the content of such a message was asked for, lacks() says so: what the machine stores
//       from then on is not what was recorded.
//
// Memory: three digests and a signature for each message that was sent.
//
// What an attacker can do here: nothing. Only a replay uses it.
//
// Thread safety: none; one owner.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include "crypto/sign.h"
#include "node/base/status.h"
#include "node/protocol/mail/secrets.h"
#include "node/wire/messages.h"
#include "node/wire/recording_codec.h"

namespace ostraka::protocol {

class Said {
 public:
  // InvalidArgument: a frame cannot be read, or is not of `self`.
  base::Status Add(const PeerId& self, const base::Bytes& frame);

  crypto::Signature SignatureOf(const Digest& message) const;
  Digest CoinsRoot(std::uint64_t step) const;
  crypto::CoinOpening Opening(std::uint64_t step, std::uint32_t draw) const;
  Digest BootNonce() const;
  Digest RejoinNonce(std::uint64_t step) const;
  bool lacks() const { return lacks_; }

 private:
  template <typename Map>
  typename Map::mapped_type Content(const Map& map, const typename Map::key_type& key) const {
    const auto found = map.find(key);
    if (found != map.end()) return found->second;
    lacks_ = true;
    return {};
  }

  std::map<Digest, crypto::Signature> signatures_;  // by the message's digest
  std::map<std::uint64_t, Digest> coins_roots_;     // by step
  std::map<std::pair<std::uint64_t, std::uint32_t>, crypto::CoinOpening> openings_;
  std::map<std::uint64_t, Digest> rejoins_;  // by step
  std::map<std::uint64_t, Digest> boots_;    // of step 0
  mutable bool lacks_ = false;
};

// A key that signs what it signed in the recording.
class SaidKey final : public crypto::SigningKey {
 public:
  SaidKey(const PeerId& id, std::shared_ptr<const Said> said)
      : SigningKey(id), said_(std::move(said)) {}
  crypto::Signature Sign(const Digest& digest) const override { return said_->SignatureOf(digest); }

 private:
  std::shared_ptr<const Said> said_;
};

class SaidSecrets final : public Secrets {
 public:
  explicit SaidSecrets(std::shared_ptr<const Said> said) : said_(std::move(said)) {}
  void Begin(const Digest&) override {}
  Digest CoinsRoot(std::uint64_t step, std::uint32_t) const override {
    return said_->CoinsRoot(step);
  }
  crypto::CoinOpening Opening(std::uint64_t step, std::uint32_t,
                              std::uint32_t draw) const override {
    return said_->Opening(step, draw);
  }
  Digest BootNonce(std::uint64_t) const override { return said_->BootNonce(); }
  Digest RejoinNonce(std::uint64_t step) const override { return said_->RejoinNonce(step); }
  void HashInto(crypto::Hasher&) const override {}

 private:
  std::shared_ptr<const Said> said_;
};

}  // namespace ostraka::protocol
