#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "descriptor.hpp"

namespace holdfast::tool {

/// A control group (version 2) below our own, for one command: the kernel kills everybody in it in
/// one step, so that nobody can fork away from it.
///
/// Not everybody may make one, and not everywhere: then there is none, and one does without. There
/// is none either where it would be given controllers of its own, and account for memory long after
/// it is gone.
///
/// Errors: none. What cannot be done is left undone.
class control_group {
  public:
    /// Makes the one that is named after this process.
    static std::optional<control_group> make();
    /// The one that another process has made, if it is still there.
    static std::optional<control_group> of(pid_t maker);

    /// For clone3(). Kept open by nobody else.
    [[nodiscard]] descriptor directory() const;

    void kill() const;

    /// Lets everybody who is left go on in the group above, and removes it.
    void disband() const;

  private:
    control_group(std::string parent, pid_t maker);

    std::string parent_;
    std::string path_;
};

}  // namespace holdfast::tool
