import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Json } from '../../../support/gateway/plain-protocols.ts';
import { type SdkClients, startSdkClients } from '../../../support/gateway/sdk-clients.ts';
import { exchange, parseEvents } from '../../../support/gateway/translated.ts';

const GRAMMAR = 'start: "*** Begin Patch" ';

/** A request of codex in the middle of its loop. */
const codexRequest = (): Json => ({
  model: 'gpt-asked',
  instructions: 'You are Codex.',
  input: [
    { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'Sandbox: none.' }] },
    { type: 'message', role: 'user', content: [{ type: 'input_text', text: '<environment/>' }] },
    { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'fix it' }] },
    { type: 'reasoning', id: 'rs_x', summary: [], encrypted_content: 'gAAAAAB' },
    {
      type: 'message',
      role: 'assistant',
      content: [{ type: 'output_text', text: 'I look.' }],
      phase: 'commentary',
    },
    {
      type: 'function_call',
      call_id: 'c1',
      name: 'search',
      namespace: 'mcp__files__',
      arguments: '{"q":"x"}',
    },
    { type: 'custom_tool_call', call_id: 'c2', name: 'apply_patch', input: '*** Begin Patch\n"x"' },
    { type: 'web_search_call', id: 'ws_1', status: 'completed' },
    { type: 'function_call_output', call_id: 'c1', output: 'found' },
    { type: 'custom_tool_call_output', call_id: 'c2', output: 'Done' },
  ],
  tools: [
    {
      type: 'function',
      name: 'shell',
      description: 'Runs.',
      strict: false,
      parameters: { type: 'object', properties: {} },
    },
    {
      type: 'namespace',
      name: 'mcp__files__',
      description: 'Files.',
      tools: [{ type: 'function', name: 'search', parameters: { type: 'object' }, strict: false }],
    },
    {
      type: 'custom',
      name: 'apply_patch',
      description: 'Patches.',
      format: { type: 'grammar', syntax: 'lark', definition: GRAMMAR },
    },
    { type: 'web_search', external_web_access: false },
  ],
  tool_choice: 'auto',
  parallel_tool_calls: true,
  reasoning: { effort: 'medium', summary: 'auto' },
  store: false,
  stream: true,
  include: ['reasoning.encrypted_content'],
  prompt_cache_key: 'thread-1',
  client_metadata: { a: 'b' },
  text: { verbosity: 'low' },
});

const chunk = (delta: Json, finish_reason: string | null = null): Json => ({
  id: 'x1',
  model: 'qwen3',
  choices: [{ index: 0, delta, finish_reason }],
});

const CALLS: Json[] = [
  chunk({ content: 'Two calls.' }),
  chunk({
    tool_calls: [{ index: 0, id: 'n1', function: { name: 'mcp__files__search', arguments: '{"q":' } }],
  }),
  chunk({ tool_calls: [{ index: 0, function: { arguments: '"y"}' } }] }),
  chunk({
    tool_calls: [{ index: 1, id: 'n2', function: { name: 'apply_patch', arguments: '{"input":"*** Be' } }],
  }),
  chunk({ tool_calls: [{ index: 1, function: { arguments: 'gin\\n\\"q\\""}' } }] }),
  chunk({}, 'tool_calls'),
  {
    choices: [],
    usage: { prompt_tokens: 5, completion_tokens: 7, completion_tokens_details: { reasoning_tokens: 3 } },
  },
  '[DONE]',
];

describe('codex', () => {
  let clients: SdkClients;
  before(async () => {
    clients = await startSdkClients();
  });
  after(() => clients.close());

  test("codex's request arrives at a chat provider", () => {
    const { sent } = exchange('responses', 'chat', codexRequest(), 'qwen3');
    const call = (id: string, name: string, args: string): Json => ({
      id,
      type: 'function',
      function: { name, arguments: args },
    });
    assert.deepEqual(sent.messages, [
      { role: 'system', content: 'You are Codex.\n\nSandbox: none.' },
      { role: 'user', content: '<environment/>\n\nfix it' },
      {
        role: 'assistant',
        content: 'I look.',
        tool_calls: [
          call('c1', 'mcp__files__search', '{"q":"x"}'),
          call('c2', 'apply_patch', JSON.stringify({ input: '*** Begin Patch\n"x"' })),
        ],
      },
      { role: 'tool', tool_call_id: 'c1', content: 'found' },
      { role: 'tool', tool_call_id: 'c2', content: 'Done' },
    ]);
    const [shell, search, patch, ...more] = sent.tools.map((tool: Json) => tool.function);
    assert.equal(shell.name, 'shell');
    assert.deepEqual(search, { name: 'mcp__files__search', parameters: { type: 'object', properties: {} } });
    assert.equal(patch.description, `Patches.\n\nThe text must follow this grammar (lark):\n${GRAMMAR}`);
    assert.deepEqual(patch.parameters.required, ['input']);
    assert.deepEqual(more, []);
    for (const field of [
      'prompt_cache_key',
      'client_metadata',
      'store',
      'include',
      'verbosity',
      'reasoning_effort',
    ])
      assert.ok(!(field in sent), field);
  });

  test("codex's request for a model of OpenAI keeps the hints of OpenAI", () => {
    const { sent } = exchange('responses', 'chat', codexRequest(), 'openai/gpt-5.2');
    assert.equal(sent.prompt_cache_key, 'thread-1');
    assert.equal(sent.verbosity, 'low');
    assert.equal(sent.reasoning_effort, 'medium');
  });

  test('an unknown field passes between the protocols of OpenAI, and to no other', () => {
    const body = { ...codexRequest(), new_field: { a: 1 } };
    assert.deepEqual(exchange('responses', 'chat', body).sent.new_field, { a: 1 });
    assert.deepEqual(exchange('chat', 'responses', { messages: [], new_field: 2 }).sent.new_field, 2);
    assert.ok(!('new_field' in exchange('responses', 'messages', body).sent));
    assert.ok(!('new_field' in exchange('responses', 'gemini', body).sent));
  });

  test("codex's stream has its own tools again, each event numbered, and the whole output at the end", async () => {
    const events = exchange('responses', 'chat', codexRequest(), 'qwen3').stream(CALLS);
    const told = parseEvents(events);
    assert.deepEqual(
      told.map(({ sequence_number }) => sequence_number),
      told.map((_, index) => index),
    );
    for (const [index, { event }] of events.entries()) assert.equal(event, told[index].type);
    assert.deepEqual(
      told.map(({ type }) => type.slice('response.'.length)),
      [
        'created',
        'in_progress',
        'output_item.added',
        'content_part.added',
        'output_text.delta',
        'output_text.done',
        'content_part.done',
        'output_item.done',
        'output_item.added',
        'function_call_arguments.delta',
        'function_call_arguments.delta',
        'function_call_arguments.done',
        'output_item.done',
        'output_item.added',
        'custom_tool_call_input.delta',
        'custom_tool_call_input.done',
        'output_item.done',
        'completed',
      ],
    );
    const { response } = told.at(-1);
    const plain = response.output.map(({ id: _, status: __, ...item }: Json) => item);
    assert.deepEqual(plain.slice(1), [
      {
        type: 'function_call',
        call_id: 'n1',
        name: 'search',
        namespace: 'mcp__files__',
        arguments: '{"q":"y"}',
      },
      { type: 'custom_tool_call', call_id: 'n2', name: 'apply_patch', input: '*** Begin\n"q"' },
    ]);
    assert.deepEqual(
      told.filter(({ type }) => type === 'response.output_item.done').map(({ item }) => item),
      response.output,
    );
    assert.deepEqual(response.usage, {
      input_tokens: 5,
      input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
      output_tokens: 7,
      output_tokens_details: { reasoning_tokens: 3 },
      total_tokens: 12,
    });
    assert.deepEqual(response.tools, codexRequest().tools);
    const read = await clients.readStream('responses', events);
    assert.deepEqual(
      JSON.parse(JSON.stringify(read.output.slice(1))).map(({ call_id }: Json) => call_id),
      ['n1', 'n2'],
    );
  });

  test('a whole answer has its own tools again too', () => {
    const message = {
      content: null,
      tool_calls: [
        { id: 'n1', function: { name: 'mcp__files__search', arguments: '{}' } },
        { id: 'n2', function: { name: 'apply_patch', arguments: '{"input":"text"}' } },
        { id: 'n3', function: { name: 'apply_patch', arguments: 'no JSON' } },
      ],
    };
    const { output } = exchange('responses', 'chat', codexRequest()).answer({
      choices: [{ message, finish_reason: 'tool_calls' }],
    });
    assert.deepEqual(
      output.map(({ type, name, namespace, input }: Json) => ({ type, name, namespace, input })),
      [
        { type: 'function_call', name: 'search', namespace: 'mcp__files__', input: undefined },
        { type: 'custom_tool_call', name: 'apply_patch', namespace: undefined, input: 'text' },
        { type: 'custom_tool_call', name: 'apply_patch', namespace: undefined, input: 'no JSON' },
      ],
    );
  });

  test('results are right behind their calls, even when text came between them', () => {
    const body = {
      input: [
        { role: 'user', content: 'go' },
        { type: 'function_call', call_id: 'a', name: 'f', arguments: '{}' },
        { type: 'function_call', call_id: 'b', name: 'f', arguments: '{}' },
        { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
        { role: 'user', content: 'wait' },
        { type: 'function_call_output', call_id: 'b', output: '2' },
        { type: 'function_call_output', call_id: 'a', output: '1' },
      ],
    };
    const roles = exchange('responses', 'chat', body).sent.messages.map((message: Json) => [
      message.role,
      message.tool_call_id ?? message.content,
    ]);
    assert.deepEqual(roles, [
      ['user', 'go'],
      ['assistant', null],
      ['tool', 'b'],
      ['tool', 'a'],
      ['tool', 'c'],
      ['user', 'wait'],
    ]);
  });
});
