#pragma once

namespace holdfast::platform {

/// Ends a poll() of another thread.
class alarm {
  public:
    alarm();  // throws std::system_error where no descriptor is left
    ~alarm();

    alarm(const alarm&) = delete;
    alarm& operator=(const alarm&) = delete;

    /// Readable from ring() until silence().
    [[nodiscard]] int descriptor() const { return descriptor_; }

    void ring();
    void silence();

  private:
    int descriptor_;
};

}  // namespace holdfast::platform
