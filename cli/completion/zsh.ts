import { quoteForShell } from '../../engine/core/base/text.ts';
import type { Command } from '../command.ts';
import { listValuedFlags, writeArgumentCases, writeValueCases } from './bash.ts';
import {
  type CompletedCommand,
  describeCommands,
  describeFirstWord,
  groupByFirstWord,
  listSecondWords,
  needsSecondWord,
} from './describe.ts';

/** An entry of `_describe`: the word, a colon, what it means. */
const formatEntry = (word: string, about: string): string => quoteForShell(`${word}:${about}`);

const formatFlagEntries = ({ flags }: CompletedCommand): string =>
  flags.map(({ long, about }) => formatEntry(long, about)).join(' ');

export function writeZshScript(commands: readonly Command[]): string {
  const all = describeCommands(commands);
  const words = [...groupByFirstWord(all)];
  const nested = words.filter(([word, below]) => needsSecondWord(word, below));
  return `#compdef svc
# zsh completion of svc, made by: svc completion zsh
# Use it with: source <(svc completion zsh), or as a file _svc in a folder of $fpath

_svc_words() { compadd -- \${=1}; }
_svc_ask() { compadd -- \${(f)"$(_call_program ids \${(q)program} __complete $1 -- \${(q)PREFIX} \${(q)prev} 2>/dev/null </dev/null)"}; }
_svc_file() { _files; }
_svc_folder() { _files -/; }

_svc() {
  local program=$words[1] prev=$words[CURRENT-1] command=$words[2] at=3 valued position=0
  local -a list flags
  if ((CURRENT == 2)); then
    list=(${words.map(([word, below]) => formatEntry(word, describeFirstWord(word, below))).join(' ')})
    _describe command list
    return
  fi
  case $command in
${nested
  .map(
    ([word, below]) =>
      `    ${word})\n      if ((CURRENT == 3)); then\n        list=(${listSecondWords(below)
        .map((each) => formatEntry(each.word, each.about))
        .join(
          ' ',
        )})\n        _describe command list\n        return\n      fi\n      command+=" $words[3]" at=4 ;;`,
  )
  .join('\n')}
  esac
  case $command in
${all.map((each) => `    ${quoteForShell(each.name)}) flags=(${formatFlagEntries(each)}) valued=${quoteForShell(listValuedFlags(each))} ;;`).join('\n')}
    *) return 1 ;;
  esac

  if [[ $PREFIX == --*=* ]]; then
    prev=\${PREFIX%%=*}
    compset -P '*='
  fi
  case "$command $prev" in
${writeValueCases(all, '    ')}
  esac
  if [[ $valued == *" $prev "* ]]; then return 1; fi
  if [[ $PREFIX == -* ]]; then
    _describe -o option flags
    return
  fi

  while ((at < CURRENT)); do
    if [[ $words[at] != -* ]]; then ((position += 1))
    elif [[ $valued == *" $words[at] "* ]]; then ((at += 1))
    fi
    ((at += 1))
  done
  case "$command $position" in
${writeArgumentCases(all, '    ')}
    *) return 1 ;;
  esac
}

if [[ $funcstack[1] == _svc ]]; then _svc "$@"; else compdef _svc svc; fi
`;
}
