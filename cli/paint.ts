import { toPrintable } from '../engine/core/base/text.ts';

/** Styles for parts of a text. A word or sign always carries the same meaning, since colour may be off. */
const SGR = { strong: 1, dim: 2, good: 32, bad: 31, warn: 33, live: 36 } as const;
export type TextStyle = keyof typeof SGR;

/** Styles a text without line breaks, which must be printable. */
export type PaintFunction = (style: TextStyle | undefined, text: string) => string;

const END = '\u001b[m';

export const createPaint =
  (isOn: boolean): PaintFunction =>
  (style, text) =>
    !isOn || style === undefined || text === '' ? text : `\u001b[${SGR[style]}m${text}${END}`;

export const paintNothing: PaintFunction = createPaint(false);

/** Matches what `createPaint` writes, and nothing else. */
const OWN_STYLE = new RegExp(`(\\u001b\\[(?:${Object.values(SGR).join('|')})?m)`);

/** Makes a text safe for a terminal, but keeps its allowed styles. */
export const toPrintableStyled = (text: string): string =>
  text
    .split(OWN_STYLE)
    .map((part, at) => (at % 2 === 1 ? part : toPrintable(part, { lines: true })))
    .join('');

/** State names of all kinds of objects. */
const STATE_STYLES: Readonly<Record<string, TextStyle>> = {
  ...{
    done: 'good',
    ready: 'good',
    approved: 'good',
    promoted: 'good',
    delivered: 'good',
    answered: 'good',
  },
  ...{ running: 'live', racing: 'live', pick: 'warn', starting: 'live', queued: 'live' },
  ...{ waits: 'warn', pending: 'warn', paused: 'warn', stopping: 'warn', open: 'warn', blocked: 'warn' },
  ...{ denied: 'bad', failed: 'bad', dead: 'bad', conflicts: 'bad', timeout: 'bad' },
  ...{ expired: 'dim', clean: 'dim', merged: 'dim', discarded: 'dim' },
};

/** Returns the style of a state, by its first word. */
export const findStateStyle = (state: string): TextStyle | undefined =>
  STATE_STYLES[state.split(' ', 1)[0] ?? ''];

const isFileLine = (line: string): boolean =>
  /^(?:diff --git |index |--- |\+\+\+ |new file |deleted file |old mode |new mode |rename |similarity )/.test(
    line,
  );

/** Colours a patch like git. Lines within a hunk that look like headers are not headers. */
export function paintPatch(patch: string, paint: PaintFunction): string {
  /** Remaining lines of the hunk, on either side. */
  let [old, now] = [0, 0];
  return patch
    .split('\n')
    .map((line) => {
      if (old <= 0 && now <= 0) {
        const [, place, oldLines = '1', newLines = '1', rest] =
          /^(@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@)(.*)$/.exec(line) ?? [];
        if (place === undefined) return isFileLine(line) ? paint('strong', line) : line;
        [old, now] = [Number(oldLines), Number(newLines)];
        return `${paint('live', place)}${rest}`;
      }
      if (line.startsWith('\\')) return line;
      if (!line.startsWith('+')) old -= 1;
      if (!line.startsWith('-')) now -= 1;
      if (line.startsWith('+')) return paint('good', line);
      return line.startsWith('-') ? paint('bad', line) : line;
    })
    .join('\n');
}
