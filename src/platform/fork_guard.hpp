#pragma once

namespace holdfast {

/// How often this process has been made by fork(): differs between a parent and its children.
unsigned fork_generation() noexcept;

}  // namespace holdfast
