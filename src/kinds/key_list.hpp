#pragma once

#include <array>
#include <cassert>
#include <span>
#include <string>
#include <string_view>

#include "kinds/keys.hpp"

namespace holdfast::kinds {

/// The keys of one request, in the order in which a script wants them, the lock first. Names are
/// made anew for every request: a lease that is held for hours would otherwise keep them for
/// nothing. Valid until the next list of this thread.
class key_list {
  public:
    explicit key_list(const keys& of) : of_(of) { add(of.lock); }

    key_list& beside(std::string_view what) {
        thread_local std::array<std::string, 4> rooms;
        assert(count_ < rooms.size());
        auto& name = rooms[count_];
        name.clear();
        append_key_beside(name, of_.lock, what);
        add(name);
        return *this;
    }
    /// Where there is one.
    key_list& queue() { return of_.queued ? beside("queue") : *this; }
    key_list& counter() { return of_.fenced ? beside("fence") : *this; }

    [[nodiscard]] std::span<const std::string_view> all() const {
        return std::span<const std::string_view>(names_).first(count_);
    }

  private:
    void add(std::string_view name) { names_[count_++] = name; }

    const keys& of_;
    std::array<std::string_view, 4> names_;
    std::size_t count_ = 0;
};

}  // namespace holdfast::kinds
