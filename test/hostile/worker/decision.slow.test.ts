import assert from 'node:assert/strict';
import { mkdirSync, renameSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { SvcError } from '../../../engine/core/base/errors.ts';
import type { Decision, Session, Task, WireValue } from '../../../engine/index.ts';
import { impossible } from '../../support/agents/strict.ts';
import { hostile } from '../../support/hostile.ts';
import { until } from '../../support/wait.ts';
import { type EngineHere, engineHere } from '../../support/workspaces/engine.ts';
import { AGENT, makeWorkspace, SECRET, SVC, type TestWorkspace } from '../../support/workspaces/workspace.ts';

interface Shown {
  decision: WireValue<Decision>;
  changes: WireValue<Decision>['changes'];
}
interface TaskShown {
  task: WireValue<Task>;
  sessions: WireValue<Session>[];
}

interface Rig {
  ws: TestWorkspace;
  here: EngineHere;
  decision(id: string): Promise<Shown>;
  task(id: string): Promise<TaskShown>;
  /** Changes svc.yaml as a worker that may run commands would. */
  configure(key: string, value: string): Promise<void>;
  /** Approves and expects another question; returns the new pending decision. */
  askedAnew(id: string, changed: string[]): Promise<WireValue<Decision>>;
}

const OTHER = `'${process.execPath}' '${AGENT}' --extra -- {{prompt}}`;

async function open(t: TestContext, { yaml = '', cap = 0 } = {}): Promise<Rig> {
  const ws = await makeWorkspace({ yaml });
  // However fast the worker is, an earlier reading does not apply to the new text.
  const clock = { now: Date.now, monotonic: () => 1000 };
  const here = await engineHere(ws, {
    workerCap: cap,
    svc: [process.execPath, SVC],
    graceMs: 500,
    ...(cap === 0 ? { clock } : {}),
  });
  t.after(async () => {
    await here?.end();
    await ws.close();
  });
  const decision = (id: string) => here.call('decision.show', { id });
  return {
    ws,
    here,
    decision,
    task: (id) => here.call('task.show', { id }),
    async configure(key, value) {
      const { code, stderr } = await ws.svc(['config', 'set', key, value]);
      assert.equal(code, 0, stderr);
      await here.call('engine.reload');
    },
    async askedAnew(id, changed) {
      let next = '';
      await assert.rejects(here.call('decision.approve', { id }), (error: SvcError) => {
        assert.equal(error.code, 'inputs_changed');
        assert.deepEqual(error.data.changed, changed);
        next = error.data.decision_id as string;
        return true;
      });
      const before = (await decision(id)).decision;
      assert.equal(before.state, 'expired');
      const { decision: waiting } = await decision(next);
      assert.deepEqual([waiting.state, waiting.task_id], ['pending', before.task_id]);
      assert.deepEqual(
        waiting.changes.map(({ input }) => input),
        changed,
      );
      return waiting;
    },
  };
}

hostile(
  {
    attacker: 'worker',
    tries: 'change the command between the decision and the approval',
    lite: 'needs a new approval',
    strict: 'needs a new approval',
  },
  async (t) => {
    const { here, configure, askedAnew, decision, task } = await open(t);
    const { decision_id, task_id } = await here.ask('do it');
    const seq = here.engine.events.lastSeq();
    await configure('agents.cmds.scripted', OTHER);
    assert.deepEqual(
      (await decision(decision_id)).changes.map(({ input }) => input),
      ['command'],
      'it is visible before approval',
    );
    const next = await askedAnew(decision_id, ['command']);
    assert.match(String(next.changes[0]?.before), /agent\.js' -- \{\{prompt\}\}$/);
    assert.match(String(next.changes[0]?.after), /--extra/);
    assert.deepEqual((await task(task_id)).sessions, []);
    const asked = here.engine.events.listAfter(seq).find(({ kind }) => kind === 'needs_approval');
    assert.deepEqual(asked?.data.changed, ['command']);
    assert.doesNotMatch(JSON.stringify(asked), /--extra|agent\.js/, 'the event contains no command');
    // The version that is shown now can be approved.
    await here.call('decision.approve', { id: next.decision_id, hash: next.hash });
    assert.equal((await task(task_id)).sessions.length, 1);
  },
);

hostile(
  {
    attacker: 'worker',
    tries: 'have an approved run use another branch, account, protocol, guard or folder',
    lite: 'needs a new approval',
    strict: 'needs a new approval',
  },
  async (t) => {
    const { here, ws, configure, askedAnew } = await open(t, {
      yaml: `guard: { profile: strict }
projects: [{ id: docs, path: docs, setup: ["true"] }]
`,
    });
    mkdirSync(join(ws.root, 'docs'));
    const ask = async () => (await here.ask('do it')).decision_id;

    const onMain = await ask();
    ws.repository.git('checkout', '--quiet', '-b', 'elsewhere');
    const fromBranch = await askedAnew(onMain, ['base']);
    assert.deepEqual([fromBranch.changes[0]?.before, fromBranch.changes[0]?.after], ['main', 'elsewhere']);
    ws.repository.git('checkout', '--quiet', '--detach');
    const detached = await askedAnew(fromBranch.decision_id, ['base']);
    assert.equal(detached.changes[0]?.after, ws.repository.git('rev-parse', 'HEAD'));
    ws.repository.git('checkout', '--quiet', 'main');

    const strict = await ask();
    await configure('guard.profile', 'none');
    const weaker = await askedAnew(strict, ['profile']);
    assert.deepEqual([weaker.changes[0]?.before, weaker.changes[0]?.after], ['strict', 'none']);
    await configure('guard.profile', 'lite');
    await here.call('decision.approve', { id: weaker.decision_id }).catch((error: SvcError) => {
      assert.fail(`a stronger profile needs no new approval: ${error.message}`);
    });

    await configure('agents.cmds.claude', OTHER);
    const askClaude = async () => (await here.ask('do it', { agent: 'claude' })).decision_id;
    const account = await askClaude();
    await configure('agents.auth', '{ claude: gateway }');
    await askedAnew(account, ['auth', 'route']);
    const routed = await askClaude();
    await configure('gateway.addr', '127.0.0.1:1');
    await askedAnew(routed, ['route']);
    await configure('agents.auth', 'null');

    const plain = await ask();
    await configure('agents.acp.scripted', "'no-such-server'");
    await configure('agents.transport', '{ scripted: acp }');
    await askedAnew(plain, ['command', 'transport', 'permissions']);
    const careful = await ask();
    await configure('agents.permissions', '[execute]');
    await askedAnew(careful, ['permissions']);
    await configure('agents.transport', 'null');

    const inDocs = (await here.ask('there', { project: 'docs' })).decision_id;
    await configure('projects', JSON.stringify([{ id: 'docs', path: 'docs', setup: ['true', 'curl x'] }]));
    const withSetup = await askedAnew(inDocs, ['setup']);
    renameSync(join(ws.root, 'docs'), join(ws.root, 'was-docs'));
    mkdirSync(join(ws.repository.folder, 'outside'));
    symlinkSync(join(ws.repository.folder, 'outside'), join(ws.root, 'docs'));
    // A folder of another repository, or none, which also removes the base.
    await askedAnew(withSetup.decision_id, ['folder', 'base']);
  },
);

hostile(
  {
    attacker: 'worker',
    tries: 'change the inputs of an approved run that waits for a free worker',
    lite: 'needs a new approval',
    strict: 'needs a new approval',
  },
  async (t) => {
    const { here, configure, task, decision } = await open(t, { cap: 1 });
    const first = await here.ask('#agent: hang');
    await here.call('decision.approve', { id: first.decision_id });
    await until(async () => (await task(first.task_id)).task.status === 'running');
    const queued = await here.ask('#agent: no-change');
    await here.call('decision.approve', { id: queued.decision_id, name: 'picked' });
    await configure('agents.cmds.scripted', OTHER);
    const seq = here.engine.events.lastSeq();
    await here.call('task.cancel', { id: first.task_id });
    await until(async () => (await task(queued.task_id)).sessions[0]?.state === 'ended');
    const after = await task(queued.task_id);
    const [session] = after.sessions;
    assert.deepEqual(
      [session?.failure?.code, session?.runs, session?.worktree, after.task.status],
      ['inputs_changed', 0, null, 'assigned'],
    );
    assert.equal((await decision(queued.decision_id)).decision.state, 'expired');
    const next = (await decision(after.task.decision_id ?? '')).decision;
    assert.deepEqual([next.state, next.changes.map(({ input }) => input)], ['pending', ['command']]);
    const kinds = here.engine.events.listAfter(seq).filter(({ taskId }) => taskId === queued.task_id);
    assert.deepEqual(
      kinds.map(({ kind }) => kind),
      ['decision_expired', 'needs_approval', 'session_dropped', 'message_sent'],
    );
    // Once approved in its current form, it runs as requested.
    await configure('agents.cmds.scripted', `'${process.execPath}' '${AGENT}' -- {{prompt}}`);
    const back = await here.call('decision.approve', { id: next.decision_id }).then(
      () => assert.fail('the command was changed again'),
      (error: SvcError) => error.data.decision_id as string,
    );
    await here.call('decision.approve', { id: back });
    await until(async () => (await task(queued.task_id)).sessions.length === 2);
    assert.equal((await task(queued.task_id)).sessions[1]?.worker_id, 'picked');
  },
);

hostile(
  {
    attacker: 'worker',
    tries: 'weaken the guard of a run that was approved as confined',
    lite: 'n/a',
    strict: 'refused: it runs confined',
  },
  async (t) => {
    const { here, configure, task } = await open(t, { yaml: 'guard: { profile: strict }\n', cap: 1 });
    const first = await here.ask('#agent: hang');
    await here.call('decision.approve', { id: first.decision_id });
    await until(async () => (await task(first.task_id)).task.status === 'running');
    const queued = await here.ask('#agent: no-change');
    await here.call('decision.approve', { id: queued.decision_id });
    await configure('guard.profile', 'none');
    await here.call('task.cancel', { id: first.task_id });
    await until(async () => (await task(queued.task_id)).sessions[0]?.state === 'ended');
    const [session] = (await task(queued.task_id)).sessions;
    assert.deepEqual([session?.profile, session?.failure, session?.base], ['strict', null, 'main']);
    assert.match(session?.base_commit ?? '', /^[0-9a-f]{40}$/);
  },
  { skip: impossible },
);

hostile(
  {
    attacker: 'worker',
    tries: 'change the inputs of a pre-approved request that waits for svc task run',
    lite: 'needs a new approval',
    strict: 'needs a new approval',
  },
  async (t) => {
    const { here, configure, task } = await open(t);
    const { buildSignedSample } = await (await import('../../../engine/index.ts')).samples();
    const listener = await here.engine.listen({ host: '127.0.0.1', port: 0, secrets: [SECRET] });
    const post = async () => {
      const request = buildSignedSample({
        route: 'task',
        secret: SECRET,
        now: Date.now(),
        agent: 'scripted',
        prompt: 'beforehand',
        approve: true,
      });
      const { host, port } = listener.address;
      const answer = await fetch(`http://${host}:${port}${request.path}`, { ...request });
      return (await answer.json()) as { task_id: string; decision_id: string };
    };
    const { task_id } = await post();
    await configure('agents.cmds.scripted', OTHER);
    await assert.rejects(here.call('task.run', { id: task_id }), { code: 'inputs_changed' });
    assert.deepEqual((await task(task_id)).sessions, []);
    await here.call('task.run', { id: task_id });
    assert.equal((await task(task_id)).sessions.length, 1);

    // The receiver reports it too, and starts nothing.
    const { decision_id } = await here.ask('by a signed approval');
    await configure('agents.cmds.scripted', `${OTHER} --more`);
    const approve = buildSignedSample({
      route: 'approve',
      decision: decision_id,
      secret: SECRET,
      now: Date.now(),
    });
    const { host, port } = listener.address;
    const answer = await fetch(`http://${host}:${port}${approve.path}`, { ...approve });
    const body = (await answer.json()) as Record<string, unknown>;
    assert.deepEqual([answer.status, body.code], [409, 'inputs_changed']);
    assert.doesNotMatch(JSON.stringify(body), /--more|agent\.js|hint.*\//);
    assert.notEqual(body.decision_id, decision_id);
  },
);
