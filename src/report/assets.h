/* The style sheets and the scripts of the report, and the default search space. They are real files
 * in src/report/assets and studies/, built into the program by cmake/embed.cmake, so that neither a
 * report nor a search needs anything beside itself. */
#ifndef REPORT_ASSETS_H
#define REPORT_ASSETS_H

#include <stddef.h>

extern const unsigned char asset_figure_css[], asset_report_css[], asset_report_js[],
    asset_picker_js[], asset_search_yaml[];
extern const size_t asset_figure_css_size, asset_report_css_size, asset_report_js_size,
    asset_picker_js_size, asset_search_yaml_size;

#endif
