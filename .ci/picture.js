// Converts the output of `tmux capture-pane -e -p -N` into a picture: `node .ci/picture.js <in.ansi> <out.svg>
// [--title text]`.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { cellsOf } from './picture/cells.js';
import { BACKGROUND, FOREGROUND, TITLE, TITLE_BAR } from './picture/colours.js';
import { isDrawn, lineArt } from './picture/lines.js';

/** The advance of most monospaced fonts is 0.6 of their size; here it is a whole number of pixels for sharp lines. */
const FONT_SIZE = 15;
const CELL = 9;
const LINE = 19;
const BASELINE = 14;
const FONTS = "ui-monospace,'SF Mono',Menlo,Consolas,'DejaVu Sans Mono','Liberation Mono',monospace";

const MARGIN = 12;
const BAR = 26;
const ROUNDING = 8;

/**
 * Returns a screen as a self-contained SVG file. Every run of text is placed at its column and fitted to its cells,
 * so columns align in any font.
 */
export function svgOf(ansi, { columns, rows, title = '' } = {}) {
  const screen = cellsOf(ansi);
  const widest = Math.max(...screen.map((row) => (row.at(-1)?.column ?? 0) + (row.at(-1)?.width ?? 0)));
  const width = (columns ?? widest) * CELL + 2 * MARGIN;
  const height = BAR + (rows ?? screen.length) * LINE + 2 * MARGIN;
  const backgrounds = [];
  const texts = [];
  const art = lineArt(CELL, LINE);
  for (const [index, row] of screen.entries()) {
    const y = BAR + MARGIN + index * LINE;
    for (const run of runs(row, (one, other) => one.bg === other.bg)) {
      if (run.bg === null) continue;
      backgrounds.push(
        `<rect x="${left(run)}" y="${y}" width="${run.width * CELL}" height="${LINE}" fill="${run.bg}"/>`,
      );
    }
    for (const cell of row) if (isDrawn(cell.text)) art.draw(cell.text, left(cell), y, cell.fg);
    for (const run of runs(row, isOneText)) texts.push(...written(run, y + BASELINE));
  }
  const dots = ['#ed6a5e', '#f4bf4f', '#61c554'].map(
    (colour, index) => `<circle cx="${18 + index * 18}" cy="${BAR / 2}" r="5" fill="${colour}"/>`,
  );
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escaped(title)}">`,
    `<rect width="${width}" height="${height}" rx="${ROUNDING}" fill="${BACKGROUND}"/>`,
    `<path d="M0 ${BAR}V${ROUNDING}q0-${ROUNDING} ${ROUNDING}-${ROUNDING}H${width - ROUNDING}q${ROUNDING} 0 ${ROUNDING} ${ROUNDING}V${BAR}z" fill="${TITLE_BAR}"/>`,
    ...dots,
    `<text x="${width / 2}" y="${BAR / 2 + 4}" text-anchor="middle" font-family="system-ui,sans-serif" font-size="12" fill="${TITLE}">${escaped(title)}</text>`,
    ...(backgrounds.length > 0 ? [`<g shape-rendering="crispEdges">`, ...backgrounds, '</g>'] : []),
    ...art.shapes(),
    `<g font-family="${FONTS}" font-size="${FONT_SIZE}" fill="${FOREGROUND}">`,
    ...texts,
    '</g>',
    '</svg>',
  ].join('\n')}\n`;
}

const left = ({ column }) => MARGIN + column * CELL;

/**
 * Characters that every monospaced font has, in cells of one width. Others may come from a fallback font with another
 * width.
 */
const isCommon = (text) => /^[\x20-\u024f\u2010-\u2027\u2030-\u203a]$/.test(text);

/** Reports whether the second cell can be part of the same text as the first. */
const isOneText = (one, other) =>
  [one, other].every((cell) => isCommon(cell.text)) &&
  ['fg', 'bold', 'italic', 'under', 'struck'].every((key) => one[key] === other[key]);

/** Merges neighbours in a row that belong together. */
function runs(row, belong) {
  const found = [];
  let last = null;
  for (const cell of row) {
    if (last !== null && belong(last, cell)) {
      const run = found.at(-1);
      run.text += cell.text;
      run.width += cell.width;
    } else found.push({ ...cell });
    last = cell;
  }
  return found;
}

/** Returns a run as text, without surrounding blanks unless they are visible. */
function written(run, y) {
  const isLined = run.under || run.struck;
  const text = isLined ? run.text : run.text.trim();
  if (text === '' || isDrawn(text)) return [];
  const column = run.column + (isLined ? 0 : run.text.indexOf(text));
  const isPlain = isCommon(text[0]);
  const width = (isPlain ? text.length : run.width) * CELL;
  const x = MARGIN + column * CELL;
  const lines = [run.under && 'underline', run.struck && 'line-through'].filter(Boolean).join(' ');
  const attributes = [
    // A character of another font is centred in its cells and not stretched.
    isPlain
      ? `x="${x}" textLength="${width}" lengthAdjust="spacingAndGlyphs"`
      : `x="${x + width / 2}" text-anchor="middle"`,
    `y="${y}"`,
    run.fg !== FOREGROUND && `fill="${run.fg}"`,
    run.bold && 'font-weight="bold"',
    run.italic && 'font-style="italic"',
    lines !== '' && `text-decoration="${lines}"`,
  ].filter(Boolean);
  // No-break spaces, because browsers collapse plain ones even where xml:space forbids it.
  return [`<text ${attributes.join(' ')}>${escaped(text).replaceAll(' ', '\u00a0')}</text>`];
}

const ENTITIES = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escaped = (text) => text.replace(/[&<>"]/g, (each) => ENTITIES[each]).replace(/[\x00-\x1f\x7f]/g, '');

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { title: { type: 'string' } },
  });
  const [input, output] = positionals;
  if (output === undefined) {
    console.error('usage: node .ci/picture.js <in.ansi> <out.svg> [--title text]');
    process.exitCode = 2;
  } else writeFileSync(output, svgOf(readFileSync(input, 'utf8'), values));
}
