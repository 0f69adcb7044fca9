import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { createStats, type Stats } from '../../../engine/board/stats/index.ts';
import { fakeClock } from '../../support/clock.ts';
import { readCallStatistics } from '../../support/gateway/call-statistics.ts';
import { temporaryFolder } from '../../support/workspaces/git.ts';
import { openSpine } from '../../support/workspaces/spine.ts';
import { fillYear, SCAN } from '../stats.ts';
import type { GuardedRig } from './operation.ts';

const TASKS = 10_000;

/** The statistics of a year, from a database without an engine. */
export interface StatsRig {
  stats: Stats;
  scan(): unknown;
  close(): void;
  counted: number;
}

/** `svc stats`, compared with a scan of its tables. */
export const statsRig: GuardedRig<StatsRig> = {
  async open() {
    const folder = temporaryFolder('svc-bench-');
    const clock = fakeClock();
    const { storage, events } = openSpine(join(folder, 'svc.db'), clock);
    fillYear(storage.db, clock.now(), TASKS);
    const scan = storage.db.prepare(SCAN);
    return {
      stats: createStats({ storage, events, clock, books: readCallStatistics(folder), cap: 4 }),
      scan: () => scan.get(),
      close() {
        storage.close();
        rmSync(folder, { recursive: true, force: true });
      },
      counted: 0,
    };
  },
  async close(rig) {
    rig.close();
  },
  operations: {
    'stats of 10,000 tasks': {
      calls: 4,
      call(rig) {
        // Another start each time, so that no cached answer is used.
        rig.counted += 1;
        return rig.stats.read({ by: 'agent', from: rig.counted });
      },
      async reference({ scan }) {
        scan();
      },
    },
  },
};
