/**
 * The protocols, implemented independently of the translation: a client's body for a plain request, a provider's
 * answer for a plain answer, and a provider's view of a request.
 */
import type { Protocol, SseEvent } from '../../../engine/gateway/protocol.ts';
import { cutText, type Dice, type PlainAnswer, type PlainRequest, type PlainTurn } from './plain-exchange.ts';

// biome-ignore lint/suspicious/noExplicitAny: bodies of four protocols, read as a test reads them
export type Json = any;

export interface PlainProtocol {
  /** Returns the body that a client sends. */
  request(plain: PlainRequest): Json;
  /** Returns a provider's view of a body; must equal `seen` of the plain request. */
  understand(body: Json): PlainRequest;
  /** Returns a provider's whole answer. */
  answer(plain: PlainAnswer): Json;
  /** Returns a provider's streamed answer. */
  stream(plain: PlainAnswer, dice: Dice): SseEvent[];
  /** Returns a client's view of a whole answer. */
  readAnswer(body: Json): PlainAnswer;
}

const data = (value: Json, event: string | null = null): SseEvent => ({ event, data: JSON.stringify(value) });
const url = ({ mediaType, data: content }: { mediaType: string; data: string }): string =>
  `data:${mediaType};base64,${content}`;
const image = (address: string) => {
  const [mediaType = '', content = ''] = address.slice('data:'.length).split(';base64,');
  return { mediaType, data: content };
};
const list = (value: Json): Json[] => (Array.isArray(value) ? value : []);
const join = (value: Json[], key = 'text'): string => value.map((each) => each[key] ?? '').join('');

const emptyRequest = (): PlainRequest => ({ system: '', turns: [], tools: [], maxTokens: 0 });
const results = (turns: PlainTurn[]): (PlainTurn & { role: 'results' })['results'] => {
  const last = turns.at(-1);
  if (last?.role === 'results') return last.results;
  const next: PlainTurn = { role: 'results', results: [] };
  turns.push(next);
  return next.results;
};
const nameOf = (turns: PlainTurn[], id: string): string =>
  turns.flatMap((turn) => (turn.role === 'assistant' ? turn.calls : [])).findLast((call) => call.id === id)
    ?.name ?? '';

/** Marks a failed call in the text, for protocols without a field for it. */
const asSaid = (text: string) =>
  text.startsWith('Error: ')
    ? { text: text.slice('Error: '.length), isError: true }
    : { text, isError: false };

// --- chat ---

const chatUsage = ({ usage }: PlainAnswer): Json => ({
  prompt_tokens: usage.input,
  completion_tokens: usage.output,
  total_tokens: usage.input + usage.output,
  prompt_tokens_details: { cached_tokens: usage.cacheRead },
  completion_tokens_details: { reasoning_tokens: usage.reasoning },
});

const chatReason = ({ calls, isCut }: PlainAnswer): string => {
  if (isCut) return 'length';
  return calls.length > 0 ? 'tool_calls' : 'stop';
};

const chat: PlainProtocol = {
  request: ({ system, turns, tools, maxTokens }) => ({
    model: 'asked',
    max_tokens: maxTokens,
    stream_options: { include_usage: true },
    messages: [
      ...(system === '' ? [] : [{ role: 'system', content: system }]),
      ...turns.flatMap((turn): Json[] => {
        if (turn.role === 'results')
          return turn.results.map(({ id, text, isError }) => ({
            role: 'tool',
            tool_call_id: id,
            content: isError ? `Error: ${text}` : text,
          }));
        if (turn.role === 'user')
          return [
            {
              role: 'user',
              content:
                turn.images.length === 0
                  ? turn.text
                  : [
                      { type: 'text', text: turn.text },
                      ...turn.images.map((each) => ({ type: 'image_url', image_url: { url: url(each) } })),
                    ],
            },
          ];
        const calls = turn.calls.map(({ id, name, args }) => ({
          id,
          type: 'function',
          function: { name, arguments: JSON.stringify(args) },
        }));
        return [
          {
            role: 'assistant',
            content: turn.text || null,
            ...(calls.length === 0 ? {} : { tool_calls: calls }),
          },
        ];
      }),
    ],
    tools: tools.map(({ name, description, schema }) => ({
      type: 'function',
      function: { name, description, parameters: schema },
    })),
  }),
  understand(body) {
    const plain = emptyRequest();
    plain.maxTokens = body.max_tokens;
    plain.tools = list(body.tools).map(({ function: tool }) => ({
      name: tool.name,
      description: tool.description,
      schema: tool.parameters,
    }));
    for (const message of body.messages) {
      const parts =
        typeof message.content === 'string'
          ? [{ type: 'text', text: message.content }]
          : list(message.content);
      const text = join(parts.filter(({ type }) => type === 'text'));
      if (message.role === 'system') plain.system += text;
      else if (message.role === 'user')
        plain.turns.push({
          role: 'user',
          text,
          images: parts.filter(({ type }) => type === 'image_url').map((part) => image(part.image_url.url)),
        });
      else if (message.role === 'tool')
        results(plain.turns).push({
          id: message.tool_call_id,
          name: nameOf(plain.turns, message.tool_call_id),
          ...asSaid(text),
        });
      else
        plain.turns.push({
          role: 'assistant',
          text,
          calls: list(message.tool_calls).map((call) => ({
            id: call.id,
            name: call.function.name,
            args: JSON.parse(call.function.arguments),
          })),
        });
    }
    return plain;
  },
  answer: (plain) => ({
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model: 'given',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: plain.text || null,
          reasoning_content: plain.thinking || null,
          tool_calls: plain.calls.map(({ id, name, args }) => ({
            id,
            type: 'function',
            function: { name, arguments: JSON.stringify(args) },
          })),
        },
        finish_reason: chatReason(plain),
      },
    ],
    usage: chatUsage(plain),
  }),
  stream(plain, dice) {
    const chunk = (delta: Json, reason: string | null = null): SseEvent =>
      data({
        id: 'chatcmpl-1',
        object: 'chat.completion.chunk',
        created: 1,
        model: 'given',
        choices: [{ index: 0, delta, finish_reason: reason }],
        ...(dice.below(2) === 0 ? { usage: null } : {}),
      });
    return [
      chunk({ role: 'assistant', content: '' }),
      ...cutText(plain.thinking, dice).map((text) => chunk({ reasoning_content: text })),
      ...cutText(plain.text, dice).map((text) => chunk({ content: text })),
      ...plain.calls.flatMap(({ id, name, args }, index) => {
        const [first = '', ...rest] = cutText(
          Object.keys(args).length === 0 ? '' : JSON.stringify(args),
          dice,
        );
        return [
          chunk({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: first } }] }),
          ...rest.map((text) => chunk({ tool_calls: [{ index, function: { arguments: text } }] })),
        ];
      }),
      chunk({}, chatReason(plain)),
      data({
        id: 'chatcmpl-1',
        object: 'chat.completion.chunk',
        created: 1,
        model: 'given',
        choices: [],
        usage: chatUsage(plain),
      }),
      { event: null, data: '[DONE]' },
    ];
  },
  readAnswer({ choices: [{ message, finish_reason: reason }], usage }) {
    return {
      thinking: message.reasoning_content ?? '',
      text: message.content ?? '',
      calls: list(message.tool_calls).map((call) => ({
        id: call.id,
        name: call.function.name,
        args: JSON.parse(call.function.arguments),
      })),
      isCut: reason === 'length',
      usage: {
        input: usage.prompt_tokens,
        cacheRead: usage.prompt_tokens_details.cached_tokens,
        output: usage.completion_tokens,
        reasoning: usage.completion_tokens_details.reasoning_tokens,
      },
    };
  },
};

// --- responses ---

const responsesOutput = (plain: PlainAnswer): Json[] => [
  ...(plain.thinking === ''
    ? []
    : [{ id: 'rs_1', type: 'reasoning', summary: [{ type: 'summary_text', text: plain.thinking }] }]),
  ...(plain.text === ''
    ? []
    : [
        {
          id: 'msg_1',
          type: 'message',
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text: plain.text, annotations: [], logprobs: [] }],
        },
      ]),
  ...plain.calls.map(({ id, name, args }) => ({
    id: `fc_${id}`,
    type: 'function_call',
    status: 'completed',
    call_id: id,
    name,
    arguments: JSON.stringify(args),
  })),
];

const responsesWhole = (plain: PlainAnswer): Json => ({
  id: 'resp_1',
  object: 'response',
  created_at: 1,
  status: plain.isCut ? 'incomplete' : 'completed',
  incomplete_details: plain.isCut ? { reason: 'max_output_tokens' } : null,
  error: null,
  model: 'given',
  output: responsesOutput(plain),
  usage: {
    input_tokens: plain.usage.input,
    input_tokens_details: { cached_tokens: plain.usage.cacheRead },
    output_tokens: plain.usage.output,
    output_tokens_details: { reasoning_tokens: plain.usage.reasoning },
    total_tokens: plain.usage.input + plain.usage.output,
  },
});

function responsesItemEvents(item: Json, index: number, dice: Dice): Json[] {
  const at = { item_id: item.id, output_index: index };
  const done = { type: 'response.output_item.done', output_index: index, item };
  const added = (started: Json): Json => ({
    type: 'response.output_item.added',
    output_index: index,
    item: started,
  });
  if (item.type === 'reasoning') {
    const [{ text }] = item.summary;
    return [
      added({ ...item, summary: [] }),
      {
        type: 'response.reasoning_summary_part.added',
        ...at,
        summary_index: 0,
        part: { type: 'summary_text', text: '' },
      },
      ...cutText(text, dice).map((delta) => ({
        type: 'response.reasoning_summary_text.delta',
        ...at,
        summary_index: 0,
        delta,
      })),
      { type: 'response.reasoning_summary_text.done', ...at, summary_index: 0, text },
      {
        type: 'response.reasoning_summary_part.done',
        ...at,
        summary_index: 0,
        part: { type: 'summary_text', text },
      },
      done,
    ];
  }
  if (item.type === 'message') {
    const [part] = item.content;
    return [
      added({ ...item, status: 'in_progress', content: [] }),
      { type: 'response.content_part.added', ...at, content_index: 0, part: { ...part, text: '' } },
      ...cutText(part.text, dice).map((delta) => ({
        type: 'response.output_text.delta',
        ...at,
        content_index: 0,
        delta,
      })),
      { type: 'response.output_text.done', ...at, content_index: 0, text: part.text },
      { type: 'response.content_part.done', ...at, content_index: 0, part },
      done,
    ];
  }
  // Some servers send the arguments only at the end.
  const pieces = dice.below(3) === 0 ? [] : cutText(item.arguments, dice);
  return [
    added({ ...item, status: 'in_progress', arguments: '' }),
    ...pieces.map((delta) => ({ type: 'response.function_call_arguments.delta', ...at, delta })),
    { type: 'response.function_call_arguments.done', ...at, name: item.name, arguments: item.arguments },
    done,
  ];
}

const responses: PlainProtocol = {
  request: ({ system, turns, tools, maxTokens }) => ({
    model: 'asked',
    max_output_tokens: maxTokens,
    ...(system === '' ? {} : { instructions: system }),
    input: turns.flatMap((turn): Json[] => {
      if (turn.role === 'results')
        return turn.results.map(({ id, text, isError }) => ({
          type: 'function_call_output',
          call_id: id,
          output: isError ? `Error: ${text}` : text,
        }));
      if (turn.role === 'user')
        return [
          {
            role: 'user',
            content: [
              { type: 'input_text', text: turn.text },
              ...turn.images.map((each) => ({ type: 'input_image', detail: 'auto', image_url: url(each) })),
            ],
          },
        ];
      return [
        ...(turn.text === ''
          ? []
          : [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: turn.text }] }]),
        ...turn.calls.map(({ id, name, args }) => ({
          type: 'function_call',
          call_id: id,
          name,
          arguments: JSON.stringify(args),
        })),
      ];
    }),
    tools: tools.map(({ name, description, schema }) => ({
      type: 'function',
      name,
      description,
      parameters: schema,
      strict: false,
    })),
  }),
  understand(body) {
    const plain = emptyRequest();
    plain.system = body.instructions ?? '';
    plain.maxTokens = body.max_output_tokens;
    plain.tools = list(body.tools).map(({ name, description, parameters }) => ({
      name,
      description,
      schema: parameters,
    }));
    const assistant = () => {
      const last = plain.turns.at(-1);
      if (last?.role === 'assistant') return last;
      const next: PlainTurn & { role: 'assistant' } = { role: 'assistant', text: '', calls: [] };
      plain.turns.push(next);
      return next;
    };
    for (const item of body.input) {
      if (item.type === 'function_call')
        assistant().calls.push({ id: item.call_id, name: item.name, args: JSON.parse(item.arguments) });
      else if (item.type === 'function_call_output')
        results(plain.turns).push({
          id: item.call_id,
          name: nameOf(plain.turns, item.call_id),
          ...asSaid(item.output),
        });
      else if (item.role === 'assistant') assistant().text += join(item.content);
      else
        plain.turns.push({
          role: 'user',
          text: join(item.content.filter(({ type }: Json) => type === 'input_text')),
          images: item.content
            .filter(({ type }: Json) => type === 'input_image')
            .map((part: Json) => image(part.image_url)),
        });
    }
    return plain;
  },
  answer: responsesWhole,
  stream(plain, dice) {
    const whole = responsesWhole(plain);
    const started = { ...whole, status: 'in_progress', output: [], usage: null };
    const events: Json[] = [
      { type: 'response.created', response: started },
      { type: 'response.in_progress', response: started },
      ...whole.output.flatMap((item: Json, index: number) => responsesItemEvents(item, index, dice)),
      { type: plain.isCut ? 'response.incomplete' : 'response.completed', response: whole },
    ];
    return events.map((event, index) => data({ ...event, sequence_number: index }, event.type));
  },
  readAnswer({ output, status, usage }) {
    const of = (type: string): Json[] => output.filter((item: Json) => item.type === type);
    return {
      thinking: of('reasoning')
        .map((item) => join(item.summary))
        .join(''),
      text: of('message')
        .map((item) => join(item.content))
        .join(''),
      calls: of('function_call').map((item) => ({
        id: item.call_id,
        name: item.name,
        args: JSON.parse(item.arguments),
      })),
      isCut: status === 'incomplete',
      usage: {
        input: usage.input_tokens,
        cacheRead: usage.input_tokens_details.cached_tokens,
        output: usage.output_tokens,
        reasoning: usage.output_tokens_details.reasoning_tokens,
      },
    };
  },
};

// --- messages ---

const messagesUsage = ({ usage }: PlainAnswer): Json => ({
  input_tokens: usage.input - usage.cacheRead,
  cache_read_input_tokens: usage.cacheRead,
  cache_creation_input_tokens: 0,
  output_tokens: usage.output,
  output_tokens_details: { thinking_tokens: usage.reasoning },
});

const messagesReason = ({ calls, isCut }: PlainAnswer): string => {
  if (isCut) return 'max_tokens';
  return calls.length > 0 ? 'tool_use' : 'end_turn';
};

const messagesContent = (plain: PlainAnswer): Json[] => [
  ...(plain.thinking === '' ? [] : [{ type: 'thinking', thinking: plain.thinking, signature: 'signed' }]),
  ...(plain.text === '' ? [] : [{ type: 'text', text: plain.text, citations: null }]),
  ...plain.calls.map(({ id, name, args }) => ({ type: 'tool_use', id, name, input: args })),
];

function messagesBlockEvents(block: Json, index: number, dice: Dice): Json[] {
  const start = (content_block: Json): Json => ({ type: 'content_block_start', index, content_block });
  const delta = (value: Json): Json => ({ type: 'content_block_delta', index, delta: value });
  const stop = { type: 'content_block_stop', index };
  if (block.type === 'text')
    return [
      start({ ...block, text: '' }),
      ...cutText(block.text, dice).map((text) => delta({ type: 'text_delta', text })),
      stop,
    ];
  if (block.type === 'thinking')
    return [
      start({ ...block, thinking: '', signature: '' }),
      ...cutText(block.thinking, dice).map((thinking) => delta({ type: 'thinking_delta', thinking })),
      delta({ type: 'signature_delta', signature: block.signature }),
      stop,
    ];
  // Without arguments there is one empty piece.
  const isEmpty = Object.keys(block.input).length === 0;
  const pieces = isEmpty ? [''] : cutText(JSON.stringify(block.input), dice);
  return [
    start({ ...block, input: {} }),
    ...pieces.map((partial_json) => delta({ type: 'input_json_delta', partial_json })),
    stop,
  ];
}

const messages: PlainProtocol = {
  request: ({ system, turns, tools, maxTokens }) => ({
    model: 'asked',
    max_tokens: maxTokens,
    ...(system === ''
      ? {}
      : { system: [{ type: 'text', text: system, cache_control: { type: 'ephemeral' } }] }),
    messages: turns.map((turn): Json => {
      if (turn.role === 'results')
        return {
          role: 'user',
          content: turn.results.map(({ id, text, isError }) => ({
            type: 'tool_result',
            tool_use_id: id,
            content: text,
            is_error: isError,
          })),
        };
      if (turn.role === 'user')
        return {
          role: 'user',
          content: [
            { type: 'text', text: turn.text },
            ...turn.images.map(({ mediaType, data: content }) => ({
              type: 'image',
              source: { type: 'base64', media_type: mediaType, data: content },
            })),
          ],
        };
      return {
        role: 'assistant',
        content: [
          ...(turn.text === '' ? [] : [{ type: 'text', text: turn.text }]),
          ...turn.calls.map(({ id, name, args }) => ({ type: 'tool_use', id, name, input: args })),
        ],
      };
    }),
    tools: tools.map(({ name, description, schema }) => ({ name, description, input_schema: schema })),
  }),
  understand(body) {
    const plain = emptyRequest();
    plain.system = join(list(body.system));
    plain.maxTokens = body.max_tokens;
    plain.tools = list(body.tools).map(({ name, description, input_schema: schema }) => ({
      name,
      description,
      schema,
    }));
    for (const { role, content } of body.messages) {
      const of = (type: string): Json[] => content.filter((block: Json) => block.type === type);
      if (role === 'assistant') {
        const calls = of('tool_use').map(({ id, name, input }) => ({ id, name, args: input }));
        plain.turns.push({ role, text: join(of('text')), calls });
        continue;
      }
      for (const block of of('tool_result'))
        results(plain.turns).push({
          id: block.tool_use_id,
          name: nameOf(plain.turns, block.tool_use_id),
          text: block.content,
          isError: block.is_error ?? false,
        });
      const text = join(of('text'));
      const images = of('image').map(({ source }) => ({ mediaType: source.media_type, data: source.data }));
      if (text !== '' || images.length > 0) plain.turns.push({ role: 'user', text, images });
    }
    return plain;
  },
  answer: (plain) => ({
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'given',
    content: messagesContent(plain),
    stop_reason: messagesReason(plain),
    stop_sequence: null,
    usage: messagesUsage(plain),
  }),
  stream(plain, dice) {
    const usage = messagesUsage(plain);
    const message = {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'given',
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { ...usage, output_tokens: 1, output_tokens_details: null },
    };
    const events: Json[] = [
      { type: 'message_start', message },
      { type: 'ping' },
      ...messagesContent(plain).flatMap((block, index) => messagesBlockEvents(block, index, dice)),
      {
        type: 'message_delta',
        delta: { stop_reason: messagesReason(plain), stop_sequence: null },
        usage: { output_tokens: usage.output_tokens, output_tokens_details: usage.output_tokens_details },
      },
      { type: 'message_stop' },
    ];
    return events.map((event) => data(event, event.type));
  },
  readAnswer({ content, stop_reason: reason, usage }) {
    const of = (type: string): Json[] => content.filter((block: Json) => block.type === type);
    return {
      thinking: join(of('thinking'), 'thinking'),
      text: join(of('text')),
      calls: of('tool_use').map(({ id, name, input }) => ({ id, name, args: input })),
      isCut: reason === 'max_tokens',
      usage: {
        input: usage.input_tokens + usage.cache_read_input_tokens + usage.cache_creation_input_tokens,
        cacheRead: usage.cache_read_input_tokens,
        output: usage.output_tokens,
        reasoning: usage.output_tokens_details?.thinking_tokens ?? 0,
      },
    };
  },
};

// --- gemini ---

const geminiParts = (plain: PlainAnswer): Json[] => [
  ...(plain.thinking === '' ? [] : [{ text: plain.thinking, thought: true }]),
  ...(plain.text === '' ? [] : [{ text: plain.text }]),
  ...plain.calls.map(({ id, name, args }) => ({ functionCall: { id, name, args } })),
];

const geminiUsage = ({ usage }: PlainAnswer): Json => ({
  promptTokenCount: usage.input,
  cachedContentTokenCount: usage.cacheRead,
  candidatesTokenCount: usage.output - usage.reasoning,
  thoughtsTokenCount: usage.reasoning,
  totalTokenCount: usage.input + usage.output,
});

const geminiChunk = (parts: Json[], more: object = {}, rest: object = {}): Json => ({
  candidates: [{ content: { role: 'model', parts }, index: 0, ...more }],
  modelVersion: 'given',
  responseId: 'r1',
  ...rest,
});

const gemini: PlainProtocol = {
  request: ({ system, turns, tools, maxTokens }) => ({
    ...(system === '' ? {} : { systemInstruction: { role: 'user', parts: [{ text: system }] } }),
    contents: turns.map((turn): Json => {
      if (turn.role === 'results')
        return {
          role: 'user',
          parts: turn.results.map(({ id, name, text, isError }) => ({
            functionResponse: { id, name, response: isError ? { error: text } : { output: text } },
          })),
        };
      if (turn.role === 'user')
        return {
          role: 'user',
          parts: [
            { text: turn.text },
            ...turn.images.map(({ mediaType, data: content }) => ({
              inlineData: { mimeType: mediaType, data: content },
            })),
          ],
        };
      return {
        role: 'model',
        parts: [
          ...(turn.text === '' ? [] : [{ text: turn.text }]),
          ...turn.calls.map(({ id, name, args }) => ({ functionCall: { id, name, args } })),
        ],
      };
    }),
    tools: [
      {
        functionDeclarations: tools.map(({ name, description, schema }) => ({
          name,
          description,
          parametersJsonSchema: schema,
        })),
      },
    ],
    generationConfig: { maxOutputTokens: maxTokens },
  }),
  understand(body) {
    const plain = emptyRequest();
    plain.system = join(list(body.systemInstruction?.parts));
    plain.maxTokens = body.generationConfig.maxOutputTokens;
    plain.tools = list(body.tools?.[0]?.functionDeclarations).map((tool) => ({
      name: tool.name,
      description: tool.description,
      schema: tool.parametersJsonSchema,
    }));
    for (const { role, parts } of body.contents) {
      const text = join(parts);
      const calls = parts.flatMap((part: Json) => part.functionCall ?? []);
      if (role === 'model') {
        plain.turns.push({ role: 'assistant', text, calls });
        continue;
      }
      for (const { functionResponse } of parts)
        if (functionResponse)
          results(plain.turns).push({
            id: functionResponse.id,
            name: functionResponse.name,
            text: functionResponse.response.output ?? functionResponse.response.error,
            isError: 'error' in functionResponse.response,
          });
      const images = parts.flatMap(({ inlineData }: Json) =>
        inlineData ? [{ mediaType: inlineData.mimeType, data: inlineData.data }] : [],
      );
      if (text !== '' || images.length > 0) plain.turns.push({ role: 'user', text, images });
    }
    return plain;
  },
  answer: (plain) =>
    geminiChunk(
      geminiParts(plain),
      { finishReason: plain.isCut ? 'MAX_TOKENS' : 'STOP' },
      { usageMetadata: geminiUsage(plain) },
    ),
  stream(plain, dice) {
    // Every chunk has the usage so far.
    const said = (part: Json): SseEvent =>
      data(geminiChunk([part], {}, { usageMetadata: { promptTokenCount: plain.usage.input } }));
    return [
      ...cutText(plain.thinking, dice).map((text) => said({ text, thought: true })),
      ...cutText(plain.text, dice).map((text) => said({ text })),
      ...plain.calls.map(({ id, name, args }) => said({ functionCall: { id, name, args } })),
      data(
        geminiChunk(
          [{ text: '' }],
          { finishReason: plain.isCut ? 'MAX_TOKENS' : 'STOP' },
          { usageMetadata: geminiUsage(plain) },
        ),
      ),
    ];
  },
  readAnswer({ candidates: [candidate], usageMetadata: usage }) {
    const parts: Json[] = candidate.content.parts;
    return {
      thinking: join(parts.filter(({ thought }) => thought === true)),
      text: join(parts.filter(({ thought }) => thought !== true)),
      calls: parts.flatMap(({ functionCall }) => (functionCall ? [{ args: {}, ...functionCall }] : [])),
      isCut: candidate.finishReason === 'MAX_TOKENS',
      usage: {
        input: usage.promptTokenCount,
        cacheRead: usage.cachedContentTokenCount ?? 0,
        output: usage.candidatesTokenCount + (usage.thoughtsTokenCount ?? 0),
        reasoning: usage.thoughtsTokenCount ?? 0,
      },
    };
  },
};

export const PLAIN_PROTOCOLS: Readonly<Record<Protocol, PlainProtocol>> = {
  chat,
  responses,
  messages,
  gemini,
};

export const PROTOCOLS: readonly Protocol[] = ['chat', 'responses', 'messages', 'gemini'];

/** All pairs of two protocols. */
export const PAIRS: readonly (readonly [from: Protocol, to: Protocol])[] = PROTOCOLS.flatMap((from) =>
  PROTOCOLS.filter((to) => to !== from).map((to) => [from, to] as const),
);
