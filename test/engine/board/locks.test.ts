import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import type { Caller, Operation } from '../../../engine/core/api/operation.ts';
import { describeTool, isTool } from '../../../engine/core/api/tool.ts';
import type { SvcError } from '../../../engine/core/base/errors.ts';
import type { Lock } from '../../../engine/index.ts';
import { until } from '../../support/wait.ts';
import { type EngineHere, engineHere } from '../../support/workspaces/engine.ts';
import { makeWorkspace, type TestWorkspace } from '../../support/workspaces/workspace.ts';
import { BY, type HoldingRig, holdingRig, refusal } from './holding.ts';

describe('a lock', () => {
  let rig: HoldingRig;
  beforeEach(() => {
    rig = holdingRig();
  });
  afterEach(() => rig.close());

  const release = (holder: string, path: string) =>
    rig.storage.write(() => rig.locks.release(holder, path, BY));
  const held = () => rig.locks.around().map(({ path, holder }) => `${path} ${holder}`);

  test('a lock excludes no rival of a race, and everyone else as before', async () => {
    for (const each of ['a', 'b']) rig.rivals.add(each);
    await rig.acquire('a', 'src');
    await rig.acquire('b', 'src');
    await rig.acquire('b', 'src/deep');
    assert.deepEqual(held(), ['src a', 'src b', 'src/deep b']);
    assert.equal(rig.locks.holderOver('src/deep', 'a'), null);
    assert.equal(rig.locks.holderOver('src/deep', 'c')?.holder, 'b');
    assert.equal(rig.locks.check('a', 'src/deep').lock.holder, 'a');
    await assert.rejects(rig.acquire('c', '.'), refusal('lock_held', /[ab] holds src until/));
    await release('a', 'src');
    assert.deepEqual(held(), ['src b', 'src/deep b']);
    await assert.rejects(release('a', 'src'), refusal('holder_mismatch', /is held by b, not by a/));
    assert.throws(() => rig.locks.check('a', 'src'), refusal('lock_denied', /no one does/));

    // After the race they are no longer rivals.
    rig.rivals.clear();
    await assert.rejects(rig.acquire('a', 'src'), refusal('lock_held', /b holds src/));
    assert.equal(rig.locks.holderOver('src', 'a')?.holder, 'b');
    await rig.pass(31);
    assert.deepEqual(held(), []);
  });

  test('a lock is refused to others on the path itself, on every folder above it and on all below', async () => {
    await rig.acquire('a', 'src/engine');
    for (const path of ['src/engine', 'src', '.', 'src/engine/x.ts', 'src/engine/deep/er/y.ts']) {
      await assert.rejects(
        rig.acquire('b', path),
        refusal('lock_held', /a holds src\/engine until 2026-01-02T03:34:05.000Z/),
        path,
      );
    }
    await assert.rejects(rig.acquire('b', 'src'), ({ data }: SvcError) => {
      assert.deepEqual(data, {
        path: 'src',
        held_by: 'a',
        holder: 'a',
        lock_path: 'src/engine',
        expires_at: '2026-01-02T03:34:05.000Z',
      });
      return true;
    });
    for (const path of ['src/engine2', 'src/engin', 'src/engine.ts', 'src/engine-x/y', 'other'])
      await rig.acquire('b', path);
  });

  test('a lock on the whole workspace covers everything in it, and nothing of a project elsewhere', async () => {
    await rig.acquire('a', '.');
    await assert.rejects(rig.acquire('b', 'any/file'), refusal('lock_held', /a holds \. until/));
    await rig.acquire('b', join(rig.outside, 'src'));
    assert.deepEqual(held(), ['. a', `${rig.outside}/src b`]);
    await assert.rejects(rig.acquire('a', rig.outside), refusal('lock_held'));
    assert.equal(rig.locks.holderOver(join(rig.outside, 'src/x'), 'a')?.holder, 'b');
    assert.equal(rig.locks.holderOver(join(rig.outside, 'other'), 'a'), null);
  });

  test('a lock is the same under every name of the path', async () => {
    mkdirSync(join(rig.root, 'src'));
    mkdirSync(join(rig.root, '.svc/agents/worktrees/s-1/src'), { recursive: true });
    symlinkSync('src', join(rig.root, 'link'));
    await rig.acquire('a', './src/../src/x.ts');
    for (const path of [
      'src/x.ts',
      join(rig.root, 'src/x.ts'),
      'link/x.ts',
      '.svc/agents/worktrees/s-1/src/x.ts',
    ]) {
      await assert.rejects(rig.acquire('b', path), refusal('lock_held'), path);
      assert.equal(rig.locks.check('a', path).path, 'src/x.ts');
    }
  });

  test('a lock takes a file name literally, with any characters', async () => {
    for (const path of ["it's", '%', '_', '100% [a-z]*', '-rf', 'ünïcode', 'a\nb'])
      await rig.acquire('a', path);
    for (const path of ['its', 'x', '100', 'abc', 'rf']) await rig.acquire('b', path);
    await assert.rejects(rig.acquire('b', '100% [a-z]*/x'), refusal('lock_held'));
    await assert.rejects(rig.acquire('b', 'a\nb'), ({ message }: SvcError) => !message.includes('\n'));
  });

  test('a lock cannot be on a path outside, not even through a link', async () => {
    symlinkSync('/etc', join(rig.root, 'etc'));
    for (const path of ['..', '../elsewhere', '/etc/passwd', 'etc/passwd'])
      await assert.rejects(rig.acquire('a', path), refusal('path_outside'), path);
  });

  test('a lock is extended by its holder, who may also hold paths above and below', async () => {
    const fences = [await rig.acquire('a', 'src', 10)];
    rig.clock.advance(5 * 60_000);
    fences.push(
      await rig.acquire('a', 'src', 10),
      await rig.acquire('a', 'src/x', 60),
      await rig.acquire('a', '.'),
    );
    assert.deepEqual(fences, [1, 2, 3, 4]);
    assert.deepEqual(held(), ['. a', 'src a', 'src/x a']);
    const { acquiredAt, expiresAt } = rig.locks.around('src').find(({ path }) => path === 'src') as Lock;
    assert.deepEqual([acquiredAt, expiresAt], ['2026-01-02T03:04:05.000Z', '2026-01-02T03:19:05.000Z']);
    assert.deepEqual(
      rig.events_('lock_acquired').map(({ path, extended, fence }) => [path, extended, fence]),
      [
        ['src', false, 1],
        ['src', true, 2],
        ['src/x', false, 3],
        ['.', false, 4],
      ],
    );
    // The locks are independent: releasing the folder keeps the file's lock.
    await release('a', '.');
    await release('a', 'src');
    assert.deepEqual(held(), ['src/x a']);
  });

  test("an expired lock has no holder, and its former holder cannot release the next one's", async () => {
    const first = await rig.acquire('a', 'src', 30);
    rig.clock.advance(30 * 60_000);
    assert.throws(() => rig.locks.check('a', 'src'), refusal('lock_denied', /no one does/));
    assert.deepEqual(held(), []);
    await assert.rejects(release('a', 'src'), refusal('not_found', /no one holds a lock on src/));
    const second = await rig.acquire('b', 'src/x');
    assert.ok(second > first);
    assert.deepEqual(rig.events_('lock_expired').length, 1);
    await assert.rejects(release('a', 'src/x'), refusal('holder_mismatch', /held by b, not by a/));
    await assert.rejects(rig.acquire('a', 'src'), refusal('lock_held', /b holds src\/x/));
    await release('b', 'src/x');
    assert.deepEqual(held(), []);
  });

  test('a lock expires by itself, once, with an event that reveals no path', async () => {
    rig.locks.start();
    await rig.acquire('a', 'src', 10);
    await rig.acquire('b', 'docs', 20);
    await rig.pass(9);
    assert.equal(rig.events_('lock_expired').length, 0);
    await rig.pass(1);
    const [event, ...more] = await until(
      () => rig.events_('lock_expired').length > 0 && rig.events_('lock_expired'),
    );
    assert.deepEqual(
      [event?.path, event?.holder, event?.reason, more],
      ['src', 'a', 'a lock of a expired', []],
    );
    await rig.pass(10);
    await until(() => rig.events_('lock_expired').length === 2);
    assert.deepEqual(rig.storage.db.prepare('SELECT * FROM lock').all(), []);
  });

  test('a lock that expired while no engine ran is ended at the start', async () => {
    await rig.acquire('a', 'src', 10);
    rig.clock.advance(11 * 60_000);
    rig.locks.start();
    await until(() => rig.events_('lock_expired').length === 1);
  });

  test('a lock check shows the locks on a path, above it and below', async () => {
    await rig.acquire('a', 'src');
    await rig.acquire('b', 'docs/x');
    const around = (path: string) => rig.locks.around(path).map((lock) => lock.path);
    assert.deepEqual(around('src/deep/file'), ['src']);
    assert.deepEqual(around('docs'), ['docs/x']);
    assert.deepEqual(around('.'), ['docs/x', 'src']);
    assert.deepEqual(around('doc'), []);
    assert.equal(rig.locks.holderOver('src/a', null)?.holder, 'a');
    assert.equal(rig.locks.holderOver('src/a', 'a'), null);
    assert.equal(rig.locks.holderOver('docs', null), null);
  });

  test('a lock ends with its session, and an ended session gets none', async () => {
    await rig.acquire('a', 'src');
    await rig.acquire('a', 'docs');
    await rig.acquire('b', 'test');
    await rig.storage.write(() => rig.locks.releaseAll('a', 'its session has ended'));
    assert.deepEqual(held(), ['test b']);
    assert.deepEqual(
      rig
        .events_('lock_released')
        .map(({ path, holder, reason }) => [path, holder, reason])
        .sort(),
      [
        ['docs', 'a', 'its session has ended'],
        ['src', 'a', 'its session has ended'],
      ],
    );
    rig.ended.add('a');
    await assert.rejects(rig.acquire('a', 'src'), refusal('conflict', /session a has ended/));
  });

  test('a lock raced for by 32 callers has one holder, and the others learn who it is', async () => {
    const paths = ['src', 'src/x', '.', 'src/x/y'];
    const tries = await Promise.allSettled(
      Array.from({ length: 32 }, (_, index) => rig.acquire(`p-${index}`, paths[index % 4] ?? 'src')),
    );
    assert.equal(tries.filter(({ status }) => status === 'fulfilled').length, 1);
    const [lock, ...none] = rig.locks.around();
    assert.deepEqual(none, []);
    for (const each of tries)
      if (each.status === 'rejected') assert.equal(each.reason.data.held_by, lock?.holder);
  });
});

describe('the tools for locks', () => {
  let ws: TestWorkspace;
  let here: EngineHere;
  let session: string;
  const worker = (sessionId: string): Partial<Caller> => ({ seat: 'worker', sessionId, via: 'tool' });
  before(async () => {
    ws = await makeWorkspace();
    here = await engineHere(ws, { workerCap: 0 });
    await here.join('ada', ...Array.from({ length: 32 }, (_, index) => `p-${index}`));
    const { task_id } = await here.call('task.add', { title: 'a task', agent: 'scripted' });
    const ran = await here.call('task.run', { id: task_id });
    session = ran.session.session_id;
  });
  after(async () => {
    await here?.close();
    await ws.close();
  });

  test('the tools return holder, path, expiry and fence', async () => {
    const path = 'app/main.txt';
    const lock = await here.call('lock.acquire', { holder: session, path: 'app' }, worker(session));
    assert.deepEqual(Object.keys(lock).sort(), ['expires_at', 'fence', 'holder', 'path']);
    assert.deepEqual(await here.call('lock.check', { holder: session, path }, worker(session)), {
      ...lock,
      path,
      covered_by: 'app',
    });
    const status = await here.call('lock.status', { path });
    assert.deepEqual(await here.call('lock.status'), status);
    assert.deepEqual(await here.call('lock.status', { path: '' }), status);
    assert.deepEqual(Object.keys(status.locks[0] ?? {}).sort(), [
      'acquired_at',
      'expires_at',
      'fence',
      'holder',
      'path',
    ]);
    assert.deepEqual(await here.call('lock.status', { path: 'README.md' }), { locks: [] });
    assert.deepEqual(await here.call('lock.release', { holder: session, path: './app/' }, worker(session)), {
      path: 'app',
      released: true,
    });
  });

  test('the tools deny a caller without the lock, and name its holder', async () => {
    await here.call('lock.acquire', { holder: 'ada', path: 'app' });
    await assert.rejects(
      here.call('lock.check', { holder: session, path: 'app/main.txt' }, worker(session)),
      (error: SvcError) => {
        assert.match(
          error.message,
          new RegExp(`^${session} holds no lock on app/main.txt: ada holds app until `),
        );
        assert.deepEqual(
          [error.code, error.data.path, error.data.held_by],
          ['lock_denied', 'app/main.txt', 'ada'],
        );
        assert.equal(typeof error.data.expires_at, 'string');
        return true;
      },
    );
    await here.call('lock.release', { holder: 'ada', path: 'app' });
    await assert.rejects(here.call('lock.check', { holder: 'ada', path: 'app' }), (error: SvcError) => {
      assert.match(error.message, /no one does/);
      assert.match(String(error.hint), /svc lock acquire/);
      return true;
    });
  });

  test('the tools let a worker act for itself only, and the Chair for everyone', async () => {
    for (const [name, input] of [
      ['lock.acquire', { holder: 'ada', path: 'app' }],
      ['lock.check', { holder: 'ada', path: 'app' }],
      ['lock.release', { holder: 'ada', path: 'app' }],
      ['lock.over', { paths: ['app'], except: 'ada' }],
    ] as const) {
      await assert.rejects(here.callByName(name, input, worker(session)), refusal('holder_mismatch'), name);
    }
    await here.call('lock.acquire', { holder: session, path: 'app' }, worker(session));
    await here.call('lock.release', { holder: session, path: 'app' });
  });

  test('the tools release the locks of an ended session, in the transaction of its end', async () => {
    await here.call('lock.acquire', { holder: session, path: 'app' }, worker(session));
    const { task_id } = (await here.call('task.list')).tasks[0] ?? assert.fail();
    await here.call('task.cancel', { id: task_id });
    assert.deepEqual(await here.call('lock.status'), { locks: [] });
    await assert.rejects(here.call('lock.acquire', { holder: session, path: 'app' }), refusal('conflict'));
    const timeline = here.engine.events.listOfTask(task_id).map(({ kind }) => kind);
    assert.ok(timeline.includes('lock_acquired') && timeline.includes('lock_released'), timeline.join());
  });

  test('the tools skip outside paths in a check of many', async () => {
    await here.call('lock.acquire', { holder: 'ada', path: 'app' });
    const over = await here.call('lock.over', {
      paths: ['README.md', '/etc/passwd', 'app/main.txt'],
    });
    assert.deepEqual(
      over.map(({ path, lock }) => [path, lock.path, lock.holder]),
      [['app/main.txt', 'app', 'ada']],
    );
    assert.deepEqual(await here.call('lock.over', { paths: ['app'], except: 'ada' }), []);
    await here.call('lock.release', { holder: 'ada', path: 'app' });
  });

  test('the tools refuse an invalid time or holder', async () => {
    for (const input of [
      { holder: 'ada', path: 'app', ttl_min: 0 },
      { holder: 'ada', path: 'app', ttl_min: 1441 },
      { holder: '', path: 'app' },
      { holder: 'a\u001b[2J', path: 'app' },
      { holder: '*', path: 'app' },
    ])
      await assert.rejects(here.call('lock.acquire', input), refusal('fields_invalid'));
  });

  test('the tools pick one winner of 32 simultaneous calls, and the others learn of it', async () => {
    const tries = await Promise.allSettled(
      Array.from({ length: 32 }, (_, index) =>
        here.call('lock.acquire', { holder: `p-${index}`, path: 'app' }),
      ),
    );
    const {
      locks: [lock],
    } = await here.call('lock.status');
    assert.equal(tries.filter(({ status }) => status === 'fulfilled').length, 1);
    for (const each of tries) {
      if (each.status === 'rejected')
        assert.deepEqual([each.reason.code, each.reason.data.held_by], ['lock_held', lock?.holder]);
    }
  });

  test('the tools have short descriptions that explain each parameter', () => {
    const names = /^(?:lock\.(?:acquire|check|release|status)|task\.claim|task\.release)$/;
    const all: readonly Operation[] = here.engine.operations.all;
    const tools = all.filter(isTool).filter(({ name }) => names.test(name));
    assert.equal(tools.length, 6);
    for (const each of tools) {
      const text = JSON.stringify(describeTool(each));
      assert.ok(text.length < 1300, `${each.name}: ${text.length}`);
      const { properties = {} } = describeTool(each).inputSchema as {
        properties?: Record<string, { description?: string }>;
      };
      for (const [name, schema] of Object.entries(properties))
        assert.ok(schema.description, `${each.name}.${name}`);
    }
  });
});
