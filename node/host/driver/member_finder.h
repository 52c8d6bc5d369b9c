// What a run does to reach its members and to be reached: the DHT and the members' dials back
// (node/net/reach), the mesh's address book, and the file in the data folder with what was learned.
//
// Promises:
//   M1  Nothing here fails the run: a file that cannot be read or written is one line for people.
//   M2  After Stop no address is set and no file is written.
//
// May not know: machines, manifests.
// Memory: Reach's and DialBack's.
// What an attacker can do here: theirs.
//
// Thread safety: none; the protocol thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "node/host/report/reporter.h"
#include "node/host/threads/inlet.h"
#include "node/net/mesh/transport.h"
#include "node/net/reach/dial_back.h"
#include "node/net/reach/reach.h"

namespace ostraka::host {

struct FinderOptions {
  net::ReachOptions reach;
  std::string file;       // for what is learned; empty: nothing is kept
  bool dial_back = true;  // ask members to dial this node back, and dial for them
};

class MemberFinder {
 public:
  // REQUIRES: `io`, `inlet`, `reporter` and `transport` outlive it.
  MemberFinder(boost::asio::io_context& io, const Inlet& inlet, Reporter& reporter,
               net::Transport& transport, std::shared_ptr<const crypto::SigningKey> key,
               const base::Digest& run_id, const std::vector<net::TransportMember>& members,
               FinderOptions options);

  // Reads the file, tells the transport what it says, and begins.
  void Start();
  void OnLink(const base::PeerId& peer, bool up);
  void OnDialBack(const base::PeerId& from, const net::DialBackRecord& record) {
    dial_back_->OnRecord(from, record);
  }
  // It has become a member: it is looked up in the DHT while it has no link.
  void Add(const base::PeerId& peer);
  void Forget(const base::PeerId& peer);
  void Stop();
  net::ReachStatus status() const;
  net::DialBackStatus dialed_back() const { return dial_back_->status(); }
  // M2.
  void CheckInvariants() const;

 private:
  void Found(const base::PeerId& peer, const std::vector<std::string>& addresses,
             net::AddressSource source);
  void Save(const std::string& text);
  // At which others reach this node, as far as it knows; 0: it does not listen.
  std::uint16_t PortForOthers() const;

  const Inlet& inlet_;
  Reporter& reporter_;
  net::Transport& transport_;
  const std::string file_;
  std::string file_problem_;  // that people were told last
  bool stopped_ = false;
  std::uint16_t said_port_ = 0;  // by the user or the manifest; 0: by neither
  std::unique_ptr<net::Reach> reach_;
  std::unique_ptr<net::DialBack> dial_back_;
};

// What the file holds, and in `problem` one line if it is damaged: then nothing. A missing file
// holds nothing.
net::Learned ReadLearned(const std::string& path, std::string& problem);

}  // namespace ostraka::host
