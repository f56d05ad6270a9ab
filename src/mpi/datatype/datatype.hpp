// The library keeps the layouts of MPI datatypes: on the datatype, as an attribute that its
// duplicates share, and by type tree, for datatypes that the program makes anew. Any thread may
// ask.
#pragma once
#include "base/external32.hpp"
#include "base/layout.hpp"
#include "base/status.hpp"
#include "mpi/datatype/capture.hpp"

#include <atomic>
#include <functional>
#include <mutex>
#include <optional>

namespace sluice {

/// The layout of a datatype, or what it is to be made from: the datatype itself is not needed.
class Shape {
public:
    explicit Shape(std::shared_ptr<TypeTree const> type_tree) noexcept
        : type_tree_bytes_(type_tree->bytes()),
          type_tree_(std::move(type_tree)) {}

    /// The layout of one instance, repeated at its extent. Flattens when asked for the first time;
    /// by any thread, without MPI.
    [[nodiscard]] std::shared_ptr<Layout const> layout();

    /// Whether layout() takes long enough to leave it to somebody else.
    [[nodiscard]] bool is_costly() const noexcept;

private:
    std::size_t type_tree_bytes_;
    std::mutex mutex_;
    std::shared_ptr<TypeTree const> type_tree_;  ///< Until the layout is there.
    std::shared_ptr<Layout const> layout_;
    std::atomic<bool> ready_{false};
};

/// Local. Null where a constructor is not known, or where the datatype reaches further than
/// offset_limit. The datatype may be freed at once.
[[nodiscard]] std::shared_ptr<Shape>
shape_of(MPI_Datatype type, Representation representation = Representation::native);

/// The same, flattened at once.
[[nodiscard]] std::shared_ptr<Layout const>
flatten(MPI_Datatype type, Representation representation = Representation::native);

/// Converts instances of the datatype. Null where shape_of() is, or where the form of an element in
/// external32 is not known. Local. The datatype may be freed at once.
[[nodiscard]] std::shared_ptr<External32 const> external32_of(MPI_Datatype type);

/// Bytes that one instance takes in a file. Nothing where external32_of() is null.
[[nodiscard]] std::optional<Bytes> file_bytes_of(MPI_Datatype type, Representation representation);

/// From one instance to the next in a file. Nothing where external32_of() is null.
[[nodiscard]] std::optional<Offset> file_extent_of(MPI_Datatype type,
                                                   Representation representation);

/// Whether the MPIs do the same with the datatype in a file as this library does: always where the
/// file is native, and in external32 if External32::is_plain().
[[nodiscard]] bool is_alike_in_mpi(MPI_Datatype type, Representation representation);

/// A number that is kept with the datatype and its duplicates: what `make` gave when it was first
/// asked for. Local.
[[nodiscard]] std::int64_t kept_number(MPI_Datatype type,
                                       std::function<std::int64_t()> const& make);

/// A datatype of so many bytes, which the caller frees: counts of the MPI are ints, which these may
/// exceed. Local.
[[nodiscard]] MPI_Datatype contiguous_bytes(Bytes bytes);

/// ok, or `type`: null, or not committed. `own`: any communicator of the library. Local.
[[nodiscard]] Status check_type(MPI_Datatype type, MPI_Comm own);

/// Forgets all that is kept. Called before the MPI ends; it may begin again.
void forget_types();

}  // namespace sluice
