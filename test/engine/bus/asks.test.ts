import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Caller, CallOptions } from '../../../engine/core/api/operation.ts';
import type { LoggedEvent } from '../../../engine/index.ts';
import { settled, until } from '../../support/wait.ts';
import { type EngineHere, engineHere } from '../../support/workspaces/engine.ts';
import { awaitEvent } from '../../support/workspaces/events.ts';
import { makeWorkspace, type TestWorkspace } from '../../support/workspaces/workspace.ts';

interface Outcome {
  id: number;
  status: string;
  answer: string | null;
  by: string | null;
  symbol_ref: Record<string, unknown> | null;
  note: string | null;
}

const YAML = 'projects: [{ id: web, path: web, kind: app }]\nshared: { code: [web/page.html] }\n';

describe('a question', () => {
  let ws: TestWorkspace;
  let here: EngineHere;
  /** A worker that runs as long as the tests, with callers that act for it and for others. */
  let worker: Partial<Caller>;
  let other: Partial<Caller>;
  const plain: Partial<Caller> = { seat: 'plain', sessionId: 'by-hand' };
  const chair: Partial<Caller> = { seat: 'chair' };

  before(async () => {
    ws = await makeWorkspace({ yaml: YAML });
    here = await engineHere(ws);
    mkdirSync(join(ws.root, 'web'));
    worker = await hanging();
    other = await hanging();
    const seat = { agent: null, title: null, notifyBase: null, pid: null };
    await here.engine.attend({ ...seat, kind: 'plain', name: 'by-hand', project: null });
    const { sessionId } = await here.engine.attend({ ...seat, kind: 'chair', name: null, project: 'web' });
    chair.sessionId = sessionId;
  });
  after(async () => {
    await here?.end();
    await ws.close();
  });

  async function hanging(): Promise<Partial<Caller>> {
    const task = { title: 'a long task', body: '#agent: hang', agent: 'scripted' };
    const { task_id: id } = await here.call('task.add', task);
    const { session } = await here.call('task.run', { id });
    await until(async () => {
      const [at] = await here.call('session.list', { ids: [session.session_id] });
      return at?.state === 'running';
    });
    return { seat: 'worker', sessionId: session.session_id };
  }

  /** Asks without awaiting the answer; resolves once the row exists. */
  async function asks(
    question: string,
    input: object = {},
    caller: Partial<Caller> = worker,
    call: CallOptions = {},
  ) {
    let told: (message: string) => void = () => undefined;
    const progress = new Promise<string>((resolve) => {
      told = resolve;
    });
    const person = {
      actor: 'ada',
      via: 'tool',
      project: null,
      env: {},
      sessionId: null,
      seat: 'plain',
    } as const;
    const answered = here.engine.operations.call(
      'ask',
      { question, ...input },
      { ...person, ...caller },
      { progress: told, ...call },
    ) as Promise<Outcome>;
    answered.catch(() => undefined);
    const message = await Promise.race([
      progress,
      answered.then(
        () => '',
        () => '',
      ),
    ]);
    return { id: Number(/^ask (\d+) /.exec(message)?.[1]), message, answered };
  }
  const answer = (id: number, text: string, more: object = {}, caller: Partial<Caller> = chair) =>
    here.call('ask.answer', { id, answer: text, ...more }, caller);
  const list = async (input: object = {}) => (await here.call('ask.list', input)).asks;
  const events = (id: number): LoggedEvent[] =>
    here.engine.events.listEvents({ limit: 500 }).filter(({ data }) => data.ask_id === id);

  test('a question is answered, and its asker continues with the answer and its author', async () => {
    const { id, message, answered } = await asks('Which port?', { context: 'for the receiver' });
    assert.match(message, new RegExp(`^ask ${id} waits for an answer from the Chair, until \\d{4}-`));
    assert.deepEqual(await answer(id, '8787', { by: 'ada' }), {
      id,
      status: 'answered',
      answer: '8787',
      by: 'ada',
      symbol_ref: null,
    });
    assert.deepEqual(await settled(answered), {
      id,
      status: 'answered',
      answer: '8787',
      by: 'ada',
      symbol_ref: null,
      note: null,
    });
    assert.deepEqual(
      events(id).map(({ kind, sessionId }) => [kind, sessionId]),
      [
        ['ask_answered', worker.sessionId],
        ['ask_opened', worker.sessionId],
      ],
    );
    const told = JSON.stringify(events(id));
    assert.doesNotMatch(told, /Which port|8787|receiver/, 'an event contains neither text');
  });

  test('an unanswered question times out, and takes no answer afterwards', async () => {
    const { id, answered } = await asks('Anyone?', { timeout_sec: 1 });
    const outcome = await settled(answered);
    assert.deepEqual([outcome.status, outcome.answer, outcome.by], ['timeout', null, null]);
    assert.match(outcome.note ?? '', /no one answered/);
    await assert.rejects(answer(id, 'too late'), { code: 'ask_closed' });
    assert.equal(events(id)[0]?.kind, 'ask_timeout');
    assert.deepEqual((await list({ status: 'timeout' })).map((each) => each.id).includes(id), true);
  });

  test('a question whose asker stopped waiting stays open, and a repeated call gets its answer', async () => {
    const stop = new AbortController();
    const key = randomUUID();
    const first = await asks('Still there?', {}, worker, { key, signal: stop.signal });
    stop.abort();
    await assert.rejects(first.answered, { code: 'cancelled', message: new RegExp(`ask ${first.id} `) });
    assert.equal(
      (await list()).some(({ id }) => id === first.id),
      true,
    );
    const again = await asks('Still there?', {}, worker, { key });
    assert.equal(again.id, first.id);
    await assert.rejects((await asks('Something else', {}, worker, { key })).answered, {
      code: 'idempotency_conflict',
    });
    await answer(first.id, 'yes');
    assert.equal((await settled(again.answered)).answer, 'yes');
    const late = await asks('Still there?', {}, worker, { key });
    assert.equal((await late.answered).id, first.id);
  });

  test("a question goes to the named session, the Chair of a project, or the Chair of the asker's project", async () => {
    const to = async (input: object, caller: Partial<Caller> = worker): Promise<string> => {
      const { id } = await asks('To whom?', input, caller);
      const {
        asks: [ask],
      } = await here.call('ask.list', { ids: [id] });
      return `${ask?.to_session} ${ask?.project}`;
    };
    assert.equal(await to({}), 'chair null');
    assert.equal(await to({}, { ...plain, sessionId: null, project: 'web' }), 'chair@web web');
    assert.equal(await to({ to_project: 'web' }), 'chair@web web');
    assert.equal(await to({ to_project: 'workspace' }), 'chair null');
    assert.equal(await to({ to_session: 'chair@web' }), 'chair@web web');
    assert.equal(await to({ to_session: other.sessionId }), `${other.sessionId} null`);
    assert.equal(await to({ to_session: 'by-hand' }), 'by-hand null');
    const { sessionId: seat } = chair;
    const { message } = await asks('Who is there?', { to_project: 'web' });
    assert.ok(message.includes(`from the Chair of web (${seat}), until`), message);
    const refused = async (input: object, code: string) =>
      assert.rejects((await asks('?', input)).answered, { code });
    await refused({ to_project: 'nope' }, 'unknown_project');
    await refused({ to_session: 'chair@nope' }, 'unknown_project');
    await refused({ to_session: 's-99' }, 'not_found');
    await refused({ to_session: 'nobody' }, 'not_found');
    await refused({ to_session: worker.sessionId }, 'fields_invalid');
  });

  test('a question is answered by the Chair or its addressee, and never by its asker', async () => {
    const forChair = (await asks('May I?')).id;
    await assert.rejects(answer(forChair, 'yes', {}, worker), { code: 'holder_mismatch' });
    await assert.rejects(answer(forChair, 'yes', {}, other), { code: 'holder_mismatch' });
    await assert.rejects(answer(forChair, 'yes', {}, plain), { code: 'holder_mismatch' });
    const forOther = (await asks('May I?', { to_session: other.sessionId })).id;
    await assert.rejects(answer(forOther, 'yes', {}, plain), { code: 'holder_mismatch' });
    await assert.rejects(answer(forOther, 'yes', { by: 'ada' }, other), { code: 'holder_mismatch' });
    assert.equal((await answer(forOther, 'yes', {}, other)).by, other.sessionId);
    const ofChair = (await asks('Who are you?', { to_session: other.sessionId }, chair)).id;
    await assert.rejects(answer(ofChair, 'me', {}, chair), { code: 'holder_mismatch' });
    assert.equal((await answer(ofChair, 'me', {}, { sessionId: null })).by, 'ada');
    await assert.rejects(answer(999_999, 'yes'), { code: 'not_found' });
  });

  test('a question with options takes one of them and nothing else', async () => {
    const { id, answered } = await asks('Which?', { options: ['left', 'right, of course'] });
    await assert.rejects(answer(id, 'Left'), {
      code: 'fields_invalid',
      message: /one of "left", "right, of course"/,
    });
    await answer(id, 'right, of course');
    assert.equal((await settled(answered)).answer, 'right, of course');
  });

  test('a question has one answer: of sixteen at once one wins, and the others learn whose', async () => {
    const { id, answered } = await asks('Who is first?');
    const tried = await Promise.allSettled(
      Array.from({ length: 16 }, (_, index) => answer(id, `answer ${index}`, { by: `person ${index}` })),
    );
    const won = tried.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
    assert.equal(won.length, 1);
    const [winner] = won;
    assert.equal((await settled(answered)).answer, winner?.answer);
    for (const each of tried) {
      if (each.status === 'fulfilled') continue;
      assert.equal(each.reason.code, 'ask_closed');
      assert.deepEqual(each.reason.data, { id, status: 'answered', by: winner?.by, answer: winner?.answer });
      assert.ok(each.reason.message.includes(`already answered by ${winner?.by}: "${winner?.answer}"`));
    }
    assert.deepEqual(await answer(id, winner?.answer ?? '', { by: winner?.by }), winner);
    assert.equal(events(id).length, 2);
  });

  test('a call that is repeated many times at once asks one question', async () => {
    const key = randomUUID();
    const calls = await Promise.all(Array.from({ length: 16 }, () => asks('Once?', {}, worker, { key })));
    assert.equal(new Set(calls.map(({ id }) => id)).size, 1);
    await answer(calls[0]?.id ?? 0, 'once');
    const answers = await Promise.all(calls.map(({ answered }) => settled(answered)));
    assert.deepEqual([...new Set(answers.map((each) => each.answer))], ['once']);
  });

  test('a question with a place in the code is answered only when that place exists', async () => {
    ws.repository.write('app/words.ts', 'const preword = 1;\nexport const word = 2;\nword(preword);\n');
    writeFileSync(join(ws.root, 'web', 'page.html'), 'one\n');
    writeFileSync(join(ws.repository.folder, 'outside.txt'), 'secret\n');
    symlinkSync(join(ws.repository.folder, 'outside.txt'), join(ws.root, 'app', 'link.txt'));
    const { id, answered } = await asks('Where?');
    const refused = (symbol_ref: object, code: string, message?: RegExp) =>
      assert.rejects(answer(id, 'there', { symbol_ref }), { code, ...(message ? { message } : {}) });
    await refused({ symbol: 'word' }, 'fields_invalid', /name its file/);
    await refused({ line: 3 }, 'fields_invalid');
    await refused({}, 'fields_invalid');
    await refused({ path: 'app/none.ts' }, 'not_found');
    await refused({ path: 'app' }, 'not_found');
    await refused({ path: 'app/words.ts', line: 4 }, 'fields_invalid', /has 3 lines/);
    await refused({ path: 'app/words.ts', line: 0 }, 'fields_invalid');
    await refused({ path: 'app/words.ts', symbol: 'wor' }, 'fields_invalid');
    await refused({ path: '../outside.txt' }, 'path_outside');
    await refused({ path: '/etc/passwd' }, 'path_outside');
    await refused({ path: 'app/link.txt' }, 'path_outside');
    await refused({ path: 'app/\0words.ts' }, 'fields_invalid');
    writeFileSync(join(ws.root, 'web', 'own.html'), 'one\n');
    // Also if it does not exist.
    await refused({ path: 'own.html', project: 'web' }, 'path_outside', /does not share/);
    await refused({ path: 'none.html', project: 'web' }, 'path_outside', /does not share/);
    await refused({ path: 'page.html', project: 'nope' }, 'unknown_project');
    await refused({ path: '../app/words.ts', project: 'web' }, 'path_outside');
    await refused({ path: join(ws.root, 'app/words.ts'), project: 'web' }, 'path_outside');
    await refused({ path: 'app/words.ts', more: 1 }, 'fields_invalid');
    const ref = { path: './app/../app/words.ts', symbol: 'word' };
    const expected = { path: 'app/words.ts', line: 2, symbol: 'word', project: null };
    assert.deepEqual((await answer(id, 'there', { symbol_ref: ref })).symbol_ref, expected);
    assert.deepEqual((await settled(answered)).symbol_ref, expected);
    const more = await asks('And where?');
    const symbol_ref = { path: 'page.html', project: 'web', line: 1 };
    assert.deepEqual((await answer(more.id, 'there', { symbol_ref })).symbol_ref, {
      path: 'web/page.html',
      line: 1,
      symbol: null,
      project: 'web',
    });
  });

  test('a question that is empty, too long, or repeats an option is refused', async () => {
    for (const input of [
      { question: '' },
      { question: ' \n' },
      { question: 'x'.repeat(20_001) },
      { question: '?', options: ['a', 'a'] },
      { question: '?', options: [' '] },
      { question: '?', timeout_sec: 0 },
      { question: '?', timeout_sec: 86_401 },
      { question: '?', to: 'me' },
    ]) {
      await assert.rejects(
        here.call('ask', input, worker),
        { code: 'fields_invalid' },
        JSON.stringify(input),
      );
    }
    const { id } = await asks("'; DROP TABLE ask; -- \u001b[31m\0 ünï", { options: ["'); --", '\u202eyes'] });
    assert.equal((await answer(id, "'); --")).answer, "'); --");
    await assert.rejects(answer(id, '\t'), { code: 'fields_invalid' });
  });

  test('questions are listed: open ones oldest first, others newest first, also of one asker', async () => {
    const one = (await asks('one', {}, plain)).id;
    const two = (await asks('two', {}, plain)).id;
    const mine = async (input: object = {}) =>
      (await list({ session: 'by-hand', ...input })).map(({ id }) => id);
    assert.deepEqual(await mine(), [one, two]);
    assert.deepEqual(await mine({ limit: 1 }), [one]);
    assert.deepEqual(await mine({ status: 'all' }), [two, one]);
    await answer(one, '1');
    assert.deepEqual([await mine(), await mine({ status: 'answered' })], [[two], [one]]);
    const { asks: rows } = await here.call('ask.list', { ids: [one, two, 999_999] });
    assert.deepEqual(
      rows.map((row) => [row.id, row.status]),
      [
        [two, 'open'],
        [one, 'answered'],
      ],
    );
    const { open, next_expires_at } = await here.call('ask.counts');
    assert.equal(open, (await list({ limit: 1000 })).length);
    assert.ok(Date.parse(next_expires_at ?? '') > Date.now());
    const waited = here.call('ask.wait', { id: two });
    await answer(two, '2');
    assert.equal((await settled(waited)).answer, '2');
  });

  test("a question is closed when its asker's session ends", async () => {
    const short = await hanging();
    const { id, answered } = await asks('Am I still here?', {}, short);
    const kept = await asks('And I?');
    const [session] = await here.call('session.list', { ids: [short.sessionId ?? assert.fail()] });
    await here.call('task.cancel', { id: session?.task_id ?? assert.fail() });
    assert.equal((await settled(answered)).status, 'timeout');
    const [event] = events(id);
    assert.deepEqual([event?.kind, event?.data.reason], ['ask_timeout', 'the session ended']);
    assert.equal(
      (await list()).some((each) => each.id === kept.id),
      true,
    );
    await assert.rejects((await asks('Hello?', { to_session: short.sessionId })).answered, {
      code: 'conflict',
    });
    const out = await until(() =>
      ws.events.find(
        (each) => each.event === 'ask_timeout' && each.reason === `ask ${id}: the session ended`,
      ),
    );
    assert.deepEqual(
      [out.title, out.session_id, out.task_id],
      ['a long task', short.sessionId, session?.task_id],
    );
    assert.ok(ws.events.every((each) => !JSON.stringify(each).includes('Am I still here')));
  });
});

describe('a daemon that is killed', () => {
  let ws: TestWorkspace;
  before(async () => {
    ws = await makeWorkspace();
  });
  after(() => ws.close());

  test('a killed daemon loses no question: the repeated call waits with the next one and gets the answer', async () => {
    const key = randomUUID();
    let id = 0;
    const first = await ws.connect();
    const lost = first.run(
      'ask',
      { question: 'Will you come back?' },
      {
        key,
        onProgress: (message) => {
          id = Number(/^ask (\d+)/.exec(message)?.[1]);
        },
      },
    );
    lost.catch(() => undefined);
    await until(() => id > 0);
    await ws.killDaemon();
    await assert.rejects(lost, { code: 'engine_unreachable' });

    const second = await ws.connect();
    let again = '';
    const answered = second.run(
      'ask',
      { question: 'Will you come back?' },
      {
        key,
        onProgress: (message) => {
          again = message;
        },
      },
    );
    await until(() => again !== '');
    assert.match(again, new RegExp(`^ask ${id} waits`));
    await (await ws.connect()).call('ask.answer', { id, answer: 'I did' });
    assert.deepEqual([(await answered).id, (await answered).answer], [id, 'I did']);
    assert.equal((await second.call('ask.list', { status: 'all' })).asks.length, 1);
  });

  test('the next daemon closes questions that expired, and keeps the time of the others', async () => {
    const client = await ws.connect();
    const brief = await client.call('ask.open', { question: 'Quick?', timeout_sec: 2 });
    const later = await client.call('ask.open', { question: 'Slow?', timeout_sec: 4 });
    await ws.killDaemon();
    await until(() => Date.now() > Date.parse(brief.expires_at));
    const next = await ws.connect();
    const kind = 'ask_timeout';
    await awaitEvent(next, (event) => event.kind === kind && event.data.ask_id === brief.id);
    await awaitEvent(next, (event) => event.kind === kind && event.data.ask_id === later.id);
    const { asks: rows } = await next.call('ask.list', { status: 'timeout' });
    assert.deepEqual(
      rows.map((row) => row.id),
      [later.id, brief.id],
    );
    await until(() => ws.events.filter((each) => each.event === kind).length === 2);
  });
});
