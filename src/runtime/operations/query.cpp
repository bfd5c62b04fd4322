#include "runtime/operations/query.hpp"

#include <string_view>
#include <utility>

#include "resp/encoder.hpp"

namespace holdfast::runtime {
namespace {

query::writer write_command(const std::vector<std::string>& command) {
    return [&command](std::string& out, bool) {
        const std::vector<std::string_view> parts(command.begin(), command.end());
        resp::append_command(out, parts);
    };
}

}  // namespace

std::vector<query::answer> query::run(engine& through, const electorate& whom,
                                      base::client_lock& lock, writer write) {
    const boost::intrusive_ptr<query> self(new query(through, whom, std::move(write)));
    self->ask(lock);
    return std::move(self->answers_);
}

std::vector<query::answer> query::run_acknowledged(engine& through, const electorate& whom,
                                                   base::client_lock& lock, writer write) {
    const boost::intrusive_ptr<query> self(new query(through, whom, std::move(write)));
    self->counts_ = true;
    self->ask(lock);
    return std::move(self->answers_);
}

std::vector<query::answer> query::run(engine& through, const electorate& whom,
                                      base::client_lock& lock,
                                      const std::vector<std::string>& command) {
    return run(through, whom, lock, write_command(command));
}

query::answer query::run_on(engine& through, base::client_lock& lock, core::node_index node,
                            writer write) {
    const electorate only(node);
    return std::move(run(through, only, lock, std::move(write)).front());
}

query::answer query::run_on(engine& through, base::client_lock& lock, core::node_index node,
                            const std::vector<std::string>& command) {
    return run_on(through, lock, node, write_command(command));
}

query::query(engine& through, const electorate& whom, writer write)
    : engine_(through),
      whom_(whom),
      write_(std::move(write)),
      answers_(whom.size()),
      waiter_(through.driving()) {}

void query::ask(base::client_lock& lock) {
    missing_ = whom_.size();
    const auto now = engine_.now();
    for (const auto voter : whom_.voters()) {
        engine_.send(whom_.node_of(voter), this, voter.value, now);
    }
    engine_.submit();
    engine_.driving().wait(lock, waiter_);
}

void query::answered(tag request, std::string_view reply) {
    auto& node = engine_.voter(whom_.node_of(voter_of(request)));
    if (!counts_ || !node.acknowledges()) return settle(request, std::string(reply));
    answers_[request] = std::string(reply);
    node.acknowledge(this, request);
}

void query::acknowledged(tag request) noexcept { settle(request, std::move(answers_[request])); }

void query::failed(tag request, const net::failure& why) noexcept {
    settle(request, net::copy_of(why));
}

void query::settle(tag request, answer what) noexcept {
    answers_[request] = std::move(what);
    if (--missing_ == 0) engine_.driving().finished(waiter_);
}

}  // namespace holdfast::runtime
