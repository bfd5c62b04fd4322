#pragma once

#include <boost/intrusive/slist.hpp>

#include "base/locks.hpp"

namespace holdfast::runtime {

/// Something that a client's driver runs without the lock: the way into users' code.
/// It is made when what it tells of begins, so that it needs no memory when that ends.
class callback : public boost::intrusive::slist_base_hook<> {
  public:
    callback() = default;
    callback(const callback&) = delete;
    callback& operator=(const callback&) = delete;

    /// Once. Until then it keeps itself alive.
    virtual void run() HOLDFAST_UNLOCKED = 0;

  protected:
    ~callback() = default;
};

}  // namespace holdfast::runtime
