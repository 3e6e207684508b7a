// Where text goes: data on stdout, everything else on stderr.
#pragma once

#include <string>
#include <string_view>

#include "base/base.hpp"

namespace uringbench::command {

class Console {
 public:
  /// Before anything is opened: a descriptor of ours must not take the place of a closed stream.
  static void open_standard_streams();

  /// With `document_on_stdout`, stdout carries the document alone and human text goes to stderr.
  /// `quiet` silences stderr but for errors.
  void configure(bool document_on_stdout, bool quiet, const std::string& log_level);

  /// Lines for people and for scripts that parse t/io_uring; flushed at once.
  void text(std::string_view text);
  /// The same for text whose author has coloured it: nothing else in it is obeyed.
  void colored(std::string_view text);
  /// The document, on stdout.
  void document(std::string_view json);

  void detail(const std::string& message);  ///< shown with --log-level debug
  void note(const std::string& message);
  void warning(const std::string& message);
  void error(const base::Problem& problem);
  /// A line for scripts on stderr, whatever is silenced.
  void verdict(const std::string& line);

  /// A line that the next one overwrites; only on a terminal. Empty text clears it.
  void progress(const std::string& line);

  /// A failure that was said and does not end the run, but makes it one.
  void note_failure() { failed_ = true; }
  /// stdout could not be written (other than by a broken pipe).
  bool failed() const { return failed_; }
  /// Whoever read stdout went away before all was written.
  bool reader_left() const { return reader_left_; }

 private:
  void write_out(std::string_view text);
  static void write_error(std::string_view text);

  bool document_on_stdout_ = false;
  bool quiet_ = false;
  bool broken_ = false;
  bool reader_left_ = false;
  bool failed_ = false;
  bool progress_shown_ = false;
};

}  // namespace uringbench::command
