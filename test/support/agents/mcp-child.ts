/**
 * An MCP server on stdio that plays a Chair's round trip from memory: a task, a run that asks a question, its answer,
 * a merge. It refuses calls that do not match its earlier answers.
 */
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';

type Given = Record<string, unknown>;

let asked = 0;
let answered = false;
let looked = 0;

const expect = (given: unknown, wanted: unknown): void => {
  if (given !== wanted) throw new Error(`expected ${JSON.stringify(wanted)}, got ${JSON.stringify(given)}`);
};

const TOOLS: Record<string, { input: Given; run(given: Given): Given }> = {
  task_add: {
    input: { title: { type: 'string' } },
    run: ({ title }) => ({ id: 't-1', title, status: 'assigned' }),
  },
  task_run: {
    input: { id: { type: 'string' } },
    run({ id }) {
      expect(id, 't-1');
      return { id, session: 's-1' };
    },
  },
  ask_list: {
    input: { status: { type: 'string' } },
    run: () => ({ asks: ++asked > 2 ? [{ id: 7, question: 'Which colour?' }] : [] }),
  },
  ask_answer: {
    input: { id: { type: 'integer' }, answer: { type: 'string' } },
    run({ id }) {
      expect(id, 7);
      answered = true;
      return { id, status: 'answered' };
    },
  },
  task_list: {
    input: {},
    run() {
      looked += 1;
      const status = answered && looked > 2 ? 'done' : 'running';
      return {
        tasks: [
          { id: 't-0', status: 'failed' },
          { id: 't-1', status },
        ],
      };
    },
  },
  worktree_promote: {
    input: { session: { type: 'string' } },
    run({ session }) {
      expect(session, 's-1');
      return { session, merged: true };
    },
  },
};

const server = new Server({ name: 'svc', version: '0' }, { capabilities: { tools: {} } });
server.setRequestHandler(ListToolsRequestSchema, () => ({
  tools: Object.entries(TOOLS).map(([name, { input }]) => ({
    name,
    description: `${name.replace('_', ' ')}.`,
    inputSchema: { type: 'object' as const, properties: input },
  })),
}));
server.setRequestHandler(CallToolRequestSchema, ({ params }) => {
  try {
    const tool = TOOLS[params.name];
    if (tool === undefined) throw new Error(`no tool ${params.name}`);
    const result = tool.run(params.arguments ?? {});
    return { structuredContent: result, content: [{ type: 'text' as const, text: JSON.stringify(result) }] };
  } catch (error) {
    const refused = { code: 'invalid', message: (error as Error).message };
    return {
      isError: true,
      structuredContent: refused,
      content: [{ type: 'text' as const, text: JSON.stringify(refused) }],
    };
  }
});
await server.connect(new StdioServerTransport());
