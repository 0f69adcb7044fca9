import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { temporaryFolder } from '../support/workspaces/git.ts';

const SCRIPT = fileURLToPath(new URL('../../../.ci/picture.js', import.meta.url));
const { svgOf } = (await import(pathToFileURL(SCRIPT).href)) as {
  svgOf(ansi: string, options?: { columns?: number; rows?: number; title?: string }): string;
};

const MARGIN = 12;
const CELL = 9;

interface Text {
  text: string;
  /** Column of its left edge. */
  column: number;
  attributes: string;
}

/** The texts of the screen, in order, with plain blanks. */
const textsOf = (svg: string): Text[] =>
  [...svg.slice(svg.indexOf('<g font-family')).matchAll(/<text ([^>]*)>([^<]*)<\/text>/g)].map(
    ([, attributes = '', text = '']) => ({
      text: text.replaceAll('\u00a0', ' '),
      column: (Number(/\bx="([\d.]+)"/.exec(attributes)?.[1]) - MARGIN) / CELL,
      attributes,
    }),
  );

const only = (ansi: string): Text => {
  const texts = textsOf(svgOf(ansi));
  assert.equal(texts.length, 1, ansi);
  return texts[0]!;
};

const fill = ({ attributes }: Text): string | undefined => /fill="([^"]+)"/.exec(attributes)?.[1];

describe('the picture of a screen', () => {
  it('the picture puts each run at its column and fits it to its cells', () => {
    const [first, second] = textsOf(svgOf('  plain  text \x1b[31mred\x1b[39m'));
    assert.deepEqual([first?.text, first?.column], ['plain  text', 2]);
    assert.match(first?.attributes ?? '', new RegExp(`textLength="${11 * CELL}"`));
    assert.deepEqual([second?.text, second?.column], ['red', 14]);
  });

  it('a wide character takes two cells, and characters that a font may lack are centred', () => {
    const [wide, after] = textsOf(svgOf('日x'));
    assert.deepEqual([wide?.text, wide?.column], ['日', 1]);
    assert.match(wide?.attributes ?? '', /text-anchor="middle"/);
    assert.deepEqual([after?.text, after?.column], ['x', 2]);
  });

  it('the sixteen colours, the 256 and 24-bit colours are read with either separator', () => {
    assert.equal(fill(only('\x1b[38;5;196mx')), '#ff0000');
    assert.equal(fill(only('\x1b[38;5;244mx')), '#808080');
    assert.equal(fill(only('\x1b[1;38;2;1;2;3;3mx')), '#010203');
    assert.equal(fill(only('\x1b[38:2::1:2:3mx')), '#010203');
    assert.equal(fill(only('\x1b[91mx')), fill(only('\x1b[38;5;9mx')));
    assert.notEqual(fill(only('\x1b[31mx')), fill(only('\x1b[32mx')));
    assert.equal(fill(only('\x1b[31m\x1b[0mx')), undefined);
  });

  it('attributes are shown, and continue over line ends as in tmux', () => {
    const { attributes } = only('\x1b[1;3;4;9mx');
    assert.match(
      attributes,
      /font-weight="bold" font-style="italic" text-decoration="underline line-through"/,
    );
    assert.match(only('\x1b[4m\nx').attributes, /underline/);
    assert.doesNotMatch(only('\x1b[1;4m\x1b[22;24mx').attributes, /bold|underline/);
    assert.notEqual(fill(only('\x1b[2mx')), undefined);
  });

  it('backgrounds fill their cells, blank ones too, and inverse swaps colours', () => {
    const [cells] = svgOf('\x1b[48;5;196m a  \x1b[49m b').match(/<rect [^>]*fill="#ff0000"\/>/) ?? [];
    assert.match(cells ?? '', new RegExp(`x="${MARGIN}" y="\\d+" width="${4 * CELL}"`));
    const inverse = svgOf('\x1b[38;5;196;7mx');
    assert.match(inverse, /<rect [^>]*fill="#ff0000"\/>/);
    assert.notEqual(fill(textsOf(inverse)[0]!), '#ff0000');
  });

  it('a box is drawn as lines that continue from cell to cell', () => {
    const svg = svgOf('┌──┐\n│  │\n└──┘\n╭█▀╯');
    assert.deepEqual(textsOf(svg), []);
    const [, path = ''] = /<path d="(M[^"]*)" stroke=/.exec(svg) ?? [];
    // Four sides, and a straight piece and a curve for each of the two round corners.
    assert.equal(path.match(/M/g)?.length, 6, path);
    assert.match(path, new RegExp(`H${MARGIN + 3.5 * CELL}(?=M)`));
  });

  it('text is escaped, in the title as well, and other sequences are skipped', () => {
    const svg = svgOf('\x1b]8;;https://example.test\x1b\\a<b>&"\x1b]8;;\x1b\\\x1b[2K\x07', { title: '<&>' });
    assert.deepEqual(
      textsOf(svg).map(({ text }) => text),
      ['a&lt;b&gt;&amp;&quot;'],
    );
    assert.match(svg, /aria-label="&lt;&amp;&gt;"/);
    assert.doesNotMatch(svg, /[\x00-\x09\x0b-\x1f]|example\.test/);
  });

  it('the picture has the size of the screen for any content, and is the same each time', () => {
    const size = (svg: string) => /width="(\d+)" height="(\d+)" role/.exec(svg)?.slice(1).map(Number);
    const [width = 0, height = 0] = size(svgOf('x', { columns: 100, rows: 40 })) ?? [];
    const [wider = 0, higher = 0] = size(svgOf('x', { columns: 101, rows: 41 })) ?? [];
    assert.deepEqual([wider - width, higher - height], [CELL, 19]);
    assert.equal(svgOf('x\n\x1b[31my'), svgOf('x\n\x1b[31my'));
  });

  it('the command line makes a picture from a file', () => {
    const folder = temporaryFolder();
    try {
      const [input, output] = [join(folder, 'in.ansi'), join(folder, 'out.svg')];
      writeFileSync(input, 'text\n');
      execFileSync(process.execPath, [SCRIPT, input, output, '--title', 'a title']);
      assert.equal(readFileSync(output, 'utf8'), svgOf('text', { title: 'a title' }));
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
