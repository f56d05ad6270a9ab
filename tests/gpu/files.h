/* The cases of files.c that are no patterns. */
#ifndef FILES_H
#define FILES_H

/* Where memory lies, and what else it holds: files_places.c. */
void add_places(void);
/* What programs do besides: files_programs.c. */
void add_programs(void);

#endif
