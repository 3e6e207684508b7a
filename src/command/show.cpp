#include "command/show.hpp"

#include "report/report.hpp"
#include "result/result.hpp"

namespace uringbench::command {

int show(const plan::Options& options, Console& console) {
  const result::Document document = result::load(options.files.front());
  if (options.format == "csv") {
    console.document(report::summary_csv(document));  // its line ends are part of the format
  } else if (options.format == "md") {
    console.text(report::summary_markdown(document));
  } else {
    console.text(report::summary(document));
  }
  return console.failed() ? 1 : 0;
}

}  // namespace uringbench::command
