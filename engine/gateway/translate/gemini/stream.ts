import { isJsonObject } from '../../../base/json-object.ts';
import { type Fault, writeFault } from '../../protocols/fault.ts';
import { makeId } from '../answer-ids.ts';
import type {
  Block,
  BlockSink,
  EmitEvent,
  Ending,
  Exchange,
  StreamReader,
  StreamWriter,
} from '../conversation.ts';
import { cutFault, readFault } from '../faults.ts';
import { asFields, asFieldsList, asText, type Fields, textOrNull } from '../fields.ts';
import { readGeminiUsage, writeGeminiUsage } from '../usage.ts';
import { callPart, isBlocked, readCall, readEnding, sealPart, writeReason } from './answer.ts';

/** Reads chunks, each of which is an answer with the next parts. There is no event for the end: a reason for it has to have come. */
export function readStream(sink: BlockSink, { model }: Exchange): StreamReader {
  let said: { key: string; kind: string } | null = null;
  let ending: Ending | null = null;
  let count = 0;
  const nextKey = (): string => `b${count++}`;

  function closeSaid(): void {
    if (said !== null) sink.close(said.key);
    said = null;
  }

  function say(kind: 'text' | 'thinking', text: string): void {
    if (text === '') return;
    if (said?.kind !== kind) {
      closeSaid();
      said = { key: nextKey(), kind };
      sink.open(said.key, { kind });
    }
    sink.append(said.key, text);
  }

  function readPart(part: Fields): void {
    if (!isJsonObject(part.functionCall)) {
      say(part.thought === true ? 'thinking' : 'text', asText(part.text));
      return;
    }
    closeSaid();
    const seal = sealPart(part, model);
    if (seal !== null) {
      const key = nextKey();
      sink.open(key, { kind: 'thinking' });
      sink.seal(key, seal);
      sink.close(key);
    }
    const { id, name, namespace, takesText, input } = readCall(part.functionCall);
    const key = nextKey();
    sink.open(key, { kind: 'call', id, name, namespace, takesText });
    sink.append(key, JSON.stringify(input));
    sink.close(key);
  }

  function finish(): void {
    if (ending !== null) sink.finish(ending);
  }

  return {
    read(data) {
      if (data === undefined) {
        finish();
        return;
      }
      const chunk = asFields(Array.isArray(data) ? data[0] : data);
      if (isJsonObject(chunk.error)) {
        sink.fail(readFault(null, chunk));
        return;
      }
      const usage = readGeminiUsage(chunk.usageMetadata);
      if (usage !== null) sink.setUsage(usage);
      sink.start(textOrNull(chunk.responseId), textOrNull(chunk.modelVersion));
      if (isBlocked(chunk)) ending = { reason: 'filter', stopSequence: null };
      const [candidate] = asFieldsList(chunk.candidates);
      for (const part of asFieldsList(asFields(candidate?.content).parts)) readPart(part);
      const reason = textOrNull(candidate?.finishReason);
      if (reason === null || reason === 'FINISH_REASON_UNSPECIFIED') return;
      ending = readEnding(reason);
      if (ending === null)
        sink.fail({ ...cutFault(), message: `the provider broke off its answer: ${reason}` });
    },
    end: finish,
  };
}

/** Writes chunks: pieces of text as they come, calls whole, and the reason for the end with the usage. */
export function writeStream(emit: EmitEvent, exchange: Exchange): StreamWriter {
  let head = { modelVersion: '', responseId: '' };
  let kind: Block['kind'] = 'text';
  let seals: string[] = [];
  /** A call whose arguments are no JSON object: cut short by the limit, or broken. */
  let broken: string | null = null;

  const say = (part: object, more: object = {}, rest: object = {}): void =>
    emit({
      candidates: [{ content: { role: 'model', parts: [part] }, ...more, index: 0 }],
      ...rest,
      ...head,
    });

  const fail = (fault: Fault): void => emit(writeFault('gemini', fault));

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
      if (part === null) broken = block.name;
      else say(part);
    },
    finish(ending, usage) {
      if (broken !== null && ending.reason !== 'length')
        fail({ ...cutFault(), message: `the arguments of the call of ${broken} are no JSON object` });
      else
        say(
          { text: '' },
          { finishReason: writeReason(ending) },
          usage === null ? {} : { usageMetadata: writeGeminiUsage(usage) },
        );
    },
    fail,
  };
}
