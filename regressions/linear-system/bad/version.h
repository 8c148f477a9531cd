#ifndef VERSION_H
#define VERSION_H

#define VERSION "0.2"

#endif
