import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { afterEach, test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { createOperations } from '../../../engine/core/api/dispatcher.ts';
import { SvcError } from '../../../engine/core/base/errors.ts';
import { EVENTS } from '../../../engine/notify/events.ts';
import { notifyOperations } from '../../../engine/notify/operations.ts';
import { until } from '../../support/wait.ts';
import { type Catcher, catcher, type NotifyRig, notifyRig } from './rig.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close();
});

async function target(...args: Parameters<typeof catcher>): Promise<Catcher> {
  const made = await catcher(...args);
  open.push(made);
  return made;
}

function rigOf(...args: Parameters<typeof notifyRig>): NotifyRig {
  const made = notifyRig(...args);
  open.push(made);
  return made;
}

const only = (rig: NotifyRig, state: 'pending' | 'delivered' | 'dead') => rig.notify.list({ state });
/** Waits for this many attempts of the first delivery. */
const tried = (rig: NotifyRig, attempts: number) =>
  until(() => rig.notify.list().at(-1)?.attempts === attempts, `${attempts} tries`);

test('a target gets the envelope, absent fields null, and nothing of the prompt', async () => {
  const hook = await target();
  const rig = rigOf([{ url: hook.url }]);
  await rig.makeTask();
  const [created, needs] = await hook.atLeast(2);
  assert.deepEqual(needs?.json, {
    id: `${rig.events.logId}-2`,
    event: 'needs_approval',
    at: '2026-01-02T03:04:05.000Z',
    workspace: 'bench',
    project: 'app',
    task_id: 't-1',
    decision_id: 'd-1',
    session_id: null,
    agent: 'scripted',
    status: 'assigned',
    title: 'say hello',
    reason: 'it has to be looked at',
  });
  assert.equal(created?.json.event, 'task_created');
  assert.equal(created?.json.decision_id, null);
  assert.doesNotMatch(hook.caught.map(({ body }) => body).join(), /stays here/);
});

test('deliveries are signed with the /task scheme and verify with the Standard Webhooks library', async () => {
  const hook = await target();
  const issued = `whsec_${Buffer.from('0123456789abcdef0123456789abcdef').toString('base64')}`;
  const rig = rigOf([{ url: hook.url, events: ['needs_approval'], secret_env: 'OWN' }]);
  for (const secret of [issued, 'plain words']) {
    rig.env.OWN = secret;
    rig.clock.set(Date.now());
    await rig.makeTask();
    const { headers, body, json } = (await hook.atLeast(secret === issued ? 1 : 2)).at(-1)!;
    const timestamp = String(headers['x-svc-timestamp']);
    const expected = createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex');
    assert.equal(headers['x-svc-signature'], expected);
    const verifier = secret === issued ? new Webhook(secret) : new Webhook(secret, { format: 'raw' });
    const verified = verifier.verify(body, headers as Record<string, string>);
    assert.deepEqual(verified, json);
    assert.equal(headers['webhook-id'], json.id);
    assert.equal(headers['content-type'], 'application/json');
  }
});

test('a target gets the events it lists, or all by default; kinds outside the catalogue are not sent', async () => {
  const all = await target();
  const some = await target();
  const rig = rigOf([{ url: all.url }, { url: some.url, events: ['needs_approval'] }]);
  await rig.makeTask();
  await rig.storage.write(() => rig.events.append({ kind: 'config_reloaded' }));
  await rig.makeTask();
  await all.atLeast(4);
  await some.atLeast(2);
  await until(() => only(rig, 'pending').length === 0);
  assert.deepEqual(
    all.caught.map(({ json }) => json.event),
    ['task_created', 'needs_approval', 'task_created', 'needs_approval'],
  );
  assert.deepEqual(
    some.caught.map(({ json }) => json.event),
    ['needs_approval', 'needs_approval'],
  );
});

test('the delivery is in the transaction of its event', async () => {
  const rig = rigOf([{ url: 'http://127.0.0.1:9/' }]);
  const undone = rig.storage.write(() => {
    rig.events.append({ kind: 'alert', data: { title: 'never' } });
    throw new SvcError('conflict', 'no');
  });
  await assert.rejects(undone);
  assert.deepEqual(rig.notify.list(), []);
});

test('a failed try is repeated with the same id and body under a new signature, backing off', async () => {
  const hook = await target((count, response) => response.writeHead(count < 4 ? 500 : 204).end());
  const rig = rigOf([{ url: hook.url, events: ['needs_approval'] }]);
  await rig.makeTask();
  const pauses: number[] = [];
  for (const attempts of [1, 2, 3]) {
    await tried(rig, attempts);
    const [row] = rig.notify.list();
    assert.equal(row?.state, 'pending');
    assert.deepEqual([row?.lastStatus, row?.lastError], [500, 'HTTP 500']);
    pauses.push(Date.parse(row?.nextAt ?? '') - rig.clock.now());
    await rig.advance(pauses.at(-1)!);
  }
  await hook.atLeast(4);
  await until(() => only(rig, 'delivered').length === 1);
  assert.deepEqual(pauses, [2500, 5000, 10_000], 'half of 5 s, 10 s, 20 s: full jitter at 0.5');
  assert.equal(new Set(hook.caught.map(({ headers }) => headers['webhook-id'])).size, 1);
  assert.equal(new Set(hook.caught.map(({ body }) => body)).size, 1);
  assert.equal(new Set(hook.caught.map(({ headers }) => headers['webhook-signature'])).size, 4);
});

test('a delivery is dead after 24 h, with one delivery_dead event that is not sent', async () => {
  const hook = await target((_count, response) => response.writeHead(500).end());
  const rig = rigOf([{ url: hook.url, events: ['needs_approval'] }]);
  await rig.makeTask();
  const start = rig.clock.now();
  for (let attempts = 1; only(rig, 'dead').length === 0; attempts++) {
    await tried(rig, attempts);
    const [row] = rig.notify.list();
    if (row?.nextAt) await rig.advance(Date.parse(row.nextAt) - rig.clock.now());
  }
  assert.equal(rig.clock.now() - start, DAY, 'the last attempt is at the end');
  const dead = rig.events.listAfter(0).filter(({ kind }) => kind === 'delivery_dead');
  assert.equal(dead.length, 1);
  assert.deepEqual([dead[0]?.taskId, dead[0]?.data.reason], ['t-1', 'HTTP 500']);
  const { length } = hook.caught;
  await rig.advance(DAY);
  assert.equal(rig.notify.list().length, 1);
  assert.equal(hook.caught.length, length);
  assert.deepEqual(rig.notify.counts(), { pending: 0, delivered: 0, dead: 1 });
});

test('410 is a failure like any other, since some services send it for a disabled hook', async () => {
  const hook = await target((count, response) => response.writeHead(count < 3 ? 410 : 200).end());
  const rig = rigOf([{ url: hook.url, events: ['needs_approval'] }]);
  await rig.makeTask();
  for (const failures of [1, 2]) {
    await tried(rig, failures);
    assert.deepEqual([only(rig, 'pending').length, rig.notify.list()[0]?.lastStatus], [1, 410]);
    await rig.advance(10_000);
  }
  await until(() => only(rig, 'delivered').length === 1);
  assert.equal(new Set(hook.caught.map(({ json }) => json.id)).size, 1);
});

test('Retry-After of 429 and 503 is honoured, within an hour', async () => {
  const answers: [number, string][] = [
    [429, '120'],
    [503, new Date(Date.UTC(2026, 0, 2, 3, 10)).toUTCString()],
    [503, '999999'],
    [429, 'soon'],
    [500, '120'],
  ];
  const hook = await target((count, response) => {
    const [status, after] = answers[count - 1]!;
    response.writeHead(status, { 'retry-after': after }).end();
  });
  const rig = rigOf([{ url: hook.url, events: ['needs_approval'] }]);
  await rig.makeTask();
  const pauses: number[] = [];
  for (const attempts of [1, 2, 3, 4, 5]) {
    await tried(rig, attempts);
    pauses.push(Date.parse(rig.notify.list()[0]?.nextAt ?? '') - rig.clock.now());
    await rig.advance(pauses.at(-1)!);
  }
  assert.deepEqual(pauses.slice(0, 3), [120_000, 235_000, HOUR]);
  assert.deepEqual(pauses.slice(3), [20_000, 40_000], 'otherwise the backoff');
});

test('a redirect is not followed', async () => {
  const elsewhere = await target();
  const hook = await target((_count, response) => response.writeHead(307, { location: elsewhere.url }).end());
  const rig = rigOf([{ url: hook.url, events: ['needs_approval'] }]);
  await rig.makeTask();
  await tried(rig, 1);
  assert.match(rig.notify.list()[0]?.lastError ?? '', /HTTP 307 .*not followed/);
  assert.equal(elsewhere.caught.length, 0);
});

test('an endless answer is not read', async () => {
  const hook = await target((_count, response) => {
    response.writeHead(200);
    const pour = () => {
      while (!response.destroyed && response.write('x'.repeat(65_536)));
      if (!response.destroyed) response.once('drain', pour);
    };
    pour();
  });
  const rig = rigOf([{ url: hook.url, events: ['needs_approval'] }]);
  await rig.makeTask();
  await until(() => only(rig, 'delivered').length === 1);
});

test('a dead target never delays another', async () => {
  // Accepts the request and never answers.
  const dead = await target(() => undefined);
  const hook = await target();
  const rig = rigOf([{ url: dead.url }, { url: hook.url }]);
  for (const title of ['one', 'two', 'three']) await rig.makeTask(title);
  await hook.atLeast(6);
  await until(() => only(rig, 'delivered').length === 6);
  assert.equal(dead.caught.length, 1);
  assert.equal(only(rig, 'pending').length, 6);
});

test('an interrupted try is repeated after a restart, with the same id', async () => {
  const hook = await target((count, response) => {
    if (count > 1) response.end();
  });
  const rig = rigOf([{ url: hook.url, events: ['needs_approval'] }]);
  await rig.makeTask();
  await hook.atLeast(1);
  await rig.restart();
  await hook.atLeast(2);
  await until(() => only(rig, 'delivered').length === 1);
  const [first, second] = hook.caught;
  assert.equal(first?.headers['webhook-id'], second?.headers['webhook-id']);
  assert.equal(first?.body, second?.body);
});

test('a try that failed waits for its time across a restart', async () => {
  const hook = await target((count, response) => response.writeHead(count === 1 ? 500 : 200).end());
  const rig = rigOf([{ url: hook.url, events: ['needs_approval'] }]);
  await rig.makeTask();
  await tried(rig, 1);
  rig.clock.advance(DAY / 2);
  await rig.restart();
  await hook.atLeast(2);
  await until(() => only(rig, 'delivered').length === 1);
});

test('time without a possible try does not count towards the 24 hours: an engine that was off, a machine that slept', async () => {
  const hook = await target((_count, response) => response.writeHead(500).end());
  const rig = rigOf([{ url: hook.url, events: ['needs_approval'] }]);
  await rig.makeTask();
  await tried(rig, 1);
  rig.clock.advance(3 * DAY);
  await rig.restart();
  await tried(rig, 2);
  await rig.advance(3 * DAY);
  await tried(rig, 3);
  assert.equal(only(rig, 'pending').length, 1);
  // A delivery that is retried all the time dies after the others.
  for (let attempts = 3; only(rig, 'dead').length === 0; attempts += 1) {
    await rig.advance(HOUR);
    await tried(rig, attempts + 1);
    assert.ok(attempts < 30);
  }
});

test('an event without a secret is neither sent nor given up: it says why it waits, however long', async () => {
  const hook = await target();
  const rig = rigOf([{ url: hook.url, events: ['needs_approval'], secret_env: 'OWN' }]);
  const waits = () => rig.notify.list().map(({ state, attempts, lastError }) => [state, attempts, lastError]);
  const held = ['pending', 0, 'secret_missing: OWN is not set'];
  await rig.makeTask();
  await until(() => rig.notify.list()[0]?.lastError !== null);
  assert.deepEqual(waits(), [held]);
  await rig.advance(2 * DAY);
  await rig.makeTask();
  await until(() => rig.notify.list()[0]?.lastError !== null);
  assert.deepEqual(waits(), [held, held]);
  assert.equal(hook.caught.length, 0);
  // The next engine delivers it.
  rig.env.OWN = 'set now';
  await rig.restart();
  await hook.atLeast(2);
});

test('the 24 hours of an event start with its first try, not while its secret was missing', async () => {
  const hook = await target((count, response) => response.writeHead(count === 1 ? 500 : 200).end());
  const rig = rigOf([{ url: hook.url, events: ['needs_approval'], secret_env: 'OWN' }]);
  await rig.makeTask();
  await until(() => rig.notify.list()[0]?.lastError !== null);
  await rig.advance(2 * DAY);
  rig.env.OWN = 'set now';
  await rig.advance(60_000);
  await tried(rig, 1);
  assert.equal(only(rig, 'pending').length, 1);
  await rig.advance(5000);
  await until(() => only(rig, 'delivered').length === 1);
});

test('a target without its own variable is signed with the first one of webhook.secret_env that is set', async () => {
  const hook = await target();
  const rig = rigOf([{ url: hook.url, events: ['needs_approval'] }]);
  await rig.makeTask();
  const { headers, body } = (await hook.atLeast(1))[0]!;
  const expected = createHmac('sha256', 'shh').update(`${headers['x-svc-timestamp']}.${body}`).digest('hex');
  assert.equal(headers['x-svc-signature'], expected);
});

test('a refused connection is reported as such, and no error holds credentials of its address', async () => {
  const gone = await catcher();
  await gone.close();
  const address = new URL(gone.url);
  address.username = 'user';
  address.password = 'hunter2';
  address.search = '?token=hunter3';
  const rig = rigOf([{ url: address.href, events: ['needs_approval'] }]);
  await rig.makeTask();
  await tried(rig, 1);
  const rows = rig.notify.list();
  assert.equal(rows[0]?.lastError, 'ECONNREFUSED');
  assert.doesNotMatch(JSON.stringify(rows), /hunter/);
});

test('credentials in the address are sent as Basic authorization', async () => {
  const hook = await target();
  const rig = rigOf([{ url: hook.url.replace('http://', 'http://ann:p%40ss@'), events: ['needs_approval'] }]);
  await rig.makeTask();
  const { headers } = (await hook.atLeast(1))[0]!;
  assert.equal(headers.authorization, `Basic ${Buffer.from('ann:p@ss').toString('base64')}`);
});

test('a target that was removed from the configuration gets nothing more', async () => {
  const hook = await target((_count, response) => response.writeHead(500).end());
  const rig = rigOf([{ url: hook.url, events: ['needs_approval'] }]);
  await rig.makeTask();
  await tried(rig, 1);
  rig.targets.length = 0;
  await rig.advance(5000);
  await until(() => only(rig, 'dead').length === 1);
  assert.equal(hook.caught.length, 1);
});

test('redeliver sends a settled delivery again under the same id', async () => {
  const hook = await target((count, response) => response.writeHead(count === 1 ? 500 : 200).end());
  const rig = rigOf([{ url: hook.url, events: ['needs_approval'] }]);
  await rig.makeTask();
  await tried(rig, 1);
  const [removed] = rig.targets.splice(0);
  await rig.advance(5000);
  await until(() => only(rig, 'dead').length === 1);
  rig.targets.push(removed!);
  rig.clock.advance(30 * DAY);
  const row = await rig.notify.redeliver(1);
  assert.equal(row.state, 'pending');
  await until(() => only(rig, 'delivered').length === 1);
  assert.equal(hook.caught[0]?.json.id, hook.caught[1]?.json.id);
  await assert.rejects(
    rig.notify.redeliver(99),
    (error) => error instanceof SvcError && error.code === 'not_found',
  );
});

test('test sends a signed alert to every target, with any events, and waits for the first try', async () => {
  const hook = await target();
  const angry = await target((_count, response) => response.writeHead(418).end());
  const rig = rigOf([{ url: hook.url, events: ['sealed'] }, { url: angry.url }]);
  const [first, second] = await rig.notify.test();
  assert.deepEqual([first?.state, second?.state, second?.lastError], ['delivered', 'pending', 'HTTP 418']);
  const { json, headers } = hook.caught[0]!;
  assert.deepEqual([json.event, json.title, json.task_id], ['alert', 'test', null]);
  assert.match(String(headers['x-svc-signature']), /^[\da-f]{64}$/);
  assert.equal((await rig.notify.test(hook.url)).length, 1);
  assert.equal(rig.notify.list().length, 3, 'the event was not sent to other targets');
  await assert.rejects(rig.notify.test('http://nowhere.example/'), /no target/);
});

test('closing ends a running try and leaves it pending', async () => {
  const hook = await target(() => undefined);
  const rig = rigOf([{ url: hook.url }]);
  const testing = rig.notify.test();
  await hook.atLeast(1);
  await rig.notify.close();
  assert.equal((await testing)[0]?.state, 'pending');
  assert.deepEqual(rig.notify.counts(), { pending: 1, delivered: 0, dead: 0 });
});

test('an outcome that cannot be saved is not sent again immediately', async () => {
  const hook = await target();
  const errors: string[] = [];
  const rig = rigOf([{ url: hook.url, events: ['needs_approval'] }], {
    log: { error: (_facts, message) => errors.push(message) },
  });
  rig.storage.db.exec("CREATE TRIGGER no BEFORE UPDATE ON delivery BEGIN SELECT RAISE(ABORT, 'no'); END");
  await rig.makeTask();
  await until(() => errors.length === 1);
  assert.equal(hook.caught.length, 1);
  rig.storage.db.exec('DROP TRIGGER no');
  await rig.advance(5000);
  await until(() => only(rig, 'delivered').length === 1);
});

test('old deliveries are forgotten, pending ones never', async () => {
  const hook = await target();
  const rig = rigOf([{ url: hook.url }]);
  await rig.makeTask('old');
  await until(() => only(rig, 'delivered').length === 2);
  rig.targets.push({ url: 'http://127.0.0.1:9/never', secret_env: 'UNSET' });
  rig.clock.advance(8 * DAY);
  for (let count = 0; count < 130; count++) await rig.makeTask('new');
  const rows = rig.notify.list({ limit: 1000 });
  assert.ok(rows.some(({ state }) => state === 'pending'));
  assert.ok(rows.every(({ createdAt }) => createdAt > '2026-01-09'));
});

test('the operations list the catalogue and deliveries, and reserve changes for the Chair', async () => {
  const hook = await target();
  const rig = rigOf([{ url: hook.url }]);
  const operations = createOperations(notifyOperations(rig.notify), {
    policy: () => ({ mode: '', actors: [] }),
    calls: rig.storage.calls,
  });
  const caller = { actor: 'ann', via: 'cli', sessionId: null, project: null, env: {} } as const;
  const chair = { ...caller, seat: 'chair' } as const;
  const worker = { ...caller, seat: 'worker', sessionId: 's-1' } as const;
  const events = (await operations.call('notify.events', {}, worker)) as {
    event: string;
    description: string;
  }[];
  assert.deepEqual(
    events.map(({ event }) => event),
    Object.keys(EVENTS),
  );
  await operations.call('notify.test', {}, chair);
  const rows = (await operations.call('notify.deliveries', { state: 'delivered' }, worker)) as object[];
  assert.deepEqual(Object.keys(rows[0] ?? {}), [
    'id',
    'event',
    'message_id',
    'url',
    'state',
    'attempts',
    'created_at',
    'next_at',
    'delivered_at',
    'last_status',
    'last_error',
  ]);
  for (const [name, input] of [
    ['notify.redeliver', { id: 1 }],
    ['notify.test', {}],
  ] as const) {
    await assert.rejects(operations.call(name, input, worker), /Chair/);
  }
});

test('the timer of the next try does not keep the program alive', async () => {
  const hook = await target((_count, response) => response.writeHead(500).end());
  const rig = rigOf([{ url: hook.url }]);
  await rig.notify.test();
  const timers = process.getActiveResourcesInfo().filter((name) => name === 'Timeout');
  assert.deepEqual(timers, []);
});
