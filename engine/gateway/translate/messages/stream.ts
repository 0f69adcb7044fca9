import { writeFault } from '../../protocols/fault.ts';
import { createMessagesUsage } from '../../protocols/usage.ts';
import { makeId } from '../answer-ids.ts';
import type {
  BlockSink,
  ContentBlock,
  EmitEvent,
  ModelStreamReader,
  StreamWriter,
  TranslatedExchange,
} from '../conversation.ts';
import { readFault } from '../faults.ts';
import { asFields, asText, numberOrNull, type RequestFields, textOrNull } from '../fields.ts';
import { writeMessagesUsage } from '../write-usage.ts';
import {
  callBlock,
  describeEnding,
  describeMessage,
  describeUsage,
  readEnding,
  sealBlock,
  signatureOf,
} from './answer.ts';

interface Said {
  kind: ContentBlock['kind'];
  text: string;
  signature: string;
  /** Arguments that came with the start of a call, for servers that send no pieces. */
  input: object;
}

/** Returns the kind of a block; null for output of Anthropic's own tools, which is omitted. */
function findBlockKind(type: unknown): ContentBlock['kind'] | null {
  if (type === 'text') return 'text';
  if (type === 'thinking' || type === 'redacted_thinking') return 'thinking';
  return type === 'tool_use' ? 'call' : null;
}

/** Reads the events up to `message_stop`. */
export function readStream(sink: BlockSink, { model }: TranslatedExchange): ModelStreamReader {
  const blocks = new Map<number, Said>();
  const countUsage = createMessagesUsage();
  let last: RequestFields = {};

  function recordUsage(usage: unknown): void {
    const read = countUsage(usage);
    if (read !== null) sink.setUsage(read);
  }

  function openBlock(index: number, block: RequestFields): void {
    const kind = findBlockKind(block.type);
    if (kind === null) return;
    const said: Said = { kind, text: '', signature: asText(block.signature), input: asFields(block.input) };
    blocks.set(index, said);
    if (kind === 'call') {
      const id = textOrNull(block.id) ?? makeId('toolu_');
      sink.open(index, { kind, id, name: asText(block.name), namespace: null, takesText: false });
      return;
    }
    sink.open(index, { kind });
    append(index, asText(block.text) || asText(block.thinking));
    const seal = block.type === 'redacted_thinking' ? sealBlock(block, model) : null;
    if (seal !== null) sink.seal(index, seal);
  }

  function append(index: number, text: string): void {
    const said = blocks.get(index);
    if (said === undefined) return;
    said.text += text;
    sink.append(index, text);
  }

  function closeBlock(index: number): void {
    const said = blocks.get(index);
    if (said === undefined) return;
    if (said.kind === 'call' && said.text === '' && Object.keys(said.input).length > 0)
      sink.append(index, JSON.stringify(said.input));
    if (said.kind === 'thinking') {
      const seal = sealBlock({ type: 'thinking', thinking: said.text, signature: said.signature }, model);
      if (seal !== null) sink.seal(index, seal);
    }
    sink.close(index);
  }

  function readDelta(index: number, delta: RequestFields): void {
    const said = blocks.get(index);
    if (said === undefined) return;
    if (delta.type === 'signature_delta') said.signature += asText(delta.signature);
    else append(index, asText(delta.text ?? delta.partial_json ?? delta.thinking));
  }

  function finishMessagesStream(): void {
    const explanation = textOrNull(asFields(last.stop_details).explanation);
    if (explanation !== null) {
      sink.open('explanation', { kind: 'refusal' });
      sink.append('explanation', explanation);
      sink.close('explanation');
    }
    sink.finish(readEnding(last));
  }

  return {
    read(data, name) {
      const event = asFields(data);
      const index = numberOrNull(event.index) ?? 0;
      switch (asText(event.type) || name) {
        case 'message_start': {
          const message = asFields(event.message);
          recordUsage(message.usage);
          sink.start(textOrNull(message.id), textOrNull(message.model));
          return;
        }
        case 'content_block_start':
          openBlock(index, asFields(event.content_block));
          return;
        case 'content_block_delta':
          readDelta(index, asFields(event.delta));
          return;
        case 'content_block_stop':
          closeBlock(index);
          return;
        case 'message_delta':
          last = asFields(event.delta);
          recordUsage(event.usage);
          return;
        case 'message_stop':
          finishMessagesStream();
          return;
        case 'error':
          sink.fail(readFault(null, event));
          return;
        default:
      }
    },
  };
}

/** Writes the events of a message. */
export function writeStream(emit: EmitEvent, exchange: TranslatedExchange): StreamWriter {
  let index = -1;
  let kind: ContentBlock['kind'] = 'text';

  const emitMessageEvent = (event: { type: string; [field: string]: unknown }): void =>
    emit(event, event.type);

  function blockOf(block: ContentBlock): object {
    if (block.kind === 'call') return callBlock(block.id, block.name, {});
    return block.kind === 'thinking'
      ? { type: 'thinking', thinking: '', signature: '' }
      : { type: 'text', text: '', citations: null };
  }

  function deltaOf(text: string): object {
    if (kind === 'call') return { type: 'input_json_delta', partial_json: text };
    return kind === 'thinking' ? { type: 'thinking_delta', thinking: text } : { type: 'text_delta', text };
  }

  return {
    start(id, model, usage) {
      const message = describeMessage({ id, model }, exchange);
      const ending = { stop_reason: null, stop_sequence: null, stop_details: null };
      emitMessageEvent({
        type: 'message_start',
        message: { ...message, content: [], ...ending, usage: describeUsage(usage) },
      });
    },
    open(block) {
      kind = block.kind;
      index += 1;
      emitMessageEvent({ type: 'content_block_start', index, content_block: blockOf(block) });
    },
    append(text) {
      emitMessageEvent({ type: 'content_block_delta', index, delta: deltaOf(text) });
    },
    close(block, _text, seal) {
      if (block.kind === 'thinking') {
        const signature = signatureOf(seal, exchange);
        emitMessageEvent({
          type: 'content_block_delta',
          index,
          delta: { type: 'signature_delta', signature },
        });
      }
      emitMessageEvent({ type: 'content_block_stop', index });
    },
    finish(ending, usage) {
      emitMessageEvent({
        type: 'message_delta',
        delta: { ...describeEnding(ending), container: null },
        usage: writeMessagesUsage(usage),
      });
      emitMessageEvent({ type: 'message_stop' });
    },
    fail(fault) {
      emit(writeFault('messages', fault), 'error');
    },
  };
}
