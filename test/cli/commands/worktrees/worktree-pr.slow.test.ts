import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { after, before, beforeEach, describe, test } from 'node:test';
import { findProgram } from '../../../../engine/core/base/find-program.ts';
import type { EngineClient, Session, WireValue } from '../../../../engine/index.ts';
import { temporaryFolder } from '../../../support/workspaces/git.ts';
import { makeWorkspace, type TestWorkspace } from '../../../support/workspaces/workspace.ts';

/** Records its arguments, one per NUL, and prints the content of `answer`. */
const STAND_IN = `#!/bin/sh
printf '%s\\0' "$0" "$TOKEN" "$@" >> "$RECORD"
printf '\\036' >> "$RECORD"
cat "$ANSWER"
cat "$ANSWER.err" >&2 2>/dev/null
exit "$(cat "$ANSWER.code" 2>/dev/null || echo 0)"
`;

/** Two accounts of a person, a machine behind a name, and what firewalls make necessary. See ssh_config(5). */
const SSH_CONFIG = `
Host github-*
  HostName github.com
Host inner
  HostName gitlab.example.test
Host git.example.test
  HostName machine.example.test
Host github.com
  HostName ssh.github.com
  Port 443
`;

/** Installs an ssh that reads SSH_CONFIG in place of this person's. Returns the PATH with it. */
function installSsh(folder: string): string {
  mkdirSync(folder);
  writeFileSync(join(folder, 'config'), SSH_CONFIG);
  const path = findProgram('ssh', { cwd: '/', path: process.env.PATH });
  writeFileSync(join(folder, 'ssh'), `#!/bin/sh\nexec '${path}' -F '${join(folder, 'config')}' "$@"\n`);
  chmodSync(join(folder, 'ssh'), 0o755);
  return `${folder}${delimiter}${process.env.PATH}`;
}

describe('pull requests', () => {
  let ws: TestWorkspace;
  let client: EngineClient;
  let folder: string;
  let record: string;
  let answer: string;
  let env: NodeJS.ProcessEnv;
  before(async () => {
    folder = temporaryFolder();
    record = join(folder, 'record');
    answer = join(folder, 'answer');
    const bin = join(folder, 'bin');
    mkdirSync(bin);
    for (const name of ['gh', 'glab', 'tea']) {
      writeFileSync(join(bin, name), STAND_IN);
      chmodSync(join(bin, name), 0o755);
    }
    ws = await makeWorkspace({ hosted: true, env: { PATH: installSsh(join(folder, 'ssh')) } });
    client = await ws.connect();
    env = {
      PATH: `${bin}${delimiter}${process.env.PATH}`,
      RECORD: record,
      ANSWER: answer,
      TOKEN: 'of the person',
    };
  });
  after(async () => {
    await ws.close();
    rmSync(folder, { recursive: true, force: true });
  });
  beforeEach(() => {
    for (const file of [record, `${answer}.code`, `${answer}.err`]) rmSync(file, { force: true });
    for (const name of ws.repository.git('remote').split('\n').filter(Boolean))
      ws.repository.git('remote', 'remove', name);
    writeFileSync(answer, 'https://github.example/o/r/pull/7\n');
  });

  const git = (...args: string[]): string => execFileSync('git', args, { encoding: 'utf8' });
  function addRemote(name: string): string {
    const bare = join(folder, `${name}-${Date.now()}-${Math.random()}.git`);
    git('init', '-q', '--bare', bare);
    ws.repository.git('remote', 'add', name, bare);
    return bare;
  }
  const calls = (): string[][] =>
    existsSync(record)
      ? readFileSync(record, 'utf8')
          .split('\u001e')
          .filter((call) => call !== '')
          .map((call) => call.split('\0').slice(0, -1))
      : [];
  async function ran(title: string): Promise<WireValue<Session>> {
    const { task_id: id } = await client.call('task.add', {
      title,
      body: `#agent: edit made.txt ${Math.random()}`,
    });
    const { session_id: session } = await client.call('task.run', { id, wait: true });
    return client.call('session.show', { session });
  }
  const pr = (...args: string[]) =>
    ws.svc(['worktree', 'pr', ...args, '--yes'], { env: { ...ws.env, ...env } });

  test("svc pushes only the session's branch to origin and opens a pull request with title, body, evidence and task", async () => {
    const hostile = '--web $(touch /tmp/race-pwned) `id` "; rm -rf';
    const session = await ran(hostile);
    const bare = addRemote('origin');
    addRemote('fork');
    ws.repository.git('tag', 'not-pushed');
    const opened = await pr(session.session_id, '--json');
    assert.equal(opened.code, 0, opened.stderr);
    assert.equal(
      git('-C', bare, 'for-each-ref', '--format=%(refname) %(objectname)').trim(),
      `refs/heads/${session.branch} ${session.head_commit}`,
    );
    const [call = []] = calls();
    assert.equal(calls().length, 1);
    assert.match(call[0] ?? '', /\/gh$/);
    assert.equal(call[1], 'of the person');
    assert.deepEqual(call.slice(2, 7), [
      'pr',
      'create',
      `--head=${session.branch}`,
      '--base=main',
      `--title=${hostile} (${session.task_id})`,
    ]);
    const row = await client.call('session.show', { session: session.session_id });
    assert.deepEqual(
      [row.pull_request?.number, row.pull_request?.url, row.pull_request?.state],
      [7, 'https://github.example/o/r/pull/7', 'open'],
    );
    assert.equal(existsSync('/tmp/race-pwned'), false);
    const listed = await client.call('session.list', { ids: [session.session_id] });
    assert.equal(listed[0]?.pull_request?.number, 7);

    writeFileSync(answer, JSON.stringify({ number: 7, url: 'https://x/pull/7', state: 'MERGED' }));
    const asked = await pr(session.session_id, '--state');
    assert.match(asked.stdout, /#7 merged/);
    assert.deepEqual(calls()[1]?.slice(2), ['pr', 'view', '7', '--json', 'number,url,state']);
    const after = await client.call('session.show', { session: session.session_id });
    assert.equal(after.pull_request?.state, 'merged');
    assert.notEqual(after.pull_request?.asked_at, null);
  });

  test('an address that was changed between runs is the only one, and one that was changed during a run is accepted first', async () => {
    addRemote('origin');
    await ran('Before');
    const second = addRemote('second');
    ws.repository.git('remote', 'remove', 'second');
    ws.repository.git('remote', 'set-url', 'origin', second);
    const listRemotes = async (session: string) => (await client.call('worktree.pr', { session })).remotes;
    const after = await ran('After');
    assert.deepEqual(await listRemotes(after.session_id), [
      { name: 'origin', url: second, address: null, program: null },
    ]);

    const { task_id: id } = await client.call('task.add', {
      title: 'Moves it',
      body: `#agent: run git remote set-url origin https://me:word@example.test/o/r.git\n#agent: edit moved.txt x`,
    });
    const { session_id: session } = await client.call('task.run', { id, wait: true });
    const showTask = async (task: string) => (await ws.svc(['task', 'show', task])).stdout;
    assert.match(
      await showTask(id),
      /alert.*changed during the run \(remote\.origin\.url\); svc worktree settings/,
    );
    const refused = await pr(session);
    assert.match(refused.stderr, /hint: svc worktree settings s-\d+ shows the changes/);
    const shown = await ws.svc(['worktree', 'settings', session]);
    assert.equal(
      shown.stdout,
      `remote.origin.url: was ${second}, is https://me@example.test/o/r.git\n`,
      shown.stderr,
    );
    assert.match((await ws.svc(['worktree', 'settings', session, '--accept'])).stdout, /they are yours now/);
    const url = 'https://me@example.test/o/r.git';
    assert.deepEqual(await listRemotes(session), [{ name: 'origin', url, address: null, program: null }]);
    const quiet = await ran('Quiet');
    assert.doesNotMatch(await showTask(quiet.task_id), /changed during the run/);
  });

  test('the body says what svc has seen, and the program follows the host or the option', async () => {
    const session = await ran('A merge request');
    addRemote('origin');
    writeFileSync(answer, 'https://gitlab.example/g/p/-/merge_requests/12\n');
    const opened = await pr(session.session_id, '--program', 'glab', '--json');
    assert.equal(opened.json<{ number: number }>().number, 12, opened.stderr);
    const body = calls()[0]?.find((each) => each.startsWith('--description=')) ?? '';
    assert.match(
      body,
      new RegExp(`^--description=Task ${session.task_id}, session ${session.session_id} by `),
    );
    assert.ok(calls()[0]?.includes(`--source-branch=${session.branch}`));
    writeFileSync(
      answer,
      JSON.stringify({ iid: 12, web_url: 'https://x/merge_requests/12', state: 'opened' }),
    );
    const asked = await pr(session.session_id, '--state', '--json');
    assert.equal(asked.json<{ state: string }>().state, 'open', asked.stderr);

    const other = await ran('For a small host');
    ws.repository.git('remote', 'set-url', '--push', 'origin', 'https://person:word@codeberg.org/o/r.git');
    const printed = await pr(other.session_id, '--print');
    assert.match(printed.stdout, /\ntea pr create --head=/);
    assert.doesNotMatch(printed.stdout + printed.stderr, /word/);
  });

  test('a remote at a Host of the ssh configuration is at the code host that it stands for', async () => {
    const session = await ran('At an alias');
    const show = async (url: string): Promise<string> => {
      addRemote('origin');
      ws.repository.git('remote', 'set-url', 'origin', url);
      const { code, stdout, stderr } = await pr(session.session_id, '--print');
      ws.repository.git('remote', 'remove', 'origin');
      assert.equal(code, 0, stderr);
      return (
        /^(\w+ \w+ create) (?:(--repo=\S+) )?/m.exec(stdout)?.slice(1).filter(Boolean).join(' ') ?? stdout
      );
    };
    const shown = {
      'git@github-work:acme/shop.git': 'gh pr create --repo=github.com/acme/shop',
      'github-work:acme/shop': 'gh pr create --repo=github.com/acme/shop',
      'ssh://git@ssh.github.com:443/acme/shop.git': 'gh pr create --repo=github.com/acme/shop',
      'git@github.com:acme/shop.git': 'gh pr create',
      'github.com:acme/shop.git': 'gh pr create',
      'git@inner:acme/shop.git': 'glab mr create',
      'ssh://git@inner/acme/shop.git': 'glab mr create',
      'git@-oProxyCommand=touch:acme/shop.git': 'gh pr create',
    };
    for (const [url, command] of Object.entries(shown)) assert.equal(await show(url), command, url);
    ws.repository.git('remote', 'add', 'origin', 'git@git.example.test:acme/shop.git');
    const { remotes } = await client.call('worktree.pr', { session: session.session_id });
    assert.equal(remotes[0]?.address, null);
  });

  test('svc prints the commands and pushes nothing when asked to, or when a program or remote is missing', async () => {
    const session = await ran("It's printed");
    const without = await pr(session.session_id);
    assert.equal(without.code, 1);
    assert.match(without.stderr, /no remote/);
    const bare = addRemote('origin');
    const printed = await pr(session.session_id, '--print');
    assert.equal(printed.code, 0);
    assert.match(printed.stdout, /^cd .*\ngit .*push .*\ngh pr create /);
    assert.ok(printed.stdout.includes(`'--title=It'\\''s printed (${session.task_id})'`), printed.stdout);
    const path = join(folder, 'without');
    mkdirSync(path, { recursive: true });
    const missing = await ws.svc(['worktree', 'pr', session.session_id, '--yes'], {
      env: { ...ws.env, ...env, PATH: path },
    });
    assert.equal(missing.code, 1);
    assert.match(missing.stderr, /gh is not installed/);
    assert.deepEqual([calls(), git('-C', bare, 'for-each-ref')], [[], '']);
  });

  test("svc asks for the remote, never forces, and shows the program's output", async () => {
    const session = await ran('Several remotes');
    const bare = addRemote('upstream');
    addRemote('fork');
    const several = await pr(session.session_id);
    assert.deepEqual([several.code, calls()], [2, []]);
    assert.match(several.stderr, /upstream, fork|fork, upstream/);

    writeFileSync(`${answer}.code`, '1');
    writeFileSync(`${answer}.err`, 'you are not logged in\n');
    const refused = await pr(session.session_id, '--remote', 'upstream');
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /was pushed, but gh .*not logged in/s);

    writeFileSync(
      `${answer}.err`,
      'a pull request for branch "x" already exists:\nhttps://github.example/o/r/pull/9\n',
    );
    writeFileSync(answer, '');
    const there = await pr(session.session_id, '--remote', 'upstream', '--json');
    assert.equal(there.json<{ number: number }>().number, 9, there.stderr);

    // Another person has pushed other commits to the branch.
    const tree = git('-C', bare, 'rev-parse', `${session.head_commit}^{tree}`).trim();
    const other = git(
      '-C',
      bare,
      '-c',
      'user.name=O',
      '-c',
      'user.email=o@e',
      'commit-tree',
      tree,
      '-m',
      'other',
    ).trim();
    git('-C', bare, 'update-ref', `refs/heads/${session.branch}`, other);
    const behind = await pr(session.session_id, '--remote', 'upstream');
    assert.equal(behind.code, 1);
    assert.match(behind.stderr, /git push exited/);
    assert.equal(git('-C', bare, 'rev-parse', `refs/heads/${session.branch}`).trim(), other);
  });

  test('svc asks before anything is pushed, and says when no one can answer', async () => {
    const session = await ran('Asked first');
    const bare = addRemote('origin');
    const unasked = await ws.svc(['worktree', 'pr', session.session_id], { env: { ...ws.env, ...env } });
    assert.equal(unasked.code, 2);
    assert.match(
      unasked.stderr,
      /no terminal is available to ask on before the push\nhint: .*--print.*--yes/,
    );
    assert.deepEqual([calls(), git('-C', bare, 'for-each-ref')], [[], '']);
  });

  test('an address that the person has changed since the last run is shown once, and used', async () => {
    const session = await ran('Another address');
    const first = addRemote('origin');
    await ran('a worker has run since');
    const second = addRemote('other');
    ws.repository.git('remote', 'remove', 'other');
    ws.repository.git('remote', 'set-url', 'origin', second);
    const { remotes } = await client.call('worktree.pr', { session: session.session_id });
    assert.deepEqual(remotes, [{ name: 'origin', url: second, address: null, program: null }]);
    const opened = await pr(session.session_id);
    assert.equal(opened.code, 0, opened.stderr);
    assert.equal(git('-C', first, 'for-each-ref'), '');
    assert.match(git('-C', second, 'for-each-ref'), /svc\/s-/);
  });

  test('workers cannot open pull requests, and unfinished work has none', async () => {
    addRemote('origin');
    const { task_id: id } = await client.call('task.add', {
      title: 'By itself',
      body: '#agent: edit made.txt by itself\n#agent: run svc worktree pr s-1 --print 2>&1; svc worktree pr "$SVC_SESSION" 2>&1; true',
    });
    const { session_id: session } = await client.call('task.run', { id, wait: true });
    const { text } = await client.call('session.log', { session });
    assert.match(text, /error: .*(?:Chair|chair)/);
    assert.doesNotMatch(text, /gh pr create/);
    assert.deepEqual(calls(), []);
  });
});
