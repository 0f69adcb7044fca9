// Parses the output of `tmux capture-pane -e -p`: text, line ends, and escape sequences of attributes.
import stringWidth from 'string-width';
import { BACKGROUND, between, direct, FOREGROUND, indexed } from './colours.js';

const PLAIN = { fg: null, bg: null, bold: false, dim: false, italic: false, under: false, struck: false };

/** A sequence of attributes, any other sequence, a line end, or text. Single control characters are skipped. */
const TOKEN =
  /\x1b\[([\d;:]*)m|\x1b\[[^@-~]*[@-~]|\x1b[\]P_^][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[ -/]*[0-~]|(\r?\n)|([^\x00-\x1f\x7f]+)/g;

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/**
 * Returns rows of cells `{text, column, width, fg, bg, bold, italic, under, struck}`. Inverse and dim are applied to
 * the colours; `bg` is null for the terminal's background. A wide character is one cell of width 2.
 */
export function cellsOf(ansi) {
  const rows = [[]];
  let state = { ...PLAIN, inverse: false };
  let column = 0;
  for (const [, attributes, lineEnd, text] of ansi.replace(/\r?\n$/, '').matchAll(TOKEN)) {
    if (attributes !== undefined) state = changed(state, attributes);
    else if (lineEnd !== undefined) {
      rows.push([]);
      column = 0;
    }
    for (const { segment } of text === undefined ? [] : graphemes.segment(text)) {
      const width = stringWidth(segment);
      if (width === 0) continue;
      rows.at(-1).push({ text: segment, column, width, ...look(state) });
      column += width;
    }
  }
  return rows;
}

function look({ inverse, dim, fg, bg, ...rest }) {
  const [front, back] = inverse ? [bg ?? BACKGROUND, fg ?? FOREGROUND] : [fg ?? FOREGROUND, bg];
  return { ...rest, fg: dim ? between(front, back ?? BACKGROUND) : front, bg: back };
}

const ON = { 1: 'bold', 2: 'dim', 3: 'italic', 4: 'under', 7: 'inverse', 9: 'struck' };
const OFF = { 23: ['italic'], 24: ['under'], 27: ['inverse'], 29: ['struck'], 22: ['bold', 'dim'] };

/** Returns the attributes after a sequence such as `1;38;5;42`. */
function changed(before, sequence) {
  let state = { ...before };
  // `4:3` is a kind of underline and `38:2::1:2:3` a colour; with colons it is one parameter.
  const parameters = sequence.split(';').map((each) => each.split(':').map((part) => Number(part || 0)));
  while (parameters.length > 0) {
    const [code, ...rest] = parameters.shift();
    if (code === 0) state = { ...PLAIN, inverse: false };
    else if (code === 4 && rest[0] === 0) state.under = false;
    else if (ON[code]) state[ON[code]] = true;
    else if (OFF[code]) for (const each of OFF[code]) state[each] = false;
    else if (code === 38 || code === 48 || code === 58) {
      const colour = rest.length > 0 ? packed(rest) : spread(parameters);
      if (code !== 58) state[code === 38 ? 'fg' : 'bg'] = colour;
    } else if (code === 39) state.fg = null;
    else if (code === 49) state.bg = null;
    else if (code >= 30 && code <= 37) state.fg = indexed(code - 30);
    else if (code >= 40 && code <= 47) state.bg = indexed(code - 40);
    else if (code >= 90 && code <= 97) state.fg = indexed(code - 82);
    else if (code >= 100 && code <= 107) state.bg = indexed(code - 92);
  }
  return state;
}

/** Parses `5:42`, `2:1:2:3` or, with the number of a colour space, `2::1:2:3`. */
const packed = ([kind, ...rest]) => (kind === 5 ? indexed(rest[0]) : direct(...rest.slice(-3)));

/** Parses `5;42` or `2;1;2;3` from the parameters that follow. */
function spread(parameters) {
  const [kind] = parameters.shift() ?? [];
  const values = parameters.splice(0, kind === 5 ? 1 : 3).map(([value]) => value);
  return kind === 5 ? indexed(values[0]) : direct(...values);
}
