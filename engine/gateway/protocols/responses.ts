import { isJsonObject } from '../../core/base/json-object.ts';
import type { SseEvent } from '../protocol.ts';
import type { TokenUsage } from '../tokens.ts';
import { type PlainAnswer, type ProtocolFace, parseEventData, type UsageMeter } from './face.ts';
import { readUsage, toTokenUsage } from './usage.ts';

const readTokens = (usage: unknown): TokenUsage | null => toTokenUsage(readUsage('responses', usage));

const IS_END = /"type"\s*:\s*"(?:response\.(?:completed|incomplete|failed)|error)"/;

function createResponsesMeter(): UsageMeter {
  let usage: TokenUsage | null = null;
  let isComplete = false;
  let hasFailed = false;
  return {
    readEvent(bytes) {
      if (!IS_END.test(bytes.toString('latin1'))) return;
      const data = parseEventData(bytes);
      if (data?.type === 'response.completed' || data?.type === 'response.incomplete') isComplete = true;
      else if (data?.type === 'response.failed' || data?.type === 'error') hasFailed = true;
      if (isJsonObject(data?.response)) usage = readTokens(data.response.usage) ?? usage;
    },
    readAnswer(body) {
      if (!isJsonObject(body)) return;
      usage = readTokens(body.usage);
      hasFailed = isJsonObject(body.error) && body.output === undefined;
    },
    usage: () => usage,
    isComplete: () => isComplete,
    isOver: () => isComplete,
    hasFailed: () => hasFailed,
  };
}

const IS_BEGINNING =
  /^(?:response\.(?:created|queued|in_progress|failed|output_item\.added|content_part\.added|reasoning_summary_part\.added)|error|keepalive|ping)$/;

function hasResponsesContent(event: Buffer): boolean {
  const data = parseEventData(event);
  return data !== null && !IS_BEGINNING.test(String(data.type));
}

/** OpenAI's responses, the only protocol that codex speaks. */
export const responses: ProtocolFace = {
  name: 'responses',
  formatStreamError: ({ code, message }) => ({
    event: 'error',
    data: JSON.stringify({ type: 'error', code, message, param: null, sequence_number: 0 }),
  }),
  keepAlive: null,
  createMeter: createResponsesMeter,
  hasContent: hasResponsesContent,
  outputLimits: ['max_output_tokens'],
  formatAnswer: (answer) => buildResponse(answer, 'completed'),
  formatStream(answer) {
    const item = buildItem(answer.text);
    const at = { item_id: item.id, output_index: 0, content_index: 0 };
    const part = { type: 'output_text', text: '', annotations: [], logprobs: [] };
    const steps: { type: string; [key: string]: unknown }[] = [
      { type: 'response.created', response: buildResponse(answer, 'in_progress') },
      { type: 'response.in_progress', response: buildResponse(answer, 'in_progress') },
      {
        type: 'response.output_item.added',
        output_index: 0,
        item: { ...item, status: 'in_progress', content: [] },
      },
      { type: 'response.content_part.added', ...at, part },
      { type: 'response.output_text.delta', ...at, delta: answer.text, logprobs: [] },
      { type: 'response.output_text.done', ...at, text: answer.text, logprobs: [] },
      { type: 'response.content_part.done', ...at, part: { ...part, text: answer.text } },
      { type: 'response.output_item.done', output_index: 0, item },
      { type: 'response.completed', response: buildResponse(answer, 'completed') },
    ];
    return steps.map(
      (step, number): SseEvent => ({
        event: step.type,
        data: JSON.stringify({ ...step, sequence_number: number }),
      }),
    );
  },
};

const buildItem = (text: string) => ({
  id: 'msg_svc',
  type: 'message',
  status: 'completed',
  role: 'assistant',
  content: [{ type: 'output_text', text, annotations: [], logprobs: [] }],
});

function buildResponse({ model, text, usage }: PlainAnswer, status: 'completed' | 'in_progress'): object {
  const { input, output, cacheRead } = usage;
  const isOver = status === 'completed';
  return {
    id: 'resp_svc',
    object: 'response',
    created_at: 0,
    status,
    error: null,
    incomplete_details: null,
    instructions: null,
    metadata: {},
    model,
    output: isOver ? [buildItem(text)] : [],
    parallel_tool_calls: true,
    previous_response_id: null,
    temperature: null,
    tool_choice: 'auto',
    tools: [],
    top_p: null,
    usage: isOver
      ? {
          input_tokens: input + cacheRead,
          input_tokens_details: { cached_tokens: cacheRead },
          output_tokens: output,
          output_tokens_details: { reasoning_tokens: 0 },
          total_tokens: input + cacheRead + output,
        }
      : null,
  };
}
