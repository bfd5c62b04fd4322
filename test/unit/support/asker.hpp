#pragma once

#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "net/exchange.hpp"
#include "resp/encoder.hpp"
#include "scripts/embedded.hpp"

namespace holdfast::testing {

/// Sends requests and writes down what comes of them. A request is `GET tag`, unless said
/// otherwise.
class asker final : public net::exchange {
  public:
    struct outcome {
        tag request = 0;
        std::string said;  // the reply; of a failure its message
        bool failed = false;
        net::failure why{};
        friend bool operator==(const outcome& left, const outcome& right) {
            return left.request == right.request && left.said == right.said &&
                   left.failed == right.failed;
        }
    };

    /// Runs the release script, not a plain command.
    asker& as_script() {
        script_ = true;
        return *this;
    }
    asker& as_vote(bool token = false) {
        vote_ = true;
        token_ = token;
        return *this;
    }
    asker& to_be_told() {
        told_ = true;
        return *this;
    }

    std::vector<outcome> heard;
    bool still_wanted = true;
    std::function<void()> on_encode;
    std::function<void()> on_answer;  // before the answer is written down
    std::function<void()> on_failure;

    [[nodiscard]] std::vector<std::string> said() const {
        std::vector<std::string> all;
        for (const auto& each : heard) all.push_back((each.failed ? "failed: " : "") + each.said);
        return all;
    }

  private:
    void encode(tag request, bool by_text, std::string& out) override {
        if (on_encode) on_encode();
        const auto name = std::to_string(request);
        if (!script_) return resp::append_command(out, {"GET", name});
        const auto& script = scripts::exclusive::release;
        resp::append_command(out, {by_text ? "EVAL" : "EVALSHA",
                                   by_text ? script.text : script.sha1, "1", name, "me"});
    }
    [[nodiscard]] bool wanted(tag) const override { return still_wanted; }
    [[nodiscard]] bool asks_for_notification(tag) const override { return told_; }
    [[nodiscard]] bool asks_for_vote(tag) const override { return vote_; }
    [[nodiscard]] bool asks_for_token(tag) const override { return token_; }
    void answered(tag request, std::string_view reply) override {
        if (on_answer) on_answer();
        heard.push_back({.request = request, .said = std::string(reply)});
    }
    void failed(tag request, const net::failure& why) noexcept override {
        heard.push_back({.request = request, .said = why.message, .failed = true, .why = why});
        if (on_failure) on_failure();
    }

    bool script_ = false;
    bool vote_ = false;
    bool token_ = false;
    bool told_ = false;
};

using asker_pointer = boost::intrusive_ptr<asker>;

}  // namespace holdfast::testing
