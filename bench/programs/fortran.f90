! Time steps by blocking functions of MPI-IO, with `use mpi`: write_all and read_all with a view in
! which the ranks interleave, write_at_all and read_at_all with a stretch for each rank.
! fortran_steps.c holds the loop, which calls the subroutines below.
module steps_file
    use, intrinsic :: iso_c_binding
    use mpi
    implicit none
    integer, parameter :: width = 512
    integer :: handle

contains

    subroutine check(code, what)
        integer, intent(in) :: code
        character(len=*), intent(in) :: what
        integer :: ierror
        if (code == MPI_SUCCESS) return
        print '(a)', 'failed: ' // what
        call MPI_Abort(MPI_COMM_WORLD, 1, ierror)
    end subroutine

    subroutine set_view(rank, ranks)
        integer, intent(in) :: rank, ranks
        integer :: piece, interleaved, ierror
        integer(kind=MPI_ADDRESS_KIND) :: extent
        integer(kind=MPI_OFFSET_KIND) :: first
        extent = int(ranks, MPI_ADDRESS_KIND) * width * 8
        first = int(rank, MPI_OFFSET_KIND) * width * 8
        call MPI_Type_contiguous(width, MPI_DOUBLE_PRECISION, piece, ierror)
        call MPI_Type_create_resized(piece, 0_MPI_ADDRESS_KIND, extent, interleaved, ierror)
        call MPI_Type_commit(interleaved, ierror)
        call MPI_File_set_view(handle, first, MPI_DOUBLE_PRECISION, interleaved, 'native', &
                               MPI_INFO_NULL, ierror)
        call check(ierror, 'view')
        call MPI_Type_free(piece, ierror)
        call MPI_Type_free(interleaved, ierror)
    end subroutine

    subroutine fortran_open(name, writes, interleaved, rank, ranks) bind(C)
        character(kind=c_char), intent(in) :: name(*)
        integer(c_int), value :: writes, interleaved, rank, ranks
        character(len=4096) :: path
        integer :: i, mode, ierror
        path = ' '
        do i = 1, len(path)
            if (name(i) == c_null_char) exit
            path(i:i) = name(i)
        end do
        mode = MPI_MODE_RDONLY
        if (writes /= 0) mode = MPI_MODE_CREATE + MPI_MODE_WRONLY
        call MPI_File_open(MPI_COMM_WORLD, trim(path), mode, MPI_INFO_NULL, handle, ierror)
        call check(ierror, 'open')
        if (interleaved /= 0) call set_view(rank, ranks)
    end subroutine

    subroutine fortran_write(interleaved, offset, count, values) bind(C)
        integer(c_int), value :: interleaved, count
        integer(c_long_long), value :: offset
        real(c_double), intent(in) :: values(count)
        integer :: status(MPI_STATUS_SIZE), ierror
        if (interleaved /= 0) then
            call MPI_File_write_all(handle, values, count, MPI_DOUBLE_PRECISION, status, ierror)
        else
            call MPI_File_write_at_all(handle, int(offset, MPI_OFFSET_KIND), values, count, &
                                       MPI_DOUBLE_PRECISION, status, ierror)
        end if
        call check(ierror, 'write')
    end subroutine

    subroutine fortran_read(interleaved, offset, count, values) bind(C)
        integer(c_int), value :: interleaved, count
        integer(c_long_long), value :: offset
        real(c_double), intent(inout) :: values(count)
        integer :: status(MPI_STATUS_SIZE), ierror
        if (interleaved /= 0) then
            call MPI_File_read_all(handle, values, count, MPI_DOUBLE_PRECISION, status, ierror)
        else
            call MPI_File_read_at_all(handle, int(offset, MPI_OFFSET_KIND), values, count, &
                                      MPI_DOUBLE_PRECISION, status, ierror)
        end if
        call check(ierror, 'read')
    end subroutine

    subroutine fortran_close() bind(C)
        integer :: ierror
        call MPI_File_close(handle, ierror)
        call check(ierror, 'close')
    end subroutine
end module

! Usage: fortran WAY FILE STEPS BYTES_PER_RANK COMPUTE_SECONDS_PER_STEP
program fortran_steps
    use steps_file
    implicit none
    interface
        subroutine run_steps_of_fortran(way, file, steps, bytes, seconds) bind(C)
            import
            character(kind=c_char), intent(in) :: way(*), file(*)
            integer(c_int), value :: steps
            integer(c_long_long), value :: bytes
            real(c_double), value :: seconds
        end subroutine
    end interface
    character(len=4096) :: words(5)
    integer :: i, ierror
    integer(c_int) :: steps
    integer(c_long_long) :: bytes
    real(c_double) :: seconds
    call MPI_Init(ierror)
    do i = 1, 5
        call get_command_argument(i, words(i))
    end do
    read (words(3), *) steps
    read (words(4), *) bytes
    read (words(5), *) seconds
    call run_steps_of_fortran(trim(words(1)) // c_null_char, trim(words(2)) // c_null_char, &
                              steps, bytes, seconds)
    call MPI_Finalize(ierror)
end program
