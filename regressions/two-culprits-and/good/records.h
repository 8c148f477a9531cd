#ifndef RECORDS_H
#define RECORDS_H

#include "message.h"

/* Prints the whole message. 0 if it is broken. */
int records_show(struct message *message);

#endif
