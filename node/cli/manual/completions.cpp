#include "node/cli/manual/completions.h"

#include <algorithm>

namespace ostraka::cli {
namespace {

// 'text' for bash and zsh.
std::string Quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

// 'text' for fish, whose single quotes know two escapes.
std::string FishQuoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

// The words that choose `command`: "key new"; empty for the program.
std::string Chosen(const CommandText& program, const CommandText& command) {
  return command.path.size() == program.path.size() ? ""
                                                    : command.path.substr(program.path.size() + 1);
}

// Calls visit(command) for `command` and each below it.
template <typename Visit>
void ForEach(const CommandText& command, const Visit& visit) {
  visit(command);
  for (const CommandText& child : command.commands) ForEach(child, visit);
}

std::string OneLine(const std::string& text) { return text.substr(0, text.find('\n')); }

// "'sim --attack'": a command and an option whose values are known; "'manual '": its word.
std::string ChoiceKeys(const std::string& chosen, const OptionText& option, bool is_word) {
  if (is_word) return Quoted(chosen + " ");
  std::string keys;
  for (const std::string& name : option.names) {
    keys += (keys.empty() ? "" : "|") + Quoted(chosen + " " + name);
  }
  return keys;
}

std::string Joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

// A function that sets `values` for a command and an option. `list(choices)` writes them.
template <typename List>
std::string ValuesFunction(const CommandText& program, const List& list) {
  std::string text = "_ostraka_values() {\n  case \"$1 $2\" in\n";
  ForEach(program, [&](const CommandText& command) {
    const auto add = [&](const OptionText& option, bool is_word) {
      if (option.choices.empty()) return;
      text += "    " + ChoiceKeys(Chosen(program, command), option, is_word) +
              ") values=" + list(Joined(option.choices)) + " ;;\n";
    };
    for (const OptionText& option : command.options) add(option, false);
    if (!command.words.empty()) add(command.words.front(), true);
  });
  return text + "  esac\n}\n";
}

struct Names {
  std::string commands;
  std::string options;
  std::string valued;  // options that the next word belongs to
};

Names NamesOf(const CommandText& command) {
  const auto add = [](std::string& list, const std::string& name) {
    list += (list.empty() ? "" : " ") + name;
  };
  Names names;
  for (const CommandText& child : command.commands) add(names.commands, child.name);
  for (const OptionText& option : command.options) {
    for (const std::string& name : option.names) {
      add(names.options, name);
      if (!option.value.empty()) add(names.valued, name);
    }
  }
  return names;
}

// "name:meaning" for zsh's _describe, which splits at the first bare colon.
std::string Described(const std::string& name, const std::string& meaning) {
  std::string out = " ";
  std::string escaped;
  for (const char c : name) escaped += c == ':' ? "\\:" : std::string(1, c);
  return out + Quoted(meaning.empty() ? escaped : escaped + ":" + OneLine(meaning));
}

constexpr char kBashWalk[] = R"sh(
# Follows the words before the cursor to the command that they choose, then completes the last one.
_ostraka() {
  local current="${COMP_WORDS[COMP_CWORD]}" path="" previous="" word i
  local commands options valued files values=""
  _ostraka_names ""
  for ((i = 1; i < COMP_CWORD; ++i)); do
    word="${COMP_WORDS[i]}"
    # "--seed=7" and "mnist:DIR" come as three words.
    if [[ "$word" == "=" ]]; then continue; fi
    if [[ "$word" == ":" ]]; then ((++i)); continue; fi
    if [[ " $valued " == *" $previous "* && "$previous" == -* ]]; then
      previous=""
    elif [[ " $commands " == *" $word "* ]]; then
      path="${path:+$path }$word"
      previous=""
      _ostraka_names "$path"
    else
      previous="$word"
    fi
  done
  COMPREPLY=()
  [[ "$current" != "=" ]] || current=""
  if [[ "$previous" == -* && " $valued " == *" $previous "* ]]; then
    _ostraka_values "$path" "$previous"
    [[ -n "$values" ]] || return  # bash completes a file name
  elif [[ "$current" != -* ]]; then
    _ostraka_values "$path" ""
  fi
  if [[ -n "$values" ]]; then
    COMPREPLY=($(compgen -W "$values" -- "$current"))
    # A path follows.
    [[ "${COMPREPLY[*]}" != *: ]] || compopt -o nospace 2> /dev/null
    return
  fi
  if [[ "$current" == -* || ( -z "$commands" && -z "$files" ) ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$current"))
  elif [[ -n "$commands" ]]; then
    COMPREPLY=($(compgen -W "$commands" -- "$current"))
  fi
}
complete -o default -F _ostraka ostraka
)sh";

constexpr char kZshWalk[] = R"sh(
_ostraka() {
  local chosen="" previous="" word i
  local -a below flags values  # `commands` and `options` are zsh's own
  local valued files
  _ostraka_names ""
  for ((i = 2; i < CURRENT; ++i)); do
    word="${words[i]}"
    if [[ -n "$previous" && " $valued " == *" $previous "* ]]; then
      previous=""
    elif (( ${below[(I)${word}(|:*)]} )); then
      chosen="${chosen:+$chosen }$word"
      previous=""
      _ostraka_names "$chosen"
    elif [[ "$word" == -* ]]; then
      previous="$word"
    else
      previous=""
    fi
  done
  if [[ -n "$previous" && " $valued " == *" $previous "* ]]; then
    _ostraka_values "$chosen" "$previous"
    (( ${#values} )) || { _files; return }
  elif [[ "${words[CURRENT]}" != -* ]]; then
    _ostraka_values "$chosen" ""
  fi
  if (( ${#values} )); then
    if [[ "${words[CURRENT]}" == *:* ]]; then
      compset -P '*:'
      _files
    else
      compadd -- "${(@)values:#*:}"
      compadd -S '' -- "${(@M)values:#*:}"  # a path follows
    fi
  elif [[ "${words[CURRENT]}" == -* || ( ${#below} -eq 0 && -z "$files" ) ]]; then
    _describe -o option flags
  elif (( ${#below} )); then
    _describe command below
  else
    _files
  fi
}
if [[ "${funcstack[1]}" == _ostraka ]]; then
  _ostraka "$@"
elif (( $+functions[compdef] )); then
  compdef _ostraka ostraka
fi
)sh";

// The options of `path` that take a value are __ostraka_valued's answer.
constexpr char kFishWalk[] = R"sh(
# Succeeds if the words before the cursor choose the command $argv[1].
function __ostraka_at
    set -l chosen ''
    set -l previous ''
    for word in (commandline -opc)[2..-1]
        if test -n "$previous"; and contains -- $previous (__ostraka_valued $chosen)
            set previous ''
        else if contains -- $word (__ostraka_commands $chosen)
            set chosen (string trim -- "$chosen $word")
            set previous ''
        else
            set previous $word
        end
    end
    test "$chosen" = "$argv[1]"
end
)sh";

std::string FishList(const CommandText& program, const char* function, std::string Names::*list) {
  std::string text = std::string("function ") + function + "\n    switch \"$argv\"\n";
  ForEach(program, [&](const CommandText& command) {
    const std::string names = NamesOf(command).*list;
    if (names.empty()) return;
    text += "        case " + FishQuoted(Chosen(program, command)) +
            "\n            string split ' ' -- " + FishQuoted(names) + "\n";
  });
  return text + "    end\nend\n";
}

bool TakesPath(const OptionText& option) {
  return std::any_of(option.choices.begin(), option.choices.end(),
                     [](const std::string& choice) { return choice.ends_with(':'); });
}

std::string FishOption(const std::string& condition, const OptionText& option) {
  std::string line = "complete -c ostraka -n " + condition;
  for (const std::string& name : option.names) {
    line += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  }
  if (!option.choices.empty()) {
    line += (TakesPath(option) ? " -r -a " : " -x -a ") + FishQuoted(Joined(option.choices));
  } else if (!option.value.empty()) {
    line += " -r";
  }
  return line + " -d " + FishQuoted(OneLine(option.meaning)) + "\n";
}

}  // namespace

std::string BashCompletion(const CommandText& program) {
  std::string text =
      "# bash completion for ostraka, made by `ostraka manual bash`.\n"
      "_ostraka_names() {\n  case \"$1\" in\n";
  ForEach(program, [&](const CommandText& command) {
    const Names names = NamesOf(command);
    text += "    " + Quoted(Chosen(program, command)) +
            ")\n      commands=" + Quoted(names.commands) +
            "\n      options=" + Quoted(names.options) + "\n      valued=" + Quoted(names.valued) +
            "\n      files=" + Quoted(command.words.empty() ? "" : "yes") + " ;;\n";
  });
  text += "  esac\n}\n";
  return text + ValuesFunction(program, Quoted) + kBashWalk;
}

std::string ZshCompletion(const CommandText& program) {
  std::string text =
      "#compdef ostraka\n# Made by `ostraka manual zsh`.\n"
      "_ostraka_names() {\n  case \"$1\" in\n";
  ForEach(program, [&](const CommandText& command) {
    text += "    " + Quoted(Chosen(program, command)) + ")\n      below=(";
    for (const CommandText& child : command.commands) text += Described(child.name, child.summary);
    text += " )\n      flags=(";
    for (const OptionText& option : command.options) {
      for (const std::string& name : option.names) text += Described(name, option.meaning);
    }
    text += " )\n      valued=" + Quoted(NamesOf(command).valued) +
            "\n      files=" + Quoted(command.words.empty() ? "" : "yes") + " ;;\n";
  });
  text += "  esac\n}\n";
  return text +
         ValuesFunction(program, [](const std::string& list) { return "( " + list + " )"; }) +
         kZshWalk;
}

std::string FishCompletion(const CommandText& program) {
  std::string text = "# fish completion for ostraka, made by `ostraka manual fish`.\n";
  text += FishList(program, "__ostraka_commands", &Names::commands);
  text += FishList(program, "__ostraka_valued", &Names::valued);
  text += kFishWalk;
  ForEach(program, [&](const CommandText& command) {
    const std::string condition = FishQuoted("__ostraka_at \"" + Chosen(program, command) + "\"");
    for (const CommandText& child : command.commands) {
      text += "complete -c ostraka -f -n " + condition + " -a " + child.name + " -d " +
              FishQuoted(OneLine(child.summary)) + "\n";
    }
    for (const OptionText& option : command.options) text += FishOption(condition, option);
    if (command.words.empty() || command.words.front().choices.empty()) return;
    const OptionText& word = command.words.front();
    text += "complete -c ostraka -n " + condition + (TakesPath(word) ? " -a " : " -f -a ") +
            FishQuoted(Joined(word.choices)) + "\n";
  });
  return text;
}

}  // namespace ostraka::cli
