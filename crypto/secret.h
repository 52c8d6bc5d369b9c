// Memory for secrets: locked where the system allows, wiped on destruction, never copied.
//
// Thread safety: one owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace ostraka::crypto {

class Secret {
 public:
  // `size` zero bytes from sodium_malloc (guard pages, mlock where permitted).
  explicit Secret(std::size_t size);

  std::span<std::uint8_t> span() { return {data_.get(), size_}; }
  std::span<const std::uint8_t> span() const { return {data_.get(), size_}; }

 private:
  struct Free {
    void operator()(std::uint8_t* data) const;
  };
  std::unique_ptr<std::uint8_t, Free> data_;
  std::size_t size_;
};

}  // namespace ostraka::crypto
