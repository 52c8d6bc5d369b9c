// Memory for secrets: locked where the system allows it, wiped on destruction, never copied.
//
// Thread safety: one owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

namespace ostraka::crypto {

class Secret {
 public:
  // Allocates `size` zero bytes with sodium_malloc (guard pages, mlock where permitted). Takes a
  // few pages whatever the size. Throws std::bad_alloc, as new does.
  explicit Secret(std::size_t size);

  // A moved-from Secret is empty.
  Secret(Secret&& other) noexcept
      : data_(std::move(other.data_)), size_(std::exchange(other.size_, 0)) {}
  Secret& operator=(Secret&& other) noexcept {
    data_ = std::move(other.data_);
    size_ = std::exchange(other.size_, 0);
    return *this;
  }

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
