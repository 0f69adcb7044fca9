import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, before, describe, test } from 'node:test';
import type { Lock, Session, WireValue } from '../../../../engine/index.ts';
import { stdioClient } from '../../../support/agents/mcp.ts';
import { until } from '../../../support/wait.ts';
import { gitEnvironment } from '../../../support/workspaces/git.ts';
import { takePart } from '../../../support/workspaces/seats.ts';
import { makeWorkspace, type TestWorkspace } from '../../../support/workspaces/workspace.ts';

describe('svc lock', () => {
  let ws: TestWorkspace;
  before(async () => {
    ws = await makeWorkspace();
    await ws.svc(['up']);
    await takePart(ws, 'ada', 'bob');
  });
  after(() => ws.close());

  test('svc lock acquires, shows and releases paths relative to the current folder', async () => {
    const app = join(ws.root, 'app');
    const made = await ws.svc(['lock', 'acquire', 'main.txt', '--holder', 'ada', '--ttl', '90'], {
      cwd: app,
    });
    assert.equal(made.code, 0, made.stderr);
    assert.match(made.stdout, /^ada holds app\/main\.txt until \S+ \S+ \(fence 1\)$/m);
    const listed = (await ws.svc(['lock', 'list', '--json'])).json<WireValue<Lock>[]>();
    assert.deepEqual(
      listed.map(({ path, holder, fence }) => [path, holder, fence]),
      [['app/main.txt', 'ada', 1]],
    );
    assert.match((await ws.svc(['lock', 'list', '.'], { cwd: app })).stdout, /^app\/main\.txt\tada\t/);
    assert.equal((await ws.svc(['lock', 'list', 'README.md'])).stdout, '');
    const other = await ws.svc(['lock', 'acquire', 'app', '--holder', 'bob', '--json']);
    assert.deepEqual([other.code, other.json<{ error: { code: string } }>().error.code], [5, 'lock_held']);
    assert.equal((await ws.svc(['lock', 'release', 'main.txt', '--holder', 'bob'], { cwd: app })).code, 3);
    const freed = await ws.svc(['lock', 'release', 'app/main.txt'], { env: { SVC_SESSION: 'ada' } });
    assert.deepEqual([freed.code, freed.stdout], [0, 'app/main.txt is free\n']);
    assert.equal((await ws.svc(['lock', 'release', 'app/main.txt', '--holder', 'ada'])).code, 4);
  });

  test('a lock belongs to the Chair when no holder is named, and an unknown name cannot hold one', async () => {
    const held = async () =>
      (await ws.svc(['lock', 'list', '--json']))
        .json<WireValue<Lock>[]>()
        .map(({ path, holder }) => `${path} ${holder}`);
    for (const words of [[], ['--holder', 'me'], ['--holder', 'Chair']]) {
      assert.equal((await ws.svc(['lock', 'acquire', 'app', ...words])).code, 0);
      assert.deepEqual(await held(), ['app chair']);
      assert.equal((await ws.svc(['lock', 'release', 'app', ...words])).code, 0);
    }
    const agent = await stdioClient(ws);
    const { holder } = await agent.call('lock_acquire', { holder: 'me', path: 'src' });
    assert.match(holder, /^chair-\d+$/);
    await ws.svc(['lock', 'acquire', 'app']);
    assert.deepEqual(await held(), [`app ${holder}`, `src ${holder}`]);
    const unknown = await ws.svc(['lock', 'acquire', 'docs', '--holder', 'nobody', '--json']);
    const { error } = unknown.json<{ error: { code: string; hint: string } }>();
    assert.deepEqual([unknown.code, error.code], [4, 'not_found']);
    assert.match(error.hint, new RegExp(`live: .*${holder}.*; me is your own`));
    await agent.close();
    await until(async () => (await held()).length === 0, 'its locks to end with the Chair');
    assert.equal((await ws.svc(['lock', 'acquire', '/etc', '--holder', 'ada'])).code, 3);
  });

  test('a caller without the lock is denied with exit code 3, and so is a person while another holds it', async () => {
    const ada = { env: { SVC_SESSION: 'ada' } };
    assert.equal((await ws.svc(['lock', 'check', 'app'], ada)).code, 3);
    assert.equal((await ws.svc(['lock', 'check', 'app'])).code, 0);
    await ws.svc(['lock', 'acquire', 'app'], ada);
    const own = await ws.svc(['lock', 'check', 'app/main.txt', 'app'], ada);
    assert.deepEqual([own.code, own.stdout.split('\n').length], [0, 3]);
    const person = await ws.svc(['lock', 'check', 'README.md', 'app/main.txt']);
    assert.equal(person.code, 3);
    assert.match(person.stderr, /^error: app\/main\.txt is held by ada until \S+ \S+ \(lock on app\)$/m);
    const bob = await ws.svc(['lock', 'check', 'app', 'README.md', '--holder', 'bob', '--json']);
    const { error } = bob.json<{ error: { code: string; message: string; data: { denied: object[] } } }>();
    assert.deepEqual([bob.code, error.code, error.data.denied.length], [3, 'lock_denied', 2]);
    assert.match(
      error.message,
      /bob holds no lock on app: ada holds app until .*; bob holds no lock on README\.md: no one does/,
    );
    assert.equal((await ws.svc(['lock', 'check'])).code, 2);
    assert.equal((await ws.svc(['lock', 'check', 'app', '--staged'])).code, 2);
    assert.equal((await ws.svc(['lock', 'check', '/etc/passwd'])).code, 3);
    await ws.svc(['lock', 'release', 'app'], ada);
  });

  test('16 processes race for a lock and one wins', async () => {
    const ran = await Promise.all(
      Array.from({ length: 16 }, (_, index) =>
        ws.program(['lock', 'acquire', 'app'], { env: { SVC_SESSION: `p-${index}` } }),
      ),
    );
    assert.deepEqual(ran.map(({ code }) => code).sort(), [0, ...Array.from({ length: 15 }, () => 5)]);
    const [lock] = (await ws.svc(['lock', 'list', '--json'])).json<WireValue<Lock>[]>();
    for (const { code, stderr } of ran)
      if (code === 5) assert.match(stderr, new RegExp(`${lock?.holder} holds app`));
    await ws.svc(['lock', 'release', 'app', '--holder', lock?.holder ?? '']);
  });
});

describe('the hook of svc init --hooks', () => {
  let ws: TestWorkspace;
  let hook: string;
  before(async () => {
    ws = await makeWorkspace();
    hook = join(ws.root, '.git/hooks/pre-commit');
    const made = await ws.svc(['init', '--hooks', '--json']);
    assert.equal(made.code, 0, made.stderr);
    assert.deepEqual(made.json(), { hook, state: 'installed', workspaces: [join(ws.root, 'svc.yaml')] });
    await ws.svc(['up']);
  });
  after(() => ws.close());
  afterEach(async () => {
    const client = await ws.connect();
    for (const { path, holder } of (await client.call('lock.status', {})).locks)
      await client.call('lock.release', { path, holder });
    client.close();
    ws.repository.git('reset', '--quiet', '--hard');
  });

  /** Runs git as a person's shell does, including hooks. */
  function git(
    args: string[],
    { cwd = ws.root, env = {} }: { cwd?: string; env?: Record<string, string> } = {},
  ) {
    const person = {
      GIT_AUTHOR_NAME: 'P',
      GIT_AUTHOR_EMAIL: 'p@x',
      GIT_COMMITTER_NAME: 'P',
      GIT_COMMITTER_EMAIL: 'p@x',
    };
    const clean = Object.entries(gitEnvironment(person)).filter(([name]) => !name.startsWith('SVC_'));
    const ran = spawnSync('git', args, {
      cwd,
      encoding: 'utf8',
      env: { ...Object.fromEntries(clean), SVC_HOME: ws.env.SVC_HOME, ...env },
    });
    return { code: ran.status, said: ran.stderr };
  }
  const change = (...paths: string[]) => {
    for (const path of paths) ws.repository.write(path, `${Math.random()}\n`);
    ws.repository.git('add', '--all');
  };
  const commit = (...more: string[]) => git(['commit', '--quiet', '-m', 'change', ...more]);
  const lock = async (path: string, holder = 'ada') => {
    const { code, stderr } = await ws.svc(['lock', 'acquire', path], { env: { SVC_SESSION: holder } });
    assert.equal(code, 0, stderr);
  };

  test('the hook is silent for a commit that concerns no lock', async () => {
    change('app/main.txt');
    assert.deepEqual(commit(), { code: 0, said: '' });
    await lock('app');
    change('README.md');
    assert.deepEqual(commit(), { code: 0, said: '' });
  });

  test('the hook refuses a commit to a locked path, with path, holder and time', async () => {
    await lock('app');
    change('README.md', 'app/main.txt');
    const before = ws.repository.git('rev-parse', 'HEAD');
    const { code, said } = commit();
    assert.equal(code, 1);
    assert.match(
      said,
      /^error: app\/main\.txt is held by ada until \d{4}-\d\d-\d\d \d\d:\d\d:\d\d \(lock on app\)$/m,
    );
    assert.doesNotMatch(said, /README|no-verify/);
    assert.equal(ws.repository.git('rev-parse', 'HEAD'), before);
    assert.equal(git(['commit', '-qm', 'change'], { env: { SVC_SESSION: 'bob' } }).code, 1);
    assert.deepEqual(git(['commit', '-qm', 'change'], { env: { SVC_SESSION: 'ada' } }), {
      code: 0,
      said: '',
    });
    change('app/main.txt');
    assert.equal(commit('--no-verify').code, 0);
  });

  test('the hook checks exactly what this commit takes: all, some, renamed, removed', async () => {
    change('app/old name.txt', 'other.txt');
    assert.equal(commit().code, 0);
    await lock('app');
    ws.repository.write('app/main.txt', 'by -a\n');
    assert.match(commit('-a').said, /app\/main\.txt is held by ada/);
    // Only named files are committed, even if others are staged.
    change('app/main.txt', 'other.txt');
    assert.equal(commit('--', 'other.txt').code, 0);
    assert.match(commit('--', 'app/main.txt').said, /app\/main\.txt is held by ada/);
    ws.repository.git('reset', '--quiet', '--hard');
    ws.repository.git('mv', 'app/old name.txt', 'moved.txt');
    assert.match(commit().said, /app\/old name\.txt is held by ada/);
    ws.repository.git('reset', '--quiet', '--hard');
    ws.repository.git('rm', '--quiet', 'app/main.txt');
    assert.match(commit().said, /app\/main\.txt is held by ada/);
    ws.repository.git('reset', '--quiet', '--hard');
    ws.repository.git('config', 'diff.relative', 'true');
    change('app/main.txt');
    const inside = git(['commit', '-qm', 'change'], { cwd: join(ws.root, 'app') });
    assert.match(inside.said, /app\/main\.txt is held by ada/);
    ws.repository.git('config', '--unset', 'diff.relative');
  });

  test('the hook works inside the worktrees of sessions too', async () => {
    const added = await ws.svc([
      'task',
      'add',
      '-p',
      '#agent: no-change\n#agent: hang',
      '-a',
      'scripted',
      '--run',
      '--json',
    ]);
    const { session } = added.json<{ session: WireValue<Session> }>();
    const id = session.session_id;
    const worktree = join(ws.root, '.svc/agents/worktrees', id);
    await until(async () => {
      const shown = await ws.svc(['task', 'show', session.task_id, '--json']);
      return shown.json<{ sessions: WireValue<Session>[] }>().sessions[0]?.state === 'running';
    }, 'the worker');
    await lock('app');
    writeFileSync(join(worktree, 'app/main.txt'), 'in the worktree\n');
    const wanted = ['commit', '-qam', 'change'];
    const config = { SVC_CONFIG: join(ws.root, 'svc.yaml') };
    assert.match(git(wanted, { cwd: worktree }).said, /app\/main\.txt is held by ada/);
    const worker = git(wanted, { cwd: worktree, env: { SVC_SESSION: id, ...config } });
    assert.match(worker.said, /app\/main\.txt is held by ada/);
    // A hook that is installed from inside belongs to the repository.
    const again = await ws.svc(['init', '--hooks', '--json'], { cwd: worktree });
    assert.deepEqual(again.json(), { hook, state: 'there already', workspaces: [join(ws.root, 'svc.yaml')] });
    await ws.svc(['lock', 'release', 'app', '--holder', 'ada']);
    await lock('app', id);
    assert.deepEqual(git(wanted, { cwd: worktree, env: { SVC_SESSION: id, ...config } }), {
      code: 0,
      said: '',
    });
    change('app/main.txt');
    assert.match(commit().said, new RegExp(`app/main\\.txt is held by ${id}`));
    await ws.svc(['task', 'cancel', session.task_id]);
    await until(async () => (await ws.svc(['lock', 'list', '--json'])).json<unknown[]>().length === 0);
    assert.deepEqual(commit(), { code: 0, said: '' });
  });

  test('the hook lets a commit pass with a warning when svc is gone, and names the fix', () => {
    const text = readFileSync(hook, 'utf8');
    writeFileSync(hook, text.replace(/'[^']*svc\.js'/, "'/nowhere/svc.js'"));
    change('app/main.txt');
    const { code, said } = commit();
    assert.equal(code, 0);
    assert.match(said, /svc: the locks of .*svc\.yaml were not checked .*svc init --hooks renews this hook/);
    writeFileSync(hook, text.replace(process.execPath, '/nowhere/node'));
    change('app/main.txt');
    assert.equal(commit().code, 0);
    writeFileSync(hook, text);
  });

  test('the hook is renewed when svc has moved, and left alone when it is right', async () => {
    const text = readFileSync(hook, 'utf8');
    writeFileSync(hook, text.replace(/'[^']*svc\.js'/, "'/nowhere/svc.js'"));
    chmodSync(hook, 0o644);
    const renewed = await ws.svc(['init', '--hooks']);
    assert.match(renewed.stdout, /was renewed/);
    assert.equal(readFileSync(hook, 'utf8'), text);
    assert.ok(statSync(hook).mode & 0o100);
    assert.match(
      (await ws.svc(['init', '--hooks'], { cwd: join(ws.root, 'app') })).stdout,
      /is there already/,
    );
    assert.equal(readFileSync(hook, 'utf8'), text);
  });

  test('the hook lets a commit pass when no engine runs, says so and starts none', async () => {
    await lock('app');
    await ws.svc(['down']);
    change('app/main.txt');
    const { code, said } = commit();
    assert.equal(code, 0);
    assert.match(said, /^svc: the locks were not checked: no engine is running for /m);
    assert.equal(ws.daemonPid(), null);
    const json = await ws.svc(['lock', 'check', '--staged', '--json']);
    assert.deepEqual([json.code, json.json<{ checked: boolean }>().checked], [0, false]);
    await ws.svc(['up']);
    change('app/main.txt');
    assert.equal(commit().code, 1);
  });
});

describe('installing the hook', () => {
  let ws: TestWorkspace;
  before(async () => {
    ws = await makeWorkspace();
    // Commits here use the environment of this process.
    process.env.SVC_HOME = ws.env.SVC_HOME;
  });
  after(async () => {
    delete process.env.SVC_HOME;
    await ws.close();
  });

  test("svc never changes someone else's hook, and prints the line to add", async () => {
    const hook = join(ws.root, '.git/hooks/pre-commit');
    mkdirSync(join(ws.root, '.git/hooks'), { recursive: true });
    writeFileSync(hook, '#!/bin/sh\nset -e\necho mine >&2\n', { mode: 0o755 });
    const refused = await ws.svc(['init', '--hooks', '--json']);
    const { error } = refused.json<{ error: { code: string; hint: string; data: { line: string } } }>();
    assert.deepEqual([refused.code, error.code], [5, 'exists']);
    assert.equal(readFileSync(hook, 'utf8'), '#!/bin/sh\nset -e\necho mine >&2\n');
    assert.ok(error.hint.includes(error.data.line));

    writeFileSync(hook, `#!/bin/sh\nset -e\necho mine >&2\n${error.data.line}\n`);
    assert.match((await ws.svc(['init', '--hooks'])).stdout, /is there already/);
    await takePart(ws, 'ada');
    await ws.svc(['lock', 'acquire', 'app', '--holder', 'ada']);
    ws.repository.write('app/main.txt', 'changed\n');
    assert.throws(() => ws.repository.git('commit', '-qam', 'x'), /app\/main\.txt is held by ada/);
    await ws.svc(['lock', 'release', 'app', '--holder', 'ada']);
    ws.repository.git('commit', '-qam', 'x');
    writeFileSync(hook, `#!/bin/sh\n${error.data.line.replaceAll('svc.js', 'gone.js')}\n`);
    ws.repository.write('app/main.txt', 'again\n');
    ws.repository.git('commit', '-qam', 'x');
    rmSync(hook);
  });

  test('the hook is written where core.hooksPath points, from the top folder', async () => {
    ws.repository.git('config', 'core.hooksPath', 'tools/git hooks');
    const made = await ws.svc(['init', '--hooks', '--json'], { cwd: join(ws.root, 'app') });
    assert.equal(made.json<{ hook: string }>().hook, join(ws.root, 'tools/git hooks/pre-commit'));
    await ws.svc(['lock', 'acquire', 'app', '--holder', 'ada']);
    ws.repository.write('app/main.txt', 'once more\n');
    assert.throws(() => ws.repository.git('commit', '-qam', 'x'), /app\/main\.txt is held by ada/);
    ws.repository.git('config', '--unset', 'core.hooksPath');
    ws.repository.git('checkout', '--quiet', '.');
  });

  test('one hook serves several workspaces of a repository', async () => {
    for (const name of ["it's one", 'two']) {
      mkdirSync(join(ws.root, name));
      ws.repository.write(`${name}/file.txt`, 'start\n');
    }
    const root = join(ws.root, '.git/hooks/pre-commit');
    // Inside an existing workspace, the hook belongs to that workspace.
    assert.deepEqual((await ws.svc(['init', '--hooks', '--json', '--dir', 'two'])).json(), {
      hook: root,
      state: 'installed',
      workspaces: [join(ws.root, 'svc.yaml')],
    });
    const { hook } = (await ws.svc(['init', '--dir', "it's one", '--json'])).json<{ hook: null }>();
    assert.equal(hook, null);
    const both = await ws.svc(['init', '--hooks', '--json'], { cwd: join(ws.root, "it's one") });
    const files = [join(ws.root, 'svc.yaml'), join(ws.root, "it's one/svc.yaml")];
    assert.deepEqual(both.json(), { hook: root, state: 'renewed', workspaces: files });

    const env = { SVC_CONFIG: files[1] ?? '' };
    await ws.svc(['lock', 'acquire', "it's one/file.txt"], { env: { ...env, SVC_SESSION: 'ada' } });
    ws.repository.git('add', '--all');
    assert.throws(() => ws.repository.git('commit', '-qm', 'x'), /it's one\/file\.txt is held by ada/);
    await ws.svc(['down'], { env });
    rmSync(join(ws.root, "it's one"), { recursive: true });
    await ws.svc(['lock', 'release', 'app', '--holder', 'ada']);
    ws.repository.git('add', '--all');
    ws.repository.git('commit', '-qm', 'x');
    assert.deepEqual(
      (await ws.svc(['init', '--hooks', '--json'])).json<{ workspaces: string[] }>().workspaces,
      [files[0]],
    );
  });

  test('svc writes no hook where there is no repository', async () => {
    const bare = join(ws.repository.folder, 'bare');
    mkdirSync(bare);
    const { code, stderr } = await ws.svc(['init', '--hooks'], { cwd: bare });
    assert.equal(code, 1);
    assert.match(stderr, /is not in a git repository/);
    assert.equal(existsSync(join(bare, 'svc.yaml')), false);
  });
});
