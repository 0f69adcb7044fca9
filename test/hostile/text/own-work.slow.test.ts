import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { impossible, makeStrict, openHere, started } from '../../support/agents/strict.ts';
import { hostile } from '../../support/hostile.ts';
import {
  answersOf,
  promptSteps,
  startStranger,
  type WorkerStep,
} from '../../support/processes/worker-calls.ts';
import { until } from '../../support/wait.ts';

/** A word that occurs in everything that belongs to another session. */
const MARK = 'heronsecret';
/** The name of another session's function, which a caller could guess. */
const NAME = 'heronCode';

const WEBHOOK = `webhook:
  secret_env: SVC_WEBHOOK_SECRET
  templates: { codehost: { agent: scripted } }
`;

/**
 * Every operation that the worker of an untrusted author's task may call, with its input; `{other}` and the like are
 * names of another session's objects. For a new operation, decide whether it is `trusted` or shows only the caller's
 * own work.
 */
const CALLS: Readonly<Record<string, readonly object[]>> = {
  architecture: [{}, { session: '{other}' }],
  ask: [],
  'ask.answer': [{ id: '{ask}', answer: 'x' }],
  'ask.list': [{}, { status: 'all' }, { ids: ['{ask}'] }, { session: '{other}', status: 'all' }],
  'ask.open': [],
  'ask.wait': [{ id: '{ask}' }],
  'code.snippet': [
    { symbol: NAME, session: '{other}' },
    { symbol: NAME },
    { symbol: `${NAME}Shared`, project: 'side' },
  ],
  'comment.list': [{ session: '{other}' }],
  'context.count': [{}],
  'context.crush': [],
  'context.externalize': [],
  'context.list': [{}],
  'context.retrieve': [],
  'context.search': [{ query: 'heron' }],
  'context.shorten': [],
  'decision.show': [{ id: '{decision}' }],
  'entitlements.status': [{}],
  'event.list': [{}, { task: '{task}' }],
  'gateway.today': [{}],
  'gateway.usage': [{ by: 'session' }],
  'graph.symbol': [{ query: 'heron' }, { query: 'heron', session: '{other}' }],
  'guard.check': [{ session: '{other}' }, { project: 'side' }],
  'guidance.show': [{}],
  'hook.look': [
    { event: 'session-start', agent: 'claude', cwd: '{worktree}', paths: [], tool: null },
    {
      event: 'pre-write',
      agent: 'claude',
      cwd: '{worktree}',
      paths: ['{worktree}/code.ts'],
      tool: 'Write',
      writes: [{ path: '{worktree}/code.ts', text: 'x' }],
    },
  ],
  impact: [{ session: '{other}' }, { session: '{other}', paths: ['code.ts'] }],
  'inspect.symbol': [{ name: `${NAME}Shared` }],
  'lock.acquire': [],
  'lock.check': [],
  'lock.over': [],
  'lock.release': [],
  'lock.status': [{}, { path: '.' }],
  'memory.conflicts': [{}],
  'memory.export': [],
  'memory.forget': [],
  'memory.import': [],
  'memory.list': [{}],
  'memory.recall': [{ query: 'x' }],
  'memory.remember': [],
  'memory.sweep': [],
  'msg.ack': [{ id: 1 }],
  'msg.inbox': [{}, { session: '{other}' }, { session: 'chair' }, { unread: false }],
  'msg.peers': [{}, { to_worker: '{worker}' }],
  'msg.roster': [{ session: '{other}' }, { session: 'me' }, { session: 'chair' }],
  'msg.send': [{ body: 'x', parent_id: 1 }],
  'msg.stale': [{ older_min: 0 }],
  'msg.surface': [{}, { session: '{other}' }],
  'search.shared_symbols': [{ query: 'heron' }, { query: 'heron', project: 'side' }],
  'seat.instructions': [{}],
  'seat.leave': [],
  'session.list': [{}, { live: true }, { ids: ['{other}'] }],
  'session.log': [{ session: '{other}' }],
  'session.show': [{ session: '{other}' }],
  'task.claim': [],
  'task.compare': [{ id: '{task}' }],
  'task.done': [{ id: '{task}' }],
  'task.list': [{}, { status: 'running' }, { ids: ['{task}'] }, { archived: true }],
  'task.plan': [{ id: '{task}' }],
  'task.release': [],
  'task.show': [{ id: '{task}' }],
  'tool.list': [{}],
  'trace.path': [{ symbol: NAME, session: '{other}' }],
  'usage.status': [{}],
  'verify.report': [{ session: '{other}' }],
  'verify.status': [{ session: '{other}' }],
  'worker.permissions': [{}],
  'worktree.diff': [{ session: '{other}' }],
};

hostile(
  {
    attacker: 'text',
    tries: 'have its worker read prompts, code, questions, messages or evidence of other sessions',
    lite: 'refused: it runs confined and sees only its own task',
    strict: 'refused: it sees only its own task',
  },
  async (t) => {
    const ws = await makeStrict(
      `${WEBHOOK}projects: [{ id: side, path: ../side }]\nshared: { code: [../side/src] }\n`,
    );
    const { here } = await openHere(ws);
    t.after(async () => {
      await here.end();
      await ws.close();
    });
    const { call, callByName } = here;
    const code = `export function ${NAME}(${MARK}: number) { return ${MARK}; }`;
    const other = await started(
      here,
      `${MARK} title\n#agent: dirty\n#agent: edit code.ts ${code}\n#agent: hang`,
    );
    const worktree = join(ws.root, '.svc', 'agents', 'worktrees', other);
    await until(() => existsSync(join(worktree, 'code.ts')), 'the code of the other');
    const its = await call('session.show', { session: other });
    const theirs = { seat: 'worker', sessionId: other } as const;
    const { id: ask } = await call('ask.open', { question: `${MARK}?`, context: MARK }, theirs);
    await call('msg.send', { to_session: 'chair', kind: 'alert', body: MARK }, theirs);
    await call('msg.send', { to_session: other, body: MARK });
    await call('lock.acquire', { path: `src/${MARK}`, holder: 'me' }, theirs);
    await call('verify.report', { summary: MARK }, theirs);
    await callByName('context.externalize', { text: `${MARK} `.repeat(2000) }, theirs);
    const known: Record<string, string | number> = {
      other,
      worktree,
      ask,
      task: its.task_id,
      worker: its.worker_id,
      decision: its.decision_id,
    };
    const fill = (value: unknown): unknown =>
      typeof value === 'string'
        ? (known[/^\{(\w+)\}$/.exec(value)?.[1] ?? ''] ?? value.replace('{worktree}', worktree))
        : Array.isArray(value)
          ? value.map(fill)
          : value !== null && typeof value === 'object'
            ? Object.fromEntries(Object.entries(value).map(([key, each]) => [key, fill(each)]))
            : value;

    const all = here.engine.operations.all;
    const open = all.filter(({ seat }) => seat === 'any').map(({ name }) => name);
    assert.deepEqual(open.sort(), Object.keys(CALLS).sort());
    const closed = all.filter(({ seat }) => seat !== 'any').map(({ name }) => name);
    const seen: WorkerStep[] = open.flatMap((name) =>
      (CALLS[name] ?? []).map((input) => ({ call: name, input: fill(input) as object })),
    );
    const refused: WorkerStep[] = closed.map((name) => ({ call: name }));
    const followed: WorkerStep = { follow: 'events.subscribe' };
    const wait: WorkerStep = { shell: 'until [ -e go ]; do sleep 0.05; done' };
    const session = await startStranger(here, promptSteps(ws, [wait, ...seen, ...refused, followed]));
    const own = join(ws.root, '.svc', 'agents', 'worktrees', session);
    await until(() => existsSync(own), 'its worktree');
    assert.equal((await call('session.show', { session })).profile, 'strict');
    writeFileSync(join(own, 'go'), '');
    const answers = (await answersOf(ws, here, session)).slice(1);
    for (const [at, step] of seen.entries()) {
      const said = JSON.stringify(answers[at] ?? null);
      assert.ok(!said.includes(MARK), `${JSON.stringify(step)}: ${said}`);
      assert.notEqual(answers[at]?.code, 'internal', JSON.stringify([step, answers[at]]));
      assert.notEqual(answers[at]?.code, 'fields_invalid', JSON.stringify([step, answers[at]]));
    }
    for (const [at, step] of refused.entries())
      assert.equal(answers[seen.length + at]?.code, 'chair_only', JSON.stringify(step));
    const answerTo = (name: string) =>
      answers[seen.findIndex((step) => 'call' in step && step.call === name)]?.answer;
    const tasks = answerTo('task.list') as { tasks: object[]; projects: string[] };
    assert.deepEqual([tasks.tasks.length, tasks.projects], [1, []]);
    assert.deepEqual(
      (answerTo('session.list') as { session_id: string }[]).map((each) => each.session_id),
      [session],
    );
    const tools = (answerTo('tool.list') as { tools: { name: string }[] }).tools.map(({ name }) => name);
    assert.ok(tools.includes('ask') && tools.includes('verify_report'));
    const told = answers.at(-1)?.answer as object[];
    assert.ok(told.length > 0, JSON.stringify(answers.at(-1)));
    assert.ok(!JSON.stringify(told).includes(`"${its.task_id}"`) && !JSON.stringify(told).includes(MARK));
    const events = answerTo('event.list') as { task_id: string }[];
    assert.ok(events.length > 0 && events.every((each) => each.task_id !== its.task_id));
  },
  { skip: impossible },
);
