import assert from 'node:assert/strict';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { openTerminal, type Terminal, withTmux } from '../support/terminals/terminal.ts';
import { until } from '../support/wait.ts';
import { makeWorkspace, SVC, type TestWorkspace } from '../support/workspaces/workspace.ts';

interface Desk {
  ws: TestWorkspace;
  file: string;
  /** Replaces the editor with a shell script, in which `$f` is the file to edit. */
  editor(lines: string): void;
  edit(env?: NodeJS.ProcessEnv): Promise<Terminal>;
  /** Folders with kept texts in the folder for temporary files. */
  left(): string[];
  /** How often the editor was opened. */
  openings(): number;
}

async function makeDesk(t: TestContext): Promise<Desk> {
  const ws = await makeWorkspace();
  t.after(ws.close);
  const { folder } = ws.repository;
  const [file, script, temporary] = [
    join(ws.root, 'svc.yaml'),
    join(folder, 'an editor.sh'),
    join(folder, 'tmp'),
  ];
  mkdirSync(temporary);
  const opened = join(folder, 'opened');
  writeFileSync(opened, '');
  return {
    ws,
    file,
    editor(lines) {
      writeFileSync(script, `#!/bin/sh\nfor f; do :; done\necho "$#" >>'${opened}'\n${lines}\n`);
      chmodSync(script, 0o755);
    },
    async edit(env = {}) {
      const terminal = await openTerminal({
        command: [process.execPath, SVC, 'config', 'edit'],
        cwd: ws.root,
        env: { ...ws.env, TMPDIR: temporary, EDITOR: `'${script}'`, ...env },
        columns: 200,
      });
      t.after(terminal.close);
      return terminal;
    },
    left: () => readdirSync(temporary).filter((name) => name.startsWith('svc-')),
    openings: () => readFileSync(opened, 'utf8').split('\n').length - 1,
  };
}

/** The file with the kept text, which the refusal names. */
function findKeptFile(screen: string): string {
  const path = /your text is saved in (\S+)/.exec(screen.replace(/\n/g, ''))?.[1]?.replace(/;$/, '');
  assert.ok(path, screen);
  return path;
}

const listPendingKeys = async ({ ws }: Desk): Promise<string[]> => {
  const client = await ws.connect();
  return (await client.call('config.consent')).pending.map(({ key }) => key);
};

describe('svc config edit', withTmux, () => {
  it('a valid edit is written, agreed to, and in use immediately', async (t) => {
    const desk = await makeDesk(t);
    const { ws, file } = desk;
    const client = await ws.connect();
    const trace = join(ws.repository.folder, 'trace');
    const mode = statSync(file).mode;
    desk.editor(`sed -i "s|  cmds: {|  cmds: {mine: 'touch ${trace} {{prompt}}',|" "$f"`);
    const { status, screen } = await (await desk.edit()).exited();
    assert.deepEqual([status, desk.openings(), desk.left()], [0, 1, []], screen);
    assert.match(screen, /wrote .*svc\.yaml/);
    assert.match(readFileSync(file, 'utf8'), /mine: 'touch/);
    assert.equal(statSync(file).mode, mode);
    assert.deepEqual(await listPendingKeys(desk), []);
    const { task_id: id } = await client.call('task.add', { body: 'x', agent: 'mine' });
    await client.call('task.run', { id });
    await until(async () => {
      const { sessions } = await client.call('task.show', { id });
      return sessions[0]?.state === 'ended';
    }, 'the run to end');
    assert.ok(existsSync(trace));
  });

  it('a key that waited before and was not edited still waits, and is named', async (t) => {
    const desk = await makeDesk(t);
    await desk.ws.connect();
    appendFileSync(desk.file, 'guard: { profile: none }\n');
    desk.editor('printf "policy: { mode: solo }\\n" >>"$f"');
    const { status, screen } = await (await desk.edit()).exited();
    assert.equal(status, 0, screen);
    assert.match(screen, /not in use until svc trust: guard\.profile/);
    assert.deepEqual(await listPendingKeys(desk), ['guard.profile']);
  });

  it('an invalid edit names the place, is reopened with its text, and is written once it is right', async (t) => {
    const desk = await makeDesk(t);
    const before = readFileSync(desk.file, 'utf8');
    desk.editor('printf "agents:\\n  timeout_sec: soon\\nguard: { profile: lose }\\n" >"$f"');
    const terminal = await desk.edit();
    const asked = await terminal.shows('Edit it again?');
    assert.match(asked, /svc\.yaml:3:.*guard\.profile/);
    assert.equal(readFileSync(desk.file, 'utf8'), before);
    desk.editor('sed -i "s/soon/120/; s/lose/lite/" "$f"');
    terminal.type('y');
    terminal.keys('Enter');
    const { status, screen } = await terminal.exited();
    assert.deepEqual([status, desk.openings(), desk.left()], [0, 2, []], screen);
    assert.equal(readFileSync(desk.file, 'utf8'), 'agents:\n  timeout_sec: 120\nguard: { profile: lite }\n');
  });

  it('an abandoned invalid edit leaves the file, the consent and the text of the person', async (t) => {
    const desk = await makeDesk(t);
    const before = readFileSync(desk.file, 'utf8');
    // An unknown key, a wrong type, invalid YAML, no mapping, and unreadable text.
    const wrong = ['gard: {}', 'agents: [1]', 'agents: {', '- a', 'agents: "\\0033[31m'];
    const leave = ['n', '', 'maybe', 'C-d', 'C-c'];
    for (const [at, text] of wrong.entries()) {
      desk.editor(`printf '%b\\n' '${text}' >"$f"`);
      const terminal = await desk.edit();
      await terminal.shows('Edit it again?');
      const key = leave[at] ?? '';
      if (key.startsWith('C-')) terminal.keys(key);
      else {
        terminal.type(key);
        terminal.keys('Enter');
      }
      const { status, screen } = await terminal.exited();
      assert.equal(status, 1, screen);
      assert.match(screen, /nothing was written/);
      assert.doesNotMatch(screen, /Aborted|internal/);
      const kept = findKeptFile(screen);
      assert.equal(statSync(kept).mode & 0o777, 0o600);
      assert.match(readFileSync(kept, 'utf8'), /^(gard|agents|- a)/);
      assert.equal(desk.left().length, at + 1, 'only the kept file remains');
    }
    assert.equal(readFileSync(desk.file, 'utf8'), before);
    assert.deepEqual(await listPendingKeys(desk), []);
  });

  it('an editor that fails, is ended, or is missing changes nothing', async (t) => {
    const desk = await makeDesk(t);
    const before = readFileSync(desk.file, 'utf8');
    const ways: [string, NodeJS.ProcessEnv, RegExp][] = [
      ['echo "guard: {}" >"$f"; exit 3', {}, /ended with exit code 3; nothing was changed/],
      ['echo "guard: {}" >"$f"; kill -TERM $$', {}, /ended with exit code 143; nothing was changed/],
      ['rm "$f"', {}, /left no file; nothing was changed/],
      ['', { EDITOR: '/nowhere/editor' }, /ended with exit code 127; nothing was changed/],
    ];
    for (const [lines, env, said] of ways) {
      desk.editor(lines);
      const { status, screen } = await (await desk.edit(env)).exited();
      assert.equal(status, 1, screen);
      assert.match(screen, said);
      assert.match(screen, /hint: set VISUAL or EDITOR/);
      assert.deepEqual(desk.left(), []);
    }
    assert.equal(readFileSync(desk.file, 'utf8'), before);
    // Text written before the editor failed is kept.
    desk.editor('echo "gard: mine" >>"$f"');
    const terminal = await desk.edit();
    await terminal.shows('Edit it again?');
    desk.editor('exit 3');
    terminal.type('y');
    terminal.keys('Enter');
    const { screen } = await terminal.exited();
    assert.match(readFileSync(findKeptFile(screen), 'utf8'), /gard: mine\n$/);
    assert.equal(readFileSync(desk.file, 'utf8'), before);
  });

  it('an editor that changes nothing writes, agrees to and restarts nothing', async (t) => {
    const desk = await makeDesk(t);
    appendFileSync(desk.file, 'guard: { profile: none }');
    const written = statSync(desk.file).mtimeMs;
    for (const lines of [':', 'echo >>"$f"; sed -i "\\$d" "$f"']) {
      desk.editor(lines);
      const { status, screen } = await (await desk.edit()).exited();
      assert.equal(status, 0, screen);
      assert.match(screen, /nothing was changed/);
    }
    assert.equal(statSync(desk.file).mtimeMs, written);
    assert.deepEqual(desk.left(), []);
    // Viewing the file is not consent.
    assert.deepEqual(await listPendingKeys(desk), ['guard.profile']);
  });

  it("another person's change at the same time stays, and the text of the person is kept", async (t) => {
    const desk = await makeDesk(t);
    for (const isRunning of [false, true]) {
      if (isRunning) await desk.ws.connect();
      const theirs = `${readFileSync(desk.file, 'utf8')}# theirs, ${isRunning}\n`;
      desk.editor(`echo "# mine, ${isRunning}" >>"$f"; echo "# theirs, ${isRunning}" >>'${desk.file}'`);
      const { status, screen } = await (await desk.edit()).exited();
      assert.equal(status, 5, screen);
      assert.match(screen, /was changed in the meantime; nothing was written/);
      assert.match(screen, /svc config edit shows its current content/);
      assert.equal(readFileSync(desk.file, 'utf8'), theirs);
      assert.match(readFileSync(findKeptFile(screen), 'utf8'), new RegExp(`# mine, ${isRunning}\n$`));
    }
    // The file is gone.
    desk.editor(`echo "# mine" >>"$f"; mv '${desk.file}' '${desk.file}.old'`);
    const { status, screen } = await (await desk.edit()).exited();
    assert.notEqual(status, 0, screen);
    assert.match(readFileSync(findKeptFile(screen), 'utf8'), /# mine\n$/);
    assert.ok(!existsSync(desk.file));
    writeFileSync(desk.file, readFileSync(`${desk.file}.old`));
  });

  it('$VISUAL is used before $EDITOR, with arguments and blanks; the file comes last', async (t) => {
    const desk = await makeDesk(t);
    desk.editor('[ "$1" = --wait ] && [ "$2" = "two words" ] && [ $# = 3 ] && echo "# $1" >>"$f"');
    const visual = `'${join(desk.ws.repository.folder, 'an editor.sh')}' --wait "two words"`;
    const { status, screen } = await (await desk.edit({ VISUAL: visual, EDITOR: 'false' })).exited();
    assert.equal(status, 0, screen);
    assert.match(readFileSync(desk.file, 'utf8'), /# --wait\n$/);
  });

  it('a broken svc.yaml can be repaired, which agrees to nothing', async (t) => {
    const desk = await makeDesk(t);
    const before = readFileSync(desk.file, 'utf8');
    writeFileSync(desk.file, `${before}guard: { profile: none\n`);
    desk.editor('sed -i "s/none$/none }/" "$f"');
    const { status, screen } = await (await desk.edit()).exited();
    assert.equal(status, 0, screen);
    assert.match(screen, /not in use until svc trust: guard\.profile/);
    assert.deepEqual(await listPendingKeys(desk), ['guard.profile']);
  });
});

describe('svc config edit without a terminal', () => {
  it('the command says so and names one that needs no terminal', async (t) => {
    const ws = await makeWorkspace();
    t.after(ws.close);
    const trace = join(ws.repository.folder, 'trace');
    const { code, stderr } = await ws.program(['config', 'edit'], { env: { EDITOR: `touch ${trace};:` } });
    assert.equal(code, 2);
    assert.match(stderr, /no terminal is available to edit on\nhint: svc config set/);
    assert.ok(!existsSync(trace));
  });
});
