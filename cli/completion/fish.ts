import type { Command } from '../command.ts';
import { listValuedFlags } from './bash.ts';
import {
  type CompletedCommand,
  type CompletionKind,
  describeCommands,
  describeFirstWord,
  type FlagWords,
  groupByFirstWord,
  listSecondWords,
  needsSecondWord,
} from './describe.ts';

/** fish knows only these two escapes between single quotes. */
const quoteForFish = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

const formatAsk = (kind: CompletionKind): string => quoteForFish(`(__svc_ask ${kind})`);

function formatValuePart({ takesValue, choices, kind }: FlagWords): string {
  if (!takesValue) return '';
  if (kind === 'file' || kind === 'folder') return ' -r -F';
  if (kind !== null) return ` -x -a ${formatAsk(kind)}`;
  return choices.length === 0 ? ' -x' : ` -x -a ${quoteForFish(choices.join(' '))}`;
}

function writeCompletionLines(completion: CompletedCommand): string[] {
  const { name, flags, args, rest } = completion;
  const flagLines = flags.map((flag) => {
    const short = flag.short === null ? '' : ` -s ${flag.short.slice(1)}`;
    return `complete -c svc -n ${quoteForFish(`__svc_is "${name}"`)} -l ${flag.long.slice(2)}${short}${formatValuePart(flag)} -d ${quoteForFish(flag.about)}`;
  });
  const formatCompletion = (at: string, kind: CompletionKind | readonly string[]): string => {
    const propose =
      typeof kind !== 'string'
        ? `-a ${quoteForFish(kind.join(' '))}`
        : kind === 'file'
          ? '-F'
          : `-a ${formatAsk(kind)}`;
    return `complete -c svc -n ${quoteForFish(`__svc_at "${name}" "${at}" "${listValuedFlags(completion)}"`)} ${propose}`;
  };
  return [
    ...flagLines,
    ...args.flatMap((kind, at) => (kind === null ? [] : [formatCompletion(String(at), kind)])),
    ...(rest === null ? [] : [formatCompletion('*', rest)]),
  ];
}

export function writeFishScript(commands: readonly Command[]): string {
  const all = describeCommands(commands);
  const words = [...groupByFirstWord(all)];
  const nested = words.filter(([word, below]) => needsSecondWord(word, below));
  return `# fish completion of svc, made by: svc completion fish
# Use it with: svc completion fish | source

function __svc_ask
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    $words[1] __complete $argv[1] -- (string replace -r -- '^--[^=]*=' '' $current) $words[-1] 2>/dev/null </dev/null
end

# The words of the command before the cursor.
function __svc_command
    set -l words (commandline -opc)
    switch "$words[2]"
        case ${nested.map(([word]) => word).join(' ')}
            echo "$words[2..3]"
        case '*'
            echo "$words[2]"
    end
end

function __svc_is
    set -l found (__svc_command)
    test "$found" = "$argv[1]"
end

# Whether the cursor is at an argument of a command: its words, the position or *, its flags that take a value.
function __svc_at
    __svc_is $argv[1]; or return 1
    test "$argv[2]" = '*'; and return 0
    set -l words (commandline -opc)
    set -l at (math 2 + (count (string split ' ' -- $argv[1])))
    set -l position 0
    while test $at -le (count $words)
        if not string match -q -- '-*' $words[$at]
            set position (math $position + 1)
        else if string match -q -- "* $words[$at] *" $argv[3]
            set at (math $at + 1)
        end
        set at (math $at + 1)
    end
    test $position -eq $argv[2]
end

complete -c svc -f
${words
  .map(([word, below]) => [word, describeFirstWord(word, below)] as const)
  .map(([word, about]) => `complete -c svc -n '__svc_is ""' -a ${word} -d ${quoteForFish(about)}`)
  .join('\n')}
${nested
  .flatMap(([word, below]) =>
    listSecondWords(below).map(
      (each) =>
        `complete -c svc -n ${quoteForFish(`__svc_is "${word}"`)} -a ${each.word} -d ${quoteForFish(each.about)}`,
    ),
  )
  .join('\n')}
${all.flatMap(writeCompletionLines).join('\n')}
`;
}
