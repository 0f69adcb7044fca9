import assert from 'node:assert/strict';
import { type ChildProcess, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, before, describe, test } from 'node:test';
import Database from 'better-sqlite3';
import { type FieldNames, renameFields } from '../../engine/core/api/tool.ts';
import { type Clock, systemClock } from '../../engine/core/base/clock.ts';
import { hostEngine, openEngine } from '../../engine/index.ts';
import { openStorage } from '../../engine/storage/index.ts';
import { isRunning } from '../support/processes/processes.ts';
import { until } from '../support/wait.ts';
import { temporaryFolder } from '../support/workspaces/git.ts';
import {
  listRecordings,
  type Restored,
  readRecording,
  restoreRecording,
} from '../support/workspaces/recording.ts';
import { SVC } from '../support/workspaces/workspace.ts';

/** Fields that change with the clock, with failing deliveries, or once a worktree was looked at. */
const MOVING = ['log_written_at', 'attempts', 'next_at', 'last_error', 'reasons', 'committed'];

/** Fields with another name since the recording, by the first word of a command. */
const RENAMED: Readonly<Record<string, FieldNames>> = {
  ask: { ask_id: 'id' },
  msg: { message_id: 'id' },
};

/**
 * Checks that everything from the recording is still there. New keys are allowed; lists have the same entries in the
 * same order.
 */
function assertKept(now: unknown, said: unknown, at: string): void {
  if (typeof said !== 'object' || said === null) {
    assert.equal(now, said, at);
    return;
  }
  assert.ok(typeof now === 'object' && now !== null, `${at} is ${JSON.stringify(now)}`);
  if (Array.isArray(said)) assert.equal((now as unknown[]).length, said.length, `number of ${at}`);
  for (const [key, value] of Object.entries(said))
    if (!MOVING.includes(key)) assertKept((now as Record<string, unknown>)[key], value, `${at}.${key}`);
}

interface ShownSession {
  session_id: string;
  state: string;
  pid: number | null;
  runs: number;
  exit_code: number | null;
  failure: { code: string } | null;
}

const schemaOf = (db: Database.Database): unknown[] =>
  db.prepare('SELECT type, name, sql FROM sqlite_master ORDER BY type, name').all();

const CHAIR = { seat: 'chair', actor: 'ada', via: 'cli', sessionId: null, project: null, env: {} } as const;

for (const version of listRecordings()) {
  describe(`the data that svc ${version} left when it was killed`, () => {
    let left: Restored;
    let worker: ChildProcess | undefined;
    let close = async (): Promise<void> => undefined;

    /** The engine in this process, at the time of the recording, open to command lines. */
    async function takeOver(): Promise<void> {
      const shift = Date.now() - left.recording.at;
      const clock: Clock = { ...systemClock, now: () => Date.now() - shift };
      const engine = await openEngine({
        file: join(left.root, 'svc.yaml'),
        env: left.env,
        svc: [process.execPath, SVC],
        workerCap: 1,
        graceMs: 300,
        clock,
      });
      const host = await hostEngine(engine);
      close = async () => {
        await engine.operations.call('engine.stop', { stop_workers: true }, CHAIR);
        await host.closed;
      };
    }
    async function release(): Promise<void> {
      await close();
      close = async () => undefined;
      if (worker?.pid !== undefined && isRunning(worker.pid)) process.kill(-worker.pid, 'SIGKILL');
      worker = undefined;
      left.remove();
    }
    const showSession = (id: string) => left.ask(`worker show ${id}`) as Promise<ShownSession>;
    const ended = (id: string) =>
      until(async () => {
        const session = await showSession(id);
        return session.state === 'ended' && session;
      }, `${id} to end`);
    const readLog = (id: string): string => readFileSync(join(left.root, '.svc/agents', id, 'log'), 'utf8');
    const titleOf = (title: string): string => {
      const sessions = left.recording.answers['worker list --all'] as {
        session_id: string;
        title: string;
      }[];
      return sessions.find((session) => session.title === title)?.session_id ?? assert.fail(title);
    };

    describe('everything is listed as before', () => {
      before(async () => {
        left = restoreRecording(version);
        worker = await left.startWorker();
        await takeOver();
      });
      after(release);

      for (const line of Object.keys(readRecording(version).answers))
        test(`svc ${line}`, async () => {
          const said = left.recording.answers[line] as ShownSession[];
          // The worker is the same one, with another pid.
          if (line.startsWith('worker list'))
            for (const session of said)
              if (session.session_id === left.recording.worker.session) session.pid = worker?.pid ?? null;
          assertKept(await left.ask(line), renameFields(said, RENAMED[line.split(' ')[0] ?? ''] ?? {}), line);
        });

      test('svc.yaml is read, with its consents; keys without one wait', async () => {
        const check = (await left.ask('status')) as { consent: string; consent_pending: string[] };
        assert.deepEqual([check.consent, check.consent_pending], ['changed', ['agents.cmds']]);
        assert.match(readFileSync(join(left.root, 'svc.yaml'), 'utf8'), /its comments stay/);
      });

      test('the database has the schema of a new one, and is intact', () => {
        const folder = temporaryFolder();
        const fresh = openStorage({ path: join(folder, 'svc.db') });
        const db = new Database(left.database, { readonly: true });
        assert.deepEqual(schemaOf(db), schemaOf(fresh.db));
        assert.equal(
          db.pragma('user_version', { simple: true }),
          fresh.db.pragma('user_version', { simple: true }),
        );
        assert.equal(db.pragma('integrity_check', { simple: true }), 'ok');
        assert.deepEqual(db.pragma('foreign_key_check'), []);
        db.close();
        fresh.close();
      });
    });

    describe('work continues', () => {
      afterEach(release);

      test('a running worker is adopted and its end is recorded; then waiting and paused work has its turn', async () => {
        left = restoreRecording(version);
        worker = await left.startWorker();
        await takeOver();
        const { session } = left.recording.worker;
        assert.equal((await showSession(session)).state, 'running');
        writeFileSync(left.gate, '');
        const over = await ended(session);
        assert.deepEqual([over.failure, over.exit_code, over.runs], [null, 0, 1]);
        assert.equal(readLog(session).match(/at the gate/g)?.length, 1);
        const waited = await ended(titleOf('The waiting one'));
        assert.deepEqual([waited.failure, waited.runs], [null, 1]);
        const paused = titleOf('The paused one');
        assert.equal((await showSession(paused)).state, 'queued');
        await left.ask(`worker resume ${paused}`);
        assert.equal((await ended(paused)).runs, 2);
        assert.match(
          readFileSync(join(left.root, '.svc/agents/worktrees', paused, 'half.md'), 'utf8'),
          /^half$/m,
        );
      });

      test('a worker that the dead engine had not yet recorded is found, and not started again', async () => {
        left = restoreRecording(version);
        worker = await left.startWorker(false);
        await takeOver();
        const { session } = left.recording.worker;
        await until(async () => (await showSession(session)).state === 'running', 'it to be found');
        writeFileSync(left.gate, '');
        assert.deepEqual([(await ended(session)).failure, (await showSession(session)).runs], [null, 1]);
        assert.equal(readLog(session).match(/at the gate/g)?.length, 1);
      });

      test('a worker that ended while no engine ran has its reported end', async () => {
        left = restoreRecording(version);
        worker = await left.startWorker();
        writeFileSync(left.gate, '');
        const { pid } = worker;
        await until(() => !isRunning(pid ?? 0), 'it to end');
        await takeOver();
        const { failure, exit_code, runs } = await ended(left.recording.worker.session);
        assert.deepEqual([failure, exit_code, runs], [null, 0, 1]);
      });

      test('a worker that is gone without a report is lost, and not started again', async () => {
        left = restoreRecording(version);
        await takeOver();
        const { session } = left.recording.worker;
        assert.equal((await ended(session)).failure?.code, 'lost');
        assert.equal(readLog(session).match(/at the gate/g)?.length, 1);
      });

      test('the program starts its own engine there, next to the record of the dead one', () => {
        left = restoreRecording(version);
        const run = (...words: string[]) =>
          spawnSync(process.execPath, [SVC, ...words], { cwd: left.root, env: left.env, encoding: 'utf8' });
        close = async () => void run('down', '--stop-workers');
        const up = run('up', '--json');
        assert.equal(up.status, 0, up.stderr);
        const tasks = JSON.parse(run('task', 'list', '--json').stdout) as { task_id: string }[];
        const before = left.recording.answers['task list'] as { task_id: string }[];
        assert.deepEqual(
          tasks.map(({ task_id }) => task_id),
          before.map(({ task_id }) => task_id),
        );
        assert.ok(existsSync(join(left.root, '.svc/daemon.json')));
        assert.equal(run('down', '--stop-workers').status, 0);
      });
    });
  });
}
