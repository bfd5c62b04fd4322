#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

namespace holdfast::sim {

/// Memory for one Lua state. Scripts live on small strings and tables that die at once, so the
/// sizes up to `largest` are cut from slabs and come back through one list for each size. (malloc
/// spent nearly a tenth of a simulator's instructions on them.) REQUIRES: outlives the state.
class lua_memory {
  public:
    lua_memory() = default;
    lua_memory(const lua_memory&) = delete;
    lua_memory& operator=(const lua_memory&) = delete;

    /// A lua_Alloc: `self` is the lua_memory, `size` 0 frees, and null says that there is no more.
    static void* reallocate(void* self, void* block, std::size_t old_size, std::size_t size);

  private:
    struct free_block {
        free_block* next;
    };
    static constexpr std::size_t grain = 16;
    static constexpr std::size_t largest = 512;
    static constexpr std::size_t slab_size = std::size_t{64} * 1024;

    void* take(std::size_t size);
    void give_back(void* block, std::size_t size);
    void add_slab();

    std::array<free_block*, largest / grain + 1> free_{};  // by the size in grains
    std::vector<std::unique_ptr<std::byte[]>> slabs_;
    std::byte* unused_ = nullptr;  // of the newest slab
    std::size_t left_ = 0;
};

}  // namespace holdfast::sim
