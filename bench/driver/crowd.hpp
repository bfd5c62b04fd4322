#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace holdfast::bench {

using std::chrono::nanoseconds;

/// One worker's way to the lock. Used by one thread at a time.
class lockable {
  public:
    virtual ~lockable() = default;
    virtual void begin_round(std::chrono::steady_clock::time_point /*end*/) {}
    virtual void lock() = 0;
    virtual void unlock() = 0;
};

/// Workers that lock and unlock for the length of a round, a thread for each.
class crowd {
  public:
    /// last: the file that names the last holder; empty where each worker has a key of its own.
    crowd(const std::string& last, nanoseconds critical);
    ~crowd();
    crowd(const crowd&) = delete;
    crowd& operator=(const crowd&) = delete;

    void add(std::unique_ptr<lockable> lock) { locks_.push_back(std::move(lock)); }

    /// One line of JSON.
    std::string play(nanoseconds length);

  private:
    struct share {
        std::size_t cycles = 0;
        std::size_t handed = 0;
        nanoseconds longest{0};
        std::map<int, std::size_t> times{};  // bucket, count

        void record(nanoseconds took);
    };

    share work(std::size_t worker, std::chrono::steady_clock::time_point end) const;
    bool take_over(std::size_t worker) const;
    bool shared() const { return last_ >= 0; }

    int last_;
    nanoseconds critical_;
    std::vector<std::unique_ptr<lockable>> locks_;
};

}  // namespace holdfast::bench
