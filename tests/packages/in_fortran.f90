! A program in Fortran that knows nothing of Sluice.
program in_fortran
    use mpi
    implicit none
    integer, parameter :: numbers = 100000
    integer :: written(numbers), back(numbers), i, rank, file, request, error
    integer(kind=MPI_OFFSET_KIND) :: place
    character(len=1000) :: path
    call MPI_Init(error)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
    call get_command_argument(1, path)
    written = [(rank * numbers + i, i = 1, numbers)]
    call MPI_File_open(MPI_COMM_WORLD, trim(path), MPI_MODE_CREATE + MPI_MODE_RDWR, &
                       MPI_INFO_NULL, file, error)
    place = 4_MPI_OFFSET_KIND * rank * numbers
    call MPI_File_iwrite_at_all(file, place, written, numbers, MPI_INTEGER, request, error)
    call MPI_Wait(request, MPI_STATUS_IGNORE, error)
    call MPI_File_read_at_all(file, place, back, numbers, MPI_INTEGER, MPI_STATUS_IGNORE, error)
    call MPI_File_close(file, error)
    if (rank == 0 .and. all(written == back)) print '(a)', 'same bytes'
    call MPI_Finalize(error)
    if (any(written /= back)) stop 1
end program in_fortran
