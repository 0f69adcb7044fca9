import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { EndCode, StreamFacts, StreamReader } from '../../../engine/workers/agents/streams/stream.ts';

const FOLDER = fileURLToPath(new URL('../../../../fixtures/streams/', import.meta.url));

/** The shortened output of a real program: the lines of `fixtures/streams/<agent>/<name>.jsonl`. */
export const printed = (agent: string, name: string): string[] =>
  readFileSync(`${FOLDER}${agent}/${name}.jsonl`, 'utf8')
    .split('\n')
    .filter((line) => line !== '');

export function readAll(
  reader: StreamReader,
  lines: readonly string[],
): { facts: StreamFacts; text: string } {
  const read = lines.map((line) => reader.readLine(line)).filter((line) => line !== null);
  return { facts: reader.facts(), text: read.join('\n') };
}

/** Result of a run as one word: `ok`, its error code, or `trouble:<code>`. */
export type Outcome = 'ok' | EndCode | `trouble:${EndCode}` | 'none';

export function outcomeOf({ end, trouble }: StreamFacts): Outcome {
  if (end !== null) return end.ok ? 'ok' : end.code;
  return trouble === null ? 'none' : `trouble:${trouble.code}`;
}

/** Checks that every recorded stream of an agent ends as the table states, and that the table is complete. */
export function testOutcomes(
  agent: string,
  create: () => StreamReader,
  table: Record<string, Outcome>,
): void {
  test(`the end of every recorded run of ${agent} is told as it was`, () => {
    const names = readdirSync(`${FOLDER}${agent}`).map((file) => basename(file, '.jsonl'));
    assert.deepEqual(
      Object.fromEntries(
        names.map((name) => [name, outcomeOf(readAll(create(), printed(agent, name)).facts)]),
      ),
      Object.fromEntries(names.map((name) => [name, table[name]])),
    );
  });

  test(`a reader of ${agent} takes whatever comes`, (t) => {
    t.mock.timers.enable({ apis: ['Date'], now: Date.parse('2026-11-21T17:00:00Z') });
    const reader = create();
    const lines = Object.keys(table).flatMap((name) => printed(agent, name));
    const odd = ['', '{', '{}', 'null', '[]', '{"type":7}', '{"type":"assistant"}', '{"type":"result"}'];
    odd.push('{"type":"user","message":{"content":[null,3,{"type":"tool_result","content":{"a":1}}]}}');
    odd.push(
      '{"role":"assistant","tool_calls":[{}]}',
      'plain words',
      '\u001b[31mred',
      '{"type":"from the future"}',
    );
    odd.push(`{"type":"assistant","message":{"content":[{"type":"text","text":"${'x'.repeat(1 << 20)}"}]}}`);
    // Cut in half, and with reversed keys.
    odd.push(...lines.map((line) => line.slice(0, line.length / 2)));
    for (const line of odd) assert.doesNotThrow(() => reader.readLine(line), line.slice(0, 100));
    assert.equal(reader.readLine('plain words'), 'plain words');
    const turned = Object.keys(table).map((name) => printed(agent, name).map(reversed));
    const straight = Object.keys(table).map((name) => printed(agent, name));
    assert.deepEqual(
      turned.map((each) => readAll(create(), each).facts),
      straight.map((each) => readAll(create(), each).facts),
    );
  });
}

/** The expected result for a real program's stream. */
export interface StreamCase {
  /** A file in fixtures/streams/<agent>. */
  name: string;
  end: 'ok' | EndCode;
  text?: RegExp;
  resetAt?: number;
  calls?: number;
  activity?: RegExp;
  /** Input and output tokens, for the conversation if the agent counts that. */
  usage?: [number, number];
}

/**
 * Reads a stream as a run's log and checks the result, then again with noise between its lines, reordered keys and
 * broken lines.
 */
export function readStream(
  agent: string,
  reader: StreamReader,
  { name, ...expected }: StreamCase,
): { facts: StreamFacts; said: string[] } {
  const said: string[] = [];
  for (const line of printed(agent, name)) {
    reader.readLine(line.slice(0, Math.floor(line.length / 2)));
    const read = reader.readLine(reversed(line));
    if (read !== null) said.push(read);
    reader.readLine('{"type":"what.nobody.knows","part":null,"data":[],"item":7}');
    reader.readLine('');
  }
  const facts = reader.facts();
  assert.ok(facts.isStream);
  const { end } = facts;
  assert.equal(end === null ? null : end.ok ? 'ok' : end.code, expected.end, JSON.stringify(end));
  if (expected.text !== undefined) assert.match((end?.ok === false && end.text) || '', expected.text);
  if (expected.resetAt !== undefined) assert.equal(end?.ok === false && end.resetAt, expected.resetAt);
  if (expected.calls !== undefined) assert.equal(facts.toolCalls, expected.calls);
  if (expected.activity !== undefined) assert.match(facts.activity ?? '', expected.activity);
  if (expected.usage !== undefined) {
    const usage = facts.conversation ?? facts.usage;
    assert.deepEqual([usage?.input, usage?.output], expected.usage);
  }
  for (const line of said) assert.ok(line.length < 4000 && !line.startsWith('{'), line);
  return { facts, said };
}

function reversed(line: string): string {
  if (!line.startsWith('{')) return line;
  const turn = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(turn);
    if (typeof value !== 'object' || value === null) return value;
    // The order of `models` is significant: the last one counts.
    const entries = Object.entries(value).map(([key, each]) => [key, key === 'models' ? each : turn(each)]);
    return Object.fromEntries(entries.reverse());
  };
  return JSON.stringify(turn(JSON.parse(line)));
}
