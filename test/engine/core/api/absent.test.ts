import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import { withoutBlanks } from '../../../../engine/core/api/absent.ts';

const schema = z.strictObject({
  id: z.string().min(1),
  note: z.string().optional(),
  count: z.int().default(7),
  tool: z.string().nullable(),
  kind: z.enum(['a', 'b']).optional().describe('which'),
  place: z.strictObject({ path: z.string().optional(), line: z.int().optional() }).optional(),
  parts: z.array(z.object({ text: z.string(), note: z.string().optional() })).optional(),
});

test('an optional field that is null, empty or an object of such fields is treated as absent, at every depth', () => {
  for (const nothing of [null, '', '  ']) {
    const given = {
      id: 'x',
      tool: null,
      note: nothing,
      count: nothing,
      kind: nothing,
      place: { path: nothing, line: nothing },
      parts: [{ text: 't', note: nothing }],
    };
    assert.deepEqual(schema.parse(withoutBlanks(schema, given)), {
      id: 'x',
      tool: null,
      count: 7,
      parts: [{ text: 't' }],
    });
  }
});

test('a required field is refused as before, and other mistakes are left to the schema', () => {
  for (const id of [null, ''])
    assert.equal(schema.safeParse(withoutBlanks(schema, { id, tool: null })).success, false);
  assert.deepEqual(withoutBlanks(schema, { id: 'x', tool: null, more: '' }), {
    id: 'x',
    tool: null,
    more: '',
  });
  for (const odd of [null, 7, 'text', [null]]) assert.deepEqual(withoutBlanks(schema, odd), odd);
  assert.deepEqual(withoutBlanks(schema, { id: 'x', tool: null, note: 'y', place: { line: 3 } }), {
    id: 'x',
    tool: null,
    note: 'y',
    place: { line: 3 },
  });
});
