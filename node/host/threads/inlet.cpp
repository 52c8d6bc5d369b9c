#include "node/host/threads/inlet.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include "node/base/check.h"

namespace ostraka::host {

Inlet::Inlet(boost::asio::io_context& io, std::function<void(const std::string&)> thrown)
    : io_(io), thrown_(std::move(thrown)), alive_(std::make_shared<Alive>()) {
  OSTRAKA_CHECK(thrown_ != nullptr);
  alive_->inlet = this;
}

Inlet::~Inlet() { alive_->inlet = nullptr; }

void Inlet::Post(std::function<void()> function) const {
  boost::asio::post(io_, [alive = alive_, run = std::move(function)] {
    if (alive->inlet != nullptr) alive->inlet->Enter(run);
  });
}

}  // namespace ostraka::host
