import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { joinStreams, type Link, openLink } from '../../engine/fleet/wire/index.ts';
import { HELLO } from '../engine/fleet/wire/peer.ts';
import { BROKER_MISSING } from '../support/broker.ts';
import { type Figure, figure, median, percentile } from './figure.ts';
import { openBrokerRig } from './fleet-broker.ts';
import { type SentLog, writeSentLog } from './fleet-logs.ts';

const CHILD = fileURLToPath(new URL('./fleet-child.js', import.meta.url));
const REQUESTS = 3000;
const BYTES = 256 * 1024 * 1024;
const ROUNDS = 3;
const INPUT = { session: 's-12', run: 3, text: 'x'.repeat(200) };

const start = (...args: string[]): ChildProcessByStdio<Writable, Readable, null> => startWith({}, ...args);

const startWith = (more: NodeJS.ProcessEnv, ...args: string[]) =>
  spawn(process.execPath, [CHILD, ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, ...more },
  });

/** Measures requests and a stream of the fleet's protocol between two processes, against bare pipes. */
export async function fleetBench(): Promise<Figure[]> {
  const log = writeSentLog();
  const peer = startWith({ BENCH_LOGS: log.folder }, 'link');
  const lines = start('lines');
  try {
    const link = await openLink(joinStreams(peer.stdout, peer.stdin), HELLO, { onCall: async () => null });
    const ours = await timeRequests(() => link.call('echo', INPUT));
    const bare = await timeRequests(() => echoLine(lines));
    const streamed: number[] = [];
    const piped: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      streamed.push(await measureRate(await link.openStream('source', BYTES, 'files')));
      piped.push(await measureRate(start('bytes', String(BYTES)).stdout));
    }
    const loaded = await timeWhileStreaming(link);
    const copied = await log.measure(link);
    const linesPiped = log.countLines(median(piped));
    link.close();
    return [
      figure('fleet: request p50 (reference: lines of JSON)', median(ours), 'ms', median(bare)),
      figure(
        'fleet: request p99 (reference: lines of JSON)',
        percentile(ours, 0.99),
        'ms',
        percentile(bare, 0.99),
      ),
      figure('fleet: files (reference: a bare pipe)', median(streamed), 'MB/s', median(piped)),
      figure('fleet: request p50 while files flow', median(loaded), 'ms'),
      figure('fleet: log of a run (reference: a bare pipe)', copied, 'lines/s', linesPiped),
      ...(await measureBroker(median(piped), log)),
    ];
  } finally {
    peer.kill();
    lines.kill();
    log.remove();
  }
}

/** Measures the same over a broker, against its own bare requests and a bare pipe. */
async function measureBroker(piped: number, log: SentLog): Promise<Figure[]> {
  if (BROKER_MISSING !== false) return [];
  const rig = await openBrokerRig({ BENCH_LOGS: log.folder });
  try {
    const ours = await timeRequests(() => rig.link.call('echo', INPUT));
    const bare = await timeRequests(rig.askBare);
    const rate = await measureRate(await rig.link.openStream('source', BYTES, 'files'));
    const copied = await log.measure(rig.link);
    return [
      figure('fleet: over a broker, request p50 (reference: bare)', median(ours), 'ms', median(bare)),
      figure(
        'fleet: over a broker, request p99 (reference: bare)',
        percentile(ours, 0.99),
        'ms',
        percentile(bare, 0.99),
      ),
      figure('fleet: over a broker, files (reference: a bare pipe)', rate, 'MB/s', piped),
      figure(
        'fleet: over a broker, log of a run (reference: a bare pipe)',
        copied,
        'lines/s',
        log.countLines(piped),
      ),
      figure('fleet: memory of a broker after that', rig.readBrokerMemory(), 'MiB'),
    ];
  } finally {
    await rig.close();
  }
}

async function timeRequests(request: () => Promise<unknown>): Promise<number[]> {
  const times: number[] = [];
  for (let at = 0; at < REQUESTS; at += 1) {
    const begin = performance.now();
    await request();
    if (at >= REQUESTS / 10) times.push(performance.now() - begin);
  }
  return times;
}

async function echoLine(child: ChildProcessByStdio<Writable, Readable, null>): Promise<void> {
  child.stdin.write(`${JSON.stringify(INPUT)}\n`);
  const [chunk] = await once(child.stdout, 'data');
  JSON.parse(String(chunk));
}

/** Returns MB per second from the first byte on. */
async function measureRate(stream: Readable): Promise<number> {
  let begin = 0;
  let size = 0;
  stream.on('data', ({ length }: Buffer) => {
    begin ||= performance.now();
    size += length;
  });
  await once(stream, 'end');
  return size / 1e6 / ((performance.now() - begin) / 1000);
}

async function timeWhileStreaming(link: Link): Promise<number[]> {
  const stream = await link.openStream('source', 2 * BYTES, 'files');
  let isOver = false;
  stream
    .on('data', () => undefined)
    .once('end', () => {
      isOver = true;
    });
  const times: number[] = [];
  while (!isOver) {
    const begin = performance.now();
    await link.call('echo', INPUT);
    times.push(performance.now() - begin);
  }
  return times;
}
