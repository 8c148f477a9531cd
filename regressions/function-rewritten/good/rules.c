/* Rules, one to a line:
 *   allow|deny PROTOCOL from NETWORK to NETWORK [port N[-M]] [established]
 *   otherwise allow|deny
 */
#include "sieve.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_WORDS = 12 };

int parse_protocol(const char *text, enum protocol *protocol) {
    static const char *const names[] = { "any", "tcp", "udp", "icmp" };
    for (int i = 0; i < 4; i++) {
        if (strcmp(text, names[i]) == 0) {
            *protocol = (enum protocol)i;
            return 0;
        }
    }
    return -1;
}

static int parse_action(const char *text, enum action *action) {
    if (strcmp(text, "allow") == 0)
        *action = ALLOW;
    else if (strcmp(text, "deny") == 0)
        *action = DENY;
    else
        return -1;
    return 0;
}

static int parse_ports(const char *text, struct ports *ports) {
    char *end;
    ports->first = (int)strtol(text, &end, 10);
    ports->last = ports->first;
    if (*end == '-')
        ports->last = (int)strtol(end + 1, &end, 10);
    return *end == '\0' && ports->first <= ports->last ? 0 : -1;
}

static int parse_rule(struct rule *rule, char **words, int count) {
    if (count < 6 || strcmp(words[2], "from") != 0 || strcmp(words[4], "to") != 0)
        return -1;
    if (parse_action(words[0], &rule->action) != 0)
        return -1;
    if (parse_protocol(words[1], &rule->protocol) != 0)
        return -1;
    if (parse_network(words[3], &rule->from) != 0 || parse_network(words[5], &rule->to) != 0)
        return -1;
    rule->ports.first = 0;
    rule->ports.last = 65535;
    rule->established = 0;
    for (int i = 6; i < count; i++) {
        if (strcmp(words[i], "port") == 0 && i + 1 < count) {
            if (parse_ports(words[++i], &rule->ports) != 0)
                return -1;
        } else if (strcmp(words[i], "established") == 0) {
            rule->established = 1;
        } else {
            return -1;
        }
    }
    return 0;
}

static int split(char *line, char **words) {
    int count = 0;
    for (char *word = strtok(line, " \t\n"); word && count < MOST_WORDS; word = strtok(NULL, " \t\n"))
        words[count++] = word;
    return count;
}

int load_rules(struct rules *rules, FILE *in) {
    char line[256], *words[MOST_WORDS];
    int number = 0;

    memset(rules, 0, sizeof *rules);
    rules->otherwise = DENY;
    while (fgets(line, sizeof line, in)) {
        int count = split(line, words);
        number++;
        if (count == 0 || words[0][0] == '#')
            continue;
        if (strcmp(words[0], "otherwise") == 0) {
            if (count != 2 || parse_action(words[1], &rules->otherwise) != 0)
                return number;
            continue;
        }
        if (rules->count == MOST_RULES)
            return number;
        rules->list[rules->count].number = rules->count + 1;
        if (parse_rule(&rules->list[rules->count], words, count) != 0)
            return number;
        rules->count++;
    }
    return 0;
}
