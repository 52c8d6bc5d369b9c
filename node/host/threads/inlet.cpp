#include "node/host/threads/inlet.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include "node/base/check.h"

namespace ostraka::host {

Inlet::Inlet(boost::asio::io_context& io, std::function<void(const std::string&)> thrown)
    : io_(io), thrown_(std::move(thrown)), door_(std::make_shared<Door>()) {
  OSTRAKA_CHECK(thrown_ != nullptr);
  door_->inlet = this;
}

Inlet::~Inlet() { door_->inlet = nullptr; }

void Inlet::Post(std::function<void()> function) const {
  boost::asio::post(io_, [door = door_, run = std::move(function)] {
    if (door->inlet != nullptr) door->inlet->Enter(run);
  });
}

std::string Inlet::Describe(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "it threw something that is no exception";
  }
}

}  // namespace ostraka::host
