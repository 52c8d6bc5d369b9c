#include "crypto/secret.h"

#include <sodium.h>

#include <new>

namespace ostraka::crypto {

Secret::Secret(std::size_t size)
    : data_(static_cast<std::uint8_t*>(sodium_malloc(size))), size_(size) {
  if (!data_) throw std::bad_alloc();
  sodium_memzero(data_.get(), size_);  // sodium_malloc fills with 0xdb.
}

// sodium_free wipes before it releases, and aborts if the guard bytes were overwritten.
void Secret::Free::operator()(std::uint8_t* data) const { sodium_free(data); }

}  // namespace ostraka::crypto
