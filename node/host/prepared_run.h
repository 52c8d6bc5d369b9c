// A run that is ready to be opened: everything that may take long or fail for reasons of the user
// is done, and nothing needs a network yet. The trainer is made (data are read, a library is
// loaded), the key and the folder are locked, the ledger is read.
//
// Thread safety: Prepare from any thread; a PreparedRun has one owner.
#pragma once

#include "node/base/ids.h"
#include "node/base/status.h"
#include "node/base/tensor_layout.h"
#include "node/host/driver/node_driver.h"
#include "node/host/run_options.h"
#include "node/os/descriptor.h"
#include "node/store/key_lock.h"

namespace ostraka::host {

struct PreparedRun {
  base::PeerId self;
  base::TensorLayout layout;
  store::KeyLock key_lock;  // released after the driver
  NodeOptions node;
  os::Descriptor listen_socket{-1};
};

// One line for each error, with what is wrong and what to do.
//   InvalidArgument     the manifest does not validate; an address or a path that does not fit the
//                       manifest
//   FailedPrecondition  the key is no member and may not come in; the key or the folder is in use;
//                       another run's folder
//   NotFound, Unavailable  a file, the trainer's library or the disk
// REQUIRES: crypto::Initialize was called; what RunOptions requires.
base::StatusOr<PreparedRun> Prepare(RunOptions options);

}  // namespace ostraka::host
