import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { openTerminal, type Terminal, withTmux } from '../support/terminals/terminal.ts';
import { until } from '../support/wait.ts';
import { makeWorkspace, SVC, type TestWorkspace } from '../support/workspaces/workspace.ts';

interface Desk {
  ws: TestWorkspace;
  /** The session with work, and its task. */
  session: string;
  /** Writes an editor, in which `$f` is the file to edit. Returns its command. */
  editor(name: string, lines: string): string;
  promote(args: readonly string[], env?: NodeJS.ProcessEnv): Promise<Terminal>;
  /** Folders of editing in the folder for temporary files. */
  left(): string[];
  /** Which editors were opened. */
  opened(): string[];
  /** The newest commit of main, and its message. */
  main(): { id: string; message: string };
}

async function makeDesk(t: TestContext): Promise<Desk> {
  const ws = await makeWorkspace();
  t.after(ws.close);
  const { folder } = ws.repository;
  const [temporary, openings] = [join(folder, 'tmp'), join(folder, 'opened')];
  mkdirSync(temporary);
  writeFileSync(openings, '');
  const client = await ws.connect();
  const { task_id: id } = await client.call('task.add', {
    title: 'Fix #12 of the login',
    body: '#agent: edit made.txt x',
    agent: 'scripted',
  });
  const { session_id: session } = await client.call('task.run', { id, wait: true });
  const git = (...args: string[]) => ws.repository.git(...args);
  return {
    ws,
    session: session!,
    editor(name, lines) {
      const script = join(folder, name);
      writeFileSync(script, `#!/bin/sh\nfor f; do :; done\necho '${name}' >>'${openings}'\n${lines}\n`);
      chmodSync(script, 0o755);
      return `'${script}'`;
    },
    async promote(args, env = {}) {
      const terminal = await openTerminal({
        command: [process.execPath, SVC, 'merge', session!, '--edit', ...args],
        cwd: ws.root,
        env: { ...ws.env, TMPDIR: temporary, ...env },
        columns: 200,
      });
      t.after(terminal.close);
      return terminal;
    },
    left: () => readdirSync(temporary).filter((name) => name.startsWith('svc-')),
    opened: () => readFileSync(openings, 'utf8').split('\n').slice(0, -1),
    main: () => ({
      id: git('rev-parse', 'main'),
      message: git('log', '-1', '--format=%B', 'main').trimEnd(),
    }),
  };
}

describe('svc merge --edit', withTmux, () => {
  it('the editor gets the message that would be used, and its text becomes that of the commit', async (t) => {
    const desk = await makeDesk(t);
    const seen = join(desk.ws.repository.folder, 'seen');
    const editor = desk.editor('mine', `cp "$f" '${seen}'; printf '\n# Why\n\nIt was wrong.  \n\n\n' >>"$f"`);
    const { status, screen } = await (await desk.promote(['--squash'], { GIT_EDITOR: editor })).exited();
    assert.equal(status, 0, screen);
    const draft = readFileSync(seen, 'utf8');
    assert.match(draft, /^Fix #12 of the login\n/);
    assert.equal(desk.main().message, `${draft.trimEnd()}\n\n# Why\n\nIt was wrong.`);
    assert.deepEqual([desk.opened(), desk.left()], [['mine'], []]);
  });

  it('a merge starts with its own message, --message replaces it, and an unchanged text is used', async (t) => {
    const desk = await makeDesk(t);
    const seen = join(desk.ws.repository.folder, 'seen');
    const empty = desk.editor('empty', `cp "$f" '${seen}'; : >"$f"`);
    await (await desk.promote([], { EDITOR: empty })).exited();
    assert.match(readFileSync(seen, 'utf8'), /^Merge svc\/s-1: Fix #12 of the login \(t-1\)\n$/);
    const { status, screen } = await (
      await desk.promote(['-m', 'Mine', '-m', 'Why.'], { EDITOR: desk.editor('keeps', `cp "$f" '${seen}'`) })
    ).exited();
    assert.equal(status, 0, screen);
    assert.equal(readFileSync(seen, 'utf8'), 'Mine\n\nWhy.\n');
    assert.equal(desk.main().message, 'Mine\n\nWhy.');
  });

  it('the editor is that of git: GIT_EDITOR, core.editor of the person, VISUAL, EDITOR, and none of the repository', async (t) => {
    const desk = await makeDesk(t);
    const names = ['of-git', 'of-config', 'of-visual', 'of-editor', 'of-repository'] as const;
    const [GIT_EDITOR, config, VISUAL, EDITOR, own] = names.map((name) => desk.editor(name, ': >"$f"')) as [
      string,
      string,
      string,
      string,
      string,
    ];
    desk.ws.repository.git('config', 'core.editor', own);
    const global = join(desk.ws.repository.folder, 'gitconfig');
    writeFileSync(global, `[core]\n\teditor = ${JSON.stringify(config)}\n`);
    const all = { GIT_EDITOR, GIT_CONFIG_GLOBAL: global, VISUAL, EDITOR };
    const before = desk.main();
    for (const [at, name] of names.slice(0, 4).entries()) {
      const env = Object.fromEntries(
        Object.entries(all).map(([key, value], index) => [
          key,
          index >= at ? value : key === 'GIT_CONFIG_GLOBAL' ? '/dev/null' : '',
        ]),
      );
      const { status, screen } = await (await desk.promote(['--squash'], env)).exited();
      assert.equal(status, 1, screen);
      assert.match(screen, /the message is empty, so nothing was changed/);
      assert.equal(desk.opened().at(-1), name);
    }
    assert.deepEqual([desk.main(), desk.left()], [before, []]);
  });

  it('an editor that fails, is killed, removes its file or leaves only blank lines changes nothing', async (t) => {
    const desk = await makeDesk(t);
    const before = desk.main();
    for (const [lines, reason] of [
      ['echo x >>"$f"; exit 3', /ended with exit code 3; nothing was changed/],
      ['echo x >>"$f"; kill -9 $$', /ended with exit code 137; nothing was changed/],
      ['kill -9 $PPID; sleep 0.1', /was ended by SIGKILL; nothing was changed/],
      ['rm "$f"', /left no file; nothing was changed/],
      [`printf '\\n \\n\\t\\n' >"$f"`, /the message is empty, so nothing was changed/],
    ] as const) {
      const { status, screen } = await (
        await desk.promote([], { EDITOR: desk.editor('fails', lines) })
      ).exited();
      assert.notEqual(status, 0, screen);
      assert.match(screen, reason);
    }
    assert.deepEqual([desk.main(), desk.left()], [before, []]);
    assert.equal(
      (await (await desk.ws.connect()).call('session.show', { session: desk.session })).promoted_at,
      null,
    );
  });

  it('svc itself may be killed while the editor is open, and nothing is changed', async (t) => {
    const desk = await makeDesk(t);
    const before = desk.main();
    const pid = join(desk.ws.repository.folder, 'pid');
    const editor = desk.editor(
      'waits',
      `ps -o ppid= -p $PPID >'${pid}.new' && mv '${pid}.new' '${pid}'; sleep 600`,
    );
    const terminal = await desk.promote([], { EDITOR: editor });
    const svc = Number(
      await until(() => readFileSync(pid, { encoding: 'utf8', flag: 'a+' }).trim(), 'the editor'),
    );
    process.kill(svc, 'SIGKILL');
    await terminal.exited();
    assert.deepEqual(desk.main(), before);
  });

  it('a message that cannot be used is kept, such as one for a branch that moved while it was written', async (t) => {
    const desk = await makeDesk(t);
    const { worktree } = await (await desk.ws.connect()).call('session.show', { session: desk.session });
    const before = desk.main();
    const move = `git -C '${String(worktree)}' -c user.name=x -c user.email=x@y.test commit -q --allow-empty -m moved; echo 'a long text' >"$f"`;
    const { status, screen } = await (await desk.promote([], { EDITOR: desk.editor('slow', move) })).exited();
    assert.notEqual(status, 0, screen);
    const flat = screen.replace(/\n/g, '');
    assert.match(flat, /moved since you looked; nothing was changed/);
    const [, kept = ''] = /your message is saved in (\S+COMMIT_EDITMSG)/.exec(flat) ?? [];
    assert.equal(readFileSync(kept, 'utf8').trim(), 'a long text');
    rmSync(kept);
    assert.deepEqual(desk.main(), before);
  });

  it('a rebase has no message to edit, and without a terminal there is none to edit on', async (t) => {
    const desk = await makeDesk(t);
    const { session, ws } = desk;
    const rebase = await (await desk.promote(['--strategy', 'rebase'], { EDITOR: 'false' })).exited();
    assert.match(rebase.screen, /a rebase keeps the messages of the commits, so there is none to edit/);
    const { code, stderr } = await ws.svc(['merge', session, '--edit']);
    assert.equal(code, 2);
    assert.match(stderr, /no terminal is available to edit on\n.*--message/);
  });
});
