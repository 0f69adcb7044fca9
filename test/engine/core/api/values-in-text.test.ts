import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { z } from 'zod';
import { readValuesInText } from '../../../../engine/core/api/values-in-text.ts';
import { makeWorkspace, type TestWorkspace } from '../../../support/workspaces/workspace.ts';

const schema = z.strictObject({
  text: z.string().optional(),
  count: z.int().min(1).optional(),
  maybe: z.number().nullable().default(null),
  flag: z.boolean().optional(),
  kind: z.enum(['5', 'true']).optional(),
  level: z.union([z.literal(1), z.literal(2)]).optional(),
  either: z.union([z.string(), z.int()]).optional(),
  texts: z.array(z.string().min(1)).max(3).optional(),
  counts: z.array(z.int()).optional(),
  place: z.strictObject({ path: z.string(), line: z.int().optional() }).optional(),
  items: z.array(z.union([z.string(), z.strictObject({ text: z.string(), done: z.boolean() })])).optional(),
  sizes: z.record(z.string(), z.int()).optional(),
  made: z
    .string()
    .transform((text) => text.length)
    .optional(),
  free: z.unknown().optional(),
});
const read = (input: unknown): unknown => readValuesInText(schema, input);

test('a value of the expected kind is parsed from a text, at every depth', () => {
  const cases = [
    [{ count: '5' }, { count: 5 }],
    [{ maybe: ' 1.5 ' }, { maybe: 1.5 }],
    [{ maybe: 'null' }, { maybe: null }],
    [{ flag: 'true' }, { flag: true }],
    [{ level: '2' }, { level: 2 }],
    [{ texts: '["a", "b"]' }, { texts: ['a', 'b'] }],
    [{ texts: 'a, b' }, { texts: ['a, b'] }],
    [{ texts: '[not json' }, { texts: ['[not json'] }],
    [{ texts: '5' }, { texts: ['5'] }],
    [{ counts: '["1", 2]' }, { counts: [1, 2] }],
    [{ counts: ['3', '4'] }, { counts: [3, 4] }],
    [{ place: '{"path": "a", "line": "7"}' }, { place: { path: 'a', line: 7 } }],
    [{ place: { path: '5', line: '7' } }, { place: { path: '5', line: 7 } }],
    [{ items: ['x', { text: '5', done: 'false' }] }, { items: ['x', { text: '5', done: false }] }],
    [{ items: 'x' }, { items: ['x'] }],
    [{ sizes: { a: '1' } }, { sizes: { a: 1 } }],
    ['{"count": "5", "text": "5"}', { count: 5, text: '5' }],
  ] as const;
  for (const [given, wanted] of cases) {
    assert.deepEqual(read(given), wanted, JSON.stringify(given));
    assert.ok(schema.safeParse(read(given)).success, JSON.stringify(given));
  }
});

test('a value of the right kind stays unchanged, valid or not, and so does a value of an unknown kind', () => {
  for (const given of [
    { text: '5' },
    { text: '["a"]' },
    { text: 'null' },
    { kind: '5' },
    { kind: 'false' },
    { either: '5' },
    { made: '5' },
    { free: '5' },
    { texts: ['["a"]', '5'] },
    { texts: '' },
    { texts: '  ' },
    { count: 0 },
    { count: '' },
    { count: 'five' },
    { count: '"5"' },
    { count: '[5]' },
    { count: 'NaN' },
    { flag: 'True' },
    { flag: '1' },
    { place: 'a' },
    { place: '[]' },
    { unknown: '5' },
    null,
    7,
    'text',
    [],
  ])
    assert.deepEqual(read(given), given, JSON.stringify(given));
});

describe('a tool with text values', () => {
  let ws: TestWorkspace;
  before(async () => {
    ws = await makeWorkspace();
    for (const title of ['5', 'true']) await ws.svc(['task', 'add', title, '-p', title]);
  });
  after(() => ws.close());
  const call = (name: string, input: unknown) =>
    ws.svc(['tool', 'call', name, '--args', JSON.stringify(input)]);

  test('the tool accepts the values of a client that sends all of them as text', async () => {
    const listed = await call('task_list', { limit: '1' });
    assert.equal(listed.code, 0, listed.stderr);
    assert.equal(listed.json<{ tasks: unknown[] }>().tasks.length, 1);
    for (const [given, wanted] of [
      ['["one","two"]', ['one', 'two']],
      ['one', ['one']],
      [['5'], ['5']],
    ] as const) {
      const added = await call('task_add', { title: '5', body: 'true', acceptance_criteria: given });
      assert.equal(added.code, 0, added.stderr);
      const { id } = added.json<{ id: string }>();
      const { task } = (await ws.svc(['task', 'show', id, '--json'])).json<{
        task: { title: string; body: string; acceptance_criteria: string[] };
      }>();
      assert.deepEqual([task.title, task.body, task.acceptance_criteria], ['5', 'true', wanted]);
    }
  });

  test('the tool names the expected kind for a text that holds something else', async () => {
    const { code, stderr } = await call('task_list', { limit: 'many' });
    assert.equal(code, 2);
    assert.match(stderr, /limit: .*expected number/i);
  });
});
