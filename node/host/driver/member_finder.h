// What a run does to reach its members: the DHT (node/net/reach), the mesh's address book, and the
// file in the data folder with what was learned.
//
// Promises:
//   M1  Nothing here fails the run: a file that cannot be read or written is one line for people.
//   M2  After Stop no address is set and no file is written.
//
// May not know: machines, manifests.
// Memory: Reach's.
// What an attacker can do here: Reach's.
//
// Thread safety: none; the protocol thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "node/host/report/reporter.h"
#include "node/host/threads/inlet.h"
#include "node/net/mesh/transport.h"
#include "node/net/reach/reach.h"

namespace ostraka::host {

struct FinderOptions {
  net::ReachOptions reach;
  std::string file;  // for what is learned; empty: nothing is kept
};

class MemberFinder {
 public:
  // REQUIRES: `io`, `inlet`, `reporter` and `transport` outlive it.
  MemberFinder(boost::asio::io_context& io, const Inlet& inlet, Reporter& reporter,
               net::Transport& transport, std::shared_ptr<const crypto::SigningKey> key,
               const std::vector<net::TransportMember>& members, FinderOptions options);

  // Reads the file, tells the transport what it says, and begins.
  void Start();
  void OnLink(const base::PeerId& peer, bool up);
  void Forget(const base::PeerId& peer) { reach_->Forget(peer); }
  void Stop();
  net::ReachStatus status() const { return reach_->status(); }
  // M2.
  void CheckInvariants() const;

 private:
  void Found(const base::PeerId& peer, const std::vector<std::string>& addresses,
             net::AddressSource source);
  void Save(const std::string& text);

  const Inlet& inlet_;
  Reporter& reporter_;
  net::Transport& transport_;
  const std::string file_;
  std::string file_problem_;  // that people were told last
  bool stopped_ = false;
  std::unique_ptr<net::Reach> reach_;
};

// What the file holds, and in `problem` one line if it is damaged: then nothing. A missing file
// holds nothing.
net::Learned ReadLearned(const std::string& path, std::string& problem);

}  // namespace ostraka::host
