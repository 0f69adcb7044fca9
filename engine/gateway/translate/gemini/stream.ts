import { isJsonObject } from '../../../core/base/json-object.ts';
import { type ProviderFault, writeFault } from '../../protocols/fault.ts';
import { readUsage } from '../../protocols/usage.ts';
import { makeId } from '../answer-ids.ts';
import type {
  AnswerEnding,
  BlockSink,
  ContentBlock,
  EmitEvent,
  ModelStreamReader,
  StreamWriter,
  TranslatedExchange,
} from '../conversation.ts';
import { cutFault, readFault } from '../faults.ts';
import { asFields, asFieldsList, asText, type RequestFields, textOrNull } from '../fields.ts';
import { writeGeminiUsage } from '../write-usage.ts';
import { callPart, isBlocked, readCall, readEnding, sealedPart, sealPart, writeReason } from './answer.ts';

/** Reads chunks, each of which is an answer with the next parts. There is no end event: the finish reason must have arrived. */
export function readStream(sink: BlockSink, { model }: TranslatedExchange): ModelStreamReader {
  let said: { key: string; kind: string } | null = null;
  let ending: AnswerEnding | null = null;
  let count = 0;
  const nextGeminiKey = (): string => `b${count++}`;

  function closeGeminiBlock(): void {
    if (said !== null) sink.close(said.key);
    said = null;
  }

  function addGeminiText(kind: 'text' | 'thinking', text: string): void {
    if (text === '') return;
    if (said?.kind !== kind) {
      closeGeminiBlock();
      said = { key: nextGeminiKey(), kind };
      sink.open(said.key, { kind });
    }
    sink.append(said.key, text);
  }

  function readGeminiPart(part: RequestFields): void {
    const seal = sealPart(part, model);
    if (seal !== null || isJsonObject(part.functionCall)) closeGeminiBlock();
    if (seal !== null) {
      const key = nextGeminiKey();
      sink.open(key, { kind: 'thinking' });
      sink.seal(key, seal);
      sink.close(key);
    }
    if (!isJsonObject(part.functionCall)) {
      addGeminiText(part.thought === true ? 'thinking' : 'text', asText(part.text));
      return;
    }
    const { id, name, namespace, takesText, input } = readCall(part.functionCall);
    const key = nextGeminiKey();
    sink.open(key, { kind: 'call', id, name, namespace, takesText });
    sink.append(key, JSON.stringify(input));
    sink.close(key);
  }

  function finishGeminiStream(): void {
    if (ending !== null) sink.finish(ending);
  }

  return {
    read(data) {
      if (data === undefined) {
        finishGeminiStream();
        return;
      }
      const chunk = asFields(Array.isArray(data) ? data[0] : data);
      if (isJsonObject(chunk.error)) {
        sink.fail(readFault(null, chunk));
        return;
      }
      const usage = readUsage('gemini', chunk.usageMetadata);
      if (usage !== null) sink.setUsage(usage);
      sink.start(textOrNull(chunk.responseId), textOrNull(chunk.modelVersion));
      if (isBlocked(chunk)) ending = { reason: 'filter', stopSequence: null };
      const [candidate] = asFieldsList(chunk.candidates);
      for (const part of asFieldsList(asFields(candidate?.content).parts)) readGeminiPart(part);
      const reason = textOrNull(candidate?.finishReason);
      if (reason === null || reason === 'FINISH_REASON_UNSPECIFIED') return;
      ending = readEnding(reason);
      if (ending === null)
        sink.fail({ ...cutFault(), message: `the provider broke off its answer: ${reason}` });
    },
    end: finishGeminiStream,
  };
}

/** Writes chunks: text as it arrives, whole calls, and the finish reason with the usage. */
export function writeStream(emit: EmitEvent, exchange: TranslatedExchange): StreamWriter {
  let head = { modelVersion: '', responseId: '' };
  let kind: ContentBlock['kind'] = 'text';
  let seals: string[] = [];
  /** The name of a call whose arguments are JSON, but not an object. */
  let strange: string | null = null;

  const say = (part: object, more: object = {}, rest: object = {}): void =>
    emit({
      candidates: [{ content: { role: 'model', parts: [part] }, ...more, index: 0 }],
      ...rest,
      ...head,
    });

  const emitFault = (fault: ProviderFault): void => emit(writeFault('gemini', fault));

  return {
    start(id, model) {
      head = { modelVersion: model ?? exchange.model, responseId: id ?? makeId('resp_') };
    },
    open(block) {
      kind = block.kind;
    },
    append(text) {
      if (kind !== 'call') say(kind === 'thinking' ? { text, thought: true } : { text });
    },
    close(block, text, seal) {
      if (block.kind === 'thinking' && seal !== null) seals.push(seal);
      if (block.kind !== 'call') return;
      const part = callPart({ ...block, input: text }, seals);
      seals = [];
      if (part === null) strange = block.name;
      else say(part);
    },
    finish(ending, usage) {
      if (strange !== null && ending.reason !== 'length')
        emitFault({
          ...cutFault(),
          message: `the arguments of the call of ${strange} are not a JSON object`,
        });
      else
        say(
          sealedPart(seals)[0] ?? { text: '' },
          { finishReason: writeReason(ending) },
          usage === null ? {} : { usageMetadata: writeGeminiUsage(usage) },
        );
    },
    fail: emitFault,
  };
}
