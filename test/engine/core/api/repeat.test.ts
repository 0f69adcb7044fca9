import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import Database from 'better-sqlite3';
import type { Caller, CallOptions } from '../../../../engine/core/api/operation.ts';
import { openStorage } from '../../../../engine/storage/index.ts';
import { until } from '../../../support/wait.ts';
import { type EngineHere, engineHere } from '../../../support/workspaces/engine.ts';
import { makeWorkspace, type TestWorkspace } from '../../../support/workspaces/workspace.ts';

const PERSON: Caller = { seat: 'chair', actor: 'ada', via: 'cli', sessionId: null, project: null, env: {} };

/** The compared fields of many operations' answers. */
interface Answered {
  id: number;
  task_id: string;
  session_id: string;
  answer: string | null;
  released: boolean;
  verdict: object | null;
  sessions: object[];
}

describe('a call that is repeated with its key', () => {
  let ws: TestWorkspace;
  let here: EngineHere;
  before(async () => {
    ws = await makeWorkspace();
    ws.repository.write('list.md', '- [ ] one\n- [ ] two\n');
    here = await engineHere(ws);
    await here.join('ada', 'bob');
  });
  after(async () => {
    await here.close();
    await ws.close();
  });

  const call = (
    name: string,
    input: object,
    options: CallOptions = {},
    caller: Partial<Caller> = {},
  ): Promise<Answered> =>
    here.engine.operations.call(name, input, { ...PERSON, ...caller }, options) as Promise<Answered>;
  const add = async (more: object = {}): Promise<string> =>
    (await call('task.add', { title: 'x', agent: 'scripted', ...more })).task_id;
  const lastSeq = (): number => here.engine.events.lastSeq();

  const cases: Record<string, () => Promise<object>> = {
    'task.add': async () => ({ title: 'only once' }),
    'task.assign': async () => ({ id: await add(), agent: 'scripted' }),
    'task.cancel': async () => ({ id: await add() }),
    'task.done': async () => ({ id: await add(), status: 'failed', summary: 's' }),
    'decision.deny': async () => ({ id: (await here.ask('deny')).decision_id, reason: 'no' }),
    'decision.edit': async () => ({ id: (await here.ask('edit')).decision_id, prompt: 'other' }),
    'decision.approve': async () => ({ id: (await here.ask('approve')).decision_id }),
    'msg.send': async () => ({ body: 'once', to_session: 'bob' }),
    'lock.acquire': async () => ({ holder: 'ada', path: 'a.txt' }),
    'lock.release': async () => ({ holder: 'ada', path: 'a.txt' }),
    'task.claim': async () => ({ holder: 'ada', ledger: 'list.md', item: 1 }),
    'task.release': async () => ({ holder: 'ada', ledger: 'list.md', item: 1 }),
    'verify.report': async () => ({ session: 'ada', summary: 'done' }),
    'ask.open': async () => ({ question: 'once?' }),
    'task.retry': async () => {
      const id = await add();
      await call('task.done', { id, status: 'failed' });
      return { id, hold: true };
    },
    'worktree.prune': async () => ({}),
    'config.set': async () => ({ key: 'agents.timeout_sec', value: '60' }),
  };
  for (const [name, prepare] of Object.entries(cases))
    test(`${name} changes nothing more and returns the same answer`, async () => {
      const input = await prepare();
      const key = randomUUID();
      const first = await call(name, input, { key });
      await here.call('engine.status');
      const kinds = here.engine.events.lastSeq();
      const again = await call(name, input, { key });
      assert.deepEqual(again, JSON.parse(JSON.stringify(first)));
      const since = here.engine.events.listAfter(kinds).map(({ kind }) => kind);
      // A started worker continues by itself.
      if (name !== 'decision.approve') assert.deepEqual(since, []);
    });

  test('a run starts once, and every repeated call waits for its end', async () => {
    const id = await add({ body: 'wait' });
    const key = randomUUID();
    const calls = [{ key }, { key }, { key }].map((each) => call('task.run', { id, wait: true }, each));
    const answers = await Promise.all(calls);
    const late = await call('task.run', { id, wait: true }, { key });
    assert.deepEqual(
      [...answers, late].map((each) => each.session_id),
      Array(4).fill(late.session_id),
    );
    assert.notEqual(late.verdict, null);
    assert.equal((await call('task.show', { id })).sessions.length, 1);
  });

  test('a repeated key with another input is refused, even while the first call runs', async () => {
    const key = randomUUID();
    const said: string[] = [];
    const input = { question: 'a?', timeout_sec: 60 };
    const waiting = call('ask', input, { key, progress: (message) => said.push(message) });
    await assert.rejects(call('ask', { ...input, question: 'b?' }, { key }), {
      code: 'idempotency_conflict',
    });
    await until(() => said.length > 0, 'that it waits');
    const ask_id = Number(/ask (\d+)/.exec(said[0] ?? '')?.[1]);
    await call('ask.answer', { id: ask_id, answer: 'yes' });
    assert.equal((await waiting).answer, 'yes');
    await assert.rejects(call('ask', { ...input, question: 'b?' }, { key }), {
      code: 'idempotency_conflict',
    });
    assert.equal((await call('ask', input, { key })).id, ask_id);
  });

  test('a key applies to its operation and its caller only', async () => {
    const key = randomUUID();
    const own = await call('task.add', { title: 'own' }, { key });
    const others = await call('task.add', { title: 'own' }, { key }, { actor: 'bob' });
    assert.notEqual(own.task_id, others.task_id);
    const sent = await call('msg.send', { body: 'x', to_session: 'bob' }, { key });
    const plain = { seat: 'plain', sessionId: 'bob' } as const;
    assert.notDeepEqual(await call('msg.send', { body: 'x', to_session: 'bob' }, { key }, plain), sent);
    await assert.rejects(call('task.add', { title: 'own' }, { key }, plain), { code: 'chair_only' });
  });

  test('a refused call has done nothing, and may be repeated', async () => {
    const key = randomUUID();
    const input = { holder: 'bob', path: 'later.txt' };
    await assert.rejects(call('lock.release', input, { key }), { code: 'not_found' });
    await call('lock.acquire', input);
    assert.equal((await call('lock.release', input, { key })).released, true);
  });

  test('a caller that gives up leaves the run to the others', async () => {
    const key = randomUUID();
    const input = { question: 'shared?', timeout_sec: 60 };
    const gone = new AbortController();
    const said: string[] = [];
    const first = call('ask', input, { key, signal: gone.signal });
    const second = call('ask', input, { key, progress: (message) => said.push(message) });
    await until(() => said.length > 0, 'that the second one waits');
    gone.abort();
    await assert.rejects(first, { code: 'cancelled' });
    const id = Number(/ask (\d+)/.exec(said[0] ?? '')?.[1]);
    await call('ask.answer', { id, answer: 'still here' });
    assert.equal((await second).answer, 'still here');
  });

  test('every operation that changes data is declared as such, and no secret is kept', async () => {
    const file = new Database(join(ws.root, '.svc', 'svc.db'), { readonly: true });
    const kept = file.prepare<unknown[], { operation: string }>('SELECT DISTINCT operation FROM call').all();
    file.close();
    const names = kept.map(({ operation }) => operation);
    for (const name of Object.keys(cases)) assert.ok(names.includes(name), name);
    const secret = here.engine.operations.all.filter((each) => 'isSecret' in each && each.isSecret === true);
    assert.deepEqual(
      secret.map(({ name }) => name),
      ['worker.attach', 'link.code', 'gateway.add_key'],
    );
    assert.ok(lastSeq() > 0 && readFileSync(join(ws.root, 'svc.yaml'), 'utf8').includes('timeout_sec'));
  });
});

test('nothing happens twice over kill -9 of the engine, whether its answer was lost or not', async (t) => {
  const ws = await makeWorkspace();
  t.after(() => ws.close());
  const wanted = Array.from({ length: 40 }, (_, index) => ({ title: `task ${index}`, key: randomUUID() }));
  const send = async (): Promise<PromiseSettledResult<string>[]> => {
    const client = await ws.connect();
    try {
      return await Promise.allSettled(
        wanted.map(async ({ title, key }, index) => {
          // Some calls immediately, some after the commit of those.
          if (index % 2 === 1) await client.call('engine.status');
          return (await client.run('task.add', { title }, { key })).task_id;
        }),
      );
    } finally {
      client.close();
    }
  };
  const first = send();
  await ws.connect().then(async (client) => {
    await client.call('engine.status');
    client.close();
  });
  await ws.killDaemon();
  const answered = await first;
  const again = await send();
  for (const [index, each] of answered.entries())
    if (each.status === 'fulfilled') assert.deepEqual(again[index], each);
  const client = await ws.connect();
  const { tasks } = await client.call('task.list', { limit: 1000 });
  client.close();
  assert.deepEqual(tasks.map(({ title }) => title).sort(), wanted.map(({ title }) => title).sort());
});

test('calls are forgotten after an hour', async (t) => {
  const ws = await makeWorkspace();
  t.after(() => ws.close());
  const storage = openStorage({ path: join(ws.root, 'calls.db') });
  t.after(() => storage.close());
  const name = (key: string) => ({ caller: 'chair ada', operation: 'task.add', key });
  const keep = (key: string): Promise<void> =>
    storage.write(() => storage.calls.keep(name(key), { input: 'x', isAnswer: true, value: { key } }));
  await keep('old');
  await keep('new');
  await storage.write(() => storage.db.prepare("UPDATE call SET at = at - 3600001 WHERE key = 'old'").run());
  for (let index = 0; index < 200; index += 1) await keep(`more ${index}`);
  assert.equal(storage.calls.find(name('old')), null);
  assert.deepEqual(storage.calls.find(name('new'))?.value, { key: 'new' });
});
