/* The cases of files.c that are no patterns. */
#ifndef FILES_H
#define FILES_H

/* Where memory lies, and what else it holds: files_places.c. */
void add_places(void);
/* What programs do besides: files_programs.c. */
void add_programs(void);
/* Calls that begin when a stream has come to its end: files_streams.c. */
void add_streams(void);

#endif
