#include "sieve.h"

#include <stdlib.h>
#include <string.h>

int parse_address(const char *text, uint32_t *address) {
    uint32_t value = 0;
    for (int i = 0; i < 4; i++) {
        char *end;
        long part = strtol(text, &end, 10);
        if (end == text || part < 0 || part > 255 || *end != (i < 3 ? '.' : '\0'))
            return -1;
        value = value << 8 | (uint32_t)part;
        text = end + 1;
    }
    *address = value;
    return 0;
}

int parse_network(const char *text, struct network *network) {
    char address[32];
    const char *slash = strchr(text, '/');
    int bits = 32;

    if (strcmp(text, "any") == 0) {
        network->address = 0;
        bits = 0;
    } else {
        size_t length = slash ? (size_t)(slash - text) : strlen(text);
        if (length >= sizeof address)
            return -1;
        memcpy(address, text, length);
        address[length] = '\0';
        if (parse_address(address, &network->address) != 0)
            return -1;
        if (slash)
            bits = atoi(slash + 1);
    }
    if (bits < 0 || bits > 32)
        return -1;
    network->bits = bits;
    return 0;
}

int in_network(uint32_t address, const struct network *network) {
    uint64_t differ = address ^ network->address;
    return differ >> (32 - network->bits) == 0;
}

void format_address(uint32_t address, char *text, size_t size) {
    snprintf(text, size, "%u.%u.%u.%u", address >> 24, address >> 16 & 255, address >> 8 & 255, address & 255);
}
