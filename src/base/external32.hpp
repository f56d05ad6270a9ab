// Between the elements of a datatype as MPI_Pack gives them, in order and without gaps, and
// external32 (MPI-4.1, 14.5.2): big-endian, a few types with sizes of their own. Not left to
// MPI_Pack_external: MPICH 5.0 dies of structures, and Open MPI 5.0 tells sizes that it does not
// pack. Pure.
#pragma once
#include "base/type_tree.hpp"

namespace sluice {

/// Bytes of one element in external32; 0 where its form is not known.
[[nodiscard]] Bytes external32_bytes(ElementForm form) noexcept;

/// Converts instances of one datatype.
class External32 {
public:
    /// The type tree says how the datatype lies in memory.
    explicit External32(std::shared_ptr<TypeTree const> type_tree);

    /// False where the form of an element is not known; nothing below may be called then.
    [[nodiscard]] bool is_known() const noexcept { return root_.is_known; }
    /// Of one instance.
    [[nodiscard]] Bytes bytes() const noexcept { return root_.external; }
    /// Whether it has no structure, no pair and no number of another length than in memory: it lies
    /// in the file as in memory, and the MPIs at hand convert it right.
    [[nodiscard]] bool is_plain() const noexcept { return root_.is_plain; }

    /// False where a number has no place in external32 (an MPI_LONG of more than 4 bytes).
    [[nodiscard]] bool from_memory(std::byte const* packed, std::int64_t instances,
                                   std::byte* external) const;
    /// Converts the elements that lie whole in `bytes` bytes of external32.
    void to_memory(std::byte const* external, Bytes bytes, std::byte* packed) const;
    /// What the elements that lie whole in `bytes` bytes of external32 take when they are packed.
    [[nodiscard]] Bytes packed_bytes(Bytes bytes) const;

private:
    /// A datatype with what it is made of.
    struct Node {
        explicit Node(TypeTree const& its_type_tree);
        void add(Node const& part, std::int64_t count);
        TypeTree const* type_tree;
        std::int64_t parts_in = 0;  ///< Of parts[0]; not of a structure.
        Bytes packed = 0, external = 0;
        bool is_known = true, is_plain = true;
        std::vector<Node> parts;
    };
    /// Bytes before an element.
    struct Place {
        Bytes packed = 0, external = 0;
    };
    /// Calls `visit(form, count, place)` for elements in order, while they lie whole in the first
    /// `limit` bytes of external32. False if some do not.
    template <class Visit>
    static bool walk(Node const& node, std::int64_t count, Bytes limit, Place& at, Visit&& visit);
    template <class Visit>
    static bool walk_members(Node const& node, Bytes limit, Place& at, Visit&& visit);

    std::shared_ptr<TypeTree const> type_tree_;
    Node root_;
};

}  // namespace sluice
