// An error of PnetCDF ends all ranks, with its words.
#pragma once
#include "run.h"

#include <pnetcdf.h>

static void require_nc(int code, char const* what) {
    if (code == NC_NOERR) return;
    fprintf(stderr, "%s\n", ncmpi_strerror(code));
    require(0, what);
}
