import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Candidate, chooseCandidate } from '../../../engine/fleet/choose-machine.ts';

const READY = {
  state: 'ready',
  why: null,
  since: 0,
  load: null,
  facts: { boot: '', confinementProblem: null, agents: null, most: null, profile: 'none' },
} as const satisfies Candidate['state'];

/** A machine with the agent and four free slots, but for what is given. */
const machine = (
  id: string,
  more: Partial<Candidate> & { most?: number; isDrained?: boolean; isRevoked?: boolean } = {},
): Candidate => ({
  record: {
    id,
    name: `box-${id}`,
    host: id,
    via: null,
    command: 'svc',
    joined: null,
    pool: 'p',
    most: more.most ?? 4,
    isDrained: more.isDrained ?? false,
    isRevoked: more.isRevoked ?? false,
    leaseMs: null,
    addedAt: '',
  },
  state: READY,
  hasAgent: true,
  working: 0,
  isHolder: false,
  ...more,
});
const choose = (candidates: Candidate[], isStrict = false, home: string | null = null, now = 0) =>
  chooseCandidate(candidates, { agent: 'claude', isStrict }, { home, now });
const explain = (candidate: Candidate, isStrict = false): string => {
  const choice = choose([candidate], isStrict);
  return 'why' in choice ? choice.why : `runs on ${choice.runner}`;
};
const withFacts = (facts: Partial<(typeof READY)['facts']> | object): Partial<Candidate> => ({
  state: { ...READY, facts: { ...READY.facts, ...facts } },
});

test('a run goes to the machine with the most free slots', () => {
  const [one, two, three] = [machine('r-1', { working: 2 }), machine('r-2'), machine('r-3', { most: 2 })];
  assert.deepEqual(choose([one, two, three]), { runner: 'r-2' });
  assert.deepEqual(choose([one, three]), { runner: 'r-1' });
});

test('a machine that takes no run gives its reason', () => {
  assert.match(explain(machine('r-1', { state: null })), /^box-r-1 is being connected$/);
  assert.match(
    explain(machine('r-1', { state: { ...READY, state: 'silent', why: 'no route' } })),
    /no route/,
  );
  assert.match(explain(machine('r-1', { isDrained: true })), /is drained/);
  assert.match(explain(machine('r-1', { isRevoked: true })), /was revoked/);
  assert.match(explain(machine('r-1', { isHolder: true })), /still has an earlier run of it/);
  const full = { load: 1, diskFreeBytes: 1_000_000, leaseMs: null, agents: [] };
  assert.match(
    explain(machine('r-1', { state: { ...READY, load: full } })),
    /disk of box-r-1 is almost full/,
  );
  assert.match(explain(machine('r-1', { hasAgent: null })), /is asked whether it has claude/);
  assert.match(explain(machine('r-1', { hasAgent: false })), /has no claude/);
  assert.match(explain(machine('r-1', { working: 4 })), /is full: 4 of 4/);
  assert.match(explain(machine('r-1', withFacts({ agents: ['codex'] }))), /does not allow claude/);
  assert.match(explain(machine('r-1', { working: 1, ...withFacts({ most: 1 }) })), /is full: 1 of 1/);
});

test('a strict run goes only to a machine that can confine it', () => {
  const open = machine('r-1', withFacts({ confinementProblem: 'bwrap is missing' }));
  assert.deepEqual(choose([open]), { runner: 'r-1' });
  assert.match(explain(open, true), /cannot confine workers: bwrap is missing/);
  assert.deepEqual(choose([open, machine('r-2', { working: 3 })], true), { runner: 'r-2' });
  const strict = machine('r-3', withFacts({ confinementProblem: 'bwrap is missing', profile: 'strict' }));
  assert.match(explain(strict), /cannot confine workers/);
});

test('all reasons are given if no machine takes the run', () => {
  const choice = choose([machine('r-1', { hasAgent: false }), machine('r-2', { working: 4 })]);
  assert.deepEqual(choice, { why: 'box-r-1 has no claude; box-r-2 is full: 4 of 4' });
  assert.deepEqual(choose([]), { why: 'the pool has no machine' });
});

test('a session whose worktree is on a machine waits for it while its obstacle is short, and goes elsewhere after that', () => {
  const other = machine('r-2');
  const silent = (since: number): Candidate =>
    machine('r-1', { working: 1, state: { ...READY, state: 'silent', why: 'no route', since } });
  assert.deepEqual(choose([other, machine('r-1', { working: 3 })], false, 'r-1'), { runner: 'r-1' });
  assert.match(JSON.stringify(choose([other, machine('r-1', { working: 4 })], false, 'r-1')), /is full/);
  assert.match(JSON.stringify(choose([other, silent(1000)], false, 'r-1', 30_000)), /no route/);
  assert.deepEqual(choose([other, silent(0)], false, 'r-1', 30_000), { runner: 'r-2' });
  assert.deepEqual(choose([other, machine('r-1', { isDrained: true })], false, 'r-1'), { runner: 'r-2' });
  assert.deepEqual(choose([other], false, 'r-1'), { runner: 'r-2' }, 'a removed machine');
});
