import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Step } from '../../fixtures/model/model.ts';
import { type Desk, type DeskRun, openDesk } from '../support/agents/matrix.ts';
import { COMMIT, REAL_AGENTS, type RealAgent, skipped } from '../support/agents/real-agents.ts';
import { childrenOf } from '../support/processes/processes.ts';
import { until } from '../support/wait.ts';

interface Case {
  steps(agent: RealAgent, place: { worktree: string; mark: string }): Step[];
  /** Codes with which it may end or pause; `ok` for finished work. */
  ends: readonly string[];
  commits?: number;
  timeoutSec?: number;
  /** After its tool has run. */
  act?(run: DeskRun): Promise<void>;
}

const fails =
  (status: number, more: object = {}) =>
  (): Step[] => [{ fail: { status, ...more } }];
const detached = (mark: string): string =>
  `setsid tail -f /dev/null >/dev/null 2>&1 </dev/null & touch '${mark}'; echo begun`;
/** Agents that retry for longer than a test may take. */
const GAVE_UP_OR_LATE = ['model_error', 'rate_limited', 'timeout'];
const LIMITS = ['rate_limited', 'usage_limit'];
const HTML = '<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1></body></html>';

const CASES: Record<string, Case> = {
  commit: {
    // The agent's shell finds our own program.
    steps: (agent, { worktree }) => [
      agent.write(join(worktree, 'hello.txt')),
      agent.shell(`svc --version && ${COMMIT}`),
      { say: 'Done.' },
    ],
    ends: ['ok'],
    commits: 1,
  },
  'dirty files': {
    steps: (agent, { worktree }) => [agent.write(join(worktree, 'hello.txt')), { say: 'Done.' }],
    ends: ['ok'],
    commits: 1,
  },
  '400': { steps: fails(400), ends: ['model_error'] },
  '401': { steps: fails(401), ends: ['auth_failed'] },
  '429 short': { steps: fails(429, { retryAfterSec: 1 }), ends: [...LIMITS, 'timeout'] },
  '429 long': { steps: fails(429, { retryAfterSec: 3600 }), ends: [...LIMITS, 'timeout'] },
  '500': { steps: fails(500), ends: GAVE_UP_OR_LATE },
  '529': { steps: fails(529), ends: GAVE_UP_OR_LATE },
  'HTML 502': {
    steps: fails(502, { body: HTML, headers: { 'content-type': 'text/html' } }),
    ends: GAVE_UP_OR_LATE,
  },
  'cut stream': {
    steps: () => [{ say: 'Half of an answer.', isCut: true }],
    ends: [...GAVE_UP_OR_LATE, 'agent_error', 'no_result'],
  },
  stall: { steps: () => [{ hang: true }], ends: ['timeout'], timeoutSec: 30 },
  refusal: { steps: () => [{ say: 'No.', stop: 'refusal' }], ends: ['refused', 'model_error'] },
  'token limit': {
    steps: () => [{ say: 'And so on', stop: 'length' }],
    ends: ['model_error', 'context_exceeded'],
  },
  loop: {
    steps: (agent) => [...Array.from({ length: 12 }, () => agent.shell('echo same')), { say: 'Done.' }],
    // A program without a guard does what its model says.
    ends: ['turn_limit', 'ok'],
  },
  kill: {
    steps: (agent, { mark }) => [agent.shell(detached(mark)), { hang: true }],
    ends: ['killed'],
    async act(run) {
      const { pid } = await run.session();
      for (const child of childrenOf(pid ?? 0)) process.kill(child.pid, 'SIGKILL');
    },
  },
  timeout: {
    steps: (agent, { mark }) => [agent.shell(detached(mark)), { hang: true }],
    ends: ['timeout'],
    timeoutSec: 45,
  },
  'detached children': {
    steps: (agent, { mark }) => [agent.shell(detached(mark)), { say: 'Done.' }],
    ends: ['ok'],
  },
};

const LIMIT_SEC = 120;
const isWanted = process.env.SVC_TEST_AGENTS !== undefined;
if (!isWanted) console.error('NOT TESTED: the matrix of agents; SVC_TEST_AGENTS=all has all of them');

/** Failures that an agent's stream does not report count as success; see `cannot` of its preset. */
const CANNOT: Record<string, 'refusal' | 'length'> = { refusal: 'refusal', 'token limit': 'length' };

const rows: string[][] = [];
const HEAD = ['agent', 'case', 'end', 'commits', 'tokens', 'left'];

/**
 * The outcome of each real agent program in each case, with the fake model as the gateway: asserted, and printed as a
 * table.
 */
describe('how runs of real agents end', { concurrency: 1, skip: !isWanted }, () => {
  after(() => {
    const widths = HEAD.map((name, at) =>
      Math.max(...[HEAD, ...rows].map((row) => row[at]?.length ?? 0), name.length),
    );
    for (const row of [HEAD, ...rows])
      console.log(
        row
          .map((cell, at) => cell.padEnd(widths[at] ?? 0))
          .join('  ')
          .trimEnd(),
      );
  });

  for (const [name, agent] of Object.entries(REAL_AGENTS)) {
    describe(name, { concurrency: 4, skip: skipped(name), timeout: 900_000 }, () => {
      let desk: Desk;
      let untold: readonly string[];
      before(async () => {
        const { home = {}, env = {} } = agent;
        desk = await openDesk({ agent: name, home, env });
        const { findPreset } = await (await import('../../engine/index.ts')).agentPrograms();
        untold = Object.keys(findPreset(name)?.cannot ?? {});
        // Two that start at the same time in a new home conflict.
        await (await desk.run('Come first.', () => [{ say: 'Here.' }])).ended();
      });
      after(() => desk?.close());

      for (const [title, { steps, ends, commits, timeoutSec = LIMIT_SEC, act }] of Object.entries(CASES))
        test(title, async () => {
          const mark = join(desk.ws.repository.folder, `begun-${title}`);
          const run = await desk.run(
            `Case ${title}: do it.`,
            (worktree) => steps(agent, { worktree, mark }),
            { timeoutSec },
          );
          if (act !== undefined) {
            await until(() => existsSync(mark), 'its tool', 120_000);
            await act(run);
          }
          const { state, failure, pause, usage, commits: made } = await run.settled();
          const left = run.marked();
          const end = failure?.code ?? pause?.code ?? 'ok';
          const told = usage === null ? '-' : `${usage.input} (${usage.cached}) ${usage.output}`;
          rows.push([
            name,
            title,
            state === 'ended' ? end : `paused: ${end}`,
            String(made ?? '-'),
            told,
            String(left.length),
          ]);
          const answered = run.requests().filter(({ call, said }) => call !== null || said !== null).length;
          if (state !== 'ended') await run.cancel();
          const what = `${failure?.text ?? pause?.text ?? ''}\n${run.log().slice(-4000)}`;
          const passes = untold.includes(CANNOT[title] ?? '') ? [...ends, 'ok'] : ends;
          assert.ok(passes.includes(end), `${end}: ${what}`);
          if (commits !== undefined) assert.equal(made, commits, what);
          assert.deepEqual(left, []);
          // 100 and 10 for each answer of the model, 40 of them from a cache: never more.
          if (usage !== null)
            assert.ok(
              usage.input <= 100 * answered && usage.output <= 10 * answered,
              `${told} of ${answered}`,
            );
        });
    });
  }
});
