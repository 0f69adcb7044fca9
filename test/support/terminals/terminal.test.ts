import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, before, describe, test } from 'node:test';
import { isRunning } from '../processes/processes.ts';
import { temporaryFolder } from '../workspaces/git.ts';
import { openTerminal, type Terminal, type TerminalOptions, withTmux } from './terminal.ts';

describe('the terminal of the tests', withTmux, () => {
  let cwd = '';
  const terminals: Terminal[] = [];
  const open = async (options: Partial<TerminalOptions> & Pick<TerminalOptions, 'command'>) => {
    const terminal = await openTerminal({ cwd, columns: 40, rows: 8, ...options });
    terminals.push(terminal);
    return terminal;
  };
  const sh = (script: string, options: Partial<TerminalOptions> = {}) =>
    open({ command: ['sh', '-c', script], ...options });

  before(() => {
    cwd = temporaryFolder();
    const lines = Array.from({ length: 100 }, (_, index) => `line ${index + 1}`);
    writeFileSync(join(cwd, 'lines'), `${lines.join('\n')}\n`);
  });
  afterEach(async () => {
    for (const each of terminals.splice(0)) await each.close();
  });
  after(() => rmSync(cwd, { recursive: true }));

  test('the terminal presses keys and waits for the result', async () => {
    const less = await open({ command: ['less', 'lines'] });
    const first = await less.shows(/^line 7$/m);
    assert.equal(first, 'line 1\nline 2\nline 3\nline 4\nline 5\nline 6\nline 7\nlines');
    less.keys('G');
    assert.match(await less.shows('line 100'), /^line 94\n/);
    less.keys('g', 'Down', 'Down');
    await less.gone('line 2');
    less.type('/line 50');
    less.keys('Enter');
    await less.shows(/^line 50\n/);
    assert.equal(less.screen().split('\n').length, 8);
    less.keys('q');
    assert.equal((await less.exited()).status, 0);
  });

  test('the terminal types and pastes text unchanged', async () => {
    const cat = await sh('stty raw -echo; printf "\\033[?2004hready\\r\\n"; exec cat -v', { columns: 80 });
    await cat.shows('ready');
    cat.type('Enter');
    cat.type('-l $HOME;');
    await cat.shows('ready\nEnter-l $HOME;');
    cat.keys('Enter', ';');
    await cat.shows('$HOME;^M;');
    cat.paste('two\nlines;');
    await cat.shows('^[[200~two^Mlines;^[[201~');
  });

  test('the terminal has its given size, and can be resized', async () => {
    const terminal = await sh('trap "stty size" WINCH; stty size; while :; do sleep 0.02; done');
    await terminal.shows('8 40');
    terminal.resize(60, 12);
    await terminal.shows('12 60');
    assert.equal(terminal.screen().split('\n').length, 12);
  });

  test('the terminal gives the program its environment and little more', async () => {
    const env = { GIVEN: 'a b;', SHELL: '/bin/other', PATH: '/usr/bin:/bin' };
    const { screen } = await (await open({ command: ['env'], env, columns: 200 })).exited();
    assert.deepEqual(screen.split('\n').filter(Boolean).sort(), [
      'GIVEN=a b;',
      `HOME=${process.env.HOME}`,
      'LANG=C.UTF-8',
      'PATH=/usr/bin:/bin',
      'SHELL=/bin/other',
      'TERM=tmux-256color',
    ]);
  });

  test('the terminal reports colours, also of blanks', async () => {
    const terminal = await sh('printf "\\033[1;31mred\\033[0m \\033[7mrow  \\033[0mend"; exec sleep 600');
    await terminal.shows('red row  end');
    // tmux also marks default colours explicitly.
    const [line] = terminal
      .colours()
      .replaceAll(/\x1b\[[34]9m/g, '')
      .split('\n');
    assert.equal(line, '\x1b[1m\x1b[31mred\x1b[0m \x1b[7mrow  \x1b[0mend');
  });

  test('the terminal reports how the program ended', async () => {
    const failed = await (await sh('echo last words; exit 3')).exited();
    assert.deepEqual([failed.status, failed.screen.trim()], [3, 'last words']);
    assert.equal((await (await sh('kill -TERM $$')).exited()).status, null);
  });

  test('the terminal shows the last screen of a program that ended too early', async () => {
    const terminal = await sh('echo something else');
    await assert.rejects(
      terminal.shows('never', 'the first frame'),
      /^Error: the program ended with status 0 before the first frame; the last screen:\n\| something else\n/,
    );
  });

  test('the terminal leaves nothing behind, even of a program that ignores a hangup', async () => {
    const terminal = await sh('trap "" HUP; sleep 600 & echo $!; wait');
    const child = Number((await terminal.shows(/^\d+$/m)).trim());
    const pids = [terminal.pid(), child];
    assert.deepEqual(pids.map(isRunning), [true, true]);
    await terminal.close();
    assert.deepEqual(pids.map(isRunning), [false, false]);
    await terminal.close();
  });
});
