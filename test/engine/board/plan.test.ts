import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { SvcError } from '../../../engine/core/base/errors.ts';
import type { TaskPlan, WireValue } from '../../../engine/index.ts';
import { type EngineHere, engineHere } from '../../support/workspaces/engine.ts';
import { makeWorkspace, type TestWorkspace } from '../../support/workspaces/workspace.ts';

type Plan = WireValue<TaskPlan>;

/** A setup that only one of its projects needs. */
const api = {
  id: 'api',
  path: 'docs',
  setup: ['npm ci\nnpm run build # once'],
  teardown: ['./stop'],
  env_files: ['.env'],
};

describe('the plan of a run', () => {
  let ws: TestWorkspace;
  let here: EngineHere;
  before(async () => {
    ws = await makeWorkspace({
      yaml: `
projects: [{ id: bare, path: ../bare }, { id: docs, path: docs }]
`,
    });
    mkdirSync(join(ws.repository.folder, 'bare'));
    mkdirSync(join(ws.root, 'docs'));
    await ws.svc(['config', 'set', 'agents.cmds.absent', "'no-such-program-anywhere {{prompt}}'"]);
    here = await engineHere(ws, { workerCap: 0 });
  });
  after(async () => {
    await here?.close();
    await ws.close();
  });

  const add = async (fields: object): Promise<string> =>
    (await here.call('task.add', { title: 'a task', ...fields })).task_id;
  const plan = (id: string, env: Record<string, string> = {}): Promise<Plan> =>
    here.call('task.plan', { id }, { env });
  const sizes = () => [here.engine.events.lastSeq(), ws.repository.git('for-each-ref')];

  test('the plan says what would run where, from which base and for how long, and changes nothing', async () => {
    const id = await add({ agent: 'scripted', project: 'docs', timeout_sec: 77 });
    const before = sizes();
    const { hash, ...rest } = await plan(id);
    assert.match(hash, /^[0-9a-f]{64}$/);
    assert.deepEqual(rest, {
      task_id: id,
      agent: 'scripted',
      command: rest.command,
      race: null,
      transport: 'subprocess',
      auth: 'account',
      profile: 'lite',
      held_back: null,
      key_before_login: null,
      project: 'docs',
      folder: join(ws.root, 'docs'),
      inplace: false,
      continues: null,
      carries: rest.carries,
      repository: ws.root,
      base: 'main',
      base_commit: ws.repository.git('rev-parse', 'main'),
      branch_prefix: 'svc/',
      timeout_sec: 77,
      idle_timeout_sec: 0,
      workers: { running: 0, queued: 0, cap: 0 },
      pool: null,
      runner: null,
      waits_for: null,
      waits_for_task: null,
      starts: 'queued',
      problem: null,
    });
    assert.equal(rest.carries?.consent, 'not_needed');
    assert.match(rest.command ?? '', /agent\.js' -- \{\{prompt\}\}$/);
    assert.deepEqual(sizes(), before);
    const seen = await here.call('task.plan', { id }, { seat: 'worker', sessionId: 's-1' });
    assert.equal(seen.hash, hash);
  });

  test('the plan of a task without an agent names the agent that would run, and its hash', async () => {
    const id = await add({ body: 'do it' });
    const named = await add({ body: 'do it', agent: 'scripted' });
    const [open, assigned] = [await plan(id), await plan(named)];
    assert.deepEqual([open.agent, open.problem, open.hash], ['scripted', null, assigned.hash]);
  });

  test('the plan starts from the base of the call; a missing base is a problem', async () => {
    ws.repository.git('branch', 'next');
    const id = await add({ agent: 'scripted' });
    assert.equal((await plan(id, { SVC_GIT_BASE: 'next' })).base, 'next');
    const { problem, base } = await plan(id, { SVC_GIT_BASE: 'nowhere' });
    assert.deepEqual([problem?.code, base], ['not_found', null]);
    ws.repository.git('checkout', '--quiet', '--detach');
    assert.equal((await plan(id)).base, ws.repository.git('rev-parse', 'HEAD'));
    ws.repository.git('checkout', '--quiet', 'main');
  });

  test('the plan lists obstacles instead of failing', async () => {
    const problemOf = async (id: string) => (await plan(id)).problem?.code ?? null;
    assert.equal(await problemOf(await add({ agent: 'scripted', project: 'bare' })), 'not_a_repository');
    assert.equal(await problemOf(await add({ agent: 'absent' })), 'agent_not_found');

    const running = await add({ agent: 'scripted' });
    await here.call('task.run', { id: running });
    const queued = await plan(running);
    assert.equal(queued.problem?.code, 'conflict');
    assert.match(queued.problem?.message ?? '', /already dispatched as s-\d+/);
    assert.deepEqual([queued.workers.queued, queued.agent], [1, 'scripted']);
    await here.call('task.cancel', { id: running });
    assert.equal(await problemOf(running), null, 'a failed task can be retried');

    const done = await add({ agent: 'scripted' });
    await here.call('task.done', { id: done });
    assert.equal(await problemOf(done), 'conflict');
  });

  test('the plan has a hash, and a run or retry with it is refused once something else would run', async () => {
    const id = await add({ body: 'one', agent: 'scripted' });
    const { hash } = await plan(id);
    await here.call('task.assign', { id, agent: 'claude' });
    const refused = (error: SvcError) => {
      assert.equal(error.code, 'conflict');
      assert.match(error.message, /has changed since you looked at it/);
      return true;
    };
    await assert.rejects(here.call('task.run', { id, hash }), refused);
    await here.call('task.assign', { id, agent: 'scripted' });
    await here.call('task.run', { id, hash });
    await here.call('task.cancel', { id });
    await assert.rejects(here.call('task.retry', { id, hash: 'another' }), refused);
    assert.equal((await here.call('task.show', { id })).task.status, 'failed');
    await here.call('task.retry', { id, hash });
    await here.call('task.cancel', { id });
  });

  test('the plan of a task without an agent matches its run and retry', async () => {
    const id = await add({ body: 'for whoever is there' });
    const { hash } = await plan(id);
    await here.call('task.cancel', { id });
    const { task } = await here.call('task.retry', { id, hash });
    assert.deepEqual([task.agent, task.session_id === null], ['scripted', false]);
    await here.call('task.cancel', { id });
  });

  test('the plan names what is gone from svc.yaml, and shows everything else', async () => {
    const agent = await add({ agent: 'absent' });
    const project = await add({ agent: 'scripted', project: 'docs' });
    const open = await add({});
    await here.close();
    for (const [key, value] of [
      ['agents.cmds.absent', 'null'],
      ['agents.default_preset', "''"],
      ['projects', JSON.stringify([api])],
    ] as const) {
      assert.equal((await ws.svc(['config', 'set', key, value])).code, 0, key);
    }
    here = await engineHere(ws, { workerCap: 0 });
    const gone = await plan(agent);
    assert.deepEqual([gone.problem?.code, gone.command, gone.base], ['unknown_agent', null, 'main']);
    const lost = await plan(project);
    assert.deepEqual(
      [lost.problem?.code, lost.folder, lost.repository, lost.agent],
      ['unknown_project', null, null, 'scripted'],
    );
    // The only agent that is installed.
    assert.deepEqual([(await plan(open)).agent], ['scripted']);
    await here.close();
    const second = await ws.svc(['config', 'set', 'agents.cmds.second', `${process.execPath} {{prompt}}`]);
    assert.equal(second.code, 0, second.stderr);
    here = await engineHere(ws, { workerCap: 0 });
    const unclear = await plan(open);
    assert.deepEqual([unclear.agent, unclear.problem?.code], [null, 'conflict']);
    assert.match(unclear.problem?.hint ?? '', /svc task assign/);
  });

  test('the plan is shown with a decision, for people as well', async () => {
    const { decision_id, task_id } = await here.ask('look at this');
    const shown = await here.call('decision.show', {
      id: decision_id,
    });
    assert.deepEqual(shown.plan, await plan(task_id));
    assert.equal(shown.plan.hash, shown.decision.hash);
    const carrying = (await here.ask('and at this', { project: 'api' })).decision_id;
    // `svc config set` consents to the value that it writes.
    await here.call('project.untrust', { id: 'api' });
    const { plan: untrusted } = await here.call('decision.show', { id: carrying });
    assert.deepEqual(
      [untrusted.carries?.setup, untrusted.carries?.consent, untrusted.problem?.code],
      [api.setup, 'none', 'consent_missing'],
    );
    await here.close();
    const { stdout } = await ws.svc(['decision', 'show', decision_id]);
    for (const line of [
      /^will run +scripted$/m,
      /^command +.*agent\.js' -- \{\{prompt\}\}$/m,
      /^how +with your own login, without a sandbox \(guard\.profile lite\)$/m,
      /^worktree +svc\/<session> from main@[0-9a-f]{10}$/m,
      /^timeout +600 s$/m,
    ]) {
      assert.match(stdout, line);
    }
    assert.doesNotMatch(stdout, /^(?:problem|waits|setup|consent)/m);
    const carried = /^setup +npm ci\n +npm run build # once\nteardown +\.\/stop\ncopies +\.env\nconsent +/m;
    const held = (await ws.svc(['decision', 'show', carrying])).stdout;
    assert.match(held, carried);
    assert.match(held, /^consent +not given on this machine: .* until svc project trust api$/m);
    await ws.svc(['project', 'trust', 'api', '--yes']);
    const trusted = (await ws.svc(['decision', 'show', carrying])).stdout;
    assert.match(trusted, carried);
    assert.match(trusted, /^consent +given on this machine/m);
    assert.doesNotMatch(trusted, /^problem/m);
    ws.repository.git('branch', '-m', 'main', 'trunk');
    const other = await ws.svc(['decision', 'show', decision_id], { env: { SVC_GIT_BASE: 'main' } });
    assert.match(other.stdout, /^problem +there is no branch or commit "main".*\(check --base/m);
    await ws.svc(['decision', 'deny', decision_id, 'seen']);
    assert.doesNotMatch((await ws.svc(['decision', 'show', decision_id])).stdout, /^will run/m);
    await ws.svc(['down']);
    here = await engineHere(ws);
  });
});
