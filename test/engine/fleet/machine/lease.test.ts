import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { pino } from 'pino';
import { openLease, readUptimeMs } from '../../../../engine/fleet/machine/lease.ts';
import {
  listRecordedRuns,
  type RunRecord,
  readRunRecord,
  writeRunRecord,
} from '../../../../engine/fleet/machine/run-records.ts';
import { watchRuns } from '../../../../engine/fleet/machine/watch-runs.ts';
import { temporaryFolder } from '../../../support/workspaces/git.ts';

const GRACE_MS = 5000;

describe('the lease of a machine', () => {
  it('a lease is over ten seconds and the grace before the board gives its runs up, counted from the sending', () => {
    let now = 100_000;
    const lease = openLease(temporaryFolder('svc-lease-'), GRACE_MS, { readUptime: () => now, boot: 'a' });
    assert.deepEqual([lease.isOver(), lease.read()], [false, null], 'before the first answer');
    lease.renew(60_000, 99_000);
    now = 99_000 + 44_999;
    assert.equal(lease.isOver(), false);
    now += 1;
    assert.equal(lease.isOver(), true);
    lease.renew(60_000, now);
    assert.deepEqual([lease.isOver(), lease.read()], [false, 60_000]);
    lease.renew(null, now);
    now += 10_000_000;
    assert.equal(lease.isOver(), false, 'without a limit');
  });

  it('a lease outlives the runner, and not the start of the machine', () => {
    const folder = temporaryFolder('svc-lease-');
    const now = (): number => 200_000;
    openLease(folder, GRACE_MS, { readUptime: now, boot: 'a' }).renew(60_000, 100_000);
    assert.equal(openLease(folder, GRACE_MS, { readUptime: now, boot: 'a' }).isOver(), true);
    assert.equal(openLease(folder, GRACE_MS, { readUptime: now, boot: 'b' }).isOver(), false);
    writeFileSync(join(folder, 'lease.json'), '{"leaseMs":');
    assert.equal(openLease(folder, GRACE_MS, { readUptime: now, boot: 'a' }).isOver(), false);
  });

  it('a lease is not written while runs may continue for ever', () => {
    const folder = temporaryFolder('svc-lease-');
    openLease(folder, GRACE_MS).renew(null, 1);
    assert.equal(existsSync(join(folder, 'lease.json')), false);
  });
});

describe('the runs of a machine without its board', () => {
  function makeRuns(...records: Partial<RunRecord>[]) {
    const ended = new Set<string>();
    const agentsDir = temporaryFolder('svc-runs-');
    const runs = records.map((record, at) => {
      const run = { sessionId: `s-${at + 1}`, runId: randomUUID() };
      mkdirSync(join(agentsDir, run.sessionId, run.runId), { recursive: true });
      writeRunRecord(agentsDir, run, {
        ...{ profile: null, gatewayPort: null, limitAt: null, endedBy: null },
        ...record,
      });
      return run;
    });
    assert.equal(listRecordedRuns(agentsDir).length, runs.length);
    const stopped: string[] = [];
    let isOver = false;
    const watch = watchRuns({
      runner: {
        async stop({ sessionId }, graceMs) {
          stopped.push(`${sessionId} ${graceMs}`);
        },
      },
      hasEnded: ({ runId }) => ended.has(runId),
      ...{ agentsDir, graceMs: GRACE_MS, log: pino({ enabled: false }) },
      lease: { isOver: () => isOver },
    });
    return {
      ...{ agentsDir, runs, stopped, watch, ended },
      endLease() {
        isOver = true;
      },
    };
  }

  it('runs are ended once at the end of the lease, with the reason on disk', (t) => {
    const { agentsDir, runs, stopped, watch, endLease } = makeRuns({}, { endedBy: 'timeout' });
    t.after(watch.close);
    watch.look();
    assert.deepEqual(stopped, []);
    endLease();
    watch.look();
    watch.look();
    assert.deepEqual(stopped, ['s-1 5000']);
    assert.equal(readRunRecord(agentsDir, runs[0]!)?.endedBy, 'lease');
  });

  it('a run that has ended by itself and waits for the board keeps its own end', (t) => {
    const { agentsDir, runs, watch, ended, endLease } = makeRuns({}, {});
    t.after(watch.close);
    ended.add(runs[0]!.runId);
    endLease();
    watch.look();
    assert.deepEqual(
      runs.map((run) => readRunRecord(agentsDir, run)?.endedBy),
      [null, 'lease'],
    );
  });

  it('runs are ended at their own limit, and all at once if they were given up', (t) => {
    const { agentsDir, runs, stopped, watch } = makeRuns(
      { limitAt: readUptimeMs() - 1 },
      { limitAt: readUptimeMs() + 1_000_000 },
    );
    t.after(watch.close);
    watch.look();
    assert.deepEqual(stopped, ['s-1 5000']);
    assert.equal(readRunRecord(agentsDir, runs[0]!)?.endedBy, 'timeout');
    watch.endAll(0);
    assert.deepEqual(stopped, ['s-1 5000', 's-2 0']);
  });
});
