// Lines of a chart:
//   title TEXT          size WIDTH HEIGHT       grid
//   bars|line|dots NAME VALUE...
//   style NAME VALUE    of the series before
#include "chart.h"

#include <cstdlib>
#include <cstring>

namespace {

std::vector<std::string> split(const std::string &line) {
    std::vector<std::string> words;
    size_t at = 0;
    while (at < line.size()) {
        size_t end = line.find(' ', at);
        if (end == std::string::npos)
            end = line.size();
        if (end > at)
            words.push_back(line.substr(at, end - at));
        at = end + 1;
    }
    return words;
}

bool number(const std::string &word, double &value) {
    char *end;
    value = std::strtod(word.c_str(), &end);
    return !word.empty() && *end == '\0';
}

bool kind_of(const std::string &word, Kind &kind) {
    if (word == "bars")
        kind = Kind::bars;
    else if (word == "line")
        kind = Kind::line;
    else if (word == "dots")
        kind = Kind::dots;
    else
        return false;
    return true;
}

bool parse_line(const std::string &line, Chart &chart) {
    std::vector<std::string> words = split(line);
    Series series;

    if (words.empty() || words[0][0] == '#')
        return true;
    if (words[0] == "title") {
        chart.title = line.size() > 6 ? line.substr(6) : "";
        return true;
    }
    if (words[0] == "grid" && words.size() == 1) {
        chart.grid = true;
        return true;
    }
    if (words[0] == "size" && words.size() == 3) {
        chart.width = std::atoi(words[1].c_str());
        chart.height = std::atoi(words[2].c_str());
        return chart.width > 2 * chart.margin && chart.height > 2 * chart.margin;
    }
    if (words[0] == "style" && words.size() == 3 && !chart.series.empty()) {
        chart.series.back().style[words[1]] = words[2];
        return true;
    }
    if (!kind_of(words[0], series.kind) || words.size() < 3)
        return false;
    series.name = words[1];
    for (size_t i = 2; i < words.size(); i++) {
        double value;
        if (!number(words[i], value))
            return false;
        series.values.push_back(value);
    }
    chart.series.push_back(series);
    return true;
}

} // namespace

int parse(std::FILE *in, Chart &chart) {
    char buffer[512];
    int line = 0;

    while (std::fgets(buffer, sizeof buffer, in)) {
        buffer[std::strcspn(buffer, "\n")] = '\0';
        line++;
        if (!parse_line(buffer, chart))
            return line;
    }
    return 0;
}
