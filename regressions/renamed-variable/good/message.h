/* Messages to the user. */
#ifndef MESSAGE_H
#define MESSAGE_H

/* Which messages are shown: 0 none, 1 warnings, 2 notes too. */
extern int level;
extern int warnings;

void warn(int line, const char *format, ...);
void note(const char *format, ...);

#endif
