import assert from 'node:assert/strict';
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import Database from 'better-sqlite3';
import { configuration, type Task, type WireValue } from '../../../../engine/index.ts';
import { makeWorkspace, type TestWorkspace } from '../../../support/workspaces/workspace.ts';

describe('svc adopt after a move', () => {
  let ws: TestWorkspace;
  let root: string;
  beforeEach(async () => {
    ws = await makeWorkspace();
    root = ws.root;
  });
  afterEach(async () => {
    await ws.svc(['down'], { cwd: root });
    await ws.close();
  });

  async function svc(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await ws.svc(args, { cwd: root });
    assert.equal(code, 0, `svc ${args.join(' ')}\n${stdout}${stderr}`);
    return stdout;
  }
  async function ran(prompt: string): Promise<string> {
    const added = JSON.parse(await svc('task', 'add', '-p', prompt, '--run', '-f', '--json')) as {
      task: WireValue<Task>;
    };
    return added.task.session_id ?? assert.fail();
  }
  /** Moves the repository as a person does, and adopts it there. */
  async function moveTo(to: string): Promise<{ unplaced: unknown[]; unrepaired: unknown[] }> {
    await ws.svc(['down'], { cwd: root });
    mkdirSync(dirname(to), { recursive: true });
    renameSync(root, to);
    root = to;
    const adopted = JSON.parse(await svc('adopt', '--yes', '--json')) as {
      unplaced: unknown[];
      unrepaired: unknown[];
    };
    (await configuration()).agreeToFile({ file: join(root, 'svc.yaml'), env: ws.env });
    return adopted;
  }

  test("the work of sessions is promoted, undone and restored in the repository's new place", async () => {
    const promoted = await ran('#agent: edit made.txt by the worker');
    const before = await ran('#agent: edit early.txt before the move');
    await svc('worktree', 'promote', before);
    const discarded = await ran('#agent: edit other.txt again');
    const folder = join(root, '.svc/agents/worktrees', discarded);
    assert.ok(existsSync(folder));
    await svc('worktree', 'discard', discarded);

    const to = join(ws.repository.folder, 'deep', 'elsewhere');
    const { unplaced, unrepaired } = await moveTo(to);
    assert.deepEqual([unplaced, unrepaired], [[], []]);
    await svc('worktree', 'undo', before);
    assert.equal(existsSync(join(root, 'early.txt')), false);
    assert.match(await svc('worktree', 'diff', promoted), /made\.txt/);
    await svc('worktree', 'promote', promoted);
    assert.equal(readFileSync(join(root, 'made.txt'), 'utf8'), 'by the worker\n');
    await svc('worktree', 'restore', discarded, '--worktree');
    const now = folder.replace(ws.root, to);
    assert.equal(readFileSync(join(now, 'other.txt'), 'utf8'), 'again\n');
    assert.equal(existsSync(ws.root), false);
    assert.match(ws.repository.gitIn(now, 'rev-parse', '--show-toplevel'), /elsewhere/);
  });

  test('a session resumes in its worktree after a second move', async () => {
    const session = await ran('#agent: edit made.txt by the worker');
    await moveTo(join(ws.repository.folder, 'second'));
    await moveTo(join(ws.repository.folder, 'third'));
    await svc('worktree', 'trial', session);
    await svc('worktree', 'promote', session);
    assert.equal(readFileSync(join(root, 'made.txt'), 'utf8'), 'by the worker\n');
  });

  test('a copy keeps no folder of the original, and names each branch with the command that merges it', async () => {
    const session = await ran('#agent: edit made.txt by the worker');
    await svc('down');
    const copy = join(ws.repository.folder, 'copy');
    cpSync(root, copy, { recursive: true });
    const { code, stdout, stderr } = await ws.svc(['adopt', '--yes'], { cwd: copy });
    assert.equal(code, 0, stderr);
    assert.match(stdout, new RegExp(`the work of ${session} is on its branch: git merge svc/${session}`));
    assert.equal(ws.repository.gitIn(root, 'worktree', 'list', '--porcelain').includes(copy), false);
    rmSync(copy, { recursive: true });
    assert.match(await svc('worktree', 'trial', session), /would go through/);
  });
});

test('a data folder of a development version is refused, and svc adopt --fresh starts a new one next to it', async () => {
  const ws = await makeWorkspace();
  try {
    const data = join(ws.root, '.svc');
    await ws.svc(['task', 'add', '-p', 'of a development version']);
    await ws.svc(['down']);
    const db = new Database(join(data, 'svc.db'));
    db.pragma('user_version = 26');
    db.close();
    const refused = await ws.svc(['task', 'list']);
    assert.notEqual(refused.code, 0);
    assert.match(
      refused.stderr,
      /svc\.db was written by a development version of svc; nothing in it was used/,
    );
    assert.match(refused.stderr, /svc adopt --fresh moves it aside, unchanged, and starts again/);
    const kept = await ws.svc(['adopt', '--yes']);
    assert.notEqual(kept.code, 0);
    assert.match(kept.stderr, /it cannot be taken over: .*development version/);
    const fresh = await ws.svc(['adopt', '--fresh', '--yes', '--json']);
    const { moved } = JSON.parse(fresh.stdout) as { moved: { from: string; to: string }[] };
    assert.deepEqual(
      moved.map(({ from }) => from),
      [data],
    );
    assert.ok(existsSync(join(moved[0]?.to ?? '', 'svc.db')));
    const list = await ws.svc(['task', 'list', '--json']);
    assert.deepEqual(JSON.parse(list.stdout), []);
  } finally {
    await ws.svc(['down']);
    await ws.close();
  }
});
