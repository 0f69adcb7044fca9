import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { createLogMirror } from '../../engine/fleet/log-mirror.ts';
import type { Link } from '../../engine/fleet/wire/index.ts';
import { temporaryFolder } from '../support/workspaces/git.ts';

const SESSION = 's-1';
const LINES = 300_000;
const LINE = `${'a line of an agent '.repeat(4)}\n`;

/** The log of a session on a machine, which its process reads. */
export interface SentLog {
  /** The folder of the machine's sessions, for the variable `BENCH_LOGS` of that process. */
  folder: string;
  /** Copies the log over a link, and returns the lines per second until all of it is on disk here. */
  measure(link: Pick<Link, 'openStream'>): Promise<number>;
  /** Returns what so many MB per second are in lines. */
  countLines(rate: number): number;
  remove(): void;
}

export function writeSentLog(): SentLog {
  const folder = temporaryFolder('svc-bench-logs-');
  mkdirSync(join(folder, SESSION));
  const sent = Buffer.from(LINE.repeat(LINES));
  writeFileSync(join(folder, SESSION, 'log'), sent, { mode: 0o600 });
  return {
    folder,
    async measure(link) {
      const agentsDir = temporaryFolder('svc-bench-copy-');
      const mirror = createLogMirror(link, { agentsDir, log: pino({ enabled: false }) });
      const begin = performance.now();
      mirror.follow(SESSION);
      await mirror.finish(SESSION, sent.length);
      const seconds = (performance.now() - begin) / 1000;
      assert.ok(readFileSync(join(agentsDir, SESSION, 'log')).equals(sent));
      rmSync(agentsDir, { recursive: true });
      return LINES / seconds;
    },
    countLines: (rate) => (rate * 1e6) / LINE.length,
    remove: () => rmSync(folder, { recursive: true }),
  };
}
