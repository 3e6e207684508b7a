// How tables of a comparison come onto a page.
#include <algorithm>

#include "report/comparison_table.hpp"
#include "report/text.hpp"

namespace uringbench::report {
namespace {

constexpr std::size_t kGap = 1;         // between columns
constexpr std::size_t kBlockGap = 2;    // between blocks
constexpr std::size_t kNameIndent = 2;  // of figures under a name on a line of its own

std::size_t width_of(const TableColumn& column) {
  std::size_t width = columns(column.head);
  for (const std::string& word : column.words) width = std::max(width, columns(word));
  return width;
}

std::size_t width_of(const TableBlock& block) {
  std::size_t width = 0;
  for (const TableColumn& column : block.columns) {
    width += width_of(column) + (width > 0 ? kGap : 0);
  }
  return width;
}

// A line that is written from left to right; a word that finds its place taken stands behind it.
class Line {
 public:
  void put(std::size_t at, std::size_t width, bool right, const std::string& word, Tint tint,
           bool color) {
    if (word.empty()) return;
    const std::size_t begin = at + (right && columns(word) < width ? width - columns(word) : 0);
    const std::size_t column = std::max(begin, used_ == 0 ? 0 : used_ + kGap);
    text_ += std::string(column - used_, ' ') + tinted(word, tint, color);
    used_ = column + columns(word);
  }
  std::string take() && { return std::move(text_) + '\n'; }

 private:
  std::string text_;
  std::size_t used_ = 0;
};

struct Placed {
  const TableColumn* column;
  std::size_t at, width;
};

// Blocks that stand side by side, behind names of `name_width`.
class Band {
 public:
  explicit Band(std::size_t name_width) : used_(name_width) {}
  bool has_room(const TableBlock& block, std::size_t page) const {
    return used_ + kBlockGap + width_of(block) <= page;
  }
  void add(const TableBlock& block) {
    if (block.columns.empty()) return;
    used_ += kBlockGap;
    titles_.put(used_, 0, false, cut_front(block.title, std::max<std::size_t>(width_of(block), 2)),
                Tint::none, false);
    bool first = true;
    for (const TableColumn& column : block.columns) {
      used_ += first ? 0 : kGap;
      first = false;
      placed_.push_back({&column, used_, width_of(column)});
      used_ += placed_.back().width;
    }
  }
  std::string draw(const std::vector<TableRow>& rows, bool own_lines,
                   const ComparisonStyle& style) && {
    Line head;
    for (const auto& [column, at, width] : placed_) {
      head.put(at, width, column->right, column->head, Tint::none, false);
    }
    std::string out = std::move(titles_).take() + std::move(head).take();
    for (std::size_t i = 0; i < rows.size(); ++i) {
      Line line;
      if (own_lines) {
        out += wrap("", rows[i].name, 0, style.columns);
      } else {
        line.put(0, 0, false, rows[i].name, Tint::none, false);
      }
      for (const auto& [column, at, width] : placed_) {
        const Tint tint = column->tints.empty() ? Tint::none : column->tints[i];
        line.put(at, width, column->right, column->words[i], tint, style.color);
      }
      out += std::move(line).take();
    }
    return out;
  }

 private:
  std::size_t used_;
  Line titles_;
  std::vector<Placed> placed_;
};

}  // namespace

std::string tinted(const std::string& word, Tint tint, bool color) {
  if (!color || tint == Tint::none) return word;
  const char* code = tint == Tint::good ? "\x1b[32m" : tint == Tint::bad ? "\x1b[31m" : "\x1b[33m";
  return code + word + "\x1b[0m";
}

std::string draw_table(const std::vector<TableRow>& rows, const TableBlock& base,
                       const std::vector<TableBlock>& blocks, const ComparisonStyle& style) {
  std::size_t name_width = 0, widest = 0;
  for (const TableRow& row : rows) {
    if (!row.spans) name_width = std::max(name_width, columns(row.name));
  }
  for (const TableBlock& block : blocks) widest = std::max(widest, kBlockGap + width_of(block));
  if (!base.columns.empty()) widest += kBlockGap + width_of(base);
  const bool own_lines = name_width + widest > style.columns;
  if (own_lines) name_width = kNameIndent - kBlockGap;

  std::string out;
  for (std::size_t next = 0; next < blocks.size();) {
    Band band(name_width);
    band.add(base);
    do {
      band.add(blocks[next++]);
    } while (next < blocks.size() && band.has_room(blocks[next], style.columns));
    out += (out.empty() ? "" : "\n") + std::move(band).draw(rows, own_lines, style);
  }
  return out;
}

}  // namespace uringbench::report
