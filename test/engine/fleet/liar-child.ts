import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { asSvcError } from '../../../engine/core/base/errors.ts';
import { version } from '../../../engine/core/base/own-package.ts';
import {
  FLEET_PROTOCOL,
  joinStreams,
  type Link,
  type LinkHandlers,
  openLink,
} from '../../../engine/fleet/wire/index.ts';
import { createTransfers } from '../../../engine/workers/runner/worktrees/transfer/index.ts';
import { gitEnvironment } from '../../support/workspaces/git.ts';

// `svc` of a machine whose runner lies. The subject of its lies is in the file `lie` of its home; the last words that it heard
// go to the file `heard`.

export interface Lie {
  /** Fields that replace those of an honest answer, by call. */
  answers?: Record<string, Record<string, unknown>>;
  /** The facts that it reports about itself. */
  about?: unknown;
  /** The end of the session's branch that it names. */
  tip?: string;
  /** The objects that it leaves out of the pack. */
  without?: string[];
  /** How many bytes of the pack it sends before it ends. */
  cut?: number;
  /** Reports to send, each of about 1 MB. */
  reports?: number;
  /** The log that it sends, as base64. */
  log?: string;
  /** Runs for which it opens connections: name of the stream, and run; null is its own. */
  speaksFor?: [name: string, run: unknown][];
}

const home = process.env.HOME ?? '';
const readLie = (): Lie => JSON.parse(readFileSync(join(home, 'lie'), 'utf8'));
const hear = (what: unknown): void => appendFileSync(join(home, 'heard'), `${JSON.stringify(what)}\n`);

const NO_FACTS = {
  ...{ isStream: false, agentSession: null, model: null, usage: null, conversation: null },
  ...{ activity: null, toolCalls: 0, plan: [], end: null, trouble: null },
};

let link: Link | null = null;

/** Opens connections for runs, and writes what the board answered to each. */
async function speakFor(lie: Lie, own: unknown): Promise<void> {
  for (const [name, run] of lie.speaksFor ?? [])
    try {
      const stream = await link!.openStream(name, run ?? own, 'calls');
      stream.on('error', () => undefined).destroy();
      hear([name, 'accepted']);
    } catch (error) {
      hear([name, asSvcError(error).code]);
    }
}

interface Order {
  sessionId: string;
  run: unknown;
  origin: { repository: string; branch: string; base: string | null; baseCommit: string } | null;
}

const honest: Record<string, (order: Order, report: (data: unknown) => void) => unknown> = {
  place({ origin }) {
    const { repository, branch, base, baseCommit } = origin!;
    const folder = `/lies/${branch}`;
    const placement = {
      runner: null,
      repository,
      worktree: folder,
      cwd: folder,
      branch,
      base,
      baseCommit,
      port: null,
    };
    return { placement: { ...placement, ...readLie().answers?.placement }, outputFrom: 0 };
  },
  prepare: () => ({ svc: null, outputFrom: null }),
  start: () => ({ pid: 4_000_000, pidStart: '1', containment: null }),
  async watch({ run }, report) {
    const lie = readLie();
    await speakFor(lie, run);
    for (let at = 0; at < (lie.reports ?? 0); )
      try {
        report({ facts: { ...NO_FACTS, activity: 'x'.repeat(1_000_000) }, quietMs: 0 });
        at += 1;
      } catch {
        // Too much waits to be sent.
        await delay(5);
      }
    // Its answer needs room as well.
    if (lie.reports !== undefined) await delay(1000);
    return { code: 0, signal: null };
  },
  collect: () => ({ facts: NO_FACTS, hasSpoken: true, hasLostSession: false, logEnd: 0 }),
  keep: () => ({ left: [] }),
  findTip: () => readLie().tip ?? null,
  discard: () => ({ logEnd: 0 }),
  clear: () => [],
  tips: () => [],
  stop: () => null,
  adopt: () => ({ state: 'not_started' }),
  probe: (order) => (order as unknown as { programs: string[] }).programs,
};

async function sendWork(stream: Duplex, known: string[]): Promise<void> {
  const { tip = '', without = known, cut } = readLie();
  const transfers = createTransfers({ env: gitEnvironment(), agentsDir: null });
  const range = { wanted: [tip], known: without };
  if (cut === undefined) return transfers.sendCommits(join(home, 'mirror'), range, stream);
  const { PassThrough } = await import('node:stream');
  const all = new PassThrough();
  void transfers.sendCommits(join(home, 'mirror'), range, all).catch(() => undefined);
  let rest = cut;
  for await (const chunk of all) {
    stream.write((chunk as Buffer).subarray(0, Math.max(0, rest)));
    rest -= (chunk as Buffer).length;
  }
  stream.end();
}

const handlers: LinkHandlers = {
  async onCall(method, input, { report }) {
    const answer = (await honest[method]?.(input as Order, report)) ?? null;
    const lie = readLie().answers?.[method];
    return lie === undefined ? answer : { ...(answer as object), ...lie };
  },
  onStream: (name, data) => (stream) => {
    stream.on('error', () => stream.destroy()).resume();
    if (name === 'base') stream.once('end', () => stream.end('received'));
    else if (name === 'work')
      void sendWork(stream, (data as { known: string[] }).known).catch(() => stream.destroy());
    else {
      const { log } = readLie();
      hear('asked for a log');
      if (log !== undefined) stream.write(Buffer.from(log, 'base64'));
    }
  },
};

async function main(): Promise<void> {
  const words = process.argv.slice(2).join(' ');
  if (words.includes('--version')) return void process.stdout.write(`${version}\n`);
  if (!words.startsWith('runner connect')) return;
  const boot = '3f0c4a52-7d1e-4c0b-9f56-0a4e6c1b2d3e';
  const about = readLie().about ?? {
    boot,
    confinementProblem: null,
    agents: null,
    most: null,
    profile: 'none',
  };
  link = await openLink(
    joinStreams(process.stdin, process.stdout),
    { protocol: FLEET_PROTOCOL, version, about },
    handlers,
  );
  await link.ended;
}

main().then(
  () => process.exit(0),
  (error: unknown) => {
    console.error(`error: ${asSvcError(error).message}`);
    process.exit(1);
  },
);
