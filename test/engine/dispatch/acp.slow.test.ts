import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import {
  type Ask,
  type EngineHost,
  hostEngine,
  type Session,
  type WireValue,
} from '../../../engine/index.ts';
import { checkConfinement } from '../../../engine/workers/runner/confine/index.ts';
import { childrenOf, isRunning } from '../../support/processes/processes.ts';
import { until } from '../../support/wait.ts';
import { type EngineHere, engineHere } from '../../support/workspaces/engine.ts';
import { makeWorkspace, SVC, type TestWorkspace } from '../../support/workspaces/workspace.ts';

const AGENT = fileURLToPath(new URL('../../../fixtures/acp/agent.js', import.meta.url));
const GIT = Object.fromEntries(
  ['AUTHOR', 'COMMITTER'].flatMap((who) => [
    [`GIT_${who}_NAME`, 'Worker'],
    [`GIT_${who}_EMAIL`, 'worker@example.test'],
  ]),
);
const REPORT = JSON.stringify({
  criteria: [],
  tests: [{ command: 'true', passed: true }],
  summary: 'said hello',
});
const WORK = ['edit new.txt hello', 'run git add -A && git commit -qm Hello'];

type Shown = WireValue<Session> & { activity: string | null; plan: { text: string; state: string }[] };

interface AcpRig {
  ws: TestWorkspace;
  call: EngineHere['call'];
  /** Another engine takes over. */
  restart(meanwhile?: () => void): Promise<void>;
  /** Adds and runs a task with these directives of the scripted agent. */
  run(directives: readonly string[], agent?: string): Promise<string>;
  show(id: string): Promise<Shown>;
  settled(id: string): Promise<Shown>;
  /** Returns the question that a session waits for. */
  ask(id: string): Promise<WireValue<Ask>>;
  log(id: string): string;
  close(): Promise<void>;
}

async function makeRig(flags: Record<string, unknown> = {}): Promise<AcpRig> {
  const ws = await makeWorkspace({ env: GIT });
  const program = `'${process.execPath}' '${AGENT}'`;
  const servers = {
    scripted: program,
    loads: `${program} only-load`,
    stubborn: `${program} ignore-term ignore-eof`,
  };
  let here: EngineHere;
  let host: EngineHost;
  const open = async (): Promise<void> => {
    here = await engineHere(ws, {
      graceMs: 500,
      workerCap: 16,
      svc: [process.execPath, SVC],
      flags: {
        'agents.acp': servers,
        'agents.transport': Object.fromEntries(Object.keys(servers).map((name) => [name, 'acp'])),
        ...flags,
      },
    });
    host = await hostEngine(here.engine);
  };
  await open();
  const call: EngineHere['call'] = (operation, ...input) => here.call(operation, ...input);
  const show = (id: string) => call('session.show', { session: id });
  return {
    ws,
    call,
    show,
    async restart(meanwhile = () => undefined) {
      await host.close();
      meanwhile();
      await open();
    },
    async run(directives, agent = 'scripted') {
      const body = ['Do it.', ...directives.map((each) => `#acp: ${each}`)].join('\n');
      const task = await call('task.add', { body, agent });
      const ran = await call('task.run', { id: task.task_id });
      return ran.session.session_id;
    },
    async settled(id) {
      await until(async () => {
        const { state, resume_at } = await show(id);
        return state === 'ended' || (state === 'queued' && resume_at !== null);
      }, `the end of ${id}`);
      return show(id);
    },
    ask: (id) =>
      until(async () => {
        const { asks: open } = await call('ask.list', { status: 'open' });
        return open.find(({ from_session }) => from_session === id);
      }, `a question of ${id}`),
    log: (id) => readFileSync(join(ws.root, '.svc', 'agents', id, 'log'), 'utf8'),
    async close() {
      await call('engine.stop', { stop_workers: true }).catch(() => undefined);
      await host.close();
      await ws.close();
    },
  };
}

describe('a worker on transport acp', { concurrency: 3 }, () => {
  let rig: AcpRig;
  before(async () => {
    rig = await makeRig();
  });
  after(() => rig?.close());

  test('the worker shows its plan and its calls, asks, continues with the answer, and reports with our tools', async () => {
    const id = await rig.run([
      'think about it',
      'plan look | edit | test',
      'permission edit inside.txt',
      'permission execute make all',
      ...WORK,
      `call verify_report ${REPORT}`,
      'usage 30 4',
      'say All done.',
    ]);
    const ask = await rig.ask(id);
    assert.equal(ask.question, 'scripted wants to execute: make all');
    const shown = await until(async () => {
      const now = await rig.show(id);
      return now.plan.length > 0 && now;
    }, 'its plan');
    assert.deepEqual(
      shown.plan.map(({ text, state }) => [text, state]),
      [
        ['look', 'done'],
        ['edit', 'active'],
        ['test', 'pending'],
      ],
    );
    assert.match(shown.activity ?? '', /make all|inside\.txt/);
    await rig.call('ask.answer', { id: ask.id, answer: 'Reject' });
    const ended = await rig.settled(id);
    assert.equal(ended.failure, null, rig.log(id));
    assert.deepEqual([ended.commits, ended.transport, ended.usage?.input], [1, 'acp', 30]);
    assert.match(ended.agent_session ?? '', /^acp-/);
    const { text } = await rig.call('session.log', { session: id });
    assert.match(text, /make all was answered no/);
    assert.match(text, /inside\.txt was answered once/);
    assert.match(text, /All done\./);
    assert.doesNotMatch(text, /"acp":/);
    const verified = await rig.call('verify.status', { session: id });
    assert.equal(verified.state, 'reported', rig.log(id));
  });

  test('the worker fails with agent_error when its agent is killed, and with killed when its host is', async () => {
    const [first, second] = await Promise.all([rig.run(['say up', 'hang']), rig.run(['say up', 'hang'])]);
    for (const [id, isAgent, code] of [
      [first, true, 'agent_error'],
      [second, false, 'killed'],
    ] as const) {
      await until(() => existsSync(join(rig.ws.root, '.svc', 'agents', id, 'log')) && /up/.test(rig.log(id)));
      const [host] = childrenOf((await rig.show(id)).pid ?? 0);
      const agents = childrenOf(host?.pid ?? 0);
      process.kill((isAgent ? agents[0] : host)?.pid ?? 0, 'SIGKILL');
      assert.equal((await rig.settled(id)).failure?.code, code, rig.log(id));
      assert.ok(agents.length > 0 && agents.every(({ pid }) => !isRunning(pid)));
    }
  });

  test('the worker gets its messages at the end of its turn, each once, and continues the conversation', async () => {
    const go = join(rig.ws.repository.folder, 'go');
    const id = await rig.run(['say up', `run until [ -e '${go}' ]; do sleep 0.05; done`, 'usage 30 4']);
    await until(async () => (await rig.show(id)).state === 'running');
    const shown = await rig.call('session.show', { session: id });
    assert.equal(shown.reads_messages, 'turn_end');
    await rig.call('msg.send', { to_session: id, body: `one more\n#acp: say first\n#acp: usage 5 1` });
    await rig.call('msg.send', { to_session: id, body: `and\n#acp: say second` });
    writeFileSync(go, '');
    const ended = await rig.settled(id);
    assert.equal(ended.failure, null, rig.log(id));
    const { text } = await rig.call('session.log', { session: id });
    assert.match(text, /up\n[\s\S]*next message: Message \d+ from the Chair:[\s\S]*^first\nsecond$/m);
    assert.equal(text.match(/^first$/gm)?.length, 1);
    assert.equal(rig.log(id).match(/"acp":"session"/g)?.length, 1);
    assert.deepEqual([ended.usage?.input, ended.usage?.output], [35, 5]);
    assert.equal((await rig.call('session.show', { session: id })).reads_messages, 'never');
  });

  test('a message interrupts the worker, and nothing interrupts it without a message', async () => {
    const id = await rig.run(['say up', 'hang']);
    await until(() => existsSync(join(rig.ws.root, '.svc', 'agents', id, 'log')) && /up/.test(rig.log(id)));
    await rig.call('worker.interrupt', { session: id });
    await rig.call('msg.send', { to_session: id, body: 'stop that\n#acp: say stopped' });
    assert.equal((await rig.show(id)).state, 'running');
    await rig.call('worker.interrupt', { session: id });
    const ended = await rig.settled(id);
    assert.equal(ended.failure, null, rig.log(id));
    assert.match((await rig.call('session.log', { session: id })).text, /^stopped$/m);
    await assert.rejects(rig.call('worker.interrupt', { session: id }), {
      code: 'conflict',
      message: /has finished/,
    });
  });

  test("the worker is paused by its agent's limit, and resumes with session/load", async () => {
    const limit = (message: string) => `error ${JSON.stringify({ code: -32_603, message })}`;
    const limitSec = Math.floor(Date.now() / 1000) + 3600;
    const [slow, used] = await Promise.all([
      rig.run([limit('429 rate limit exceeded')]),
      rig.run([...WORK, limit(`usage limit reached|${limitSec}`)], 'loads'),
    ]);
    assert.equal((await rig.settled(slow)).failure?.code, 'rate_limited', rig.log(slow));
    const paused = await rig.settled(used);
    assert.deepEqual([paused.state, paused.pause?.code], ['queued', 'usage_limit']);
    const late = Date.parse(paused.resume_at ?? '') - limitSec * 1000;
    assert.ok(late >= 0 && late < 60_000, `${late} ms after the limit`);
    await rig.call('worker.resume', { session: used });
    await until(async () => (await rig.show(used)).state === 'ended');
    const ended = await rig.show(used);
    assert.deepEqual([ended.failure, ended.runs, ended.commits], [null, 2, 1], rig.log(used));
    assert.equal(ended.agent_session, paused.agent_session);
    assert.doesNotMatch(rig.log(used), /could not be resumed/);
  });
});

test('the worker and its question outlive the engine; its time limit ends all of it', async () => {
  const rig = await makeRig();
  try {
    const file = join(rig.ws.repository.folder, 'detached');
    const [asking, late] = await Promise.all([
      rig.run(['permission execute make all', ...WORK]),
      rig.run([`detach ${file}`, 'run setsid tail -f /dev/null >/dev/null 2>&1 &', 'hang'], 'stubborn'),
    ]);
    const { id: ask } = await rig.ask(asking);
    const detached = await until(() => existsSync(file) && readFileSync(file, 'utf8'));
    const host = childrenOf((await rig.show(late)).pid ?? 0);
    const agents = host.flatMap(({ pid }) => childrenOf(pid));
    const pids = [...host, ...agents].map(({ pid }) => pid).concat(Number(detached));
    assert.equal(pids.length, 3);
    await rig.restart(() => {
      assert.ok(pids.every(isRunning));
      // Makes the session look as if it had started long ago.
      const db = new Database(join(rig.ws.root, '.svc', 'svc.db'));
      db.prepare(
        'UPDATE session SET run_started_monotonic = run_started_monotonic - 3600000 WHERE id = ?',
      ).run(late.slice(2));
      db.close();
    });
    await rig.call('ask.answer', { id: ask, answer: 'Allow (once)' });
    const ended = await rig.settled(asking);
    assert.deepEqual([ended.failure, ended.commits], [null, 1], rig.log(asking));
    assert.match(rig.log(asking), /make all was answered once/);
    assert.equal((await rig.settled(late)).failure?.code, 'timeout');
    assert.deepEqual(pids.filter(isRunning), []);
    assert.deepEqual(rig.ws.survivors(), []);
  } finally {
    await rig.close();
  }
});

test('the worker runs confined, with its questions and our tools', async (t) => {
  const why = await checkConfinement(process.env).then(
    () => null,
    (error: Error) => error.message,
  );
  if (why !== null) {
    console.error(`NOT TESTED: ${why}`);
    return t.skip(why);
  }
  const rig = await makeRig({ 'guard.profile': 'strict' });
  try {
    const id = await rig.run(['permission execute make all', ...WORK, `call verify_report ${REPORT}`]);
    const { id: ask } = await rig.ask(id);
    await rig.call('ask.answer', { id: ask, answer: 'Allow (once)' });
    const ended = await rig.settled(id);
    assert.deepEqual([ended.failure, ended.commits, ended.profile], [null, 1, 'strict'], rig.log(id));
    // The tests that it reported run again when there is time.
    await until(async () => (await rig.call('verify.status', { session: id })).state === 'verified');
  } finally {
    await rig.close();
  }
});
