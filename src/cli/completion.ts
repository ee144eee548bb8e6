import { Problem } from "../base/problem.ts";
import { eitherOf } from "../base/text/list-text.ts";
import { didYouMean } from "../config/suggestion.ts";
import type { Command } from "./command.ts";
import { summary } from "./help.ts";

const shells = ["bash", "zsh", "fish"] as const;
type Shell = (typeof shells)[number];

/** Takes the commands as a function: it is one of them. */
export function completionCommand(commands: () => readonly Command[]): Command {
  return {
    name: "completion",
    about:
      "Print a completion script for your shell. It completes commands, flags and the fixed values of flags and arguments.",
    positionals: ["SHELL"],
    choices: shells,
    examples: [
      "svc completion bash > ~/.local/share/bash-completion/completions/svc",
      "svc completion zsh > ~/.zfunc/_svc",
      "svc completion fish > ~/.config/fish/completions/svc.fish",
    ],
    more: () => [
      "SHELL is bash, zsh or fish. To try it in the current shell only:",
      "  source <(svc completion bash)",
      "  source <(svc completion zsh)",
      "  svc completion fish | source",
    ],
    async run({ positionals: [word = ""] }) {
      const shell = shells.find((one) => one === word);
      if (shell === undefined)
        throw new Problem({
          code: "invalid",
          message: `Unknown shell "${word}".${didYouMean(word, shells) || ` Choose ${eitherOf(shells)}.`}`,
          command: "completion --help",
        });
      process.stdout.write(completionScript(shell, commands()));
    },
  };
}

export function completionScript(shell: Shell, commands: readonly Command[]): string {
  const nodes = toNodes(commands);
  switch (shell) {
    case "bash":
      return bashScript(nodes);
    case "zsh":
      return zshScript(nodes);
    case "fish":
      return fishScript(nodes);
    default:
      return shell satisfies never;
  }
}

interface FlagNode {
  readonly name: string;
  readonly short: string | undefined;
  readonly about: string;
  /** What follows it: nothing, one of these values, a path, or any text. */
  readonly value: "none" | "path" | "text" | readonly string[];
}

/** What can follow some words of a command line. */
interface Node {
  /** Empty at the start. */
  readonly path: string;
  readonly next: readonly { readonly word: string; readonly about: string }[];
  readonly choices: readonly string[];
  readonly takesPath: boolean;
  readonly flags: readonly FlagNode[];
}

function toNodes(commands: readonly Command[]): readonly Node[] {
  const paths = new Set([
    "",
    ...commands.flatMap(({ name }) => {
      const parts = name.split(" ");
      return parts.map((_, at) => parts.slice(0, at + 1).join(" "));
    }),
  ]);
  return [...paths].map((path) => {
    const command = commands.find(({ name }) => name === path);
    const { choices = [], positionals = [], optional = [] } = command ?? {};
    return {
      path,
      next: nextWords(path, [...paths], commands),
      choices,
      takesPath: [...positionals, ...optional].includes("FILE"),
      flags: [...toFlags(command), helpFlag, ...(path === "" ? [versionFlag] : [])],
    };
  });
}

function nextWords(path: string, paths: readonly string[], commands: readonly Command[]) {
  const depth = path === "" ? 0 : path.split(" ").length;
  return paths
    .filter((one) => one !== "" && one.split(" ").length === depth + 1)
    .filter((one) => path === "" || one.startsWith(`${path} `))
    .map((one) => {
      const command = commands.find(({ name }) => name === one);
      const about = command === undefined ? `Commands of svc ${one}` : summary(command);
      return { word: one.split(" ")[depth] ?? "", about };
    });
}

const helpFlag: FlagNode = {
  name: "help",
  short: "h",
  about: "show the help",
  value: "none",
};
const versionFlag: FlagNode = {
  name: "version",
  short: "v",
  about: "show the version",
  value: "none",
};

function toFlags(command: Command | undefined): readonly FlagNode[] {
  return Object.entries(command?.flags ?? {}).map(([name, { about, value, short, choices }]) => ({
    name,
    short,
    about,
    value: choices ?? (value === undefined ? "none" : /^(FILE|DIR)$/.test(value) ? "path" : "text"),
  }));
}

const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

/** `'say -o'|'say --output'`: the words before the value of a flag. */
const beforeValue = (path: string, { name, short }: FlagNode) =>
  [`--${name}`, ...(short === undefined ? [] : [`-${short}`])]
    .map((flag) => quoted(`${path} ${flag}`))
    .join("|");

/** Also for bash 3.2, which macOS has: no maps, no readarray. */
function bashScript(nodes: readonly Node[]): string {
  const values = nodes.flatMap((node) =>
    node.flags
      .filter(({ value }) => value !== "none")
      .map((flag) => {
        const { value } = flag;
        const action =
          value === "path"
            ? "_svc_paths"
            : value === "text" || value === "none"
              ? ":"
              : `_svc_words ${quoted(value.join(" "))}`;
        return `    ${beforeValue(node.path, flag)}) ${action}; return ;;`;
      }),
  );
  const rows = nodes.map(({ path, next, choices, takesPath, flags }) => {
    const words = [...next.map(({ word }) => word), ...choices];
    const flagWords = flags.map(({ name }) => `--${name}`).join(" ");
    return `    ${quoted(path)}) words=${quoted(words.join(" "))} flags=${quoted(flagWords)}${takesPath ? " paths=1" : ""} ;;`;
  });
  const known = nodes.filter(({ path }) => path !== "").map(({ path }) => quoted(path));
  return `# bash completion for svc. Load it with: source <(svc completion bash)
_svc_words() { COMPREPLY=($(compgen -W "$1" -- "$current")); }
_svc_paths() {
  local IFS=$'\\n'
  compopt -o filenames 2> /dev/null
  COMPREPLY=($(compgen -f -- "$current"))
}
_svc() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD - 1]}"
  local path="" words="" flags="" paths="" at
  COMPREPLY=()
  # bash splits --flag=value into three words.
  if [ "$current" = "=" ]; then
    current=""
  elif [ "$previous" = "=" ] && [ "$COMP_CWORD" -gt 1 ]; then
    previous="\${COMP_WORDS[COMP_CWORD - 2]}"
  fi
  for ((at = 1; at < COMP_CWORD; at++)); do
    case "\${path:+$path }\${COMP_WORDS[at]}" in
      ${known.join("|")})
        path="\${path:+$path }\${COMP_WORDS[at]}" ;;
      *) break ;;
    esac
  done
  case "$path $previous" in
${values.join("\n")}
  esac
  case "$path" in
${rows.join("\n")}
  esac
  case "$current" in
    -*) _svc_words "$flags" ;;
    *) if [ -n "$paths" ]; then _svc_paths; else _svc_words "\${words:-$flags}"; fi ;;
  esac
}
complete -F _svc svc
`;
}

function zshScript(nodes: readonly Node[]): string {
  const described = (word: string, about: string) =>
    quoted(`${word.replaceAll(":", "\\:")}:${about}`);
  const values = nodes.flatMap((node) =>
    node.flags
      .filter(({ value }) => value !== "none")
      .map((flag) => {
        const { value } = flag;
        const action =
          value === "path"
            ? "_files"
            : value === "text" || value === "none"
              ? `_message ${quoted(flag.about)}`
              : `compadd -- ${value.map(quoted).join(" ")}`;
        return `    (${beforeValue(node.path, flag)}) ${action}; return ;;`;
      }),
  );
  const rows = nodes.map(({ path, next, choices, takesPath, flags }) => {
    const words = [
      ...next.map(({ word, about }) => described(word, about)),
      ...choices.map((word) => quoted(word)),
    ];
    const flagWords = flags.map(({ name, about }) => described(`--${name}`, about));
    return `    (${quoted(path)})
      choices=(${words.join(" ")})
      flags=(${flagWords.join(" ")})${takesPath ? "\n      paths=1" : ""} ;;`;
  });
  const known = nodes.filter(({ path }) => path !== "").map(({ path }) => quoted(path));
  return `#compdef svc
# zsh completion for svc. Save it as _svc in a directory of $fpath, or: source <(svc completion zsh)
_svc() {
  local at typed="" paths="" current="\${words[CURRENT]}" previous="\${words[CURRENT - 1]}"
  local -a choices flags
  for ((at = 2; at < CURRENT; at++)); do
    case "\${typed:+$typed }\${words[at]}" in
      (${known.join("|")})
        typed="\${typed:+$typed }\${words[at]}" ;;
      (*) break ;;
    esac
  done
  case "$typed $previous" in
${values.join("\n")}
  esac
  case "$typed" in
${rows.join("\n")}
  esac
  if [[ "$current" == -* ]]; then
    _describe -o 'flag' flags
  elif [[ -n "$paths" ]]; then
    _files
  elif (( \${#choices} )); then
    _describe 'value' choices
  else
    _describe -o 'flag' flags
  fi
}
if [[ "\${funcstack[1]}" == _svc ]]; then
  _svc "$@"
else
  compdef _svc svc
fi
`;
}

function fishScript(nodes: readonly Node[]): string {
  const lines = nodes.flatMap((node) => {
    const head = `complete -c svc -n ${quoted(`__svc_at ${quotedOnce(node.path)}`)}`;
    const described = (about: string) => `-d ${fishQuoted(about)}`;
    return [
      ...node.next.map(({ word, about }) => `${head} -a ${fishQuoted(word)} ${described(about)}`),
      ...(node.choices.length === 0 ? [] : [`${head} -a ${fishQuoted(node.choices.join(" "))}`]),
      ...(node.takesPath ? [`${head} -F`] : []),
      ...node.flags.map(({ name, short, about, value }) =>
        [
          head,
          ...(short === undefined ? [] : [`-s ${short}`]),
          `-l ${name}`,
          ...fishValue(value),
          described(about),
        ].join(" "),
      ),
    ];
  });
  const known = nodes.filter(({ path }) => path !== "").map(({ path }) => fishQuoted(path));
  return `# fish completion for svc. Save it as ~/.config/fish/completions/svc.fish
function __svc_typed
    set -l typed ""
    set -l words (commandline -opc)
    for word in $words[2..-1]
        set -l next (string trim -- "$typed $word")
        if contains -- "$next" ${known.join(" ")}
            set typed $next
        else
            break
        end
    end
    echo $typed
end
function __svc_at
    set -l typed (__svc_typed)
    test "$typed" = "$argv[1]"
end
complete -c svc -f
${lines.join("\n")}
`;
}

function fishValue(value: FlagNode["value"]): readonly string[] {
  if (value === "none") return [];
  if (value === "path") return ["-r", "-F"];
  return value === "text" ? ["-x"] : ["-x", `-a ${fishQuoted(value.join(" "))}`];
}

/** Paths have letters and spaces only. */
const quotedOnce = (path: string) => `"${path}"`;
const fishQuoted = (text: string) => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
