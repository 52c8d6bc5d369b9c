// Internal to node/wire, included by its .cpp files only: invites and what is counted of them,
// which messages and blocks share.
#pragma once

#include <optional>

#include "node/base/status.h"
#include "node/wire/messages.h"
#include "ostraka.capnp.h"

namespace ostraka::wire::internal {

void WriteCredential(const Credential& credential, schema::Credential::Builder item);
base::Status ReadCredential(schema::Credential::Reader item, Credential& out);

void WriteRevocation(const Revocation& revocation, schema::Revocation::Builder item);
base::Status ReadRevocation(schema::Revocation::Reader item, Revocation& out);

void WriteVoucher(const Voucher& voucher, schema::Voucher::Builder item);
base::Status ReadVoucher(schema::Voucher::Reader item, Voucher& out);

void WriteArrival(const Arrival& arrival, schema::Arrival::Builder item);
base::Status ReadArrival(schema::Arrival::Reader item, Arrival& out);

}  // namespace ostraka::wire::internal
