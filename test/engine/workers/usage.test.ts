import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Session } from '../../../engine/index.ts';
import { ofThisRun } from '../../../engine/workers/dispatch/usage.ts';
import { NO_FACTS, type StreamFacts } from '../../../engine/workers/streams/stream.ts';

const usage = (input: number, output: number) => ({ input, cached: 0, output, costUsd: null });
const session = (more: Partial<Session>): Session =>
  ({
    agent: 'codex',
    transport: 'subprocess',
    continues: null,
    usage: null,
    agentSession: null,
    ...more,
  }) as Session;
const first = session({ usage: usage(100, 10), agentSession: 'c-1' });

/** The tokens of a run that has told 250 and 40 of its conversation c-1. */
function counted(of: Session, { agent = 'codex', told = 'c-1' } = {}): [number, number] {
  const template = `${agent} exec -- {{prompt}}`;
  const deps = {
    agents: { command: () => ({ transport: 'subprocess', template, isBuiltIn: false }) },
    sessions: { get: () => first },
  } as unknown as Parameters<typeof ofThisRun>[0];
  const facts: StreamFacts = { ...NO_FACTS, agentSession: told, usage: usage(250, 40) };
  const { usage: own } = ofThisRun(deps, of, facts);
  return [own?.input ?? -1, own?.output ?? -1];
}

test('of an agent that counts its whole conversation only what is new is counted', () => {
  assert.deepEqual(counted(session({})), [250, 40]);
  assert.deepEqual(counted(first), [150, 30]);
  assert.deepEqual(counted(session({ continues: 's-1' })), [150, 30]);
  // It began a conversation of its own after all.
  assert.deepEqual(counted(first, { told: 'c-2' }), [250, 40]);
});

test('of any other agent all that it told is counted', () => {
  assert.deepEqual(counted(first, { agent: 'claude' }), [250, 40]);
});
