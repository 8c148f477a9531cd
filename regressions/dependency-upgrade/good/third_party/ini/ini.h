/* ini - a reader of configuration files, version 1.2 */
#ifndef INI_H
#define INI_H

#include <stdio.h>

#define INI_VERSION "1.2"

typedef struct ini ini;

/* Reads a whole file. Returns NULL if there is no memory. */
ini *ini_read(FILE *in);
void ini_free(ini *doc);

/* Number of the first line that is wrong, 0 if there is none. */
int ini_error(const ini *doc);

/* Sections, in the order of the file. */
int ini_sections(const ini *doc);
const char *ini_section_name(const ini *doc, int section);

/* Values. A key that is not there gives the value for it that is passed. */
const char *ini_get(const ini *doc, int section, const char *key, const char *otherwise);
long ini_get_int(const ini *doc, int section, const char *key, long otherwise);

#endif
