#pragma once

#include <cstddef>

/// What a machine can run out of, at the worst possible moment.
namespace holdfast::test {

/// While it lives, a request for memory of this process fails: the n-th from now, counted from 1
/// over all threads that are not exempt, and if it `lasts`, all that follow.
class shortage {
  public:
    enum class extent : bool { once, lasts };

    explicit shortage(std::size_t nth, extent how = extent::once);
    ~shortage();

    shortage(const shortage&) = delete;
    shortage& operator=(const shortage&) = delete;

    /// Whether there were so many.
    [[nodiscard]] static bool happened() noexcept;
};

/// The calling thread's requests are neither counted nor refused: it is no part of what is tested.
class exempt {
  public:
    exempt() noexcept;
    ~exempt();

    exempt(const exempt&) = delete;
    exempt& operator=(const exempt&) = delete;
};

/// Called for every request, before it is granted.
bool memory_is_refused() noexcept;

/// While it lives no thread can be started: EAGAIN, as where a limit is reached.
class no_more_threads {
  public:
    no_more_threads();
    ~no_more_threads();

    no_more_threads(const no_more_threads&) = delete;
    no_more_threads& operator=(const no_more_threads&) = delete;
};

}  // namespace holdfast::test
