import { tellsOfFailure } from './failure.ts';

/** What a terminal would show of a text, and how much it would have drawn over. */
export interface CleanText {
  lines: string[];
  /** States of progress that later ones replaced. */
  redrawn: number;
}

/** Sequences that begin with ESC: control (CSI), operating system (OSC), strings (DCS, PM, APC, SOS), and short ones. */
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

/** Whether anything in it is meant for a terminal rather than a reader. Line ends of Windows are not. */
export const needsCleaning = (text: string): boolean => NEEDS_CLEANING.test(text);

/**
 * Resolves what is meant for a terminal: colours go, and of lines that are drawn again and again the last state stays.
 * Unlike a terminal it keeps what was drawn over by something of another kind, since that is news and not progress.
 */
export function cleanTerminalText(text: string): CleanText {
  if (!needsCleaning(text)) return { lines: splitLines(text), redrawn: 0 };
  // What moves up comes as a line of its own, `\u0000A<n>`, and is resolved below.
  const plain = text
    .replaceAll('\u0000', '')
    .replace(SEQUENCE, (_, parameters: string | undefined, final: string | undefined) =>
      final === 'A' || final === 'F' ? `\u0000${Number.parseInt(parameters ?? '', 10) || 1}\u0001` : '',
    )
    .replace(/\u001b/g, '');
  let redrawn = 0;
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
    const states = resolveReturns(line.replace(/\u0001/g, ''));
    redrawn += states.replaced;
    for (const state of states.kept) {
      const old = up > 0 ? lines[lines.length - up] : undefined;
      if (old === undefined) lines.push(state);
      else {
        if (state === '' || isSameProgress(old, state)) {
          if (state !== '') lines[lines.length - up] = state;
          if (old !== '') redrawn += 1;
        } else lines.splice(lines.length - up, 0, state);
        up -= 1;
      }
    }
  }
  return { lines, redrawn };
}

const splitLines = (text: string): string[] => {
  const lines = text.split('\n');
  if (!text.includes('\r')) return lines;
  return lines.map((line) => line.replace(/\r+$/, ''));
};

/** A share, a count of all, a rate, a bar or a spinner; some files have returns for line ends, and are content. */
const IS_METER =
  /%|\d ?\/ ?\d|\d of \d|B\/s|it\/s|\beta\b|[█▏▎▍▌▋▊▉▇▆▅▄▃▂▁#=━>.]{3,}|[⠀-⣿◐◓◑◒]|^ *[-|/\\] |[-|/\\] *$|\.{2,}/iu;

/** The states of one line that nothing of their kind replaced. */
function resolveReturns(line: string): { kept: string[]; replaced: number } {
  const kept: string[] = [];
  let replaced = 0;
  for (const part of line.split('\r')) {
    const state = part.includes('\b') ? resolveBackspaces(part) : part;
    if (state.trim() === '') continue;
    const last = kept.at(-1);
    if (last !== undefined && IS_METER.test(state) && isSameProgress(last, state)) {
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

const VARYING = /[\d.,:%|/\\#=>█▏▎▍▌▋▊▉━╸╺─╌⠀-⣿◐◓◑◒●○•*·+-]+|\b[kKMGT]i?B?(?:\/s)?\b/gu;

/** Two states of the same display: the same words around numbers and bars, or all but the end of them. */
function isSameProgress(old: string, state: string): boolean {
  if (old === state) return true;
  const before = old.replace(VARYING, ' ').split(/\s+/).filter(Boolean);
  const after = state.replace(VARYING, ' ').split(/\s+/).filter(Boolean);
  if (before.length === 0) return true;
  let same = 0;
  while (same < before.length && same < after.length && before[same] === after[same]) same += 1;
  if (same === before.length) return true;
  // The name of what is worked on changes, a word of failure in either does not.
  return same * 2 >= Math.max(before.length, after.length) && !tellsOfFailure(old);
}
