import { isJsonObject } from '../../core/base/json-object.ts';
import type { SseEvent } from '../protocol.ts';
import type { TokenUsage } from '../tokens.ts';
import { type PlainAnswer, type ProtocolFace, parseEventData, type UsageMeter } from './face.ts';
import { writeFault } from './fault.ts';
import { createMessagesUsage, toTokenUsage } from './usage.ts';

const MATTERS = /"type"\s*:\s*"(?:message_start|message_delta|message_stop|error)"/;

function createMessagesMeter(): UsageMeter {
  const addUsage = createMessagesUsage();
  let usage: TokenUsage | null = null;
  let isComplete = false;
  let hasFailed = false;
  return {
    readEvent(bytes) {
      if (!MATTERS.test(bytes.toString('latin1'))) return;
      const data = parseEventData(bytes);
      if (data?.type === 'message_start' && isJsonObject(data.message))
        usage = toTokenUsage(addUsage(data.message.usage));
      else if (data?.type === 'message_delta') usage = toTokenUsage(addUsage(data.usage));
      else if (data?.type === 'message_stop') isComplete = true;
      else if (data?.type === 'error') hasFailed = true;
    },
    readAnswer(body) {
      if (!isJsonObject(body)) return;
      usage = toTokenUsage(addUsage(body.usage));
      hasFailed = body.type === 'error';
    },
    usage: () => usage,
    isComplete: () => isComplete,
    isOver: () => isComplete,
    hasFailed: () => hasFailed,
  };
}

const IS_BEGINNING: readonly unknown[] = ['message_start', 'ping', 'error'];

function hasMessagesContent(event: Buffer): boolean {
  const data = parseEventData(event);
  if (data === null || IS_BEGINNING.includes(data.type)) return false;
  const block = isJsonObject(data.content_block) ? data.content_block : {};
  // A text block starts empty.
  return data.type !== 'content_block_start' || (block.text !== '' && block.thinking !== '');
}

/** Anthropic's messages, the protocol of claude. */
export const messages: ProtocolFace = {
  name: 'messages',
  formatStreamError: (fault) => ({ event: 'error', data: JSON.stringify(writeFault('messages', fault)) }),
  // Its clients ignore comments as keep-alive.
  keepAlive: { event: 'ping', data: '{"type":"ping"}' },
  createMeter: createMessagesMeter,
  hasContent: hasMessagesContent,
  outputLimits: ['max_tokens'],
  formatAnswer: (answer) => ({
    ...buildMessage(answer),
    content: [{ type: 'text', text: answer.text }],
    stop_reason: 'end_turn',
  }),
  formatStream(answer) {
    const { output_tokens } = formatUsage(answer.usage);
    const steps: { type: string; [key: string]: unknown }[] = [
      {
        type: 'message_start',
        message: { ...buildMessage(answer), usage: { ...formatUsage(answer.usage), output_tokens: 0 } },
      },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: answer.text } },
      { type: 'content_block_stop', index: 0 },
      {
        type: 'message_delta',
        delta: { stop_reason: 'end_turn', stop_sequence: null },
        usage: { output_tokens },
      },
      { type: 'message_stop' },
    ];
    return steps.map((step): SseEvent => ({ event: step.type, data: JSON.stringify(step) }));
  },
};

const formatUsage = ({ input, output, cacheRead, cacheWrite }: TokenUsage) => ({
  input_tokens: input,
  cache_creation_input_tokens: cacheWrite,
  cache_read_input_tokens: cacheRead,
  output_tokens: output,
});

const buildMessage = ({ model, usage }: PlainAnswer) => ({
  id: 'msg_svc',
  type: 'message',
  role: 'assistant',
  model,
  content: [] as object[],
  stop_reason: null as string | null,
  stop_sequence: null,
  usage: formatUsage(usage),
});
