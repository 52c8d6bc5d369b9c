// An Opener that counts for one machine how many frames it has opened, over another one.
//
// Thread safety: none; one owner.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "node/wire/opener.h"

namespace ostraka::sim {

class CountingOpener final : public wire::Opener {
 public:
  // `opened` outlives this object's last call.
  CountingOpener(std::shared_ptr<wire::Opener> over, std::uint64_t* opened)
      : over_(std::move(over)), opened_(opened) {}

  base::StatusOr<wire::SharedMessage> Open(const base::SharedBytes& frame) override {
    ++*opened_;
    return over_->Open(frame);
  }

 private:
  std::shared_ptr<wire::Opener> over_;
  std::uint64_t* opened_;
};

}  // namespace ostraka::sim
