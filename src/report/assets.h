/* The report's style sheets and scripts, and the default search space. They are files in
 * src/report/assets and studies/, embedded by cmake/embed.cmake, so that a report or a search needs
 * no other file. */
#ifndef REPORT_ASSETS_H
#define REPORT_ASSETS_H

#include <stddef.h>

extern const unsigned char asset_figure_css[], asset_report_css[], asset_report_js[],
    asset_picker_js[], asset_search_yaml[];
extern const size_t asset_figure_css_size, asset_report_css_size, asset_report_js_size,
    asset_picker_js_size, asset_search_yaml_size;

#endif
