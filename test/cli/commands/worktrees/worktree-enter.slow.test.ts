import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Session, Task, WireValue } from '../../../../engine/index.ts';
import { until } from '../../../support/wait.ts';
import { requireLocalPath } from '../../../support/workspaces/local-path.ts';
import { makeWorkspace, SVC, type TestWorkspace } from '../../../support/workspaces/workspace.ts';

describe('entering the worktree of a session', () => {
  let ws: TestWorkspace;
  let session: WireValue<Session>;
  /** Arguments of the fake shell and editor. */
  let seen: string;
  before(async () => {
    ws = await makeWorkspace();
    const added = await ws.svc([
      'task',
      'add',
      '-p',
      '#agent: edit made.txt by the worker',
      '--run',
      '-f',
      '--json',
    ]);
    const { task } = added.json<{ task: WireValue<Task> }>();
    session = (await ws.svc(['worker', 'show', task.session_id ?? '', '--json'])).json();
    seen = join(ws.repository.folder, 'seen');
    const program = join(ws.repository.folder, 'nano');
    writeFileSync(program, `#!/bin/sh\nprintf '%s\\n' "$PWD" "$SVC_CONFIG" "$@" >'${seen}'\nexit 3\n`);
    chmodSync(program, 0o755);
    ws.env.SHELL = program;
    ws.env.VISUAL = `'${program}' -x`;
  });
  after(() => ws.close());

  const listSeen = (): string[] => readFileSync(seen, 'utf8').trimEnd().split('\n');
  const config = (): string => join(ws.root, 'svc.yaml');

  test('a shell starts in the worktree, with its workspace, and its exit code is not a failure', async () => {
    const { code, stderr } = await ws.program(['worktree', 'shell', session.session_id]);
    assert.equal(code, 0, stderr);
    assert.deepEqual(listSeen(), [session.worktree, config()]);
    assert.match(stderr, /^s-1 on svc\/s-1 in .*; exit returns$/m);
  });

  test('an editor opens a file at a line, or the folder', async () => {
    const edit = (...place: string[]) => ws.program(['worktree', 'edit', session.session_id, ...place]);
    assert.equal((await edit('made.txt:1')).code, 3);
    assert.deepEqual(listSeen(), [
      session.worktree,
      config(),
      '-x',
      '+1',
      join(requireLocalPath(session.worktree), 'made.txt'),
    ]);
    await edit('README.md');
    assert.deepEqual(listSeen().slice(2), ['-x', join(requireLocalPath(session.worktree), 'README.md')]);
    await edit();
    assert.deepEqual(listSeen().slice(2), ['-x', session.worktree]);
  });

  test('nothing outside the worktree is opened, neither by name nor through a link', async () => {
    writeFileSync(join(ws.root, 'secret'), 'x');
    symlinkSync(join(ws.root, 'secret'), join(requireLocalPath(session.worktree), 'link'));
    writeFileSync(seen, '');
    for (const [place, code] of [
      ['../../../secret', 2],
      ['link:1', 2],
      ['gone.txt:4', 4],
    ] as const)
      assert.equal((await ws.program(['worktree', 'edit', session.session_id, place])).code, code, place);
    assert.equal(readFileSync(seen, 'utf8'), '');
  });

  test('a worktree in which a shell runs is not removed until the shell exits', async () => {
    const other = await ws.svc(['task', 'add', '-p', '#agent: edit other.txt x', '--run', '-f', '--json']);
    const id = other.json<{ task: WireValue<Task> }>().task.session_id ?? '';
    const { worktree } = (await ws.svc(['worker', 'show', id, '--json'])).json<WireValue<Session>>();
    const shell = join(ws.repository.folder, 'waits');
    writeFileSync(shell, '#!/bin/sh\necho here\nread -r line\n');
    chmodSync(shell, 0o755);
    const child = spawn(process.execPath, [SVC, 'worktree', 'shell', id], {
      cwd: ws.root,
      env: { ...ws.env, SHELL: shell },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    let said = '';
    child.stdout.on('data', (chunk) => {
      said += chunk;
    });
    await until(() => said.includes('here'));
    const promoted = await ws.svc(['worktree', 'promote', id, '--json']);
    assert.equal(promoted.code, 0, promoted.stderr);
    const { removed, kept } = promoted.json<{ removed: boolean; kept: string[] }>();
    assert.deepEqual([removed, existsSync(requireLocalPath(worktree))], [false, true], kept.join());
    child.stdin.end('\n');
    await until(() => child.exitCode !== null);
    await ws.svc(['worktree', 'prune']);
    assert.ok(!existsSync(requireLocalPath(worktree)));
    const gone = await ws.svc(['worktree', 'shell', id]);
    assert.deepEqual([gone.code, /no longer there/.test(gone.stderr)], [5, true]);
  });
});
