import { isJsonObject } from '../../core/base/json-object.ts';
import type { TokenUsage } from '../tokens.ts';
import { type PlainAnswer, type ProtocolFace, parseEventData, type UsageMeter } from './face.ts';
import { writeFault } from './fault.ts';
import { readUsage, toTokenUsage } from './usage.ts';

const readTokens = (usage: unknown): TokenUsage | null => toTokenUsage(readUsage('gemini', usage));

const HAS_USAGE = /"usageMetadata"\s*:\s*\{/;
const HAS_REASON = /"(?:finishReason|blockReason)"\s*:\s*"/;
const IS_ERROR = /^data:\s*\{\s*"error"\s*:\s*\{/m;

/** Reports whether an event has a finish reason. Call arguments are an object here and may contain any text. */
function saysReason(data: Record<string, unknown> | null): boolean {
  const { candidates, promptFeedback } = data ?? {};
  const said = [promptFeedback, ...(Array.isArray(candidates) ? candidates : [])].filter(isJsonObject);
  return said.some(({ finishReason, blockReason }) => typeof (finishReason ?? blockReason) === 'string');
}

function createGeminiMeter(): UsageMeter {
  /** Each chunk has usage; only the last one is read. */
  let last: Buffer | null = null;
  let answered: TokenUsage | null = null;
  let isComplete = false;
  let hasFailed = false;
  return {
    readEvent(bytes) {
      const text = bytes.toString('latin1');
      if (HAS_USAGE.test(text)) last = bytes;
      isComplete ||= HAS_REASON.test(text) && saysReason(parseEventData(bytes));
      hasFailed ||= IS_ERROR.test(text);
    },
    readAnswer(body) {
      // Without `alt=sse` a stream is a list of answers.
      const whole: unknown = Array.isArray(body) ? body.at(-1) : body;
      if (!isJsonObject(whole)) return;
      answered = readTokens(whole.usageMetadata);
      hasFailed = isJsonObject(whole.error);
    },
    usage: () => answered ?? (last === null ? null : readTokens(parseEventData(last)?.usageMetadata)),
    isComplete: () => isComplete,
    isOver: () => isComplete,
    hasFailed: () => hasFailed,
  };
}

function hasGeminiContent(event: Buffer): boolean {
  const data = parseEventData(event);
  const candidates = Array.isArray(data?.candidates) ? data.candidates.filter(isJsonObject) : [];
  const hasParts = candidates.some(
    ({ content }) => isJsonObject(content) && Array.isArray(content.parts) && content.parts.length > 0,
  );
  return hasParts || saysReason(data);
}

/** Google's generateContent. */
export const gemini: ProtocolFace = {
  name: 'gemini',
  formatStreamError: (fault) => ({ event: null, data: JSON.stringify(writeFault('gemini', fault)) }),
  keepAlive: null,
  createMeter: createGeminiMeter,
  hasContent: hasGeminiContent,
  outputLimits: [],
  formatAnswer: (answer) => buildContent(answer),
  formatStream: (answer) => [{ event: null, data: JSON.stringify(buildContent(answer)) }],
};

const buildContent = ({ model, text, usage }: PlainAnswer): object => ({
  candidates: [{ content: { role: 'model', parts: [{ text }] }, finishReason: 'STOP', index: 0 }],
  usageMetadata: {
    promptTokenCount: usage.input + usage.cacheRead,
    candidatesTokenCount: usage.output,
    totalTokenCount: usage.input + usage.cacheRead + usage.output,
    ...(usage.cacheRead === 0 ? {} : { cachedContentTokenCount: usage.cacheRead }),
  },
  modelVersion: model,
  responseId: 'svc',
});
