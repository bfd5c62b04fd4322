#include "sim/server/lua_memory.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

namespace holdfast::sim {

void* lua_memory::reallocate(void* self, void* block, std::size_t old_size, std::size_t size) try {
    auto& memory = *static_cast<lua_memory*>(self);
    if (old_size > largest && size > largest) return std::realloc(block, size);
    auto* const moved = size == 0 ? nullptr : memory.take(size);
    if (size != 0 && moved == nullptr) return nullptr;
    if (block == nullptr) return moved;
    if (moved != nullptr) std::memcpy(moved, block, std::min(old_size, size));
    memory.give_back(block, old_size);
    return moved;
} catch (const std::bad_alloc&) {
    return nullptr;  // Lua is C: it must not be thrown through
}

void* lua_memory::take(std::size_t size) {
    if (size > largest) return std::malloc(size);
    const auto grains = (size + grain - 1) / grain;
    if (auto* const head = free_[grains]) {
        free_[grains] = head->next;
        return head;
    }
    if (left_ < grains * grain) add_slab();
    left_ -= grains * grain;
    auto* const block = unused_;
    unused_ += grains * grain;
    return block;
}

void lua_memory::give_back(void* block, std::size_t size) {
    if (size > largest) return std::free(block);
    auto& head = free_[(size + grain - 1) / grain];
    head = new (block) free_block{head};
}

void lua_memory::add_slab() {
    slabs_.push_back(std::make_unique_for_overwrite<std::byte[]>(slab_size));
    unused_ = slabs_.back().get();
    left_ = slab_size;
}

}  // namespace holdfast::sim
