import assert from 'node:assert/strict';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { act, ask, openDash } from '../support/terminals/dash.ts';
import { openTerminal, withTmux } from '../support/terminals/terminal.ts';
import { until } from '../support/wait.ts';
import { isRunning, makeWorkspace, SVC } from '../support/workspaces/workspace.ts';

/** The state of a process as a letter: R, S, T (stopped) … */
const readProcessState = (pid: number): string =>
  /^\d+ \(.*\) (\w)/s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1] ?? '?';

describe('losing the engine, the data or the terminal', withTmux, () => {
  it('the engine dies and returns: the last state stays, nothing is missed', async (t) => {
    const { workspace, terminal } = await openDash(t);
    await workspace.post('before\n#agent: no-change');
    await terminal.shows('▶t-1');
    await terminal.shows('│ │ before');
    await workspace.killDaemon();
    await terminal.shows('ENGINE GONE since');
    await terminal.shows('▶t-1');
    terminal.keys('a');
    await terminal.shows('the engine is not running; u starts it');
    // Another client starts it, and work arrives before the dashboard is back.
    await workspace.svc(['task', 'add', 'while it was gone', '--agent', 'scripted']);
    await terminal.gone('ENGINE GONE');
    await terminal.shows('while it was gone');

    await workspace.killDaemon();
    await terminal.shows('ENGINE GONE since');
    terminal.keys('u');
    await terminal.gone('ENGINE GONE');
    assert.equal((await workspace.svc(['status'])).code, 0);
  });

  it('the data folder is deleted: the dashboard says so, and shows the new one when it is there', async (t) => {
    const { workspace, terminal } = await openDash(t);
    await workspace.post('of the old folder\n#agent: no-change');
    await terminal.shows('▶t-1');
    const first = workspace.daemonPid()!;
    await workspace.deleteData();
    await terminal.shows('ENGINE GONE since');
    await until(() => !isRunning(first), 'the end of the engine');
    await workspace.svc(['task', 'add', 'of the new folder']);
    await terminal.gone('ENGINE GONE');
    const screen = await terminal.shows('of the new folder');
    assert.ok(!screen.includes('of the old folder'), screen);
  });

  it('the terminal is closed: the dashboard ends, the engine and its worker continue', async (t) => {
    const { workspace, terminal } = await openDash(t);
    await terminal.shows('Nothing waits for you');
    await workspace.svc(['task', 'add', '--agent', 'scripted', '--prompt', '#agent: hang', '--run']);
    await terminal.shows(' 1 live');
    const pid = terminal.pid();
    await terminal.close();
    assert.ok(!isRunning(pid));
    const { workers } = (await workspace.svc(['status', '--json'])).json<{
      workers: { running: number };
    }>();
    assert.equal(workers.running, 1);
  });

  it('SIGTERM ends it and restores the terminal', async (t) => {
    const { terminal } = await openDash(t);
    await terminal.shows('Nothing waits for you');
    process.kill(terminal.pid(), 'SIGTERM');
    const { screen } = await terminal.exited();
    assert.ok(!screen.includes('╔'), screen);
  });

  it('Ctrl-Z and the signal stop it, on the normal screen; continuing redraws it', async (t) => {
    const { terminal } = await openDash(t);
    await terminal.shows('Nothing waits for you');
    const stops = [() => terminal.keys('C-z'), () => process.kill(terminal.pid(), 'SIGTSTP')];
    for (const stop of stops) {
      stop();
      await until(() => readProcessState(terminal.pid()) === 'T', 'the stop');
      await terminal.gone('Nothing waits for you');
      process.kill(terminal.pid(), 'SIGCONT');
      await terminal.shows('Nothing waits for you');
    }
    terminal.keys('?');
    await terminal.shows('╔═ Help');
  });

  it('every size works while it runs, down to one that is too small and back', async (t) => {
    const { workspace, terminal } = await openDash(t);
    await workspace.post('resized\n#agent: no-change');
    await terminal.shows('▶t-1');
    for (const [columns, rows, shown] of [
      [140, 40, '─ facts ─'],
      [60, 15, '▶t-1'],
      [40, 10, 'Work: 1 of 1'],
      [30, 6, 'svc needs 40x10'],
      [120, 34, '[1 Work 1]'],
      [80, 24, '1 to decide'],
    ] as const) {
      terminal.resize(columns, rows);
      const screen = await terminal.shows(shown);
      assert.ok(screen.split('\n').length <= rows, screen);
    }
    const lines = terminal.screen().split('\n');
    assert.match(lines[0] ?? '', /svc · test/);
    assert.match(lines[23] ?? '', /a approve.*q quit/);
  });
});

describe('an editor of the person', withTmux, () => {
  it('e edits the prompt, which creates a new decision; a failing editor changes nothing', async (t) => {
    const { workspace, terminal } = await openDash(t, { env: { EDITOR: './editor.sh --wait' } });
    const editor = join(workspace.root, 'editor.sh');
    // The file to edit is private and the last argument.
    writeFileSync(editor, '#!/bin/sh\nstat -c %a "$2" > mode\necho "and one line more" >> "$2"\n');
    chmodSync(editor, 0o755);
    await workspace.post('as it was');
    await terminal.shows('│ │ as it was');
    await ask(terminal, 'e', 'd-2 replaces d-1');
    await terminal.shows('│ │ and one line more');
    await terminal.shows('the prompt was edited by');
    assert.equal(readFileSync(join(workspace.root, 'mode'), 'utf8').trim(), '600');
    writeFileSync(editor, '#!/bin/sh\nexit 3\n');
    await act(terminal, 'e');
    await terminal.shows('ended with exit code 3; nothing was changed');
    await terminal.shows('waits for you as d-2');
  });
});

describe('a text that the engine refuses', () => {
  it('the text is reopened in the editor and saved', withTmux, async (t) => {
    const { workspace, terminal } = await openDash(t, { columns: 110, env: { EDITOR: './editor.sh' } });
    const editor = join(workspace.root, 'editor.sh');
    const change = (script: string): void => writeFileSync(editor, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    // More than the engine takes as a prompt.
    change(`{ echo 'First this.'; head -c 4000000 /dev/zero | tr '\\0' x; } > "$1"`);
    await workspace.post('as it was');
    await terminal.shows('│ │ as it was');
    await ask(terminal, 'e', 'prompt of d-1, not saved: First this. … (2 lines)');
    change(`sed -i '2s/.*/Then that./' "$1"`);
    terminal.keys('C-e');
    await terminal.shows('d-2 replaces d-1');
    await terminal.shows('│ │ First this.');
    await terminal.shows('│ │ Then that.');
  });
});

describe('opening the dashboard', () => {
  it('the dashboard without a terminal names the commands that need none', async (t) => {
    const workspace = await makeWorkspace();
    t.after(workspace.close);
    for (const args of [[], ['dash']]) {
      const { code, stderr } = await workspace.program(args);
      assert.equal(code, 2);
      assert.match(stderr, /the dashboard needs a terminal/);
      assert.match(stderr, /svc status, svc ls, svc decision list/);
    }
  });

  it('the dashboard outside a workspace says how to create one', withTmux, async (t) => {
    const terminal = await openTerminal({
      command: [process.execPath, SVC, 'dash'],
      cwd: '/',
      columns: 80,
      rows: 24,
    });
    t.after(terminal.close);
    const { status, screen } = await terminal.exited();
    assert.equal(status, 4);
    assert.match(screen, /svc init/);
  });

  it('svc demo opens it on the decision of the demo', withTmux, async (t) => {
    const terminal = await openTerminal({
      command: [process.execPath, SVC, 'demo'],
      cwd: '/',
      columns: 80,
      rows: 24,
    });
    t.after(terminal.close);
    await terminal.shows('▶t-1');
    terminal.keys('q');
    const { status, screen } = await terminal.exited();
    assert.equal(status, 0);
    assert.match(screen, /nothing ran/);
  });
});
