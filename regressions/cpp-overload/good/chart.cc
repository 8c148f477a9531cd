#include "chart.h"

#include <algorithm>

namespace {

// Turns places in the chart into places on the paper.
struct Scale {
    const Chart &chart;
    Range range;

    double x(double index, size_t count) const {
        double inner = chart.width - 2.0 * chart.margin;
        return chart.margin + inner * index / static_cast<double>(count);
    }
    double y(double value) const {
        double inner = chart.height - 2.0 * chart.margin;
        double whole = range.high - range.low;
        return chart.height - chart.margin - (whole > 0 ? inner * (value - range.low) / whole : 0);
    }
};

void apply_style(Element &element, const Style &style) {
    for (const auto &entry : style)
        element.set(entry.first, entry.second);
}

void draw_bars(const Scale &scale, const Series &series, Element &group) {
    size_t count = series.values.size();
    for (size_t i = 0; i < count; i++) {
        double value = series.values[i];
        double left = scale.x(static_cast<double>(i) + 0.1, count);
        double right = scale.x(static_cast<double>(i) + 0.9, count);
        double top = scale.y(std::max(value, 0.0));
        Element &bar = group.add("rect");
        apply_style(bar, series.style);
        bar.set("x", left).set("y", top).set("width", right - left);
        bar.set("height", scale.y(std::min(value, 0.0)) - top);
    }
}

void draw_line(const Scale &scale, const Series &series, Element &group) {
    size_t count = series.values.size();
    std::string points;
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            points += " ";
        points += short_number(scale.x(static_cast<double>(i) + 0.5, count));
        points += ",";
        points += short_number(scale.y(series.values[i]));
    }
    Element &line = group.add("polyline");
    apply_style(line, series.style);
    line.set("points", points);
    line.set("fill", "none");
}

void draw_dots(const Scale &scale, const Series &series, Element &group) {
    size_t count = series.values.size();
    for (size_t i = 0; i < count; i++) {
        Element &dot = group.add("circle");
        apply_style(dot, series.style);
        dot.set("cx", scale.x(static_cast<double>(i) + 0.5, count));
        dot.set("cy", scale.y(series.values[i]));
        dot.set("r", 3);
    }
}

void draw_grid(const Scale &scale, Element &root) {
    Element &group = root.add("g");
    std::string colour = "#cccccc";
    group.set("stroke", colour);
    for (int i = 0; i <= 4; i++) {
        double value = scale.range.low + (scale.range.high - scale.range.low) * i / 4;
        Element &line = group.add("line");
        line.set("x1", scale.chart.margin).set("x2", scale.chart.width - scale.chart.margin);
        line.set("y1", scale.y(value)).set("y2", scale.y(value));
    }
}

} // namespace

Range range_of(const Chart &chart) {
    Range range;
    for (const Series &series : chart.series) {
        for (double value : series.values) {
            range.low = std::min(range.low, value);
            range.high = std::max(range.high, value);
        }
    }
    return range;
}

void draw(const Chart &chart, Element &root) {
    Scale scale{chart, range_of(chart)};

    root.set("width", chart.width).set("height", chart.height);
    if (!chart.title.empty())
        root.add("title").text(chart.title);
    if (chart.grid)
        draw_grid(scale, root);
    for (const Series &series : chart.series) {
        Element &group = root.add("g");
        group.set("id", series.name);
        switch (series.kind) {
        case Kind::bars:
            draw_bars(scale, series, group);
            break;
        case Kind::line:
            draw_line(scale, series, group);
            break;
        case Kind::dots:
            draw_dots(scale, series, group);
            break;
        }
    }
}
