// Charts of series of numbers, drawn as bars, lines or dots.
#ifndef CHART_H
#define CHART_H

#include "element.h"

#include <map>
#include <string>
#include <vector>

enum class Kind { bars, line, dots };

using Style = std::map<std::string, std::string>;

struct Series {
    std::string name;
    Kind kind = Kind::bars;
    std::vector<double> values;
    Style style;
};

struct Chart {
    std::string title;
    int width = 320;
    int height = 200;
    int margin = 20;
    bool grid = false;
    std::vector<Series> series;
};

// Reads a chart. Returns 0, or the number of the line that is wrong.
int parse(std::FILE *in, Chart &chart);

void draw(const Chart &chart, Element &root);

// The least and the most of all values, with 0 among them.
struct Range {
    double low = 0, high = 0;
};
Range range_of(const Chart &chart);

#endif
