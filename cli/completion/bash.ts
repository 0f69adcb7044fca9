import { quoteForShell } from '../../engine/core/base/text.ts';
import type { Command } from '../command.ts';
import {
  type CompletedCommand,
  type CompletionKind,
  describeCommands,
  groupByFirstWord,
  listSecondWords,
  needsSecondWord,
} from './describe.ts';

/** Lists the flags of a command that take a value, with a space around each. */
export const listValuedFlags = ({ flags }: CompletedCommand): string =>
  ` ${flags.flatMap(({ takesValue, long, short }) => (takesValue ? [long, short ?? []].flat() : [])).join(' ')} `;

/** The script function for a value: `_svc_` and this. */
const nameProposer = (from: CompletionKind | readonly string[]): string =>
  typeof from !== 'string'
    ? `words ${quoteForShell(from.join(' '))}`
    : from === 'file' || from === 'folder'
      ? from
      : `ask ${from}`;

/** For `case "$command $prev"`: the completion of each flag's value. */
export function writeValueCases(completions: readonly CompletedCommand[], indent: string): string {
  return completions
    .flatMap(({ name, flags }) =>
      flags.flatMap(({ long, short, choices, kind }) => {
        if (choices.length === 0 && kind === null) return [];
        const patterns = [long, ...(short === null ? [] : [short])].map((flag) =>
          quoteForShell(`${name} ${flag}`),
        );
        return [`${indent}${patterns.join('|')}) _svc_${nameProposer(kind ?? choices)}; return ;;`];
      }),
    )
    .join('\n');
}

/** For `case "$command $position"`: the completion of each argument. */
export const writeArgumentCases = (completions: readonly CompletedCommand[], indent: string): string =>
  completions
    .flatMap(({ name, args, rest }) => [
      ...args.flatMap((from, at) =>
        from === null ? [] : [`${indent}${quoteForShell(`${name} ${at}`)}) _svc_${nameProposer(from)} ;;`],
      ),
      ...(rest === null ? [] : [`${indent}${quoteForShell(`${name} `)}*) _svc_${nameProposer(rest)} ;;`]),
    ])
    .join('\n');

export function writeBashScript(commands: readonly Command[]): string {
  const all = describeCommands(commands);
  const words = [...groupByFirstWord(all)];
  const nested = words.filter(([word, below]) => needsSecondWord(word, below));
  return `# bash completion of svc, made by: svc completion bash
# Use it with: source <(svc completion bash)

_svc_words() { COMPREPLY=($(compgen -W "$1" -- "$cur")); }
_svc_ask() { _svc_words "$("$program" __complete "$1" -- "$cur" "$prev" 2>/dev/null </dev/null)"; }
_svc_file() { local IFS=$'\\n'; COMPREPLY=($(compgen -f -- "$cur")); }
_svc_folder() { local IFS=$'\\n'; COMPREPLY=($(compgen -d -- "$cur")); }

_svc() {
  local program=$1 cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]}
  COMPREPLY=()
  # bash takes --flag=value apart at the sign.
  if [[ $cur == "=" ]]; then cur=
  elif [[ $prev == "=" ]]; then prev=\${COMP_WORDS[COMP_CWORD-2]}
  fi
  if ((COMP_CWORD == 1)); then
    _svc_words ${quoteForShell(words.map(([word]) => word).join(' '))}
    return
  fi

  local command=\${COMP_WORDS[1]} at=2 flags= valued=
  case $command in
${nested
  .map(
    ([word, below]) =>
      `    ${word})\n      if ((COMP_CWORD == 2)); then _svc_words ${quoteForShell(
        listSecondWords(below)
          .map((each) => each.word)
          .join(' '),
      )}; return; fi\n      command+=" \${COMP_WORDS[2]}" at=3 ;;`,
  )
  .join('\n')}
  esac
  case $command in
${all
  .map(
    (each) =>
      `    ${quoteForShell(each.name)}) flags=${quoteForShell(each.flags.map(({ long }) => long).join(' '))} valued=${quoteForShell(listValuedFlags(each))} ;;`,
  )
  .join('\n')}
    *) return ;;
  esac

  case "$command $prev" in
${writeValueCases(all, '    ')}
  esac
  if [[ $valued == *" $prev "* ]]; then return; fi
  if [[ $cur == -* ]]; then _svc_words "$flags"; return; fi

  local position=0
  while ((at < COMP_CWORD)); do
    if [[ \${COMP_WORDS[at]} != -* ]]; then ((position += 1))
    elif [[ \${COMP_WORDS[at+1]} == "=" ]]; then ((at += 2))
    elif [[ $valued == *" \${COMP_WORDS[at]} "* ]]; then ((at += 1))
    fi
    ((at += 1))
  done
  case "$command $position" in
${writeArgumentCases(all, '    ')}
  esac
}
complete -F _svc svc
`;
}
