// A FileView is the view that the program has set, flattened. MPIs keep 16 to 31 bytes for each
// piece of a view, so they are not given a view of very many pieces. Nor are they given one in
// external32 whose datatypes have other sizes in the file than in memory, because they compute with
// those in memory. In both cases they get a stand-in of contiguous etypes, with which their file
// pointer stays right, and the library serves independent calls too.
#pragma once
#include "base/request.hpp"
#include "base/status.hpp"
#include "mpi/datatype/datatype.hpp"

#include <mpi.h>
#include <optional>

namespace sluice {

/// A type of the same kind that lives on when the program frees its own.
[[nodiscard]] MPI_Datatype duplicate(MPI_Datatype type);

/// Duplicates of the program's datatypes, for MPI_File_get_view.
struct ViewTypes {
    ViewTypes(MPI_Datatype its_etype, MPI_Datatype its_filetype);
    ~ViewTypes();
    ViewTypes(ViewTypes const&) = delete;
    ViewTypes& operator=(ViewTypes const&) = delete;
    MPI_Datatype etype, filetype;
};

struct FileView : View {
    Representation representation = Representation::native;
    bool internal = false;  ///< It was called "internal", which is the native one here.
    bool known = true;  ///< False: the data representation is the user's own, so the MPI serves.
    /// Set where the MPI was given a stand-in.
    std::shared_ptr<ViewTypes const> owned;
};

/// What the name of a data representation says of a view.
void read_representation(char const* name, FileView& view);

/// The arguments of MPI_File_set_view.
struct ViewArguments {
    MPI_Offset displacement;
    MPI_Datatype etype, filetype;
    char const* representation;
};

/// Flattens a view. What one rank can say of its arguments before anybody acts on them:
/// `unsupported` means that the MPI should serve it. Local.
/// `own`: any communicator of the library. `writable`: the file was not opened with
/// MPI_MODE_RDONLY.
[[nodiscard]] Status read_view(MPI_Comm own, ViewArguments const& arguments, bool writable,
                               FileView& view);

/// What the MPI gets in place of an owned view: contiguous etypes of the same length.
class StandIn {
public:
    explicit StandIn(FileView const& view);
    ~StandIn();
    StandIn(StandIn const&) = delete;
    StandIn& operator=(StandIn const&) = delete;
    [[nodiscard]] MPI_Datatype type() const noexcept { return type_; }

private:
    MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

/// MPI_File_get_byte_offset of a view: `offset` in etypes. Nothing where it is out of range.
[[nodiscard]] std::optional<Offset> byte_offset(View const& view, MPI_Offset offset) noexcept;

/// Etypes of the view that begin before `file_bytes`: where MPI_SEEK_END is.
[[nodiscard]] MPI_Offset etypes_before(View const& view, Offset file_bytes) noexcept;

}  // namespace sluice
