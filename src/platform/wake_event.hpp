#pragma once

namespace holdfast::platform {

/// Ends a poll() of another thread.
class wake_event {
  public:
    wake_event();  // throws std::system_error where no descriptor is left
    ~wake_event();

    wake_event(const wake_event&) = delete;
    wake_event& operator=(const wake_event&) = delete;

    /// Readable from set() until clear().
    [[nodiscard]] int descriptor() const { return descriptor_; }

    void set();
    void clear();

  private:
    int descriptor_;
};

}  // namespace holdfast::platform
