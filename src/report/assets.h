/* The style sheets and the script of the report. They are real files in src/report/assets, built
 * into the program by cmake/embed.cmake, so that a report needs nothing beside itself. */
#ifndef REPORT_ASSETS_H
#define REPORT_ASSETS_H

#include <stddef.h>

extern const unsigned char asset_figure_css[], asset_report_css[], asset_report_js[],
    asset_picker_js[];
extern const size_t asset_figure_css_size, asset_report_css_size, asset_report_js_size,
    asset_picker_js_size;

#endif
