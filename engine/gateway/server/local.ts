import { createHash } from 'node:crypto';
import type { OutgoingHttpHeaders } from 'node:http';
import { readJsonMember, readJsonValue } from '../json-members.ts';
import { estimateTokens, NO_USAGE, type TokenUsage } from '../tokens.ts';
import { sendFailure, sendJson } from './answer.ts';
import type { GatewayCall } from './call.ts';
import type { ListedModel } from './provider-health.ts';
import { createEventWriter } from './sse.ts';
import { buildStubText } from './stub-text.ts';

/** Marks a stub's answer as such. */
const STUB: OutgoingHttpHeaders = { 'x-svc-stub': '1' };
const STUB_MODEL = 'svc-stub';
const STUB_DIMENSIONS = 64;

/**
 * Answers without a model: deterministic per request, in every protocol, marked as a stub. Clients get a usage, since
 * some require one; the books do not, since nothing was spent.
 */
export function answerStub(call: GatewayCall) {
  const { face, response, promptTokens, route } = call;
  const text = buildStubText(call);
  const usage: TokenUsage = { ...NO_USAGE, input: promptTokens, output: estimateTokens(text.length) };
  if (route.kind === 'embed') return embedStub(call, usage);
  call.row.model = STUB_MODEL;
  const answer = { model: call.asked || STUB_MODEL, text, usage };
  if (!call.isStream) return sendJson(response, 200, face.formatAnswer(answer), STUB);
  const writer = createEventWriter(call.isListed);
  response.writeHead(200, { 'content-type': writer.type, 'cache-control': 'no-cache', ...STUB });
  const wantsUsage = route.protocol !== 'chat' || asksForUsage(call);
  const events = face.formatStream(answer).filter(({ data }) => wantsUsage || !data.includes('"choices":[]'));
  response.end(`${events.map((event) => writer.write(event)).join('')}${writer.end()}`);
}

function asksForUsage({ body, members }: GatewayCall): boolean {
  const options = members.findLast(({ key }) => key === 'stream_options');
  const value = options === undefined ? undefined : readJsonValue(body, options);
  return (value as { include_usage?: unknown } | null | undefined)?.include_usage === true;
}

/** Answers with embeddings that depend only on the text. */
function embedStub(call: GatewayCall, usage: TokenUsage): void {
  const { body, members, response } = call;
  const input = readJsonMember(body, members, 'input');
  const texts = Array.isArray(input) && typeof input[0] !== 'number' ? input : [input];
  const isBase64 = readJsonMember(body, members, 'encoding_format') === 'base64';
  const data = texts.map((text, index) => {
    const seed = createHash('sha512')
      .update(JSON.stringify(text) ?? '')
      .digest();
    const vector = Float32Array.from({ length: STUB_DIMENSIONS }, (_, at) => (seed[at] ?? 0) / 128 - 1);
    const embedding = isBase64 ? Buffer.from(vector.buffer).toString('base64') : [...vector];
    return { object: 'embedding', index, embedding };
  });
  const prompt_tokens = usage.input;
  sendJson(
    response,
    200,
    {
      object: 'list',
      data,
      model: call.asked || STUB_MODEL,
      usage: { prompt_tokens, total_tokens: prompt_tokens },
    },
    STUB,
  );
}

/** Estimates a count without an upstream, marked as an estimate. */
export function answerCount(call: GatewayCall): void {
  const tokens = call.promptTokens;
  const body = call.route.protocol === 'gemini' ? { totalTokens: tokens } : { input_tokens: tokens };
  sendJson(call.response, 200, body, { 'x-svc-estimated': '1' });
}

/** Returns the list of models, or one of them, in the caller's protocol. */
export function answerModels(
  { face, response, route }: Pick<GatewayCall, 'face' | 'response' | 'route'>,
  models: readonly ListedModel[],
) {
  const format = {
    chat: formatOpenaiModel,
    responses: formatOpenaiModel,
    messages: formatAnthropicModel,
    gemini: formatGeminiModel,
  }[route.protocol];
  if (route.model !== null) {
    const found = models.find(({ id }) => id === route.model);
    if (found !== undefined) return sendJson(response, 200, format(found));
    return sendFailure(response, face, {
      status: 404,
      code: 'model_not_found',
      message: `there is no model ${route.model}`,
    });
  }
  const data = models.map(format);
  if (route.protocol === 'gemini') return sendJson(response, 200, { models: data });
  if (route.protocol === 'chat') return sendJson(response, 200, { object: 'list', data });
  sendJson(response, 200, {
    data,
    has_more: false,
    first_id: models[0]?.id ?? null,
    last_id: models.at(-1)?.id ?? null,
  });
}

const formatOpenaiModel = ({ id, contextWindow, maxOutput }: ListedModel): object => ({
  id,
  object: 'model',
  created: 0,
  owned_by: 'svc',
  ...(contextWindow === null ? {} : { context_length: contextWindow, context_window: contextWindow }),
  ...(maxOutput === null ? {} : { max_output_tokens: maxOutput }),
});

const formatAnthropicModel = ({ id, contextWindow, maxOutput }: ListedModel): object => ({
  type: 'model',
  id,
  display_name: id,
  created_at: '1970-01-01T00:00:00Z',
  ...(contextWindow === null ? {} : { max_input_tokens: contextWindow }),
  ...(maxOutput === null ? {} : { max_tokens: maxOutput }),
});

const formatGeminiModel = ({ id, contextWindow, maxOutput }: ListedModel): object => ({
  name: `models/${id}`,
  displayName: id,
  supportedGenerationMethods: ['generateContent', 'countTokens'],
  ...(contextWindow === null ? {} : { inputTokenLimit: contextWindow }),
  ...(maxOutput === null ? {} : { outputTokenLimit: maxOutput }),
});
