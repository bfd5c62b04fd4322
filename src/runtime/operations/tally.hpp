#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "runtime/electorate.hpp"
#include "runtime/operations/failures.hpp"
#include "runtime/operations/query.hpp"

namespace holdfast::runtime {

/// What one voter says to a question that a majority decides; or why it does not.
enum class ballot : std::uint8_t { yes, no };
using opinion = std::variant<ballot, net::failure>;

/// Counts what all voters said to one question.
///
///   carried   a majority said yes
///   refused   so many said no that none can
///   neither   too few could say: why() tells
class tally {
  public:
    /// `read(reply)` says what a reply means, as an opinion.
    template <typename Reader>
    tally(const electorate& of, const std::vector<query::answer>& all, Reader&& read)
        : of_(of), failures_(of.size()) {
        for (std::size_t voter = 0; voter < all.size(); ++voter) {
            const auto* const reply = std::get_if<std::string>(&all[voter]);
            count(voter, reply != nullptr ? read(resp::view(*reply))
                                          : opinion(std::get<net::failure>(all[voter])));
        }
    }

    [[nodiscard]] bool carried() const { return of_.carries(yes_); }
    [[nodiscard]] bool refused() const { return of_.prevents(no_); }

    /// With how many said yes and no.
    [[nodiscard]] net::failure why(engine& through) const HOLDFAST_LOCKED {
        return summarize_failures(through, of_, failures_, yes_, no_);
    }
    /// Without: to those who ask it does not matter.
    [[nodiscard]] net::failure why_silent(engine& through) const HOLDFAST_LOCKED {
        return summarize_failures(through, of_, failures_, 0, 0);
    }

  private:
    void count(std::size_t voter, opinion what) {
        if (auto* const why = std::get_if<net::failure>(&what)) {
            failures_[voter] = std::move(*why);
        } else {
            ++(std::get<ballot>(what) == ballot::yes ? yes_ : no_);
        }
    }

    electorate of_;
    std::vector<std::optional<net::failure>> failures_;
    std::size_t yes_ = 0;
    std::size_t no_ = 0;
};

/// Yes, where it is any answer but an error.
opinion read_answer(resp::view reply);

/// Yes, where it is still the owner's.
opinion opinion_of(kinds::ownership_answer said);

}  // namespace holdfast::runtime
