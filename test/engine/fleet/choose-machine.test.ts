import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Candidate, chooseCandidate } from '../../../engine/fleet/choose-machine.ts';

const READY = {
  state: 'ready',
  why: null,
  since: 0,
  facts: { boot: '', confinementProblem: null, agents: null, most: null, profile: 'none' },
} as const satisfies Candidate['state'];

/** A machine with the agent and four free slots, but for what is given. */
const machine = (
  id: string,
  more: Partial<Candidate> & { most?: number; isDrained?: boolean } = {},
): Candidate => ({
  record: {
    id,
    name: `box-${id}`,
    host: id,
    via: null,
    command: 'svc',
    pool: 'p',
    most: more.most ?? 4,
    isDrained: more.isDrained ?? false,
    addedAt: '',
  },
  state: READY,
  hasAgent: true,
  working: 0,
  ...more,
});
const choose = (candidates: Candidate[], isStrict = false) =>
  chooseCandidate(candidates, { agent: 'claude', isStrict });
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
