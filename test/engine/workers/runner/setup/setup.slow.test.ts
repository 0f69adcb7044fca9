import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { quoteForShell } from '../../../../../engine/core/base/text.ts';
import type { ProjectSetup, Session, WireValue } from '../../../../../engine/index.ts';
import { isRunning } from '../../../../support/processes/processes.ts';
import { until } from '../../../../support/wait.ts';
import { requireLocalPath } from '../../../../support/workspaces/local-path.ts';
import { claudeSays, makeRig, type Rig } from '../../../dispatch/rig.ts';

type Project = WireValue<ProjectSetup>;

interface Carries {
  setup?: string[];
  teardown?: string[];
  env_files?: string[];
}

describe("the setup of a project's worktrees", () => {
  let rig: Rig;
  before(async () => {
    rig = await makeRig();
    rig.ws.repository.commit(
      { '.gitignore': '.svc/\n.env*\n*.out\n', '.env.tracked': 'of the repository\n' },
      'ignored files',
    );
  });
  after(() => rig.close());

  const file = (name: string): string => join(rig.ws.repository.folder, name);
  const read = (name: string): string => readFileSync(file(name), 'utf8');
  const sh = (script: string): string => `sh -c ${quoteForShell(script)}`;
  const project = (id = 'own') => rig.here().call('project.show', { id });

  /** Changes what the entry `own`, this folder's project, carries. */
  async function carry(carries: Carries): Promise<void> {
    const entry = { id: 'own', path: '.', setup: [], teardown: [], env_files: [], ...carries };
    const yaml = join(rig.ws.root, 'svc.yaml');
    const others = readFileSync(yaml, 'utf8').replace(/^projects: .*\n/m, '');
    writeFileSync(yaml, `projects: ${JSON.stringify([entry])}\n${others}`);
    rig.ws.repository.git('commit', '--quiet', '--message', 'carry', 'svc.yaml');
    const isRead = ({ setup, teardown, env_files }: Project) =>
      JSON.stringify([setup, teardown, env_files]) ===
      JSON.stringify([entry.setup, entry.teardown, entry.env_files]);
    await until(async () => {
      const [found] = await rig.here().call('project.list');
      return found !== undefined && isRead(found);
    });
  }

  async function trust(): Promise<void> {
    const { digest } = await project();
    await rig.here().call('project.trust', { id: 'own', digest });
  }

  async function carryTrusted(carries: Carries): Promise<void> {
    await carry(carries);
    await trust();
  }

  const ended = async (ran: WireValue<Session>): Promise<WireValue<Session>> => rig.settled(ran.session_id);
  const waitFor = (name: string): string => `until [ -e '${file(name)}' ]; do sleep 0.02; done`;

  test('a teardown runs before a worktree is removed, by a promotion and by prune, and stops neither', async () => {
    await carryTrusted({ teardown: [sh(`pwd >>'${file('torn')}'; echo left >a.out`), sh('exit 3')] });
    const [one, other] = await Promise.all([
      rig.run(['edit one.txt one', claudeSays.result()]).then(ended),
      rig.run(['no-change', claudeSays.result()]).then(ended),
    ]);
    const promoted = await rig.here().call('worktree.promote', { session: one.session_id });
    assert.equal(promoted.removed, true, JSON.stringify(promoted));
    assert.match(promoted.warnings.join(), new RegExp(`teardown of ${one.session_id}: .*exit code 3`));
    assert.equal(read('torn'), `${one.worktree}\n`);
    assert.match(rig.log(one.session_id), /\[svc: teardown\] exit code 3 after/);
    // Consent withdrawn: it is skipped, with a notice.
    await rig.here().call('project.untrust', { id: 'own' });
    const [pruned] = (await rig.here().call('worktree.prune', {})).repositories;
    assert.match(pruned!.warnings.join(), /was skipped: .*agreed to/);
    assert.equal(existsSync(requireLocalPath(other.worktree)), false);
    assert.equal(read('torn'), `${one.worktree}\n`);
    await trust();
    const third = await rig.run(['no-change', claudeSays.result()]).then(ended);
    await rig.here().call('worktree.prune', {});
    assert.equal(existsSync(requireLocalPath(third.worktree)), false);
    assert.equal(read('torn'), `${one.worktree}\n${third.worktree}\n`);
  });

  test('a teardown that leaves a file behind keeps the worktree: nothing is removed unseen', async () => {
    await carryTrusted({ teardown: [sh('echo left >not-ignored.txt')] });
    const session = await rig.run(['no-change', claudeSays.result()]).then(ended);
    const { repositories } = await rig.here().call('worktree.prune', {});
    const refused = repositories[0]!.refused.find(({ branch }) => branch === session.branch);
    assert.match(refused?.reasons.join() ?? '', /untracked files: not-ignored\.txt/);
    assert.ok(existsSync(requireLocalPath(session.worktree)));
  });

  test('a setup does not run without a consent on this machine, nor after a change', async () => {
    const touched = file('untrusted');
    await carry({ setup: [`touch '${touched}'`] });
    await rig.here().call('project.untrust', { id: 'own' });
    assert.equal((await project()).consent, 'none');
    const refused = await ended(await rig.run(['no-change']));
    assert.equal(refused.failure?.code, 'consent_missing');
    assert.match(refused.failure?.text ?? '', /svc project trust own/);
    assert.equal(refused.worktree, null, 'nothing was created for it');
    await trust();
    assert.equal(statSync(join(rig.ws.env.SVC_HOME!, 'consents')).mode & 0o777, 0o700);
    await carry({ setup: [`touch '${touched}'`, 'true'] });
    assert.equal((await project()).consent, 'changed');
    const changed = await ended(await rig.run(['no-change']));
    assert.equal(changed.failure?.code, 'consent_missing');
    assert.match(changed.failure?.text ?? '', /have changed/);
    assert.equal(existsSync(touched), false);
  });

  test('a setup is agreed to as shown, by the Chair seat, and the consent can be revoked', async () => {
    await carry({ setup: ['true'] });
    const { digest } = await project();
    await carry({ setup: ['false'] });
    await assert.rejects(rig.here().call('project.trust', { id: 'own', digest }), { code: 'conflict' });
    const now = (await project()).digest;
    for (const seat of ['worker', 'plain'] as const)
      await assert.rejects(rig.here().call('project.trust', { id: 'own', digest: now }, { seat }), {
        code: 'chair_only',
      });
    await trust();
    assert.equal((await project('workspace')).consent, 'given', "listed under the workspace's name too");
    await rig.here().call('project.untrust', { id: 'own' });
    assert.equal((await project()).consent, 'none');
  });

  test('a consent that others could have written is ignored', async () => {
    await carryTrusted({ setup: ['true'] });
    const folder = join(rig.ws.env.SVC_HOME!, 'consents');
    const consents = join(folder, readdirSync(folder)[0]!);
    assert.equal(statSync(consents).mode & 0o777, 0o600);
    chmodSync(consents, 0o620);
    const { consent, problem } = await project();
    assert.equal(consent, 'none');
    assert.match(problem ?? '', /can be changed by others/);
    chmodSync(consents, 0o600);
  });

  test('setup commands run in order before the agent, as processes of the run, and are first in the log', async () => {
    await carryTrusted({
      setup: [
        sh(`pwd >'${file('where')}'; env >'${file('env')}'; echo '{"type":"result","is_error":true}'`),
        sh(`echo second >>'${file('where')}'`),
      ],
    });
    const { session_id } = await rig.run(['no-change', claudeSays.result()]);
    const session = await rig.settled(session_id);
    assert.equal(session.failure, null, 'setup output is not attributed to the agent');
    assert.equal(read('where'), `${session.worktree}\nsecond\n`);
    const env = read('env');
    assert.match(env, /^SVC_RUN_ID=[0-9a-f-]{36}$/m);
    assert.match(env, new RegExp(`^SVC_SESSION=${session_id}$`, 'm'));
    assert.doesNotMatch(env, /SVC_WEBHOOK_SECRET/);
    const lines = rig.log(session_id).split('\n');
    const ours = lines.filter((line) => line.startsWith('[svc: setup] '));
    assert.equal(ours.length, 4);
    assert.match(ours[0]!, /^\[svc: setup\] sh -c /);
    assert.match(ours[1]!, /^\[svc: setup\] exit code 0 after \d+ s$/);
    assert.ok(lines.indexOf(ours[3]!) < lines.findIndex((line) => line.startsWith('agent: reading')));
  });

  test('a failing setup command ends the session, with its output in the log', async () => {
    await carryTrusted({ setup: [sh('echo broken; exit 7'), `touch '${file('after')}'`] });
    const session = await ended(await rig.run(['no-change']));
    assert.equal(session.failure?.code, 'setup_failed');
    assert.match(session.failure?.text ?? '', /exit code 7/);
    assert.match(rig.log(session.session_id), /\nbroken\n\[svc: setup\] exit code 7 after/);
    assert.equal(existsSync(file('after')), false);
    await carryTrusted({ setup: ['no-such-program-anywhere'] });
    const missing = await ended(await rig.run(['no-change']));
    assert.equal(missing.failure?.code, 'setup_failed');
    assert.match(missing.failure?.text ?? '', /no such program/);
  });

  test('a setup is killed completely when the session is cancelled, or its time is over', async () => {
    const hang = (name: string) => sh(`setsid sleep 60 & echo $! >'${file(name)}'; wait`);
    await carryTrusted({ setup: [hang('cancelled.pid'), `touch '${file('after')}'`] });
    const cancelled = await rig.run(['no-change']);
    const pid = Number(await until(() => existsSync(file('cancelled.pid')) && read('cancelled.pid')));
    await rig.here().call('task.cancel', { id: cancelled.task_id });
    assert.equal((await ended(cancelled)).failure?.code, 'cancelled');
    assert.equal(isRunning(pid), false);
    await carryTrusted({ setup: [hang('late.pid'), `touch '${file('after')}'`] });
    const late = await ended(await rig.run(['no-change'], { timeout_sec: 1 }));
    assert.equal(late.failure?.code, 'timeout');
    assert.equal(isRunning(Number(read('late.pid'))), false);
    assert.equal(existsSync(file('after')), false);
  });

  test('a setup restarts under the next engine when one ends in the middle, and its remains are ended', async () => {
    await carryTrusted({
      setup: [sh(`echo x >>'${file('count')}'; echo $$ >'${file('pid')}'; ${waitFor('gate')}`)],
    });
    const ran = await rig.run(['no-change']);
    await until(() => existsSync(file('pid')) && read('pid') !== '');
    const first = Number(read('pid'));
    await rig.down();
    assert.equal(isRunning(first), false);
    // A process of a teardown whose engine was killed.
    const mark = randomUUID();
    const left = spawn('sleep', ['60'], {
      env: { SVC_RUN_ID: mark, PATH: process.env.PATH },
      stdio: 'ignore',
    });
    mkdirSync(join(rig.ws.root, '.svc/agents/.teardown', mark), { recursive: true });
    await rig.up();
    assert.equal(isRunning(left.pid ?? 0), false);
    await until(() => read('count') === 'x\nx\n');
    writeFileSync(file('gate'), '');
    const session = await ended(ran);
    assert.equal(session.failure, null);
    assert.equal(session.runs, 1);
  });

  test('a setup does not run again for a session that resumes after a pause', async () => {
    await carryTrusted({ setup: [sh(`echo x >>'${file('setups')}'`)] });
    const limit = JSON.parse(claudeSays.limit(Date.now() + 3_600_000).slice(4));
    const { session_id } = await rig.run([
      'no-change',
      claudeSays.init('c-1'),
      `say ${JSON.stringify(limit)}`,
      claudeSays.result({ is_error: true, api_error_status: 429, result: 'limit' }),
    ]);
    const paused = await rig.settled(session_id);
    assert.equal(paused.state, 'queued', JSON.stringify(paused.failure));
    // Nothing runs even if the consent is missing.
    await rig.here().call('project.untrust', { id: 'own' });
    await rig.here().call('worker.resume', { session: session_id });
    await until(async () => (await rig.session(session_id)).runs === 2);
    await rig.settled(session_id);
    assert.equal(read('setups'), 'x\n');
    await rig
      .here()
      .call('task.cancel', { id: paused.task_id })
      .catch(() => undefined);
  });

  test('a setup copies files that git ignores, and no others, and never over existing ones', async () => {
    const { root } = rig.ws;
    writeFileSync(join(root, '.env.local'), 'SECRET=1\n', { mode: 0o640 });
    mkdirSync(join(root, 'conf'), { recursive: true });
    writeFileSync(join(root, 'conf', '.env'), 'IN=conf\n', { mode: 0o400 });
    writeFileSync(file('outside'), 'outside\n');
    symlinkSync(file('outside'), join(root, '.env.link'));
    writeFileSync(join(root, '.env.tracked'), 'changed here\n');
    writeFileSync(join(root, 'visible.txt'), 'not ignored\n');
    const left = ['.env.link', '.env.tracked', 'visible.txt', '.env.absent'];
    await carryTrusted({ env_files: ['.env.local', 'conf/.env', ...left] });
    const session = await ended(await rig.run(['dirty']));
    assert.equal(session.failure, null);
    const there = (name: string): string => join(requireLocalPath(session.worktree), name);
    assert.equal(readFileSync(there('.env.local'), 'utf8'), 'SECRET=1\n');
    assert.equal(statSync(there('.env.local')).mode & 0o777, 0o640);
    assert.equal(statSync(there('conf/.env')).mode & 0o777, 0o600);
    assert.equal(readFileSync(there('.env.tracked'), 'utf8'), 'of the repository\n');
    for (const name of ['.env.link', 'visible.txt', '.env.absent'])
      assert.equal(existsSync(there(name)), false, name);
    const log = rig.log(session.session_id);
    for (const [name, why] of [
      ['.env.link', 'it leads out of the project'],
      ['.env.tracked', 'it already exists'],
      ['visible.txt', 'git does not ignore it'],
      ['.env.absent', 'the project does not have it'],
    ])
      assert.ok(log.includes(`[svc: setup] ${name} was not copied: ${why}`), log);
    const committed = rig.ws.repository.git('ls-tree', '-r', '--name-only', session.branch!);
    assert.doesNotMatch(committed, /env\.local|conf/);
    rig.ws.repository.git('checkout', '--', '.env.tracked');
  });

  test('a setup leaves a worktree alone whose target for a file leads out of it', async () => {
    const { root, repository } = rig.ws;
    mkdirSync(file('elsewhere'));
    symlinkSync(file('elsewhere'), join(root, 'linked'));
    repository.git('add', '--force', 'linked');
    repository.git('commit', '--quiet', '--message', 'a link');
    repository.git('rm', '--quiet', 'linked');
    mkdirSync(join(root, 'linked'));
    writeFileSync(join(root, 'linked', '.env'), 'x\n');
    await carryTrusted({ env_files: ['linked/.env'] });
    const session = await ended(await rig.run(['no-change']));
    assert.match(rig.log(session.session_id), /its folder leads out of the worktree/);
    assert.equal(existsSync(file('elsewhere/.env')), false);
    repository.git('commit', '--quiet', '--message', 'no link');
  });

  test('a setup is neither requested nor run in place', async () => {
    await carry({ setup: [`touch '${file('inplace')}'`] });
    const { task_id } = await rig.here().call('task.add', {
      body: '#agent: no-change',
      agent: 'claude',
    });
    const ran = await rig.here().call('task.run', { id: task_id, inplace: true });
    assert.equal((await ended(ran.session)).failure, null);
    assert.equal(existsSync(file('inplace')), false);
  });
});
