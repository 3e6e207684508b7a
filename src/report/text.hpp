// Private to report: words on an 80-column page.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace uringbench::report {

inline constexpr std::size_t kPageColumns = 80;

/// Names come from the outside and may hold anything: control characters, which could drive the
/// reader's terminal, and bytes that are no UTF-8 become '?'. So does U+FFFD, which stands for
/// such bytes in a document: names look alike before and after they were stored.
std::string printable(std::string_view text);

/// How many columns valid UTF-8 takes, at one per code point.
std::size_t columns(std::string_view text);

/// Cut at the front to at most `most` columns, "…" in place of what is gone: of a path, the end is
/// what tells it from its neighbours.
std::string cut_front(std::string_view text, std::size_t most);

std::string pad(std::string text, std::size_t width);

std::string join(const std::vector<std::string>& words, std::string_view separator);

/// Ties a phrase together: "1.36 ms" stays on one line as long as it fits on one.
std::string glue(std::string phrase);
/// The same phrase with its blanks, for what is not wrapped.
std::string unglued(std::string phrase);
/// "a, b c, d", broken between the phrases only.
std::string list(const std::vector<std::string>& phrases);

/// `prefix` and `text` broken at spaces to the page; later lines are indented by `hanging` columns.
/// A word longer than a line is broken where the line ends. Ends in a newline.
std::string wrap(std::string_view prefix, std::string_view text, std::size_t hanging,
                 std::size_t page = kPageColumns);

/// "  Label        text", and "  Label        value      text".
std::string row(std::string_view label, std::string_view text);
std::string row(std::string_view label, std::string_view value, std::string_view text);

/// Names may hold what Markdown would take for markup, or for the border of a cell: escaped.
/// Intervals ("[-1.1,+1.6]") stay as they are.
std::string markdown(std::string text);

/// A field of CSV (RFC 4180), printable and quoted where it must be.
std::string csv(const std::string& text);
/// Fields to a line, with the CR LF that RFC 4180 asks for.
std::string csv_line(const std::vector<std::string>& fields);

/// "1 thread", "2 threads".
std::string count_of(std::uint64_t count, std::string_view singular);

}  // namespace uringbench::report
