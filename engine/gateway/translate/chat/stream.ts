import { isJsonObject } from '../../../base/json-object.ts';
import { writeFault } from '../../protocols/fault.ts';
import { adaptId, makeId, nowSec } from '../answer-ids.ts';
import type { BlockSink, EmitEvent, Ending, Exchange, StreamReader, StreamWriter } from '../conversation.ts';
import { cutFault, readFault } from '../faults.ts';
import {
  asFields,
  asFieldsList,
  asText,
  type Fields,
  numberOrNull,
  parseJson,
  textOrNull,
} from '../fields.ts';
import { sealReasoning } from '../reasoning.ts';
import { readChatUsage, writeChatUsage } from '../usage.ts';
import {
  readCallSignature,
  readEnding,
  readTexts,
  readThought,
  writeCallHead,
  writeReason,
} from './answer.ts';

interface OpenCall {
  key: string;
  id: string;
  text: string;
  isClosed: boolean;
}

/** Reads chunks up to `[DONE]`. Usage may be in every chunk, in one without choices, or nowhere. */
export function readStream(sink: BlockSink, { model }: Exchange): StreamReader {
  /** The text or the thoughts that are being said. */
  let said: { key: string; kind: string; field: string; text: string } | null = null;
  /** The last call at each index. */
  const calls = new Map<number, OpenCall>();
  let last = -1;
  let ending: Ending | null = null;
  let count = 0;
  const nextKey = (): string => `b${count++}`;

  function closeSaid(): void {
    if (said === null) return;
    if (said.kind === 'thinking')
      sink.seal(said.key, sealReasoning('chat', model, { field: said.field, text: said.text }));
    sink.close(said.key);
    said = null;
  }

  /** Closes the calls whose arguments are whole; pieces of the others may still come. */
  function closeWholeCalls(): void {
    for (const call of calls.values()) {
      if (call.isClosed || parseJson(call.text) === undefined) continue;
      call.isClosed = true;
      sink.close(call.key);
    }
  }

  function say(kind: 'text' | 'thinking' | 'refusal', text: string, field = 'reasoning_content'): void {
    if (text === '') return;
    if (said?.kind !== kind) {
      closeSaid();
      closeWholeCalls();
      said = { key: nextKey(), kind, field, text: '' };
      sink.open(said.key, { kind });
    }
    if (kind === 'thinking') said.text += text;
    sink.append(said.key, text);
  }

  /** The signature of a call becomes a record of thoughts before it. */
  function readSignature(piece: Fields): void {
    const record = readCallSignature(piece);
    if (record === null) return;
    const key = nextKey();
    sink.open(key, { kind: 'thinking' });
    sink.seal(key, sealReasoning('chat', model, record));
    sink.close(key);
  }

  function readCall(piece: Fields): void {
    const { name, arguments: input } = asFields(piece.function ?? piece.custom);
    const index = numberOrNull(piece.index) ?? (textOrNull(piece.id) === null ? last : last + 1);
    const known = calls.get(index);
    const id = textOrNull(piece.id);
    // Some servers give each of several whole calls the same index.
    const isOther = known !== undefined && id !== null && id !== known.id && textOrNull(name) !== null;
    let call = known;
    if (call === undefined || isOther) {
      if (textOrNull(name) === null) return;
      closeSaid();
      closeWholeCalls();
      readSignature(piece);
      call = { key: nextKey(), id: id ?? makeId('call_'), text: '', isClosed: false };
      const isCustom = isJsonObject(piece.custom);
      sink.open(call.key, {
        kind: 'call',
        id: call.id,
        name: asText(name),
        namespace: null,
        takesText: isCustom,
      });
      calls.set(index, call);
      last = Math.max(last, index);
    }
    const given = isJsonObject(piece.custom) ? piece.custom.input : input;
    const text = isJsonObject(given) ? JSON.stringify(given) : asText(given);
    call.text += text;
    sink.append(call.key, text);
  }

  function readChoice(choice: Fields): void {
    const delta = asFields(choice.delta ?? choice.message);
    const thought = readThought(delta);
    if (thought !== null) say('thinking', thought.text, thought.field);
    if (typeof delta.content === 'string') say('text', delta.content);
    else for (const { kind, text } of readTexts(delta.content)) say(kind, text);
    if (typeof delta.refusal === 'string') say('refusal', delta.refusal);
    for (const piece of asFieldsList(delta.tool_calls)) readCall(piece);
    const reason = textOrNull(choice.finish_reason);
    if (reason === null) return;
    ending = readEnding(reason);
    if (ending === null)
      sink.fail({ ...cutFault(), message: `the provider broke off its answer: ${reason}` });
  }

  return {
    read(data, event) {
      if (data === undefined) {
        closeSaid();
        if (ending === null && count === 0) sink.fail(cutFault());
        else sink.finish(ending ?? { reason: 'stop', stopSequence: null });
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
      const usage = readChatUsage(chunk.usage);
      if (usage !== null) sink.setUsage(usage);
      sink.start(textOrNull(chunk.id), textOrNull(chunk.model));
      for (const choice of asFieldsList(chunk.choices)) if ((choice.index ?? 0) === 0) readChoice(choice);
    },
  };
}

/** Writes chunks, with the usage in one of its own when the caller asked for it, and `[DONE]`. */
export function writeStream(emit: EmitEvent, exchange: Exchange): StreamWriter {
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
