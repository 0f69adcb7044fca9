import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { decideSeat } from '../../../../../engine/core/access/seats.ts';
import { type ProcessEntry, type ProcessTable, platform } from '../../../../../engine/core/platform/index.ts';
import { createLinuxProcessTable } from '../../../../../engine/core/platform/linux/process-table.ts';
import type { EngineProcess } from '../../../../../engine/core/workspace/daemon-record.ts';
import { MARK } from '../../../../../engine/workers/runner/processes/marks.ts';
import { traceAncestors } from '../../../../../engine/workers/runner/processes/trace.ts';
import { temporaryFolder } from '../../../../support/workspaces/git.ts';

interface Row {
  ppid: number;
  sid?: number;
  isKnown?: true;
  login?: string;
  isReaper?: true;
  start?: number;
  mark?: string;
  engine?: true;
  cgroup?: string;
  isNested?: true;
}

/** A process table that no test could create for real: other users, reused pids. */
function standing(
  table: Record<number, Row>,
  pid: number,
  {
    start = '1',
    hides = false,
    looks = [] as (() => void)[],
    lostEngine = null as EngineProcess | null,
  } = {},
) {
  const processes: ProcessTable = {
    ...platform.processes,
    read(at) {
      const row = table[at];
      const entry: ProcessEntry | 'gone' =
        row === undefined
          ? 'gone'
          : {
              pid: at,
              ppid: row.ppid,
              pgid: at,
              sid: row.sid ?? at,
              zombie: false,
              start: String(row.start ?? 1),
            };
      looks.shift()?.();
      return entry;
    },
    list: async () => null,
    readVariable(at, name) {
      const { mark = null, engine } = table[at] ?? {};
      return name === MARK ? mark : engine === true ? 'engine' : null;
    },
    readLogin: (at) => table[at]?.login ?? null,
    adoptsOrphans: (at) => at === 1 || table[at]?.isReaper === true,
    findPlace: (at) => {
      const { cgroup = null, isNested = false } = table[at] ?? {};
      return { cgroup, isNested };
    },
  };
  return traceAncestors(
    { pid, pidStart: start },
    {
      table: processes,
      enginePid: 50,
      runsOfCgroup: (path) => (path === '/run' ? ['r-9'] : []),
      isEngineCgroup: (path) => path === '/engine',
      lostEngine,
      isKnownSession: ({ pid: at }) => table[at]?.isKnown === true,
      hidesOthers: () => hides,
    },
  );
}

describe('facts about a caller', () => {
  test('a trace up to init, or to the top of the namespace, is enough for a person', () => {
    assert.deepEqual(standing({ 1: { ppid: 0 }, 7: { ppid: 1 }, 8: { ppid: 7 } }, 8), {
      runs: [],
      isOfEngine: false,
      doubt: null,
    });
    assert.deepEqual(standing({ 8: { ppid: 0 } }, 8), { runs: [], isOfEngine: false, doubt: null });
    assert.deepEqual(standing({ 50: { ppid: 3 } }, 50), { runs: [], isOfEngine: false, doubt: null });
  });

  test('runs are found on every process above the caller, by mark and by cgroup', () => {
    const table = {
      1: { ppid: 0 },
      6: { ppid: 1, mark: 'r-1' },
      7: { ppid: 6, cgroup: '/run' },
      8: { ppid: 7 },
    };
    assert.deepEqual(standing(table, 8).runs, ['r-9', 'r-1']);
  });

  test('each missing fact is a doubt', () => {
    const base = { 1: { ppid: 0 }, 50: { ppid: 1 } };
    for (const [row, doubt] of [
      [{ ppid: 1, engine: true }, /the engine itself/],
      [{ ppid: 50 }, /the engine itself/],
      [{ ppid: 1, isNested: true }, /namespace/],
      [{ ppid: 77 }, /process 77 above it cannot be inspected/],
      [{ ppid: 1, start: 2 }, /has ended/],
    ] as const)
      assert.match(standing({ ...base, 8: row }, 8).doubt ?? '', doubt);
    assert.match(standing(base, 8).doubt ?? '', /has ended/);
    // A parent that is younger than its child has only reused the real parent's pid.
    assert.match(
      standing({ 1: { ppid: 0 }, 7: { ppid: 1, start: 9 }, 8: { ppid: 7 } }, 8).doubt ?? '',
      /process 7/,
    );
    const endless = Object.fromEntries(
      Array.from({ length: 400 }, (_, at) => [at + 100, { ppid: at + 101 }]),
    );
    assert.match(standing({ ...endless }, 100).doubt ?? '', /more than 256/);
  });

  test('a parent of another user is the top where such processes are hidden', () => {
    assert.equal(standing({ 8: { ppid: 77 } }, 8, { hides: true }).doubt, null);
    const folder = temporaryFolder();
    const hides = (line: string): boolean => {
      mkdirSync(join(folder, 'self'), { recursive: true });
      writeFileSync(join(folder, 'self/mounts'), `${line}\n`);
      return createLinuxProcessTable(folder).hidesOthers();
    };
    assert.equal(hides('proc /proc proc rw,nosuid,hidepid=2 0 0'), true);
    assert.equal(hides('proc /proc proc rw,hidepid=invisible,gid=4 0 0'), true);
    assert.equal(hides('proc /proc proc rw,hidepid=0 0 0'), false);
    assert.equal(hides('proc /proc proc rw,relatime 0 0'), false);
    assert.equal(hides('proc /elsewhere/proc proc rw,hidepid=2 0 0'), false);
  });

  test('a parent that ends during the trace is replaced by the next one', () => {
    const table: Record<number, Row> = { 1: { ppid: 0 }, 7: { ppid: 1 }, 8: { ppid: 7 } };
    const ends = () => {
      delete table[7];
      table[8] = { ppid: 1 };
    };
    assert.equal(standing(table, 8, { looks: [ends] }).doubt, null);
  });
});

describe('the seat of a caller', () => {
  const deps = {
    sessionOfRun: (run: string) => (run === 'r-1' ? { sessionId: 's-1' } : null),
    isWorkerSession: (id: string) => id === 's-1',
    isPlainName: (name: string) => name === 'alice',
  };
  const none = { runs: [], doubt: null, runId: null, session: null };
  test("the Chair's seat follows from facts alone, and no claim raises it", () => {
    assert.equal(decideSeat(none, deps).seat, 'chair');
    assert.deepEqual(decideSeat({ ...none, doubt: 'why' }, deps), {
      seat: 'plain',
      sessionId: null,
      reason: 'why',
    });
    for (const said of [{ runs: ['other'] }, { runId: 'other' }, { session: 'alice' }])
      assert.equal(decideSeat({ ...none, ...said }, deps).seat, 'plain');
    assert.throws(() => decideSeat({ ...none, session: 'chair-1' }, deps), { code: 'fields_invalid' });
    for (const said of [{ runs: ['x', 'r-1'] }, { runId: 'r-1' }, { session: 's-1' }])
      assert.equal(decideSeat({ ...none, doubt: 'why', ...said }, deps).seat, 'worker');
  });
});

describe('a caller after a killed engine', () => {
  const lostEngine: EngineProcess = { start: '100', boot: 'b', login: '3' };
  const isPersons = (table: Record<number, Row>, start = '200') =>
    standing({ 1: { ppid: 0, start: 0 }, ...table }, 9, { lostEngine, start }).doubt === null;

  test('a caller is the person if it descends from a program that is older than the engine', () => {
    assert.equal(isPersons({ 8: { ppid: 1, start: 50 }, 9: { ppid: 8, start: 200 } }), true);
  });
  test('a caller is the person if its session is older than the engine, even when everything above it has ended', () => {
    assert.equal(isPersons({ 5: { ppid: 1, start: 60 }, 9: { ppid: 1, sid: 5, start: 200 } }), true);
  });
  test('a caller is the person if a person has used svc from its session before', () => {
    const table = { 8: { ppid: 1, start: 150, isKnown: true }, 9: { ppid: 8, sid: 8, start: 200 } } as const;
    assert.equal(isPersons(table), true);
  });
  test('a caller is the person if it comes from outside this pid namespace', () => {
    assert.equal(isPersons({ 9: { ppid: 0, start: 200 } }), true);
  });
  test('a caller is the person if it belongs to another login than the engine', () => {
    assert.equal(isPersons({ 9: { ppid: 1, start: 200, login: '4' } }), true);
  });
  test("an orphan of the engine's login is not the person, in any session", () => {
    assert.equal(isPersons({ 9: { ppid: 1, start: 200, login: '3' } }), false);
    assert.equal(isPersons({ 8: { ppid: 1, start: 150 }, 9: { ppid: 8, sid: 8, start: 200 } }), false);
  });
  test('the age of a service manager that adopts orphans proves nothing', () => {
    assert.equal(isPersons({ 8: { ppid: 1, start: 50, isReaper: true }, 9: { ppid: 8, start: 200 } }), false);
  });
  test('a caller in the cgroup of an engine is not the person', () => {
    const table = { 8: { ppid: 1, start: 50 }, 9: { ppid: 8, start: 200, cgroup: '/engine' } };
    assert.equal(isPersons(table), false);
  });
});
