import { isJsonObject } from '../../../core/base/json-object.ts';
import { writeFault } from '../../protocols/fault.ts';
import { findChatUsage, readUsage } from '../../protocols/usage.ts';
import { adaptId, nowSec } from '../answer-ids.ts';
import type {
  AnswerEnding,
  BlockSink,
  EmitEvent,
  ModelStreamReader,
  StreamWriter,
  TranslatedExchange,
} from '../conversation.ts';
import { cutFault, readFault } from '../faults.ts';
import { asFields, asFieldsList, type RequestFields, textOrNull } from '../fields.ts';
import { sealReasoning } from '../reasoning.ts';
import { writeChatUsage } from '../write-usage.ts';
import { readCallSignature, readEnding, readTexts, writeCallHead, writeReason } from './answer.ts';
import { createCallPieces } from './call-pieces.ts';
import { joinDetails, readThought, sealThought } from './thoughts.ts';

/**
 * Reads chunks up to `[DONE]`, or to the end of a stream that has given its finish reason. Usage may be in every
 * chunk, in one without choices, or missing.
 */
export function readStream(sink: BlockSink, exchange: TranslatedExchange): ModelStreamReader {
  const { model, names } = exchange;
  /** The current text or thoughts. */
  let said: { key: string; kind: string; field: string | null; text: string } | null = null;
  /** Records of thoughts that are not in a block yet. */
  let details: readonly RequestFields[] = [];
  let signature: string | null = null;
  let ending: AnswerEnding | null = null;
  let count = 0;
  const nextChatKey = (): string => `b${count++}`;

  function closeChatBlock(): void {
    if (said === null) return;
    const { key, kind, field, text } = said;
    said = null;
    if (kind === 'thinking') sink.seal(key, sealThought(model, { field, text, details: takeDetails() }));
    sink.close(key);
  }

  function takeDetails(): readonly RequestFields[] {
    const taken = details;
    details = [];
    return taken;
  }

  /** Thoughts without text. */
  function tellRecord(seal: string): void {
    const key = nextChatKey();
    sink.open(key, { kind: 'thinking' });
    sink.seal(key, seal);
    sink.close(key);
  }

  /** Emits records, with a call or at the end. */
  function tellRecords(): void {
    closeChatBlock();
    if (details.length > 0) tellRecord(sealThought(model, { field: null, text: '', details: takeDetails() }));
    if (signature !== null) tellRecord(sealReasoning('chat', model, { signature }));
    signature = null;
  }

  const calls = createCallPieces(sink, {
    nextKey: nextChatKey,
    isTool: names.isKnown,
    onCall: closeChatBlock,
    beforeCall: tellRecords,
  });

  function addChatText(
    kind: 'text' | 'thinking' | 'refusal',
    text: string,
    field: string | null = null,
  ): void {
    if (text === '') return;
    if (said?.kind !== kind) {
      closeChatBlock();
      calls.settle();
      said = { key: nextChatKey(), kind, field, text: '' };
      sink.open(said.key, { kind });
    }
    if (kind === 'thinking') said.text += text;
    sink.append(said.key, text);
  }

  function readChatChoice(choice: RequestFields): void {
    const delta = asFields(choice.delta ?? choice.message);
    const thought = readThought(delta);
    if (thought !== null) {
      details = joinDetails(details, thought.details);
      addChatText('thinking', thought.text, thought.field);
    }
    if (typeof delta.content === 'string') addChatText('text', delta.content);
    else for (const { kind, text } of readTexts(delta.content)) addChatText(kind, text);
    if (typeof delta.refusal === 'string') addChatText('refusal', delta.refusal);
    for (const piece of asFieldsList(delta.tool_calls)) {
      signature = readCallSignature(piece)?.signature ?? signature;
      calls.read(piece);
    }
    if (isJsonObject(delta.function_call)) calls.read({ function: delta.function_call });
    const reason = textOrNull(choice.finish_reason);
    if (reason === null) return;
    ending = readEnding(choice, exchange);
    if (ending === null)
      sink.fail({ ...cutFault(), message: `the provider broke off its answer: ${reason}` });
  }

  function finishChatStream(): void {
    calls.settle();
    tellRecords();
    const isCut = ending === null && (count === 0 || !calls.areWhole());
    if (isCut || calls.areNameless()) sink.fail(cutFault());
    else sink.finish(ending ?? { reason: 'stop', stopSequence: null });
  }

  return {
    read(data, event) {
      if (data === undefined) {
        finishChatStream();
        return;
      }
      const chunk = asFields(data);
      if (
        event === 'error' ||
        chunk.object === 'error' ||
        isJsonObject(chunk.error) ||
        typeof chunk.error === 'string'
      ) {
        sink.fail(readFault(null, chunk));
        return;
      }
      const usage = readUsage('chat', findChatUsage(chunk));
      if (usage !== null) sink.setUsage(usage);
      sink.start(textOrNull(chunk.id), textOrNull(chunk.model));
      for (const choice of asFieldsList(chunk.choices)) if ((choice.index ?? 0) === 0) readChatChoice(choice);
    },
    // Not every service of this protocol sends [DONE].
    end() {
      if (ending !== null) finishChatStream();
    },
  };
}

/** Writes chunks, with usage in a separate chunk if the caller requested it, and `[DONE]`. */
export function writeStream(emit: EmitEvent, exchange: TranslatedExchange): StreamWriter {
  let head = { id: '', object: 'chat.completion.chunk', created: 0, model: '' };
  let index = -1;
  let isText = false;
  let seals: string[] = [];
  let kind = '';

  const say = (delta: object, reason: string | null = null): void =>
    emit({ ...head, choices: [{ index: 0, delta, logprobs: null, finish_reason: reason }] });

  return {
    start(id, model) {
      head = { ...head, id: adaptId('chatcmpl-', id), created: nowSec(), model: model ?? exchange.model };
      say({ role: 'assistant', content: '' });
    },
    open(block) {
      kind = block.kind;
      if (block.kind !== 'call') return;
      index += 1;
      isText = block.takesText;
      const call = isText
        ? { type: 'custom', custom: { name: block.name, input: '' } }
        : { type: 'function', function: { name: block.name, arguments: '' } };
      say({ tool_calls: [{ index, ...writeCallHead(block.id, seals), ...call }] });
      seals = [];
    },
    append(text) {
      if (kind === 'text') say({ content: text });
      else if (kind === 'thinking') say({ reasoning_content: text });
      else if (kind === 'refusal') say({ refusal: text });
      else
        say({
          tool_calls: [
            { index, ...(isText ? { custom: { input: text } } : { function: { arguments: text } }) },
          ],
        });
    },
    close(_block, _text, sealed) {
      if (kind === 'thinking' && sealed !== null) seals.push(sealed);
    },
    finish(ending, usage) {
      say({}, writeReason(ending));
      if (exchange.wantsUsage && usage !== null) emit({ ...head, choices: [], usage: writeChatUsage(usage) });
      emit('[DONE]');
    },
    fail(fault) {
      emit(writeFault('chat', fault));
    },
  };
}
