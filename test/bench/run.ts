import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { agents } from './agents.ts';
import { compareWithMarks, describePlace, readBars, recordMarks, writeBars } from './bars.ts';
import { commandLine, daemon } from './commands.ts';
import { confinement } from './confine.ts';
import { crushing } from './crush.ts';
import { dashboard } from './dashboard.ts';
import { approveToSpawn } from './dispatch.ts';
import { CannotRun, type Figure } from './figure.ts';
import { fleetBench } from './fleet.ts';
import { gatewayBench } from './gateway.ts';
import { codeGraph } from './graph.ts';
import { growth } from './growth.ts';
import { guardBench } from './guard.ts';
import { guardHook } from './guard-hook.ts';
import { hooks } from './hooks.ts';
import { languagesBench } from './languages.ts';
import { memoryRecall } from './memory.ts';
import { runGuard } from './ratchet/run-guard.ts';
import { receiverBench } from './receiver.ts';
import { retentionBench } from './retention.ts';
import { scale } from './scale.ts';
import { serverBench } from './server.ts';
import { soak } from './soak.ts';
import { statsOfMany } from './stats.ts';
import { statusOfMany } from './status.ts';
import { strictRuns } from './strict.ts';
import { tools } from './tools.ts';
import { translateBench } from './translate.ts';
import { worktreeStatus } from './worktrees.ts';

// npm run bench [-- --json | --check | --record] [-- name …]: the speed limits, each compared with a reference in the
// same run. --check compares them with the values in bars.json, and fails if one is worse; --record writes new ones.
// --guard [--record] [part of an operation's name …] compares processor time and counted work with guard.json instead:
// a minute, whose result does not depend on the load of the machine.
// With SVC_BENCH_BESIDE=<folder of another built checkout> each bench of that checkout alternates with ours, to measure
// the cost of a change.

const BENCHES: Record<string, () => Promise<Figure[]>> = {
  receiver: receiverBench,
  gateway: gatewayBench,
  server: serverBench,
  dispatch: approveToSpawn,
  cli: commandLine,
  hooks,
  fleet: fleetBench,
  guard: guardBench,
  'guard-hook': guardHook,
  languages: languagesBench,
  daemon,
  status: statusOfMany,
  stats: statsOfMany,
  tools,
  dashboard,
  confine: confinement,
  strict: strictRuns,
  agents,
  scale,
  growth,
  retention: retentionBench,
  memory: memoryRecall,
  worktrees: worktreeStatus,
  crush: crushing,
  graph: codeGraph,
  translate: translateBench,
  soak,
};

const options = process.argv.slice(2).filter((word) => word.startsWith('--'));
const wanted = process.argv.slice(2).filter((word) => !word.startsWith('--'));
const isGuard = options.includes('--guard');
const unknown = isGuard
  ? options.filter((word) => !['--guard', '--record'].includes(word))
  : [
      ...options.filter((word) => !['--json', '--check', '--record'].includes(word)),
      ...wanted.filter((name) => !Object.hasOwn(BENCHES, name)),
    ];
if (unknown.length > 0) throw new Error(`there is no bench or option ${unknown.join(', ')}`);
const [isJson, isCheck, isRecord] = ['--json', '--check', '--record'].map((word) => options.includes(word));
const figures: (Figure & { beside?: number })[] = [];

/** Read once: the first recording changes bars.json, and with it the checkout. */
const place = isRecord ? describePlace() : null;

const beside = process.env.SVC_BENCH_BESIDE;

/** The same bench of another checkout, in a separate process. */
function measureBeside(folder: string, name: string): Figure[] {
  const { SVC_BENCH_BESIDE: _, ...env } = process.env;
  const program = join(folder, 'dist', 'test', 'bench', 'run.js');
  return JSON.parse(
    execFileSync(process.execPath, [program, '--json', name], { cwd: folder, env, encoding: 'utf8' }),
  ) as Figure[];
}

/** Benches that take minutes run only on request. */
const ONLY_ASKED = new Set(['soak', 'graph']);

/** Resolves with null, and says why, if this machine lacks a program that the bench needs. */
async function measure(name: string, bench: () => Promise<Figure[]>): Promise<Figure[] | null> {
  try {
    return await bench();
  } catch (error) {
    if (!(error instanceof CannotRun)) throw error;
    console.error(`${name}: not run, ${error.message}`);
    return null;
  }
}

function print(each: Figure, other: Figure | undefined): void {
  const reference = each.reference === null ? '' : `  reference ${each.reference}, ratio ${each.ratio}`;
  const theirs = other === undefined ? '' : `  beside ${other.value} (reference ${other.reference ?? '-'})`;
  console.log(`${each.name}: ${each.value} ${each.unit}${reference}${theirs}`);
}

function check(name: string, measured: readonly Figure[]): void {
  for (const { name: figure, verdict, text } of compareWithMarks(measured, readBars()[name])) {
    console.log(`${verdict.padEnd(12)}  ${figure}${text === '' ? '' : `: ${text}`}`);
    if (verdict === 'worse') process.exitCode = 1;
  }
}

async function runBenches(): Promise<void> {
  for (const [name, bench] of Object.entries(BENCHES)) {
    if (wanted.length > 0 ? !wanted.includes(name) : ONLY_ASKED.has(name)) continue;
    const others = beside === undefined ? [] : measureBeside(beside, name);
    const measured = await measure(name, bench);
    if (measured === null) continue;
    if (isCheck) check(name, measured);
    for (const each of measured) {
      const other = others.find((one) => one.name === each.name);
      figures.push(other === undefined ? each : { ...each, beside: other.value });
      if (!isJson && !isCheck) print(each, other);
    }
    const bars = readBars();
    if (place !== null) writeBars({ ...bars, [name]: recordMarks(measured, bars[name], place) });
  }
  if (isJson) console.log(JSON.stringify(figures, null, 2));
}

if (isGuard) process.exitCode = (await runGuard({ isRecord: isRecord === true, words: wanted })) ? 0 : 1;
else await runBenches();
