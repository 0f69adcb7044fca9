import { tellsOfFailure } from './failure.ts';

/** The text that a terminal would show, and how much it would have overwritten. */
export interface CleanText {
  lines: string[];
  /** Number of overwritten progress states. */
  redrawn: number;
  /** Names in overwritten states that are in no state that is left. */
  names: string[];
}

/** Sequences that start with ESC: control (CSI), operating system (OSC), strings (DCS, PM, APC, SOS), and short ones. */
const SEQUENCE = new RegExp(
  [
    '\\u001b\\[([0-?]*)[ -/]*([@-~])',
    '\\u001b\\][^\\u0007\\u001b]*(?:\\u0007|\\u001b\\\\)',
    '\\u001b[PX^_][^\\u001b]*\\u001b\\\\',
    '\\u001b[ -/]*[0-~]',
  ].join('|'),
  'g',
);

const NEEDS_CLEANING = /[\u001b\b]|\r(?!\n|$)/;

/** Reports whether a text contains terminal sequences. Windows line ends do not count as such. */
export const needsCleaning = (text: string): boolean => NEEDS_CLEANING.test(text);

/**
 * Resolves terminal sequences: colours are removed, and of redrawn lines the last state stays. Unlike a terminal it
 * keeps a line that was overwritten by a line of another kind, since that is news, not progress.
 */
export function cleanTerminalText(text: string): CleanText {
  if (!needsCleaning(text)) return { lines: splitLines(text), redrawn: 0, names: [] };
  // A cursor movement up becomes a separate line, `\u0000A<n>`, and is resolved below.
  const plain = text
    .replaceAll('\u0000', '')
    .replace(SEQUENCE, (_, parameters: string | undefined, final: string | undefined) =>
      final === 'A' || final === 'F' ? `\u0000${Number.parseInt(parameters ?? '', 10) || 1}\u0001` : '',
    )
    .replace(/\u001b/g, '');
  let redrawn = 0;
  const overwritten = new Set<string>();
  const lines: string[] = [];
  let up = 0;
  for (const raw of plain.split('\n')) {
    let line = raw;
    if (line.includes('\u0000')) {
      line = line.replace(/\u0000(\d+)\u0001/g, (_, count: string) => {
        up = Math.min(lines.length, up + Number(count));
        return '\r';
      });
    }
    const states = resolveReturns(line.replace(/\u0001/g, ''), overwritten);
    redrawn += states.replaced;
    for (const state of states.kept) {
      const old = up > 0 ? lines[lines.length - up] : undefined;
      if (old === undefined) lines.push(state);
      else {
        if (state === '' || isSameProgress(old, state, overwritten)) {
          if (state !== '') lines[lines.length - up] = state;
          if (old !== '') redrawn += 1;
        } else lines.splice(lines.length - up, 0, state);
        up -= 1;
      }
    }
  }
  const left = lines.join('\n');
  return { lines, redrawn, names: [...overwritten].filter((name) => !left.includes(name)) };
}

/** Notes the words of an overwritten state that the next one does not have. */
function noteNames(names: Set<string>, old: string, state: string): void {
  const words = new Set(splitWords(state));
  for (const word of splitWords(old)) if (!words.has(word) && IS_NAME.test(word)) names.add(word);
}

/** A word with two letters or more that is not an amount. */
const IS_NAME = /\p{L}{2}/u;
const AMOUNT = /^[\d.,]+\p{L}{0,5}(?:\/[\d.,]*\p{L}{0,5})*$/u;
/** A name with a number, such as `layer-2`. */
const NUMBERED = /\p{L}{2}[-_.]?\d/u;

const splitWords = (state: string): string[] =>
  state
    .replace(BARS, ' ')
    .split(/[\s,;|()[\]]+/)
    .filter((word) => word !== '' && !AMOUNT.test(word));

const splitLines = (text: string): string[] => {
  const lines = text.split('\n');
  if (!text.includes('\r')) return lines;
  return lines.map((line) => line.replace(/\r+$/, ''));
};

/** A share, a count, a rate, a bar or a spinner; in some files carriage returns are line ends, and the lines are content. */
const IS_METER =
  /%|\d ?\/ ?\d|\d of \d|B\/s|it\/s|\beta\b|[█▏▎▍▌▋▊▉▇▆▅▄▃▂▁#=━>.]{3,}|[⠀-⣿◐◓◑◒]|^ *[-|/\\] |[-|/\\] *$|\.{2,}/iu;

/** Returns the states of one line that were not replaced by a state of the same kind. */
function resolveReturns(line: string, overwritten: Set<string>): { kept: string[]; replaced: number } {
  const kept: string[] = [];
  let replaced = 0;
  for (const part of line.split('\r')) {
    const state = part.includes('\b') ? resolveBackspaces(part) : part;
    if (state.trim() === '') continue;
    const last = kept.at(-1);
    if (last !== undefined && IS_METER.test(state) && isSameProgress(last, state, overwritten)) {
      kept[kept.length - 1] = state;
      replaced += 1;
    } else kept.push(state);
  }
  return { kept: kept.length === 0 ? [''] : kept, replaced };
}

function resolveBackspaces(text: string): string {
  const shown: string[] = [];
  for (const character of text) {
    if (character === '\b') shown.pop();
    else shown.push(character);
  }
  return shown.join('');
}

/** Bars and spinners. */
const BARS = /[█▏▎▍▌▋▊▉━╸╺─╌⠀-⣿◐◓◑◒●○•]+|(?:[#=>]{2,})/gu;
const VARYING = /[\d.,:%|/\\#=>█▏▎▍▌▋▊▉━╸╺─╌⠀-⣿◐◓◑◒●○•*·+-]+|\b[kKMGT]i?B?(?:\/s)?\b/gu;

/**
 * Compares two states: they are of the same display with the same words around numbers and bars, or with words that are
 * equal up to the end.
 */
function isSameProgress(old: string, state: string, overwritten: Set<string>): boolean {
  if (old === state) return true;
  const before = old.replace(VARYING, ' ').split(/\s+/).filter(Boolean);
  const after = state.replace(VARYING, ' ').split(/\s+/).filter(Boolean);
  if (before.length === 0) return true;
  let same = 0;
  while (same < before.length && same < after.length && before[same] === after[same]) same += 1;
  if (same === before.length) {
    if (NUMBERED.test(old)) noteNames(overwritten, old, state);
    return true;
  }
  // The name of the current item changes, but not a word of failure in either state.
  const isSame = same * 2 >= Math.max(before.length, after.length) && !tellsOfFailure(old);
  if (isSame) noteNames(overwritten, old, state);
  return isSame;
}
