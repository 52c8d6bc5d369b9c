#include "node/cli/manual/man_page.h"

namespace ostraka::cli {
namespace {

// `text` as roff prints it unchanged: no escape, no request, and hyphens that can be copied.
std::string Plain(const std::string& text) {
  std::string out;
  bool line_begins = true;
  for (const char c : text) {
    // A dot or a quote that begins a line would be a request.
    if (line_begins && (c == '.' || c == '\'')) out += "\\&";
    line_begins = c == '\n';
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else if (c == '~' || c == '^' || c == '`') {
      // Typesetters would print an accent.
      out += c == '~' ? "\\(ti" : c == '^' ? "\\(ha" : "\\(ga";
    } else {
      out += c;
    }
  }
  return out;
}

std::string Bold(const std::string& text) { return "\\fB" + Plain(text) + "\\fR"; }
std::string Italic(const std::string& text) { return "\\fI" + Plain(text) + "\\fR"; }

// "run real nodes" as "Run real nodes.".
std::string Sentence(std::string text) {
  if (text.empty()) return text;
  if (text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
  if (text.back() != '.') text += '.';
  return text;
}

std::string Heading(const OptionText& option, bool is_word) {
  std::string line;
  for (const std::string& name : option.names) {
    if (!line.empty()) line += ", ";
    line += is_word ? Italic(name) : Bold(name);
  }
  if (!is_word && !option.value.empty()) line += " " + Italic(option.value);
  if (option.repeats) line += " ...";
  return line;
}

std::string Entry(const OptionText& option, bool is_word) {
  std::string text = ".TP\n" + Heading(option, is_word) + "\n";
  std::string facts = option.limits;
  const auto add = [&facts](const std::string& fact) {
    facts += (facts.empty() ? "" : "; ") + fact;
  };
  if (option.required) add("required");
  if (!option.fallback.empty()) add("default " + option.fallback);
  // Without a description the facts alone explain it.
  std::string meaning = option.meaning;
  if (!facts.empty()) meaning += (meaning.empty() ? "(" : " (") + facts + ")";
  return text + (meaning.empty() ? "\\&" : Plain(meaning)) + "\n";
}

std::string Entries(const CommandText& command) {
  std::string text;
  for (const OptionText& word : command.words) text += Entry(word, true);
  for (const OptionText& option : command.options) text += Entry(option, false);
  return text;
}

std::string Synopsis(const CommandText& command) {
  std::string line = Bold(command.path);
  if (!command.options.empty()) line += " [" + Italic("OPTIONS") + "]";
  for (const OptionText& word : command.words) {
    const std::string name = Italic(word.names.front()) + (word.repeats ? " ..." : "");
    line += word.required ? " " + name : " [" + name + "]";
  }
  if (!command.commands.empty()) line += " " + Italic("SUBCOMMAND");
  return line + "\n";
}

// Lines that stay as they are.
std::string Verbatim(const std::string& text) {
  return text.empty() ? "" : ".PP\n.nf\n" + Plain(text) + "\n.fi\n";
}

void AddCommands(const CommandText& command, std::string& page) {
  for (const CommandText& child : command.commands) {
    page += ".SS " + Plain(child.path) + "\n" + Plain(Sentence(child.summary)) + "\n.PP\n" +
            Synopsis(child) + Entries(child) + Verbatim(child.footer);
    AddCommands(child, page);
  }
}

}  // namespace

std::string ManPage(const CommandText& program, const std::string& version) {
  // The program's summary begins with its name: "ostraka: train one model ...".
  const std::string title = program.name + ": ";
  std::string summary = program.summary;
  if (summary.starts_with(title)) summary.erase(0, title.size());
  const std::string first = summary.substr(0, summary.find('\n'));
  std::string page = ".TH OSTRAKA 1 \"\" \"ostraka " + version + "\" \"User Commands\"\n";
  page += ".SH NAME\nostraka \\- " +
          Plain(first.substr(0, first.size() - (first.ends_with('.') ? 1 : 0))) + "\n";
  page += ".SH SYNOPSIS\n" + Synopsis(program);
  page += ".SH DESCRIPTION\n" + Plain(Sentence(summary)) + "\n";
  page += ".SH OPTIONS\n" + Entries(program) + Verbatim(program.footer);
  page += ".SH COMMANDS\n";
  AddCommands(program, page);
  page +=
      ".SH SEE ALSO\nThe pages in share/doc/ostraka/docs: operating.md for operators,\n"
      "protocol.md for the protocol, threat\\-model.md for what an attacker may do.\n";
  return page;
}

}  // namespace ostraka::cli
