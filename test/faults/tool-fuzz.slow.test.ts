import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { MANIFEST } from '../../engine/core/api/manifest.ts';
import type { Caller } from '../../engine/core/api/operation.ts';
import { report } from '../support/processes/faults.ts';
import { type EngineHere, engineHere } from '../support/workspaces/engine.ts';
import { makeWorkspace, type TestWorkspace } from '../support/workspaces/workspace.ts';

type Schema = { type?: string | string[]; properties?: Record<string, Schema>; enum?: string[] };
interface Described {
  name: string;
  inputSchema: { properties?: Record<string, Schema>; required?: string[] };
}

/** Values that no agent should send, though some do. */
const HOSTILE: readonly unknown[] = [
  null,
  true,
  -1,
  0,
  1,
  0.5,
  2 ** 31,
  2 ** 53,
  -(2 ** 63),
  1e308,
  '',
  ' ',
  '0',
  '-1',
  '*',
  '.',
  '..',
  '../../../etc/passwd',
  '/etc/passwd',
  '/',
  '~/x',
  'a\0b',
  '\0',
  '\n',
  '\ud800',
  '\u202e\u0000\u001b[2J',
  'ü'.repeat(300),
  'x'.repeat(5000),
  'a/'.repeat(200_000),
  '__proto__',
  'constructor',
  'toString',
  's-1',
  's-0',
  's-99999999999999999999',
  't-1',
  't-999999999999999',
  'w-1',
  'chair',
  'chair@nowhere',
  'chair-1',
  'chair-999999999999999999',
  '--help',
  '-x',
  'HEAD',
  '@{-1}',
  ':/x',
  "'; DROP TABLE task; --",
  '%',
  '{{prompt}}',
  [],
  [null],
  [[]],
  ['a', 'a'],
  ['\0'],
  {},
  { __proto__: { x: 1 } },
  { path: 1 },
  { path: '\0', symbol: 'a\0' },
  { path: '..', line: 2 ** 53 },
  [{ criterion: '\0', status: 'met' }],
  [{ command: 'x\0', passed: true }],
  [{ path: '/etc/passwd' }],
  [{ path: 'a/'.repeat(2000) }],
];

/** Returns a valid value of a parameter, so that another parameter's hostile value is checked. */
function fitting(name: string, schema: Schema): unknown {
  const type = [schema.type ?? 'string'].flat()[0];
  if (schema.enum) return schema.enum[0];
  if (name === 'agent') return 'scripted';
  if (name === 'ledger' || name === 'path') return 'PLAN.md';
  if (name === 'session' || name === 'holder') return 'alice';
  if (name === 'id') return type === 'integer' ? 1 : 't-1';
  if (name === 'timeout_sec') return 1;
  if (type === 'integer') return 1;
  if (type === 'boolean') return false;
  if (type === 'array') return [];
  if (type === 'object') return {};
  return 'text';
}

describe('every tool with invalid input', { timeout: 300_000 }, () => {
  let ws: TestWorkspace;
  let here: EngineHere;
  let tools: Described[];
  before(async () => {
    ws = await makeWorkspace();
    here = await engineHere(ws, { workerCap: 0 });
    ws.repository.write('PLAN.md', '- [ ] one\n- [ ] two\n');
    await here.call('task.add', { title: 'one', agent: 'scripted' });
    await here.call('msg.send', { to_session: 'alice', body: 'hi' });
    ({ tools } = (await here.call('tool.list')) as { tools: Described[] });
  });
  after(async () => {
    const { tasks } = await here.call('task.list', { limit: 10_000 });
    for (const { task_id } of tasks) await here.call('task.cancel', { id: task_id }).catch(() => undefined);
    await here.close();
    await ws.close();
  });

  const callers: Partial<Caller>[] = [
    {},
    { seat: 'worker', sessionId: 's-7' },
    { seat: 'plain', sessionId: 'alice' },
    { seat: 'plain', sessionId: null },
  ];

  test('every tool answers or refuses with a code, and never crashes', async () => {
    const broken: string[] = [];
    let calls = 0;
    const tried = async (name: string, input: object, caller: Partial<Caller>): Promise<void> => {
      calls += 1;
      try {
        // Blocking calls are aborted: only the arguments are tested.
        const signal = AbortSignal.timeout(20);
        const from: Caller = {
          seat: 'chair',
          actor: 'ada',
          via: 'tool',
          sessionId: null,
          project: null,
          env: {},
        };
        await here.engine.callTool(name, input, { ...from, ...caller }, { signal });
      } catch (thrown) {
        const { code, message } = thrown as { code?: string; message: string };
        const isClean = code !== undefined && code !== 'internal' && !code.startsWith('storage') && message;
        if (!isClean) broken.push(`${name} ${JSON.stringify(input).slice(0, 200)}: ${code} ${message}`);
        if (message.length > 20_000) broken.push(`${name}: a message of ${message.length} characters`);
      }
    };
    const all = tools.map(async ({ name, inputSchema }) => {
      assert.ok(MANIFEST.includes(name));
      const { properties = {}, required = [] } = inputSchema;
      const base = Object.fromEntries(
        Object.entries(properties)
          .filter(([key]) => required.includes(key))
          .map(([key, schema]) => [key, fitting(key, schema)]),
      );
      for (const caller of callers) {
        // Other seats get fewer values, because parsing is the same for all.
        const values = caller.seat === undefined ? HOSTILE : HOSTILE.filter((_, at) => at % 8 === 0);
        for (const key of Object.keys(properties)) {
          for (const value of values) {
            await tried(name, { ...base, [key]: value }, caller);
          }
        }
        await tried(name, { ...base, no_such: 1 }, caller);
        await tried(name, {}, caller);
      }
    });
    await Promise.all(all);
    assert.deepEqual(broken, []);
    report(`${calls} calls of ${tools.length} tools`, 'each was answered or refused by name');
  });
});
