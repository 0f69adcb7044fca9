import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { z } from 'zod';
import type { Caller, Operation } from '../../../../engine/core/api/operation.ts';
import { isTool, type ToolDescription, toolName } from '../../../../engine/core/api/tool.ts';
import type { ToolApi } from '../../../support/agents/mcp.ts';
import { until } from '../../../support/wait.ts';
import { type EngineHere, engineHere } from '../../../support/workspaces/engine.ts';
import { makeWorkspace, type TestWorkspace } from '../../../support/workspaces/workspace.ts';

/** Types by parameter; `*` marks a required one. */
type Parameters = Record<string, string>;

interface Specification {
  chair: Record<string, Parameters>;
  any: Record<string, Parameters>;
  extras: Record<string, Record<string, { type: string; why: string }>>;
}

interface Schema {
  type?: string;
  enum?: string[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
}

/** Copied from the specification by hand, independently of the code. */
const SPECIFIED = JSON.parse(readFileSync('fixtures/tools/document-2.json', 'utf8')) as Specification;

function formatType({ type, enum: choices, items, properties }: Schema): string {
  if (choices !== undefined) return choices.join(' | ');
  if (type === 'array') return `array<${items?.type}>`;
  return properties === undefined ? String(type) : `${type} {${Object.keys(properties).join(', ')}}`;
}

const readParameters = ({ properties = {}, required = [] }: Schema): Parameters =>
  Object.fromEntries(
    Object.entries(properties).map(([name, each]) => [
      name,
      `${formatType(each)}${required.includes(name) ? '*' : ''}`,
    ]),
  );

/** Lists each tool and parameter whose type in the specification and in the manifest differ. */
function listDifferences(
  specified: Record<string, Parameters>,
  offered: Record<string, Parameters>,
): string[] {
  const flatten = (tools: Record<string, Parameters>): Map<string, string> =>
    new Map(
      Object.entries(tools).flatMap(([tool, parameters]) => [
        [tool, 'a tool'] as const,
        ...Object.entries(parameters).map(([name, type]) => [`${tool}.${name}`, type] as const),
      ]),
    );
  const [wanted, found] = [flatten(specified), flatten(offered)];
  return [...new Set([...wanted.keys(), ...found.keys()])]
    .filter((name) => wanted.get(name) !== found.get(name))
    .map((name) => `${name}: specified ${wanted.get(name) ?? '-'}, offered ${found.get(name) ?? '-'}`);
}

const listFields = (schema: z.ZodType): string[] => Object.keys((schema as z.ZodObject).shape);

const CHAIR: Caller = { seat: 'chair', actor: 'ada', via: 'tool', sessionId: null, project: null, env: {} };

describe('the manifest of tools', () => {
  let ws: TestWorkspace;
  let here: EngineHere;
  before(async () => {
    ws = await makeWorkspace();
    here = await engineHere(ws);
    await here.join('ada');
  });
  after(async () => {
    await here.close();
    await ws.close();
  });

  const listTools = async (seat: Caller['seat']): Promise<ToolDescription[]> =>
    (await here.call('tool.list', {}, { seat })).tools;

  const withExtras = (specified: Record<string, Parameters>): Record<string, Parameters> =>
    Object.fromEntries(
      Object.entries(specified).map(([tool, parameters]) => {
        const extras = Object.entries(SPECIFIED.extras[tool] ?? {}).map(([name, { type }]) => [name, type]);
        return [tool, { ...parameters, ...Object.fromEntries(extras) }];
      }),
    );

  test('every tool has the seat and the parameters of the specification, and the documented ones', async () => {
    const wanted = { chair: { ...SPECIFIED.chair, ...SPECIFIED.any }, plain: SPECIFIED.any };
    assert.equal(Object.keys(wanted.chair).length, 46);
    for (const [seat, specified] of Object.entries(wanted)) {
      const tools = await listTools(seat as Caller['seat']);
      const offered = tools.map((each) => [each.name, readParameters(each.inputSchema)] as const);
      assert.deepEqual(listDifferences(withExtras(specified), Object.fromEntries(offered)), [], seat);
    }
  });

  test('every additional parameter is in the reference of the tools, with its reason', () => {
    const page = readFileSync('docs/reference/tools.md', 'utf8');
    for (const [tool, extras] of Object.entries(SPECIFIED.extras))
      for (const [name, { why }] of Object.entries(extras))
        assert.ok(page.includes(`| \`${tool}\` | \`${name}\` | ${why} |`), `${tool}.${name}`);
  });

  test('a tool refuses every parameter that it does not offer, and names only the ones it does', async () => {
    let count = 0;
    const operations: readonly Operation[] = here.engine.operations.all;
    for (const each of operations.filter(isTool)) {
      const offered = listFields(each.parameters);
      const hidden = listFields(each.input).filter((name) => !offered.includes(name));
      for (const name of [...hidden, 'no_such_parameter'])
        for (const value of [null, 'x', 1, true]) {
          const known = offered.length === 0 ? '' : `; known: ${offered.join(', ')}`;
          await assert.rejects(here.engine.callTool(toolName(each.name), { [name]: value }, CHAIR), {
            code: 'fields_invalid',
            message: new RegExp(`${name}: unknown${known}(?:;|$)`),
          });
          count += 1;
        }
    }
    assert.ok(count > 46 * 4, String(count));
  });

  test('the list of tools has at most 32 KB for the Chair and 25.5 KB for a worker', async () => {
    const size = async (seat: Caller['seat']) =>
      Buffer.byteLength(JSON.stringify({ tools: await listTools(seat) }));
    assert.ok((await size('chair')) < 32_000, `${await size('chair')}`);
    assert.ok((await size('worker')) < 25_500, `${await size('worker')}`);
  });

  test('no answer of a tool names a task, session, ask, message or worker otherwise than the parameters do', () => {
    const operations: readonly Operation[] = here.engine.operations.all;
    for (const each of operations.filter(isTool)) {
      const answer = JSON.stringify(z.toJSONSchema(each.output, { io: 'output' }));
      assert.doesNotMatch(answer, /"(?:task|session|ask|message|worker)_id"/, each.name);
    }
  });

  test('an id from an answer is taken by the parameter of the same name', async () => {
    const call = async <K extends keyof ToolApi>(
      name: K,
      input: ToolApi[K]['input'],
      caller: Partial<Caller> = {},
    ): Promise<ToolApi[K]['output']> =>
      (await here.engine.callTool(name, input, { ...CHAIR, ...caller })).result as never;
    const { id } = await call('task_add', { title: 'one name', agent: 'scripted' });
    const { tasks } = await call('task_list', {});
    assert.deepEqual(
      tasks.map((each) => each.id),
      [id],
    );
    assert.equal((await call('task_assign', { id, agent: 'scripted' })).id, id);

    const run = await call('task_run', { id, wait: true });
    assert.equal(run.id, id);
    const { session, name } = run;
    assert.equal((await call('verify_status', { session })).session, session);
    const { worktrees } = await call('worktree_status', {});
    assert.deepEqual([worktrees[0]?.session, worktrees[0]?.task], [session, id]);
    const [peer] = (await call('msg_peers', { to_worker: name })).peers;
    assert.deepEqual([peer?.session, peer?.name, peer?.task], [session, name, id]);
    assert.equal((await call('worktree_promote', { session })).session, session);

    const ada: Partial<Caller> = { seat: 'plain', sessionId: 'ada' };
    const asked = call('ask', { question: 'which?' }, ada);
    const [open] = await until(async () => {
      const { asks } = await call('ask_list', {});
      return asks.length > 0 && asks;
    });
    assert.equal(open?.by, null);
    const answered = await call('ask_answer', { id: open?.id ?? 0, answer: 'this one' });
    assert.deepEqual([answered.id, (await asked).id], [open?.id, open?.id]);
    const [closed] = (await call('ask_list', { status: 'answered' })).asks;
    assert.deepEqual([closed?.id, closed?.by], [open?.id, answered.by]);

    const [sent] = (await call('msg_send', { to_session: 'ada', body: 'hi' })).messages;
    const [read] = (await call('msg_inbox', {}, ada)).messages;
    assert.deepEqual([read?.id, read?.to_session, read?.from_session], [sent?.id, sent?.to_session, 'chair']);
    assert.equal((await call('msg_ack', { id: sent?.id ?? 0 }, ada)).id, sent?.id);
  });

  test('the facts of a refusal have the names of an answer', async () => {
    const { result } = await here.engine.callTool('task_add', { title: 'refused' }, CHAIR);
    const { id } = result;
    await here.engine.callTool('task_done', { id, status: 'done' }, CHAIR);
    await assert.rejects(here.engine.callTool('task_run', { id }, CHAIR), (error: { data: object }) => {
      assert.deepEqual(
        Object.keys(error.data).filter((name) => /^(?:task|session)_id$/.test(name)),
        [],
      );
      return true;
    });
  });
});
