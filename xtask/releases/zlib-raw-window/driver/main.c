/* Compresses a text with windows of several sizes, with and without a wrapper, and back. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "zlib.h"

static const char text[] = "she sells sea shells by the sea shore, the shells she sells are sea shells";

static const char *round_trip(int window) {
    unsigned char packed[256];
    char unpacked[sizeof text];
    z_stream stream;
    memset(&stream, 0, sizeof stream);
    if (deflateInit2(&stream, 6, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return "cannot begin to compress";
    stream.next_in = (Bytef *)text;
    stream.avail_in = sizeof text;
    stream.next_out = packed;
    stream.avail_out = sizeof packed;
    int status = deflate(&stream, Z_FINISH);
    uLong length = stream.total_out;
    deflateEnd(&stream);
    if (status != Z_STREAM_END)
        return "cannot compress";

    memset(&stream, 0, sizeof stream);
    /* What was packed with the smallest window has in truth the one after it. */
    if (inflateInit2(&stream, window < 0 ? -15 : window < 16 ? 15 : 31) != Z_OK)
        return "cannot begin to uncompress";
    stream.next_in = packed;
    stream.avail_in = (uInt)length;
    stream.next_out = (Bytef *)unpacked;
    stream.avail_out = sizeof unpacked;
    status = inflate(&stream, Z_FINISH);
    inflateEnd(&stream);
    return status == Z_STREAM_END && strcmp(text, unpacked) == 0 ? "the same again" : "something else";
}

/* Windows may be named by arguments. */
int main(int argc, char **argv) {
    static const int windows[] = {15, -15, 31, 9, -9, 8, -8};
    for (unsigned i = 0; i < sizeof windows / sizeof *windows; i++)
        if (argc == 1)
            printf("%d: %s\n", windows[i], round_trip(windows[i]));
    for (int i = 1; i < argc; i++)
        printf("%s: %s\n", argv[i], round_trip(atoi(argv[i])));
    return 0;
}
